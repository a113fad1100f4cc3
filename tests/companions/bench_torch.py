#!/usr/bin/env python3
"""Soft Smith-Waterman: hspz_plugin.so beside the straightforward PyTorch loop and its compiled form, in one run.

Idea: the loop goes over anti-diagonals and takes a logsumexp of four terms for each, as users write it; its gradient comes from
autograd. The plugin is called through its C ABI on the same tensors and stream. Times are medians between CUDA events; results
of both are compared first.
Usage: HSPZ_BUILD=build bench_torch.py                  the loop as it is
       HSPZ_BUILD=build bench_torch.py --compile [GO]   the loop through torch.compile, 32 x 32 alone; compiles first (a minute or
                                                        so), then waits for the file GO, so that others may measure meanwhile
"""
import ctypes
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("bench_torch.py: PyTorch is not installed")

CUDA = 1
GAP, TEMPERATURE = -1.0, 1.0
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


def worst_of(a, b):
    return ((a - b).abs() / b.abs().clamp_min(1e-30)).max().item()


def problem(soft, batch, rows, columns):
    """Similarities, the plugin's request for them (after one run), and what it works on."""
    similarity = torch.rand(batch, rows, columns, device="cuda") * 2 - 1
    r, keep = request(soft, similarity, GAP, TEMPERATURE)
    status = soft.backward(ctypes.byref(r), None)
    if status != 0:
        sys.exit(f"bench_torch.py: the plugin answers {status}")
    torch.cuda.synchronize()
    return similarity, r, keep


def eager(soft):
    print("B x M x N | hspz forward, with gradient | loop forward, with gradient (ms) | largest differences", flush=True)
    for batch, rows, columns in [(16, 32, 32), (256, 32, 32), (4096, 32, 32), (65536, 32, 32), (16, 1024, 1024)]:
        similarity, r, keep = problem(soft, batch, rows, columns)
        with torch.no_grad():
            worst = worst_of(keep["scores"], loop(similarity, GAP, TEMPERATURE))
            slow = median(lambda: loop(similarity, GAP, TEMPERATURE), 3)
        forward = median(lambda: soft.forward(ctypes.byref(r), None), 20)
        backward = median(lambda: soft.backward(ctypes.byref(r), None), 20)
        line = f"{batch} x {rows} x {columns} | {forward:.4f}, {backward:.4f} | {slow:.2f}, "
        if rows <= 32:
            _, gradient = with_gradient(loop, similarity, GAP, TEMPERATURE)
            worst_gradient = (keep["gradient"] - gradient).abs().amax().item()
            slow = median(lambda: with_gradient(loop, similarity, GAP, TEMPERATURE), 3)
            line += f"{slow:.2f} | score {worst:.1e}, gradient {worst_gradient:.1e}"
        else:
            line += f"- | score {worst:.1e}"
        print(line, flush=True)


def replayed(function):
    """The same work as one CUDA graph: what is left when no launch waits for Python."""
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function()
        return f"{median(graph.replay, 10):.3f}"
    except RuntimeError as error:
        torch.cuda.synchronize()
        return "no graph: " + str(error).split("\n", maxsplit=1)[0][:60]


def compiled(soft, go):
    started = time.monotonic()
    fast = torch.compile(loop, dynamic=False)
    ready = []
    with torch.no_grad():
        for batch in (65536, 16):
            similarity, r, keep = problem(soft, batch, 32, 32)
            worst = worst_of(fast(similarity, GAP, TEMPERATURE), keep["scores"])
            torch.cuda.synchronize()
            ready.append((similarity, r, keep, worst))
            print(f"compiled for {batch} x 32 x 32 after {time.monotonic() - started:.0f} s", flush=True)
    while go is not None and not os.path.exists(go):
        time.sleep(0.1)
    print("B x M x N | hspz forward | compiled loop forward, as a CUDA graph (ms) | largest difference", flush=True)
    for similarity, r, keep, worst in ready:
        with torch.no_grad():
            run = lambda: fast(similarity, GAP, TEMPERATURE)  # noqa: E731
            ours = median(lambda: soft.forward(ctypes.byref(r), None), 20)
            theirs = median(run, 10)
            batch = similarity.shape[0]
            print(f"{batch} x 32 x 32 | {ours:.4f} | {theirs:.3f}, {replayed(run)} | {worst:.1e}", flush=True)
    similarity, r, keep, _ = ready[0]
    ours = median(lambda: soft.backward(ctypes.byref(r), None), 20)
    with_gradient(fast, similarity, GAP, TEMPERATURE)  # compiles once more
    theirs = median(lambda: with_gradient(fast, similarity, GAP, TEMPERATURE), 5)
    print(f"65536 x 32 x 32 with gradient | {ours:.4f} | {theirs:.3f} (compiled)", flush=True)


def main():
    if not torch.cuda.is_available():
        sys.exit("bench_torch.py: PyTorch sees no GPU")
    library, soft = load()
    torch.manual_seed(1)
    if sys.argv[1:2] == ["--compile"]:
        compiled(soft, sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        eager(soft)
    del library


main()
