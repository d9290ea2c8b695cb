"""Recordings of what PyTorch's sanitizer of streams prints about a training loop that prefetches, made without a GPU.

The sanitizer reads the order of launches, events and waits, and no times. So on the stand-in of `cuda.c` it finds what it finds on
a GPU. The memory of each batch is chosen by PyTorch's own allocator. Nothing is computed. By hand, as `record.py` says:

    cuda/bin/python bench/stand_in/record_races.py

It writes `phases/recorded/stand_in/races.json.gz`.
"""

from __future__ import annotations

import io
import linecache
import re
from contextlib import redirect_stderr
from typing import Any

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("races.json.gz")

LOOP = """\
side = torch.cuda.Stream()

def prefetch(batch):
    with torch.cuda.stream(side):
        return batch.to("cuda", non_blocking=True)

following = prefetch(batches[0])
for batch in batches[1:]:
    x, following = following, prefetch(batch)
    loss = (x * weight - 1).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NEXT = "    x, following = following, prefetch(batch)\n"
WAIT = "    torch.cuda.current_stream().wait_stream(side)\n"
KEEP = "    x.record_stream(torch.cuda.current_stream())\n"
LOOPS = {  # the wait comes before the next copy is queued: the step must wait for its own batch only
    "without a wait": LOOP,
    "with a wait": LOOP.replace(NEXT, WAIT + NEXT),
    "with a wait and record_stream": LOOP.replace(NEXT, WAIT + NEXT + KEEP),
}


def run(name: str) -> dict[str, Any]:
    """One loop in this process, with the sanitizer: what is printed, and the address of each batch that a step uses."""
    import torch
    import torch.cuda._sanitizer as sanitizer

    sanitizer.enable_cuda_sanitizer()
    weight = torch.ones(1024, device="cuda", requires_grad=True)
    names = {"torch": torch, "weight": weight, "optimizer": torch.optim.SGD([weight], lr=0.1)}
    names["batches"] = [torch.ones(256, 1024) for _ in range(7)]
    torch.cuda.synchronize()
    addresses, error, source = [], None, LOOPS[name]
    text = source.replace("    loss =", "    note(x.data_ptr()); loss =")  # lines keep their numbers
    linecache.cache["train.py"] = (len(source), None, source.splitlines(keepends=True), "train.py")
    with redirect_stderr(io.StringIO()) as printed:
        try:
            exec(compile(text, "train.py", "exec"), names | {"note": addresses.append})
        except sanitizer.CUDASanitizerErrors as found:
            error = f"{type(found).__name__}: {found}"
    return {
        "name": name,
        "source": source,
        "printed": own_frames(printed.getvalue()),
        "error": error,
        "addresses": addresses,
    }


def own_frames(text: str) -> str:
    """The text without the frames of stacks that are not of the program."""
    return re.sub(r'  File "(?!train\.py").*\n(?:    .*\n)*', "", text)


def record_all() -> dict[str, Any]:
    import torch  # noqa: F401 - once here, and not in every fork

    about = record.provenance("PyTorch's sanitizer of streams (torch/cuda/_sanitizer.py)", "record_races.py")
    return {"provenance": about, "loops": [record.apart(lambda name=name: run(name)) for name in LOOPS]}


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["loops"])
