"""Part 7: the schemes of phase 09 on CUDA tensors.

Data parallel, fully sharded, tensor parallel and pipelined training: two to four ranks over gloo on the one device, one rank over
NCCL, and two over NCCL where there are two GPUs; the kernels of a step; which collectives each backend has for CUDA tensors, each
in ranks of its own, because one that is missing may end the process; the course's own `run_ranks`; and the threads of a rank that
waits, because `run_ranks` reads their context switches to find a deadlock.
"""

from __future__ import annotations

import datetime
import functools
import multiprocessing
import multiprocessing.connection
import os
import re
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn import functional as F

from bench.gpu_parts import programs
from bench.gpu_parts.recording import describe_exit, without_paths

TITLE = "distributed training: gloo and NCCL"
LIMIT = 150
SECONDS = 40  # of one scheme
WORKERS = 5
GROUPS = 4  # of ranks that are asked for a collective at once
STEPS = 4


# On a rank -------------------------------------------------------------------------------------------------------------


def on_rank(scheme: str, rank: int, ranks: int, backend: str, kind: str, store: str, pipe: Any) -> None:
    """One rank: its process group, its device, the scheme; its result or its traceback goes into the pipe."""
    try:
        number = rank % torch.cuda.device_count() if kind == "cuda" else 0
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(number), WORLD_SIZE=str(ranks))
        place = torch.device("cuda", number) if kind == "cuda" else torch.device("cpu")
        if kind == "cuda":
            torch.cuda.set_device(place)
        torch.set_num_threads(1)
        limit = datetime.timedelta(seconds=SECONDS)
        dist.init_process_group(backend, store=dist.FileStore(store, ranks), rank=rank, world_size=ranks, timeout=limit)
        result = SCHEMES[scheme](place)
        dist.destroy_process_group()
        pipe.send(("done", result))
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))


def calls(place: torch.device) -> dict[str, Callable[[], Any]]:
    """Each collective on tensors of a device. It returns this rank's result, or nothing where only other ranks have one."""
    rank, ranks = dist.get_rank(), dist.get_world_size()

    def numbers(count: int = 2) -> torch.Tensor:
        return torch.arange(count, device=place, dtype=torch.float32) + 10 * rank

    def into(call: Callable[..., Any], result: torch.Tensor, *arguments: Any, mine: bool = True) -> torch.Tensor | None:
        call(result, *arguments)
        return result if mine else None

    def gathered(call: Callable[..., Any], *first: Any, mine: bool = True) -> torch.Tensor | None:
        parts = [torch.empty(2, device=place) for _ in range(ranks)] if mine else None
        call(*first, parts) if first else call(parts, numbers())
        return torch.cat(parts) if mine else None

    def exchange(how: Callable[[torch.Tensor, torch.Tensor, int, int], Any], tensor: torch.Tensor) -> torch.Tensor:
        received = torch.empty_like(tensor)
        how(tensor, received, (rank + 1) % ranks, (rank - 1) % ranks)
        return received.to(place)

    def blocking(tensor: torch.Tensor, received: torch.Tensor, to: int, source: int) -> None:
        """The even ranks send first."""
        order = [lambda: dist.send(tensor, to), lambda: dist.recv(received, source)]
        for call in order if rank % 2 == 0 else order[::-1]:
            call()

    def unblocking(tensor: torch.Tensor, received: torch.Tensor, to: int, source: int) -> None:
        for work in [dist.isend(tensor, to), dist.irecv(received, source)]:
            work.wait()

    def batched(tensor: torch.Tensor, received: torch.Tensor, to: int, source: int) -> None:
        operations = [dist.P2POp(dist.isend, tensor, to), dist.P2POp(dist.irecv, received, source)]
        for work in dist.batch_isend_irecv(operations):
            work.wait()

    def empty(count: int = 2) -> torch.Tensor:
        return torch.empty(count, device=place)

    parts = [numbers() + 100 * i for i in range(ranks)] if rank == 0 else None
    exchanges = {"send, recv": blocking, "isend, irecv": unblocking, "batch_isend_irecv": batched}
    return {
        "all_reduce": lambda: into(dist.all_reduce, numbers()),
        "broadcast": lambda: into(dist.broadcast, numbers(), 0),
        "reduce": lambda: into(dist.reduce, numbers(), 0, mine=rank == 0),
        "all_gather": lambda: gathered(dist.all_gather),
        "all_gather_into_tensor": lambda: into(dist.all_gather_into_tensor, empty(2 * ranks), numbers()),
        "reduce_scatter_tensor": lambda: into(dist.reduce_scatter_tensor, empty(), numbers(2 * ranks)),
        "all_to_all_single": lambda: into(dist.all_to_all_single, empty(2 * ranks), numbers(2 * ranks)),
        "scatter": lambda: into(dist.scatter, empty(), parts, 0),
        "gather": lambda: gathered(dist.gather, numbers(), mine=rank == 0),
        "barrier": lambda: dist.barrier(),
        **{name: functools.partial(exchange, how, numbers()) for name, how in exchanges.items()},
        **{f"{name}, copies": functools.partial(exchange, how, numbers().cpu()) for name, how in exchanges.items()},
    }


