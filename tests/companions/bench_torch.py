#!/usr/bin/env python3
"""Soft Smith-Waterman: hspz_plugin.so beside the straightforward PyTorch loop and its compiled forms, in one run.

Idea: the loop goes over anti-diagonals and takes a logsumexp of four terms for each, as users write it; its gradient comes from
autograd. The plugin is called through its C ABI on the same tensors and stream. Times are medians between CUDA events; results
of both are compared first. Each compiled form is compiled by a process of its own, all at once, within a limit of time; then
they measure one after the other, each beside the plugin.
Usage: HSPZ_BUILD=build bench_torch.py                  the loop as it is
       HSPZ_BUILD=build bench_torch.py --compile [GO]   the loop as it is and compiled, within five minutes; measures once compiled and,
                                                        if GO is given, once a file of that name exists
HSPZ_BENCH_LIMIT (90): seconds for compiling, per form.
"""
import ctypes
import os
import signal
import statistics
import subprocess
import sys
import tempfile
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


def diagonals(similarity):
    """Diagonal d holds cells (i, d - i), indexed by i; which of them exist."""
    batch, rows, columns = similarity.shape
    skewed = torch.full((batch, rows, rows + columns - 1), -1e30, device=similarity.device)
    place = torch.arange(rows, device="cuda")
    index = place[:, None] + torch.arange(columns, device="cuda")[None, :]
    number = torch.arange(rows + columns - 1, device="cuda")[:, None]
    return skewed.scatter(2, index.expand(batch, -1, -1), similarity), (place <= number) & (place > number - columns)


def step(before, last, best, similarity, inside, gap, temperature):
    """One diagonal; index 0 is the border row."""
    match = before[:, :-1] + similarity
    terms = torch.stack([torch.zeros_like(match), match, last[:, :-1] + gap, last[:, 1:] + gap])
    cell = temperature * torch.logsumexp(terms / temperature, 0)
    cell = torch.where(inside, cell, torch.zeros_like(cell))
    return torch.cat([torch.zeros_like(cell[:, :1]), cell], 1), torch.maximum(best, cell.amax(1))


def loop(similarity, gap, temperature, one_step=step):
    batch, rows, columns = similarity.shape
    skewed, inside = diagonals(similarity)
    before = torch.zeros(batch, rows + 1, device="cuda")
    last = torch.zeros(batch, rows + 1, device="cuda")
    best = torch.zeros(batch, device="cuda")
    for d in range(rows + columns - 1):
        made, best = one_step(before, last, best, skewed[:, :, d], inside[d], gap, temperature)
        before, last = last, made
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


# Compiled forms: batch, rows, columns; "whole": the loop unrolled by the compiler, "step": one diagonal, called by a loop;
# with gradient.
FORMS = [(16, 32, 32, "whole", 0), (256, 32, 32, "whole", 0), (4096, 32, 32, "whole", 0), (65536, 32, 32, "whole", 0),
         (65536, 32, 32, "whole", 1), (65536, 32, 32, "step", 0), (65536, 32, 32, "step", 1), (16, 1024, 1024, "step", 0),
         (16, 1024, 1024, "whole", 0)]


def worker(soft, name, batch, rows, columns, form, gradient):
    """Compiles, says so by the file NAME.ready, waits for NAME.go, measures, prints a line."""
    started, parent = time.monotonic(), os.getppid()
    if form == "whole":
        fast = torch.compile(loop, dynamic=False)
    else:
        one_step = torch.compile(step, dynamic=False)
        fast = lambda s, g, t: loop(s, g, t, one_step)  # noqa: E731
    similarity, r, keep = problem(soft, batch, rows, columns)
    if gradient:
        run = lambda: with_gradient(fast, similarity, GAP, TEMPERATURE)  # noqa: E731
        ours = lambda: soft.backward(ctypes.byref(r), None)  # noqa: E731
        scores, slope = run()
        worst = f"score {worst_of(scores, keep['scores']):.1e}, gradient {(slope - keep['gradient']).abs().amax().item():.1e}"
    else:
        torch.set_grad_enabled(False)
        run = lambda: fast(similarity, GAP, TEMPERATURE)  # noqa: E731
        ours = lambda: soft.forward(ctypes.byref(r), None)  # noqa: E731
        worst = f"score {worst_of(run(), keep['scores']):.1e}"
    torch.cuda.synchronize()
    seconds = time.monotonic() - started
    with open(name + ".ready", "w", encoding="ascii"):
        pass
    while not os.path.exists(name + ".go"):
        if os.getppid() != parent:
            sys.exit("bench_torch.py: nobody waits for this measurement")
        time.sleep(0.05)
    graph = "-" if gradient else replayed(run)
    print(f"{title(batch, rows, columns, form, gradient)} | {median(ours, 20):.4f} | {median(run, 5):.3f} | {graph} | {seconds:.0f} s | {worst}", flush=True)


def title(batch, rows, columns, form, gradient):
    return f"{batch} x {rows} x {columns}, {form}{', with gradient' if gradient else ''}"


def start(name, form):
    """A worker in a session of its own, with files for what it says: compilers that it starts must neither outlive it nor hold a pipe."""
    with open(name + ".out", "w", encoding="utf-8") as out, open(name + ".err", "w", encoding="utf-8") as err:
        return subprocess.Popen([sys.executable, __file__, "--worker", name] + [str(f) for f in form], stdout=out, stderr=err,
                                start_new_session=True)


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def contents(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def measure(soft, go, limit, names, workers):
    started = time.monotonic()
    ready = [False] * len(FORMS)
    while time.monotonic() - started < limit:
        ready = [os.path.exists(name + ".ready") for name in names]
        if all(r or w.poll() is not None for r, w in zip(ready, workers)):
            break
        time.sleep(0.2)
    for w, r in zip(workers, ready):
        if not r:
            stop(w)
    while go is not None and not os.path.exists(go):
        time.sleep(0.1)
    eager(soft)
    print("compiled form | hspz | compiled | as a CUDA graph (ms) | compiling | largest differences", flush=True)
    for name, w, r, form in zip(names, workers, ready, FORMS):
        if r:
            with open(name + ".go", "w", encoding="ascii"):
                pass
        try:
            w.wait(timeout=30)
        except subprocess.TimeoutExpired:
            stop(w)
        output, errors = contents(name + ".out"), contents(name + ".err").strip().splitlines()
        if output:
            print(output, end="", flush=True)
        elif not r and w.returncode == -signal.SIGKILL:
            print(f"{title(*form)} | compile > {limit:.0f} s", flush=True)
        else:
            print(f"{title(*form)} | no result: {(errors or ['no answer in 30 s'])[-1][:100]}", flush=True)


def compiled(soft, go):
    limit = float(os.environ.get("HSPZ_BENCH_LIMIT", "90"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench_torch.py: out of time"))
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, str(i)) for i in range(len(FORMS))]
        workers = [start(name, form) for name, form in zip(names, FORMS)]
        try:
            measure(soft, go, limit, names, workers)
        finally:
            for w in workers:
                stop(w)


def main():
    if not torch.cuda.is_available():
        sys.exit("bench_torch.py: PyTorch sees no GPU")
    library, soft = load()
    torch.manual_seed(1)
    if sys.argv[1:2] == ["--worker"]:
        name, batch, rows, columns, form, gradient = sys.argv[2:]
        worker(soft, name, int(batch), int(rows), int(columns), form, int(gradient))
    elif sys.argv[1:2] == ["--compile"]:
        compiled(soft, sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        eager(soft)
    del library


main()
