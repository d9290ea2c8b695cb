"""The framework that an example runs on, by `--framework`, and what is shown at the end.

An example is written as for PyTorch: `torch`, `nn` and `F` are PyTorch's modules or rushlight's. With the same seed both draw the
same numbers, so the same losses are printed.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NAME = Path(sys.argv[0]).stem
parser = argparse.ArgumentParser()
parser.add_argument("--framework", choices=["torch", "rushlight"], default="rushlight")
parser.add_argument("--steps", type=int, default=400, help="of the optimizer")
parser.add_argument("--picture", type=Path, help="where the picture at the end goes; next to the script, unless given")
arguments = parser.parse_args()

torch = import_module(arguments.framework)
nn, F = torch.nn, torch.nn.functional
checkpoint = import_module(f"{arguments.framework}.utils.checkpoint").checkpoint
DataLoader, TensorDataset = torch.utils.data.DataLoader, torch.utils.data.TensorDataset
torch.manual_seed(0)


TIMES: list[float] = []


def steps(count: int = arguments.steps) -> Iterator[int]:
    """The numbers of the steps. Each step is timed."""
    for step in range(count):
        begin = time.perf_counter()
        yield step
        TIMES.append(time.perf_counter() - begin)


def batches(loader: Iterable) -> Iterator[Any]:
    """One batch for each step: the loader's, epoch after epoch."""
    for _, batch in zip(steps(), itertools.chain.from_iterable(itertools.repeat(loader))):
        yield batch


def finish(losses: list[float], draw: Callable[[Any], None], title: str) -> None:
    """Print the losses and the time of a step, and save a picture of the losses, with the example's own drawing beside it."""
    for step, loss in enumerate(losses):
        print(f"step {step:4}  loss {loss:.6f}")
    print(f"a step takes {1000 * statistics.median(TIMES):.3f} ms, the median")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot(losses, color="tab:blue")
    left.set(xlabel="step", ylabel="loss", title=f"{NAME}.py on {arguments.framework}")
    right.set_title(title)
    draw(right)
    path = arguments.picture or Path(__file__).with_name(f"{NAME}-{arguments.framework}.png")
    figure.savefig(path, dpi=120)
    print(f"picture: {path}")
