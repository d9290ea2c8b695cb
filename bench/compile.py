"""Compiled programs: rushlight eager, `rl.compile`, torch eager and `torch.compile`, in alternation.

float32, one thread each. Of `torch.compile` several forms are measured, and the fastest is named: the default mode and
`max-autotune` (`reduce-overhead` is about CUDA graphs), and for the training step of the head, `Linear(64, 600)` on a batch of 32:
the loss alone compiled ("loss"), the whole step with `torch.func.grad_and_value` ("func"), and the whole step as `rl.compile`
takes it, with `trace_autograd_ops` ("step"). Printed are medians, ratios of medians, the number of kernels in the generated text
(`torch._inductor.metrics` counts more: in C++ also loops and tails), and the time of the first call, in seconds:
when nothing is in the cache on disk, and when all is.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = CACHE.name

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch._inductor  # noqa: E402
from threadpoolctl import threadpool_info  # noqa: E402
from torch._inductor.utils import clear_caches, run_and_get_code  # noqa: E402

import rushlight as rl  # noqa: E402

BATCH, FEATURES, TOKENS = 32, 64, 600
Program = Callable[..., Any]

# ------------------------------------------------------------------------------------------------------------
# The programs, for either framework


def softmax_head(xp) -> tuple[Program, list]:
    def program(x, weight, bias):
        return xp.softmax(xp.relu(xp.nn.functional.linear(x, weight, bias)) * 2, -1)

    return program, numbers(xp, (BATCH, FEATURES), (TOKENS, FEATURES), (TOKENS,))


def layernorm_gelu(xp) -> tuple[Program, list]:
    def program(x, weight, bias):
        return xp.nn.functional.gelu(xp.nn.functional.layer_norm(x, (TOKENS,), weight, bias))

    return program, numbers(xp, (BATCH, TOKENS), (TOKENS,), (TOKENS,))


def chain(power: int) -> Callable:
    def chain_of_this_length(xp) -> tuple[Program, list]:
        def program(x):
            return ((x * 2 + 1).sigmoid() * x - 0.5).relu()

        return program, numbers(xp, (1 << power,))

    return chain_of_this_length


def training_step(loss_name: str) -> Callable:
    return lambda xp: (step_of(xp, losses(xp)[loss_name]), parameters_and_batch(xp))


def step_of(xp, loss_of: Program) -> Program:
    def program(weight, bias, x, target):
        loss = loss_of(weight, bias, x, target)
        loss.backward()
        with xp.no_grad():
            weight.add_(weight.grad, alpha=-0.01)
            bias.add_(bias.grad, alpha=-0.01)
        weight.grad = None
        bias.grad = None
        return loss.detach()

    return program


def losses(xp) -> dict[str, Program]:
    linear, cross_entropy = xp.nn.functional.linear, xp.nn.functional.cross_entropy
    return {
        "sum": lambda weight, bias, x, target: linear(x, weight, bias).sum(),
        "cross-entropy": lambda weight, bias, x, target: cross_entropy(linear(x, weight, bias), target),
    }


def numbers(xp, *shapes: tuple[int, ...]) -> list:
    random = np.random.default_rng(0)
    return [xp.from_numpy(random.standard_normal(shape).astype(np.float32) / 4) for shape in shapes]


def parameters_and_batch(xp, requires_grad: bool = True) -> list:
    weight, bias, x = numbers(xp, (TOKENS, FEATURES), (TOKENS,), (BATCH, FEATURES))
    target = xp.from_numpy(np.random.default_rng(1).integers(0, TOKENS, BATCH))
    return [weight.requires_grad_(requires_grad), bias.requires_grad_(requires_grad), x, target]


# ------------------------------------------------------------------------------------------------------------
# The forms in which torch compiles them


def forms(make: Callable) -> dict[str, Callable[[], tuple[Program, list]]]:
    def mode(name: str | None) -> Callable[[], tuple[Program, list]]:
        program, arguments = make(torch)
        return lambda: (torch.compile(program, mode=name, fullgraph=True, dynamic=False), arguments)

    return {"default": mode(None), "max-autotune": mode("max-autotune-no-cudagraphs")}


def forms_of_step(loss_name: str) -> dict[str, Callable[[], tuple[Program, list]]]:
    loss_of = losses(torch)[loss_name]

    def loss_alone() -> tuple[Program, list]:
        return step_of(torch, torch.compile(loss_of, fullgraph=True, dynamic=False)), parameters_and_batch(torch)

    def func() -> tuple[Program, list]:
        def program(weight, bias, x, target):
            grads, loss = torch.func.grad_and_value(loss_of, (0, 1))(weight, bias, x, target)
            weight.add_(grads[0], alpha=-0.01)
            bias.add_(grads[1], alpha=-0.01)
            return loss

        return torch.compile(program, fullgraph=True, dynamic=False), parameters_and_batch(torch, False)

    def step() -> tuple[Program, list]:
        program, arguments = training_step(loss_name)(torch)
        return torch.compile(program, fullgraph=True, dynamic=False), arguments

    return {"loss": loss_alone, "func": func, "step": step}


# ------------------------------------------------------------------------------------------------------------
# Measuring


def compiled_by_rushlight(make: Callable) -> tuple[Callable[[], Any], int, float, float]:
    """Return the function to run, the number of kernels, and the time of the first call, cold and warm."""
    program, arguments = make(rl)
    taken = []
    for _ in range(2):
        rl.dynamo.reset()
        rl.inductor.metrics.reset()
        compiled = rl.compile(program)
        start = time.perf_counter()
        compiled(*arguments)
        taken.append(time.perf_counter() - start)
    theirs, numbers_of_theirs = make(torch)
    mine, wanted = compiled(*make(rl)[1]), theirs(*numbers_of_theirs)
    np.testing.assert_allclose(mine.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)
    return lambda: compiled(*arguments), rl.inductor.metrics.generated_kernel_count, *taken


def compiled_by_torch(form: Callable) -> tuple[Callable[[], Any], int, float, float]:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=CACHE.name)
    taken, kernels = [], 0
    for _ in range(2):
        torch._dynamo.reset()
        clear_caches()
        program, arguments = form()
        start = time.perf_counter()
        _, texts = run_and_get_code(program, *arguments)
        taken.append(time.perf_counter() - start)
        kernels = kernels or sum(text.count(" = async_compile.") for text in texts)
    return lambda: program(*arguments), kernels, *taken


def alternate(programs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Medians, in microseconds."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 20):
        for name, program in programs.items():
            start = time.perf_counter()
            program()
            if number >= 20:
                taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) * 1e6 for name, times in taken.items()}


def row(name: str, make: Callable, torch_forms: dict[str, Callable], rounds: int) -> str:
    eager, their_eager = (make(xp) for xp in (rl, torch))
    ours, kernels, cold, warm = compiled_by_rushlight(make)
    theirs = {form: compiled_by_torch(compile) for form, compile in torch_forms.items()}
    programs = {"rushlight": lambda: eager[0](*eager[1]), "rl.compile": ours}
    programs |= {"torch": lambda: their_eager[0](*their_eager[1])} | {form: run for form, (run, *_) in theirs.items()}
    times = alternate(programs, rounds)
    best = min(theirs, key=lambda form: times[form])
    mine, torch_eager, compiled = times["rl.compile"], times["torch"], times[best]
    _, their_kernels, their_cold, their_warm = theirs[best]
    others = ", ".join(f"{form} {times[form]:.0f}" for form in theirs if form != best)
    return (
        f"{name:24}{times['rushlight']:9.1f}{mine:9.1f}{torch_eager:9.1f}{compiled:9.1f} {best:13}"
        f"{mine / torch_eager:6.2f}{mine / compiled:6.2f}{kernels:5}{their_kernels:5}"
        f"{cold:7.2f}{warm:6.2f}{their_cold:7.1f}{their_warm:6.2f}  {others}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--only", default="", help="rows whose names contain this")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch._dynamo.config.trace_autograd_ops = True
    rows = {"softmax(relu(linear)*2)": (softmax_head, forms(softmax_head))}
    rows |= {"layernorm-gelu": (layernorm_gelu, forms(layernorm_gelu))}
    rows |= {f"6 pointwise, 2^{power}": (chain(power), forms(chain(power))) for power in (12, 16, 20)}
    rows |= {f"step, {loss}": (training_step(loss), forms_of_step(loss)) for loss in ("sum", "cross-entropy")}
    blas = [
        library for library in threadpool_info() if library["user_api"] == "blas"
    ]  # `OPENBLAS_CORETYPE` chooses its kernels
    core = ", ".join(
        f"{library['internal_api']} {library['version']} for {library['architecture']}" for library in blas
    )
    print(f"torch {torch.__version__}, numpy {np.__version__} ({core}), {rl.inductor.codecache.compiler_version()}")
    print(f"Python {platform.python_version()}, {platform.machine()}; one thread; {arguments.rounds} rounds; us\n")
    print(
        f"{'':24}{'eager':>9}{'':>9}{'torch':>9}{'torch.':>9} {'its fastest':13}{'against torch':>12}{'kernels':>10}",
        end="",
    )
    print(f"{'compile, s':>13}{'torch.compile':>13}  other forms")
    print(
        f"{'':24}{'rl':>9}{'compiled':>9}{'eager':>9}{'compile':>9} {'form':13}{'eager':>6}{'comp.':>6}{'rl':>5}{'t.':>5}",
        end="",
    )
    print(f"{'cold':>7}{'warm':>6}{'cold':>7}{'warm':>6}")
    for name, (make, torch_forms) in rows.items():
        if arguments.only in name:
            print(
                row(name, make, torch_forms, arguments.rounds if "2^20" not in name else -(-arguments.rounds // 5)),
                flush=True,
            )


if __name__ == "__main__":
    main()
