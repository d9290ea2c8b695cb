"""The accuracy of the quantised model in lab 10b's written question, after each of its four remedies, and by class at the end.

A class of twelve is a pattern in a noisy image and the largest of three counts. The model is trained in float32. Then two changes
keep what it computes: the channels of the convolution get ranges between 1 and 100, which the batch norm undoes, and one number of
the head, for a feature that is always 0, becomes 50 times as large as the largest other one.
"""

from __future__ import annotations

import argparse
import logging
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.ao.quantization import QConfigMapping, default_per_channel_qconfig, default_qconfig
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

warnings.simplefilter("ignore")  # `torch.ao.quantization` is deprecated
logging.getLogger("torch.ao.quantization").setLevel(logging.ERROR)
PATTERNS, COUNTS, CHANNELS = 4, 3, 8
DEAD, UNIT = 7, 10_000  # the channel that is always 0, and the unit of the scaled counts

Data = tuple[Tensor, Tensor, Tensor]


class Model(nn.Module):
    def __init__(self, scaled: bool, auxiliary: bool) -> None:
        super().__init__()
        self.conv, self.bn, self.aux = nn.Conv2d(1, CHANNELS, 3), nn.BatchNorm2d(CHANNELS), nn.Conv2d(CHANNELS, 1, 1)
        self.head = nn.Linear(CHANNELS * 36 + COUNTS, PATTERNS * COUNTS)
        self.scaled, self.auxiliary = scaled, auxiliary

    def forward(self, x: Tensor, counts: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        y = self.conv(x)
        h = F.relu(self.bn(y))
        answer = self.head(torch.cat([torch.flatten(h, 1), counts / UNIT if self.scaled else counts], 1))
        return (answer, self.aux(y)) if self.auxiliary else answer


def draw(count: int, patterns: Tensor, generator: torch.Generator) -> Data:
    kind = torch.randint(0, PATTERNS, (count,), generator=generator)
    largest = torch.randint(0, COUNTS, (count,), generator=generator)
    x = patterns[kind] + 1.5 * torch.randn(count, 1, 8, 8, generator=generator)
    counts = 7_000 * torch.rand(count, COUNTS, generator=generator)
    counts[torch.arange(count), largest] = 8_000 + 12_000 * torch.rand(count, generator=generator)
    return x, counts, kind * COUNTS + largest


def trained(data: Data, steps: int, generator: torch.Generator) -> Model:
    x, counts, target = data
    model = Model(scaled=True, auxiliary=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        rows = torch.randint(0, len(x), (128,), generator=generator)
        answer, drawn = model(x[rows], counts[rows])
        loss = F.cross_entropy(answer, target[rows]) + 0.1 * (drawn - x[rows, :, 1:-1, 1:-1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.bn.weight[DEAD], model.bn.bias[DEAD] = 0, -1
    return model.eval()


@torch.no_grad()
def make_hard(model: Model) -> None:
    """Change numbers, and not what the model computes."""
    factor = 100 ** torch.linspace(0, 1, CHANNELS)
    model.conv.weight *= factor[:, None, None, None]
    model.conv.bias *= factor
    model.bn.running_mean *= factor
    model.bn.running_var *= factor**2
    model.head.weight[5, 36 * DEAD] = 50 * model.head.weight.abs().max()


@torch.no_grad()
def accuracy(model: nn.Module, data: Data) -> float:
    x, counts, target = data
    answer = model(x, counts)
    answer = answer[0] if isinstance(answer, tuple) else answer
    return (answer.argmax(1) == target).float().mean().item()


def quantised(model: Model, data: Data, real: bool, scaled: bool, channels: bool, auxiliary: bool) -> nn.Module:
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if not scaled:
        state["head.weight"][:, -COUNTS:] /= UNIT
    copy = Model(scaled, auxiliary).eval()
    copy.load_state_dict(state)
    mapping = QConfigMapping().set_global(default_per_channel_qconfig if channels else default_qconfig)
    examples = tuple(tensor if real else torch.zeros_like(tensor) for tensor in data[:2])
    prepared = prepare_fx(copy, mapping, examples)
    with torch.no_grad():
        prepared(*examples)
    return convert_fx(prepared)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000, help="of training")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(PATTERNS, 1, 8, 8, generator=generator)
    training, test = (draw(count, patterns, generator) for count in (4000, 2000))
    model = trained(training, steps, generator)
    make_hard(model)
    print(f"{'float32':40}{accuracy(model, test):.1%}")
    remedies = "calibrated with real data", "counts scaled before cat", "a scale for each row", "no auxiliary loss"
    for done, name in enumerate(("as in the question", *remedies)):
        copy = quantised(model, training, done > 0, done > 1, done > 2, done < 4)
        print(f"{name:40}{accuracy(copy, test):.1%}")
    for name, rows in ("the class with the large number", test[2] == 5), ("the other classes", test[2] != 5):
        print(f"{name:40}{accuracy(copy, tuple(tensor[rows] for tensor in test)):.1%}")


if __name__ == "__main__":
    main()
