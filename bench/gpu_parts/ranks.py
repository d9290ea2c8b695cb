"""Part 7: the schemes of phase 09 on CUDA tensors.

Data parallel, fully sharded, tensor parallel and pipelined training: two to four ranks over gloo on the one device, one rank over
NCCL, and two over NCCL where there are two GPUs; which collectives each backend has for CUDA tensors; and the kernels of a step.
"""

from __future__ import annotations

import datetime
import multiprocessing
import multiprocessing.connection
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn import functional as F

from gpu_parts import programs
from gpu_parts.recording import without_paths

TITLE = "distributed training: gloo and NCCL"
LIMIT = 75
SECONDS = 20  # of one scheme
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


def collectives(place: torch.device) -> dict[str, str]:
    """Each collective on tensors of the device: whether it works, or what PyTorch says."""
    rank, ranks = dist.get_rank(), dist.get_world_size()

    def ones(*sizes: int) -> torch.Tensor:
        return torch.ones(*sizes, device=place) * (rank + 1)

    calls: dict[str, Callable[[], Any]] = {
        "all_reduce": lambda: dist.all_reduce(ones(8)),
        "broadcast": lambda: dist.broadcast(ones(8), 0),
        "reduce": lambda: dist.reduce(ones(8), 0),
        "all_gather": lambda: dist.all_gather([ones(8) for _ in range(ranks)], ones(8)),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(ones(8 * ranks), ones(8)),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(ones(8), ones(8 * ranks)),
        "all_to_all_single": lambda: dist.all_to_all_single(ones(8 * ranks), ones(8 * ranks)),
        "scatter": lambda: dist.scatter(ones(8), [ones(8) for _ in range(ranks)] if rank == 0 else None),
        "gather": lambda: dist.gather(ones(8), [ones(8) for _ in range(ranks)] if rank == 0 else None),
        "barrier": lambda: dist.barrier(),
        "send and recv": lambda: exchange(ones(8)),
    }
    backends = {}
    for name, call in calls.items():
        try:
            call()
            if place.type == "cuda":
                torch.cuda.synchronize()
            backends[name] = "works"
        except Exception as error:
            backends[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return backends


def exchange(tensor: torch.Tensor) -> None:
    """From each rank to the next; the even ranks send first."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if ranks == 1:
        return
    to, source, received = (rank + 1) % ranks, (rank - 1) % ranks, torch.empty_like(tensor)
    first = [lambda: dist.send(tensor, to), lambda: dist.recv(received, source)]
    for call in first if rank % 2 == 0 else first[::-1]:
        call()


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 600))


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    drawn = torch.Generator().manual_seed(1)
    return [(torch.randn(32, 64, generator=drawn), torch.randint(600, (32,), generator=drawn)) for _ in range(STEPS)]


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


def pp(place: torch.device) -> dict[str, Any]:
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(ranks - 1)] + [nn.Linear(64, 600)]
    layers = [layer.to(place) for layer in layers]
    stage = PipelineStage(layers[rank], rank, ranks, place)
    losses: list[torch.Tensor] = []
    schedule = Schedule1F1B(stage, 4, loss_fn=F.cross_entropy)
    x, y = batches()[0]
    first = (x.to(place),) if rank == 0 else ()
    last = {"target": y.to(place), "losses": losses} if rank == ranks - 1 else {}
    begun = time.perf_counter()
    schedule.step(*first, **last)
    mine = [loss.item() for loss in losses]
    whole = F.cross_entropy(nn.Sequential(*layers)(x.to(place)), y.to(place)).item()
    return {"losses of micro-batches": mine, "loss of one process": whole, "seconds": time.perf_counter() - begun}


SCHEMES = {"collectives": collectives, "DDP": ddp, "FSDP": fsdp, "TP": tp, "PP": pp}

# Here ------------------------------------------------------------------------------------------------------------------


def start(run: Any, scheme: str, ranks: int, backend: str) -> list[Any]:
    """Run a scheme on new processes. Returns what each rank returned. Raises with the tracebacks of those that failed."""
    context = multiprocessing.get_context("forkserver")  # has imported torch, and has not touched the device
    context.set_forkserver_preload(["torch", "torch.distributed", "gpu_parts.ranks"])
    until = time.monotonic() + min(SECONDS * (6 if run.cpu else 1), max(5.0, run.left() - 3) if not run.cpu else 1e9)
    processes, results, waiting = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for rank in range(ranks):
                here, there = context.Pipe()
                arguments = scheme, rank, ranks, backend, run.device.type, f"{folder}/store", there
                processes.append(context.Process(target=on_rank, args=arguments, daemon=True))
                processes[-1].start()
                there.close()
                waiting[here] = rank
            while waiting and (left := until - time.monotonic()) > 0:
                for pipe in multiprocessing.connection.wait([*waiting], left):
                    rank = waiting.pop(pipe)
                    try:
                        results[rank] = pipe.recv()
                    except EOFError:
                        results[rank] = "failed", "the process died"
                if any(state == "failed" for state, _ in results.values()):
                    until = min(until, time.monotonic() + 3)  # the others wait for a rank that has failed
        finally:
            for process in processes:
                process.kill()
    missing = [f"rank {rank} did not finish" for rank in sorted(waiting.values())]
    wrong = [f"rank {rank}: {text}" for rank, (state, text) in sorted(results.items()) if state == "failed"]
    if wrong or missing:
        raise RuntimeError(without_paths("\n".join([*wrong, *missing])))
    return [results[rank][1] for rank in range(ranks)]


def section(scheme: str, ranks: int, backend: str) -> Callable[[Any], Any]:
    def run_scheme(run: Any) -> Any:
        if backend == "nccl":
            run.need_gpus(ranks)
        return {"ranks": ranks, "backend": backend, "results": start(run, scheme, ranks, backend)}

    return run_scheme


SECTIONS = [
    (f"{scheme}, {ranks} over {backend}", section(scheme, ranks, backend))
    for scheme, ranks, backend in [
        ("collectives", 2, "gloo"),
        ("DDP", 2, "gloo"),
        ("FSDP", 2, "gloo"),
        ("TP", 2, "gloo"),
        ("PP", 2, "gloo"),
        ("collectives", 1, "nccl"),
        ("DDP", 1, "nccl"),
        ("FSDP", 1, "nccl"),
        ("TP", 1, "nccl"),
        ("DDP", 4, "gloo"),
        ("PP", 4, "gloo"),
        ("collectives", 2, "nccl"),
        ("DDP", 2, "nccl"),
        ("FSDP", 2, "nccl"),
        ("TP", 2, "nccl"),
        ("PP", 2, "nccl"),
    ]
]