COLLECTIVES = ["all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter_tensor",
               "all_to_all_single", "scatter", "gather", "barrier"]  # fmt: skip
SENDS = ["send, recv", "isend, irecv", "batch_isend_irecv"]  # to the next rank, so they need two
COPIES = [f"{name}, copies" for name in SENDS]  # of the tensors, on the host


def collective(name: str, place: torch.device) -> str:
    """Whether a collective gives on the device what it gives on the host, or what PyTorch says."""
    expected = calls(torch.device("cpu"))[name]()
    try:
        result = calls(place)[name]()
        if place.type == "cuda":
            torch.cuda.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: {last_line(str(error))}"  # NCCL's reason is in the last line
    same = expected is None or torch.equal(result.cpu(), expected)
    return "works" if same else f"gives {result.tolist()}, on the host {expected.tolist()}"


def waiting(place: torch.device) -> dict[str, Any]:
    """The threads of rank 0 while it waits, seen from rank 1: their states, and their context switches within a second."""
    rank, host = dist.get_rank(), torch.device("cpu")
    pids: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(pids, os.getpid())
    dist.all_reduce(torch.ones(1, device=place))
    seen = {}
    for name, wait in {
        "all_reduce on the device": lambda: dist.all_reduce(torch.ones(1, device=place)),
        "all_reduce on the host": lambda: dist.all_reduce(torch.ones(1, device=host)),
        "barrier": lambda: dist.barrier(),
        "synchronize behind a kernel": lambda: synchronize_late(place),
    }.items():
        if rank == 1:
            time.sleep(0.5)
            seen[name] = watch(pids[0])
        if rank == 0 or "synchronize" not in name:
            wait()
        dist.barrier()
    return seen


def synchronize_late(place: torch.device) -> None:
    if place.type == "cuda":
        torch.cuda._sleep(4_000_000_000)  # cycles of the device: two seconds or more
        torch.cuda.synchronize()


def watch(pid: int) -> list[dict[str, Any]]:
    """The threads of a process: name, state, and context switches within a second, voluntary and not."""

    def read() -> dict[str, tuple[str, str, int, int]]:
        threads = {}
        for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
            status = (task / "status").read_text()
            name, state, *counts = (
                re.search(rf"^{key}:\s*(.*)", status, re.MULTILINE)[1]
                for key in ("Name", "State", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
            )
            threads[task.name] = name, state[0], *map(int, counts)
        return threads

    before = read()
    time.sleep(1)
    after = read()
    return [
        {
            "name": name,
            "state": state,
            "voluntary": voluntary - before[task][2],
            "not voluntary": other - before[task][3],
        }
        for task, (name, state, voluntary, other) in after.items()
        if task in before
    ]


def model() -> nn.Sequential:
    torch.manual_seed(0)
    with torch.device("cpu"):  # `run_ranks` sets another default
        return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 600))


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    drawn = torch.Generator("cpu").manual_seed(1)
    with torch.device("cpu"):
        return [
            (torch.randn(32, 64, generator=drawn), torch.randint(600, (32,), generator=drawn)) for _ in range(STEPS)
        ]


