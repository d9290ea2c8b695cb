"""The MiniGPT: rushlight eager, `rl.compile`, torch eager and `torch.compile`, in alternation, in tokens a second.

float32, one thread each. A step of training is the forward pass, cross-entropy, the backward pass, clipping and AdamW
(`rushlight/course/training.py`), on 16 rows of 40 tokens. Generation chooses each next token greedily, for one text, with a cache
of keys and values, and without: then every token is computed again. Of `torch.compile` several forms are measured, and the fastest
is named. Printed are medians, and the time of rushlight divided by torch's.
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
from threadpoolctl import threadpool_info  # noqa: E402

import rushlight as rl  # noqa: E402
from rushlight.course import gpt, sampling, training  # noqa: E402

ROWS, LENGTH, TOKENS = 16, 40, 600
NEW = 48  # tokens that generation adds to a prompt
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

# ------------------------------------------------------------------------------------------------------------
# The programs, for either framework


def model_of(xp) -> Any:
    """The same model in both frameworks."""
    torch.manual_seed(0)
    state = {name: tensor.detach().numpy().copy() for name, tensor in gpt.gpt(torch).state_dict().items()}
    model = gpt.gpt(xp)
    model.load_state_dict({name: xp.from_numpy(array) for name, array in state.items()})
    return model


def batches(steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(0)
    return [tuple(random.integers(0, TOKENS, (2, ROWS, LENGTH))) for _ in range(steps)]


def trainer(xp, steps: int, compiled: Callable | None = None) -> Callable[[], float]:
    """A function that trains one step and returns the loss. `compiled` makes what is called in the place of the model."""
    model = model_of(xp)
    forward = compiled(model).__call__ if compiled else model
    losses = training.train(xp, model, batches(steps), forward=forward)
    return lambda: next(losses).loss


def generator(xp, cached: bool, compiled: Callable | None = None) -> Callable[[], list[int]]:
    """A function that generates the tokens after a prompt."""
    model = model_of(xp).eval()
    forward = compiled(model) if compiled else model
    prompt = [*range(8)]

    def generate() -> list[int]:
        ids, cache = list(prompt), sampling.new_cache(model, 1) if cached else None
        with xp.no_grad():
            new = ids
            for _ in range(NEW):
                scores = forward(xp.tensor([new]), cache) if cached else forward(xp.tensor([ids]))
                new = [int(scores[0, -1].argmax())]
                ids += new
        return ids

    return generate


# ------------------------------------------------------------------------------------------------------------
# The forms in which torch compiles them


def compile_by_torch(mode: str | None = None) -> Callable:
    return lambda model: torch.compile(model, mode=mode, dynamic=False)


TORCH_FORMS = {"default": compile_by_torch(), "max-autotune": compile_by_torch("max-autotune-no-cudagraphs")}

# ------------------------------------------------------------------------------------------------------------
# Measuring


def alternate(programs: dict[str, Callable[[], Any]], rounds: int, clock: Callable) -> dict[str, float]:
    """Medians, in seconds. All programs must give the same: losses up to 1e-4, and tokens exactly."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    warm = min(8, rounds)
    for number in range(rounds + warm):
        results = []
        for name, program in programs.items():
            start = clock()
            results.append(program())
            if number >= warm:
                taken[name].append(clock() - start)
        for name, result in zip(programs, results):
            np.testing.assert_allclose(result, results[0], rtol=0, atol=1e-4, err_msg=name)
    return {name: statistics.median(times) for name, times in taken.items()}


def rows(rounds: int) -> dict[str, tuple[int, int, dict[str, Callable]]]:
    """By name: the tokens of a call, the rounds, and the programs."""
    steps = rounds + 10
    train = {"rushlight": lambda: trainer(rl, steps), "rl.compile": lambda: trainer(rl, steps, rl.compile)}
    train |= {"torch": lambda: trainer(torch, steps)}
    train |= {form: (lambda compile=compile: trainer(torch, steps, compile)) for form, compile in TORCH_FORMS.items()}
    measured = {"training": (ROWS * LENGTH, rounds, train)}
    for name, cached in (("generation, cache", True), ("generation", False)):
        programs = {"rushlight": lambda cached=cached: generator(rl, cached)}
        measured[name] = NEW, max(rounds // 4, 5), programs | {"torch": lambda cached=cached: generator(torch, cached)}
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", default="", help="rows whose names contain this")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: of the process, on a busy machine")
    parser.add_argument("--eager", action="store_true", help="without the forms of torch.compile, which take long")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    blas = [
        library for library in threadpool_info() if library["user_api"] == "blas"
    ]  # `OPENBLAS_CORETYPE` chooses its kernels
    core = ", ".join(
        f"{library['internal_api']} {library['version']} for {library['architecture']}" for library in blas
    )
    print(f"torch {torch.__version__}, numpy {np.__version__} ({core}), {rl.inductor.codecache.compiler_version()}")
    print(
        f"Python {platform.python_version()}, {platform.machine()}; one thread; {arguments.rounds} rounds; {arguments.clock}\n"
    )
    print(f"{'':20}{'form':14}{'tokens/s':>10}{'ms':>9}{'/ torch':>9}{'/ its best':>11}")
    for name, (tokens, rounds, makers) in rows(arguments.rounds).items():
        if arguments.only not in name:
            continue
        forms = [form for form in TORCH_FORMS if form in makers and not arguments.eager]
        programs = {form: make() for form, make in makers.items() if form in forms or form not in TORCH_FORMS}
        times = alternate(programs, rounds, CLOCKS[arguments.clock])
        best = min((times[form] for form in forms), default=float("nan"))
        for form, taken in times.items():
            print(
                f"{name:20}{form:14}{tokens / taken:10,.0f}{taken * 1e3:9.2f}{taken / times['torch']:9.2f}{taken / best:11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
