"""Part 3: times with and without synchronising.

A launch returns before its work is done. So a clock that is read without waiting measures launches, and the same call gives
very different numbers: without waiting, with `torch.cuda.synchronize`, with events, and with `torch.utils.benchmark`.

Matrices have random numbers, as in training. Matrices of ones change fewer bits, so a device at its limit of power can multiply
them faster. The largest product is also taken of ones, which shows whether that was so.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
from torch.utils.benchmark import Timer

TITLE = "timings: with and without waiting for the device"
LIMIT = 25
ROUNDS = 11


def sizes(run: Any) -> list[int]:
    return [64, 128] if run.cpu else [64, 128, 256, 512, 1024, 2048, 4096, 8192]


def random(run: Any, *sizes: int) -> torch.Tensor:
    """Random numbers on the device, in bfloat16; on the CPU in float32."""
    return torch.randn(sizes, device=run.device, dtype=torch.float32 if run.cpu else torch.bfloat16)


def products(run: Any) -> dict[str, Any]:
    """Seconds of `a @ a` by size and by way of measuring."""
    rows = []
    for size in sizes(run):
        a = random(run, size, size)
        row = {
            "size": size,
            "without waiting": unsynchronised(run, a),
            "synchronised": run.seconds(lambda a=a: a @ a)["median"],
        }
        row["Timer"] = Timer("a @ a", globals={"a": a}).blocked_autorange(min_run_time=0.1).median
        row["events"] = None if run.cpu else events(a)
        rows.append(row)
    ones = torch.ones_like(a)
    largest = {"size": size, "random numbers": run.seconds(lambda: a @ a), "ones": run.seconds(lambda: ones @ ones)}
    return {
        "seconds": rows,
        "random numbers and ones": largest,
        "picture": run.picture("products", lambda axes: draw(axes, rows)),
    }


def unsynchronised(run: Any, a: torch.Tensor) -> float:
    """The median of the seconds until the call returns, in a row of calls."""
    for _ in range(3):
        a @ a
    run.synchronize()
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - begun)
    run.synchronize()
    return statistics.median(times)


def events(a: torch.Tensor) -> float:
    """The median of the seconds between two events around the call, by the clock of the device."""
    pairs = []
    for _ in range(ROUNDS):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        a @ a
        last.record()
        pairs.append((first, last))
    torch.cuda.synchronize()
    return statistics.median(first.elapsed_time(last) for first, last in pairs) / 1e3


def draw(axes: Any, rows: list[dict[str, Any]]) -> None:
    for name, marker in (("without waiting", "o"), ("synchronised", "s"), ("Timer", "^"), ("events", "x")):
        seen = [(row["size"], 1e6 * row[name]) for row in rows if row[name] is not None]
        if seen:
            axes.plot(*zip(*seen), marker=marker, label=name)
    axes.set(xscale="log", yscale="log", xlabel="size of the matrices", ylabel="microseconds of a call")
    axes.legend(frameon=False)


def waits(run: Any) -> dict[str, float]:
    """Seconds until each call returns, if a long product was launched before it: which calls wait for the device."""
    size = 256 if run.cpu else 8192
    a, x = torch.randn(size, size, device=run.device), torch.ones(1000, device=run.device)
    host = torch.ones(1000)
    calls = {
        "nothing": lambda: None,
        "x + 1": lambda: x + 1,
        "x.sum()": lambda: x.sum(),
        "x.item()": lambda: x[0].item(),
        "x.tolist()": lambda: x.tolist(),
        "x.cpu()": lambda: x.cpu(),
        "x.to('cpu', non_blocking=True)": lambda: x.to("cpu", non_blocking=True),
        "host.to(device)": lambda: host.to(run.device),
        "x.nonzero()": lambda: x.nonzero(),
        "x[x > 0]": lambda: x[x > 0],
        "torch.where(x > 0, x, 0)": lambda: torch.where(x > 0, x, 0),
        "if x[0] > 0": lambda: bool(x[0] > 0),
        "x.unique()": lambda: x.unique(),
        "repr(x)": lambda: repr(x),
        "torch.tensor(1., device=...)": lambda: torch.tensor(1.0, device=run.device),
        "del": lambda: torch.empty(1 << 20, device=run.device),
    }
    seconds = {}
    for name, call in calls.items():
        call()
        a @ a
        run.synchronize()
        begun = time.perf_counter()
        a @ a
        launched = time.perf_counter() - begun
        call()
        seconds[name] = round(time.perf_counter() - begun - launched, 7)
        run.synchronize()
    return seconds


def copies(run: Any) -> list[dict[str, Any]]:
    """Bytes per second of copies to the device, from pageable and from pinned memory, and within the device."""
    rows = []
    for size in (1 << 16, 1 << 20) if run.cpu else (1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28):
        host, target = torch.ones(size, dtype=torch.uint8), torch.empty(size, dtype=torch.uint8, device=run.device)
        row: dict[str, Any] = {"bytes": size, "pageable": run.seconds(lambda h=host, t=target: t.copy_(h), 5)["median"]}
        row["within the device"] = run.seconds(lambda t=target: t.clone(), 5)["median"]
        if not run.cpu:
            pinned = host.pin_memory()
            row["pinned"] = run.seconds(lambda p=pinned, t=target: t.copy_(p, non_blocking=True), 5)["median"]
        rows.append(row)
    return rows


def roofline(run: Any) -> list[dict[str, Any]]:
    """FLOPs and bytes of some calls, counted by hand, and their seconds: points of a roofline.

    The bytes are those of the memory: each operand is read once, also if it is passed twice, and the result is written once."""
    width = 256 if run.cpu else 8192
    rows = []
    for name, m, k, n in (("head", 32, 64, 600), ("vector", 1, width, width), ("square", width, width, width)):
        a, b = random(run, m, k), random(run, k, n)
        counted = {"flops": 2 * m * k * n, "bytes": a.itemsize * (m * k + k * n + m * n)}
        rows.append({"call": f"{name}: ({m}, {k}) @ ({k}, {n})", **counted, **run.seconds(lambda a=a, b=b: a @ b)})
    x = random(run, width * width)
    counted = {"flops": x.numel(), "bytes": 2 * x.numel() * x.itemsize}
    rows.append({"call": f"x + x, {x.numel()} elements", **counted, **run.seconds(lambda: x + x)})
    return rows


SECTIONS = [
    ("products", products),
    ("which calls wait", waits),
    ("copies", copies),
    ("points of a roofline", roofline),
]