def train(
    place: torch.device, wrapped: Callable[[torch.Tensor], torch.Tensor], parameters: Any, cut: bool
) -> dict[str, Any]:
    """Train on this rank's part of each batch, or on all of it: the mean losses, those of one process, the last step's kernels."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    optimizer, losses, seconds = torch.optim.SGD(parameters, lr=0.5), [], []
    profiler = None
    for number, (x, y) in enumerate(batches()):
        mine = slice(rank * 32 // ranks, (rank + 1) * 32 // ranks) if cut else slice(None)
        x, y = x[mine].to(place), y[mine].to(place)

        def step(x=x, y=y) -> torch.Tensor:
            loss = F.cross_entropy(wrapped(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss.detach()

        begun = time.perf_counter()
        if number == STEPS - 1 and rank == 0:
            with torch.profiler.profile(activities=programs.activities(place.type == "cpu")) as profiler:
                loss = step()
        else:
            loss = step()
        mean = loss / ranks if cut else loss
        if cut:
            dist.all_reduce(mean)
        losses.append(mean.item())
        seconds.append(round(time.perf_counter() - begun, 5))
    return {
        "losses": losses,
        "losses of one process": alone(place),
        "seconds": seconds,
        "kernels of the last step": programs.kernels(profiler) if profiler else None,
        "collectives of the last step": [name for name in programs.operators(profiler) if "c10d" in name]
        if profiler
        else None,
    }


def alone(place: torch.device) -> list[float]:
    layers, losses = model().to(place), []
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.5)
    for x, y in batches():
        loss = F.cross_entropy(layers(x.to(place)), y.to(place))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def ddp(place: torch.device) -> dict[str, Any]:
    wrapped = nn.parallel.DistributedDataParallel(model().to(place))
    return train(place, wrapped, wrapped.parameters(), cut=True)


def fsdp(place: torch.device) -> dict[str, Any]:
    from torch.distributed.fsdp import fully_shard

    mesh, layers = init_device_mesh(place.type, (dist.get_world_size(),)), model().to(place)
    for layer in (layers[0], layers[2]):
        fully_shard(layer, mesh=mesh)
    fully_shard(layers, mesh=mesh)
    return train(place, layers, layers.parameters(), cut=True)


def tp(place: torch.device) -> dict[str, Any]:
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh, layers = init_device_mesh(place.type, (dist.get_world_size(),)), model().to(place)
    parallelize_module(layers, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return train(place, layers, layers.parameters(), cut=False)


class ThroughHost(nn.Module):
    """A layer on the device whose input and result are on the host."""

    def __init__(self, layer: nn.Module, place: torch.device):
        super().__init__()
        self.layer, self.place = layer, place

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x.to(self.place)).cpu()


def pp(place: torch.device, through_host: bool = False) -> dict[str, Any]:
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(ranks - 1)] + [nn.Linear(64, 600)]
    layers = [layer.to(place) for layer in layers]
    sent = torch.device("cpu") if through_host else place
    stage = PipelineStage(ThroughHost(layers[rank], place) if through_host else layers[rank], rank, ranks, sent)
    losses: list[torch.Tensor] = []
    schedule = Schedule1F1B(stage, 4, loss_fn=F.cross_entropy)
    x, y = batches()[0]
    first = (x.to(sent),) if rank == 0 else ()
    last = {"target": y.to(sent), "losses": losses} if rank == ranks - 1 else {}
    begun = time.perf_counter()
    schedule.step(*first, **last)
    mine = [loss.item() for loss in losses]
    whole = F.cross_entropy(nn.Sequential(*layers)(x.to(place)), y.to(place)).item()
    return {"losses of micro-batches": mine, "loss of one process": whole, "seconds": time.perf_counter() - begun}


SCHEMES: dict[str, Callable[[torch.device], Any]] = {
    "DDP": ddp, "FSDP": fsdp, "TP": tp, "PP": pp, "PP through the host": functools.partial(pp, through_host=True),
    "waiting": waiting, **{name: functools.partial(collective, name) for name in [*COLLECTIVES, *SENDS, *COPIES]},
}  # fmt: skip

# Here ------------------------------------------------------------------------------------------------------------------

Outcome = tuple[str, Any]  # "done" and the result, or "failed" and why


def start(run: Any, scheme: str, ranks: int, backend: str) -> list[Outcome]:
    """Run a scheme on new processes. Returns the outcome of each rank: what it returned, its traceback, or how it died."""
    context = multiprocessing.get_context("forkserver")  # has imported torch, and has not touched the device
    context.set_forkserver_preload(["torch", "torch.distributed", "gpu_parts.ranks"])
    until = time.monotonic() + min(SECONDS * (6 if run.cpu else 1), max(5.0, run.left() - 6) if not run.cpu else 1e9)
    processes, outcomes, waits = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for rank in range(ranks):
                here, there = context.Pipe()
                arguments = scheme, rank, ranks, backend, run.device.type, f"{folder}/store", there
                processes.append(context.Process(target=on_rank, args=arguments, daemon=True))
                processes[-1].start()
                there.close()
                waits[here] = rank
            while waits and (left := until - time.monotonic()) > 0:
                for pipe in multiprocessing.connection.wait([*waits], left):
                    rank = waits.pop(pipe)
                    try:
                        outcomes[rank] = pipe.recv()
                    except EOFError:
                        processes[rank].join(5)
                        outcomes[rank] = "failed", f"the process died: {describe_exit(processes[rank].exitcode or 0)}"
                if any(state == "failed" for state, _ in outcomes.values()):
                    until = min(until, time.monotonic() + 3)  # the others wait for a rank that has failed
        finally:
            for process in processes:
                process.kill()
    outcomes |= {rank: ("failed", "did not finish") for rank in waits.values()}
    return [
        (state, without_paths(what) if state == "failed" else what) for _, (state, what) in sorted(outcomes.items())
    ]


def section(scheme: str, ranks: int, backend: str) -> Callable[[Any], Any]:
    def run_scheme(run: Any) -> Any:
        if backend == "nccl":
            run.need_gpus(ranks)
        return {"ranks": ranks, "backend": backend, "results": results(start(run, scheme, ranks, backend))}

    return run_scheme


def results(outcomes: list[Outcome]) -> list[Any]:
    if wrong := [f"rank {rank}: {what}" for rank, (state, what) in enumerate(outcomes) if state == "failed"]:
        raise RuntimeError("\n".join(wrong))
    return [result for _, result in outcomes]


def collectives(names: list[str], ranks: int, backend: str) -> Callable[[Any], Any]:
    """Each collective on ranks of its own: how it ended on each rank, whatever that is."""

    def ask(run: Any) -> Any:
        if "nccl" in backend:
            run.need_gpus(ranks)
        with ThreadPoolExecutor(1 if run.cpu else GROUPS) as executor:
            outcomes = dict(zip(names, executor.map(lambda name: start(run, name, ranks, backend), names)))
        said = {name: [last_line(what) for _, what in of_ranks] for name, of_ranks in outcomes.items()}
        works = [name for name, of_ranks in said.items() if {*of_ranks} == {"works"}]
        others = [
            f"{name}: {min(said[name], key=lambda what: 'died' not in what)[:100]}"
            for name in names
            if name not in works
        ]
        summary = "; ".join([f"{len(works)} of {len(names)} work", *others])
        return {"summary": summary, "ranks": ranks, "backend": backend, "outcomes": said}

    return ask


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def one_device(run: Any) -> Any:
    """What NCCL says to two ranks that share a device."""
    run.need_gpus(1)
    if torch.cuda.device_count() > 1:
        return {"summary": "there are more GPUs than one: not asked"}
    outcomes = start(run, "all_reduce", 2, "cpu:gloo,cuda:nccl")
    return {"summary": last_line(str(outcomes[0][1])), "outcomes": outcomes}


def threads(run: Any) -> Any:
    """The threads of a rank that waits, with CUDA: those whose context switches do not stand still."""
    of_waits = results(start(run, "waiting", 2, "gloo"))[1]
    moving = {
        name: sorted({thread["name"] for thread in seen if thread["voluntary"] or thread["not voluntary"]})
        for name, seen in of_waits.items()
    }
    return {"summary": f"threads with switches: {moving}", "switches in one second": of_waits}


# The course's own ranks


def on_rank_of_the_course() -> dict[str, Any]:
    from rushlight.distributed import device

    return {"device": str(device()), "backend": str(dist.get_backend_config()), **ddp(device())}


def wait_forever(on: str) -> None:
    """Each rank of two waits for the other: for a message, or in a collective that rank 1 does not begin."""
    from rushlight.distributed import device

    dist.all_reduce(torch.ones(1))
    if on == "device" and dist.get_rank() == 0:
        dist.all_reduce(torch.ones(1, device=device()))
    dist.recv(torch.empty(1, device="cpu"), 1 - dist.get_rank())


def by_run_ranks(run: Any) -> Any:
    """DDP by `run_ranks`, with 2 and 4 ranks."""
    from rushlight.distributed import run_ranks

    by_count = {}
    for ranks in (2, 4):
        begun = time.monotonic()
        results = run_ranks(on_rank_of_the_course, ranks, timeout=SECONDS)
        by_count[ranks] = {"seconds": round(time.monotonic() - begun, 1), "results": results}
    difference = max(
        abs(a - b)
        for of_count in by_count.values()
        for result in of_count["results"]
        for a, b in zip(result["losses"], result["losses of one process"])
    )
    where = {f"{result['device']} over {result['backend']}" for result in by_count[4]["results"]}
    return {"summary": f"{', '.join(sorted(where))}; losses differ by {difference:.1e} at most", "ranks": by_count}


def deadlocks(run: Any) -> Any:
    """What `run_ranks` says of ranks that wait forever, and after how many seconds."""
    from rushlight.distributed import RanksFailed, run_ranks

    said = {}
    for on in ("host", "device"):
        begun = time.monotonic()
        try:
            run_ranks(wait_forever, 2, on, timeout=15.0, still=2.0)
        except RanksFailed as error:
            said[on] = {"seconds": round(time.monotonic() - begun, 1), "error": without_paths(str(error))}
    first = [f"on the {on} after {one['seconds']} s: {one['error'].splitlines()[0]}" for on, one in said.items()]
    return {"summary": "; ".join(first), "waits": said}


def course(run: Any) -> Any:
    """The two sections share the process that forks ranks."""
    return {"DDP": (ranks := by_run_ranks(run)), "waits": (waits := deadlocks(run))} | {
        "summary": f"{ranks['summary']}; {waits['summary']}"
    }


BOTH = "cpu:gloo,cuda:nccl"
SECTIONS = [
    ("run_ranks, 2 and 4 ranks", course),
    ("collectives, 2 over gloo", collectives([*COLLECTIVES, *SENDS, *COPIES], 2, "gloo")),
    ("threads of a rank that waits", threads),
    *[
        (f"{scheme}, {ranks} over {backend}", section(scheme, ranks, backend))
        for scheme, ranks, backend in [
            ("DDP", 2, "gloo"),
            ("FSDP", 2, "gloo"),
            ("TP", 2, "gloo"),
            ("PP through the host", 2, "gloo"),
            ("DDP", 4, "gloo"),
            ("PP through the host", 4, "gloo"),
            ("DDP", 1, "nccl"),
            ("FSDP", 1, "nccl"),
            ("TP", 1, "nccl"),
        ]
    ],
    ("collectives, 1 over nccl", collectives(COLLECTIVES, 1, BOTH)),
    ("two ranks over nccl on one GPU", one_device),
    ("collectives, 2 over nccl", collectives([*COLLECTIVES, *SENDS], 2, BOTH)),
    *[(f"{scheme}, 2 over nccl", section(scheme, 2, "nccl")) for scheme in ("DDP", "FSDP", "TP", "PP")],
]
