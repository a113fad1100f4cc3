#!/usr/bin/env python3
"""Soft Smith-Waterman: hspz_plugin.so beside the straightforward PyTorch loop and its compiled form, in one run.

Idea: the loop goes over anti-diagonals and takes a logsumexp of four terms for each, as users write it; its gradient comes from
autograd. The plugin is called through its C ABI on the same tensors and stream. Times are medians between CUDA events; results
of both are compared first.   Usage: HSPZ_BUILD=build bench_torch.py
"""
import ctypes
import os
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("bench_torch.py: PyTorch is not installed")

CUDA = 1
GET_EXTENSION_AT = 184  # offset of get_extension in hspz_plugin, asserted in abi/hspz_abi.h


class Request(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("device", ctypes.c_uint32), ("batch", ctypes.c_uint64),
                ("rows", ctypes.c_uint32), ("columns", ctypes.c_uint32), ("gap", ctypes.c_double),
                ("temperature", ctypes.c_double), ("similarity", ctypes.c_void_p), ("scores", ctypes.c_void_p),
                ("cells", ctypes.c_void_p), ("score_gradient", ctypes.c_void_p), ("gradient", ctypes.c_void_p),
                ("scratch", ctypes.c_void_p), ("scratch_size", ctypes.c_uint64), ("stream", ctypes.c_void_p),
                ("threads", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


SIZE = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(Request))
CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Request), ctypes.c_void_p)


class SoftSw(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("forward_scratch_size", SIZE),
                ("forward", CALL), ("backward_scratch_size", SIZE), ("backward", CALL)]


def load():
    library = ctypes.CDLL(os.path.join(os.environ.get("HSPZ_BUILD", "build"), "hspz_plugin.so"))
    plugin = ctypes.addressof(ctypes.c_char.in_dll(library, "hspz_plugin_v1"))
    get_extension = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(
        ctypes.c_void_p.from_address(plugin + GET_EXTENSION_AT).value)
    return library, SoftSw.from_address(get_extension(b"hspz.soft_sw/1"))


def request(soft, similarity, gap, temperature):
    batch, rows, columns = similarity.shape
    keep = {"scores": torch.empty(batch, device="cuda"), "gradient": torch.empty_like(similarity),
            "flow": torch.ones(batch, device="cuda")}
    r = Request(struct_size=ctypes.sizeof(Request), device=CUDA, batch=batch, rows=rows, columns=columns, gap=gap,
                temperature=temperature, similarity=similarity.data_ptr(), scores=keep["scores"].data_ptr(),
                score_gradient=keep["flow"].data_ptr(), gradient=keep["gradient"].data_ptr(),
                stream=torch.cuda.current_stream().cuda_stream)
    r.scratch_size = soft.backward_scratch_size(ctypes.byref(r))
    keep["scratch"] = torch.empty(r.scratch_size + 16, dtype=torch.uint8, device="cuda")
    r.scratch = keep["scratch"].data_ptr()
    return r, keep


def loop(similarity, gap, temperature):
    """H by anti-diagonals; diagonal d holds cells (i, d - i), indexed by i."""
    batch, rows, columns = similarity.shape
    skewed = torch.full((batch, rows, rows + columns - 1), -1e30, device=similarity.device)
    index = (torch.arange(rows, device="cuda")[:, None] + torch.arange(columns, device="cuda")[None, :])
    skewed = skewed.scatter(2, index.expand(batch, -1, -1), similarity)
    place = torch.arange(rows, device="cuda")
    before = torch.zeros(batch, rows + 1, device="cuda")  # index 0 is the border row
    last = torch.zeros(batch, rows + 1, device="cuda")
    border = torch.zeros(batch, 1, device="cuda")
    best = torch.zeros(batch, device="cuda")
    for d in range(rows + columns - 1):
        match = before[:, :-1] + skewed[:, :, d]
        terms = torch.stack([torch.zeros_like(match), match, last[:, :-1] + gap, last[:, 1:] + gap])
        cell = temperature * torch.logsumexp(terms / temperature, 0)
        inside = (place <= d) & (place > d - columns)
        cell = torch.where(inside, cell, torch.zeros_like(cell))
        best = torch.maximum(best, cell.amax(1))
        before, last = last, torch.cat([border, cell], 1)
    return best


def median(run, repeats):
    times = []
    for i in range(repeats + 1):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        if i > 0:
            times.append(start.elapsed_time(end))
    return statistics.median(times)


def with_gradient(function, similarity, gap, temperature):
    leaf = similarity.detach().requires_grad_(True)
    scores = function(leaf, gap, temperature)
    scores.sum().backward()
    return scores.detach(), leaf.grad


def main():
    library, soft = load()
    torch.manual_seed(1)
    gap, temperature = -1.0, 1.0
    small = torch.compile(loop) if "--compile" in sys.argv else None
    for batch, rows, columns in [(16, 32, 32), (256, 32, 32), (4096, 32, 32), (65536, 32, 32), (16, 1024, 1024)]:
        similarity = torch.rand(batch, rows, columns, device="cuda") * 2 - 1
        r, keep = request(soft, similarity, gap, temperature)
        assert soft.backward(ctypes.byref(r), None) == 0
        with torch.no_grad():
            scores = loop(similarity, gap, temperature)
        torch.cuda.synchronize()
        worst = ((keep["scores"] - scores).abs() / scores).max().item()
        ours = (median(lambda: soft.forward(ctypes.byref(r), None), 20),
                median(lambda: soft.backward(ctypes.byref(r), None), 20))
        with torch.no_grad():
            eager = median(lambda: loop(similarity, gap, temperature), 3)
        line = f"{batch} x {rows} x {columns}: hspz forward {ours[0]:.4f} ms, with gradient {ours[1]:.4f} ms; "
        line += f"PyTorch loop forward {eager:.2f} ms ({eager / ours[0]:.0f} x)"
        if rows <= 32:
            _, gradient = with_gradient(loop, similarity, gap, temperature)
            worst_gradient = (keep["gradient"] - gradient).abs().amax().item()
            both = median(lambda: with_gradient(loop, similarity, gap, temperature), 3)
            line += f", with gradient {both:.2f} ms ({both / ours[1]:.0f} x)"
            line += f"; largest differences: score {worst:.1e}, gradient {worst_gradient:.1e}"
        else:
            line += f"; largest difference: score {worst:.1e}"
        if small is not None and rows <= 32:
            with torch.no_grad():
                compiled = median(lambda: small(similarity, gap, temperature), 3)
            line += f"; torch.compile forward {compiled:.2f} ms ({compiled / ours[0]:.0f} x)"
        print(line, flush=True)
    del library


main()
