"""The framework that an example runs on, by `--framework`, and what is shown at the end.

An example is written as for PyTorch: `torch`, `nn` and `F` are PyTorch's modules or rushlight's. With the same seed both draw the
same numbers, so the same losses are printed.
"""

import argparse
import itertools
import sys
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


def batches(loader: Iterable) -> Iterator[Any]:
    """One batch for each step: the loader's, epoch after epoch."""
    return itertools.islice(itertools.chain.from_iterable(itertools.repeat(loader)), arguments.steps)


def finish(losses: list[float], draw: Callable[[Any], None], title: str) -> None:
    """Print the losses and save a picture of them, with the example's own drawing beside it."""
    for step, loss in enumerate(losses):
        print(f"step {step:4}  loss {loss:.6f}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot(losses, color="tab:blue")
    left.set(xlabel="step", ylabel="loss", title=f"{NAME}.py on {arguments.framework}")
    right.set_title(title)
    draw(right)
    path = arguments.picture or Path(__file__).with_name(f"{NAME}-{arguments.framework}.png")
    figure.savefig(path, dpi=120)
    print(f"picture: {path}")
