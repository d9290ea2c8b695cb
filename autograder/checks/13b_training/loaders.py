"""Checks of lab 13b: the random numbers of the workers of a loader, on real torch."""

from __future__ import annotations

import random
import warnings
from contextlib import contextmanager

from ...engine.check import program
from ..cases import drawn, explained, listed, several

# Generators that two workers begin with in the same state -----------------------------------------------------------

GENERATORS = ["numpy", "random", "torch", "number", "function"]
NAMES = ["noise", "augment", "order"]
STARTS = {  # what a worker does first; "" is nothing
    "": lambda torch, np: None,
    "everything": lambda torch, np: lambda worker: (torch.manual_seed(3), np.random.seed(3), random.seed(3)),
    "numpy": lambda torch, np: lambda worker: np.random.seed(0),
    "random": lambda torch, np: lambda worker: random.seed(torch.initial_seed() // 2**40),
    "by worker": lambda torch, np: lambda worker: (np.random.seed(worker), random.seed(worker), torch.manual_seed(worker)),
    "halves": lambda torch, np: lambda worker: np.random.seed(worker // 2),
    "first apart": lambda torch, np: lambda worker: random.seed(min(worker, 1)),
    "every second": lambda torch, np: lambda worker: torch.manual_seed(worker % 2),
    "held": lambda torch, np: lambda worker: _seed_held(torch, np, worker),
    "held alike": lambda torch, np: lambda worker: _seed_held(torch, np, 5),
    "one seed": lambda torch, np: lambda worker: _seed_and_draw(torch, np, worker),
    "alike at first": lambda torch, np: lambda worker: _seed_alike(torch, np, worker),
    "alike in torch.rand": lambda torch, np: lambda worker: torch.manual_seed((4889, 5989)[worker % 2]),
    "one keeps a number": lambda torch, np: lambda worker: _keep_numbers(torch, np, worker),
    "made there": lambda torch, np: lambda worker: _hold(torch, "made", np.random.default_rng(5)),
}  # fmt: skip


def _generator(torch, np, kind, seed):
    makers = {
        "numpy": np.random.default_rng, "random": random.Random, "torch": lambda seed: torch.Generator().manual_seed(seed),
        "number": float, "function": lambda seed: random.random,
    }  # fmt: skip
    return makers[kind](seed)


def _seed_held(torch, np, seed):
    """Give the worker's copy of the dataset new generators of the same kinds."""
    dataset = torch.utils.data.get_worker_info().dataset
    for name, kind in dataset.held:
        setattr(dataset, name, _generator(torch, np, kind, seed))


def _seed_and_draw(torch, np, count):
    """Give all generators one seed, and draw so many numbers of each: then no two workers have equal states."""
    torch.manual_seed(3), np.random.seed(3), random.seed(3)
    _seed_held(torch, np, 5)
    _draw(torch, np, torch.utils.data.get_worker_info().dataset, count)


def _seed_alike(torch, np, worker):
    """Seed by worker, so that the first 32 bits of Python and of numpy are equal in two workers, and a small integer of torch."""
    random.seed((11416, 70954)[worker % 2])
    np.random.seed((49827, 119702)[worker % 2])
    torch.manual_seed((122, 160)[worker % 2])  # equal modulo 32,000


def _keep_numbers(torch, np, worker):
    """Seed all generators alike, and draw as many bits of each, but so that in every second worker they keep a number for later."""
    torch.manual_seed(3), np.random.seed(3), random.seed(3)
    dataset = torch.utils.data.get_worker_info().dataset
    held = [getattr(dataset, name) for name, kind in dict(dataset.held).items() if kind in ("numpy", "random", "torch")]
    for source in [torch.default_generator, np.random, random, *held]:
        if isinstance(source, torch.Generator):
            torch.rand(2, dtype=torch.float64, generator=source) if worker % 2 else torch.randn((), generator=source)
        elif isinstance(source, np.random.Generator):
            source.random() if worker % 2 else source.integers(2**32, dtype=np.uint32)
        elif source is np.random:
            source.random(2) if worker % 2 else source.normal()
        else:
            [source.random(), source.random()] if worker % 2 else source.gauss(0, 1)


def _draw(torch, np, dataset, count):
    """Draw so many numbers of each generator, and return their sum."""
    kinds = dict(dataset.held)
    held = [getattr(dataset, name) for name, kind in kinds.items() if kind in ("numpy", "random")]
    drawn = [source.random() for source in [*held, random, np.random] for _ in range(count)]
    of_torch = [getattr(dataset, name) for name, kind in kinds.items() if kind == "torch"]
    return sum(drawn) + sum(
        torch.rand((), generator=source).item() for source in [None, *of_torch] for _ in range(count)
    )


def _hold(torch, name, generator):
    """Give the worker's copy of the dataset an attribute that the dataset does not have."""
    setattr(torch.utils.data.get_worker_info().dataset, name, generator)


def _dataset(torch, np, held, length):
    """A dataset with these attributes, each of whose samples draws more numbers of all generators than the one before."""

    class Drawing(torch.utils.data.Dataset):
        def __init__(self):
            self.held = held
            for i, (name, kind) in enumerate(held):
                setattr(self, name, _generator(torch, np, kind, i))

        def __len__(self):
            return length

        def __getitem__(self, i):
            return i, _draw(torch, np, self, i)

    return Drawing()


def _state(generator):
    """The state of a generator as text, or the object if it is none."""
    if hasattr(generator, "bit_generator"):
        return str(generator.bit_generator.state)
    get_state = getattr(generator, "getstate", None) or getattr(generator, "get_state", None)
    return (
        str(get_state() if isinstance(generator, random.Random) else get_state().tolist())
        if get_state
        else repr(generator)
    )


def _loader(torch, held, start, workers, length):
    import numpy as np

    dataset = _dataset(torch, np, held, length)
    return torch.utils.data.DataLoader(
        dataset,
        batch_size=2,
        num_workers=workers,
        worker_init_fn=STARTS[start](torch, np),
        multiprocessing_context="fork",
    )


def _workers(*held, start="", workers=2, length=6):
    return {"held": [*map(list, held)], "start": start, "workers": workers, "length": length}


@program(
    "clinic.training.equal_generators",
    cases=drawn(held=several(listed(NAMES, GENERATORS), 0, 3), start=sorted(STARTS), workers=(2, 3), length=(3, 7)),
    edges=[
        _workers(), _workers(("noise", "numpy")), _workers(("noise", "random"), ("augment", "torch"), start="numpy"),
        _workers(("order", "torch"), ("augment", "number"), ("noise", "function"), start="everything"),
        _workers(("augment", "numpy"), ("noise", "random"), start="held"), _workers(("augment", "torch"), start="held alike"),
        _workers(start="random", workers=3), _workers(start="by worker"), _workers(start="halves", workers=3, length=3),
        _workers(start="first apart", workers=3), _workers(("noise", "numpy"), start="every second", workers=3),
        _workers(("noise", "torch"), start="one seed"), _workers(("noise", "random"), start="made there"),
        _workers(start="first apart"), _workers(start="alike at first"), _workers(start="every second", workers=3, length=3),
        _workers(start="alike in torch.rand"), _workers(start="one seed", workers=3), _workers(("_noise", "numpy")),
        _workers(start="one keeps a number"), _workers(("noise", "numpy"), start="one keeps a number"),
    ],
    hint=explained(
        names="ask each worker, after worker_init_fn has run in it: a generator that two workers have in the same state is one",
        kept="in this process, the generators of the dataset and the loader stay as they are",
    ),
    draws=6,
    disposable=True,
)  # fmt: skip
def equal_generators(rl, held, start, workers, length):
    import torch

    with _quiet():
        loader = _loader(torch, held, start, workers, length)
        before = _seen(loader)
        names = list(rl.clinic.training.equal_generators(loader))
    return {"names": names, "kept": _seen(loader) == before}


@contextmanager
def _quiet():
    """Within: torch does not warn of more workers than cores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _seen(loader):
    """The states of the generators of a loader's dataset, and the loader's functions."""
    return (
        [_state(getattr(loader.dataset, name)) for name, _ in loader.dataset.held],
        loader.worker_init_fn,
        loader.collate_fn,
    )


@equal_generators.oracle
def generators_by_rule(torch, held, start, workers, length):
    """Torch gives each worker a seed of its own for its three generators, and copies the dataset as it is."""
    kinds = dict(held)
    equal = {f"dataset.{name}" for name, kind in kinds.items() if kind in ("numpy", "random", "torch")}
    equal = set() if start in ("held", "one seed") or (start == "one keeps a number" and workers == 2) else equal
    equal |= {
        "everything": {"numpy", "random", "torch"},
        "numpy": {"numpy"},
        "random": {"random"},
        "halves": {"numpy"},
        "made there": {"dataset.made"},
        "alike at first": {"numpy", "random", "torch"} if workers > 2 else set(),
        "alike in torch.rand": {"torch"} if workers > 2 else set(),
        "one keeps a number": {"numpy", "random", "torch"} if workers > 2 else set(),
        "first apart": {"random"} if workers > 2 else set(),
        "every second": {"torch"} if workers > 2 else set(),
    }.get(start, set())
    return {"names": sorted(equal), "kept": True}


# Noise that is new in each sample ------------------------------------------------------------------------------------


def _epochs(torch, loader, seed, count=2):
    torch.manual_seed(seed)
    return [[*loader] for _ in range(count)]


MANY = 20_000  # samples: the noise of fewer does not show its distribution


def _distance(torch, numbers):
    """The largest difference between the part of the numbers below a value and that of the standard normal distribution."""
    expected = torch.special.ndtr(numbers.double().sort().values)
    parts = torch.arange(len(numbers) + 1).double() / len(numbers)
    return max((parts[1:] - expected).max().item(), (expected - parts[:-1]).max().item())


def _noisy(torch, make, length, batch_size, workers, kind, seed):
    """What a loader gives in two epochs, and in two more after the same seed. Of many samples, how their noise is distributed."""
    if length == MANY:
        (epoch,) = _epochs(torch, make(torch.zeros(length).double(), batch_size, workers), seed, 1)
        return {"distribution": _distance(torch, torch.cat(epoch)) < 0.02}
    data = torch.arange(length).to(getattr(torch, kind)) * 64
    before, loader = data.clone(), make(data, batch_size, workers)
    epochs = _epochs(torch, loader, seed)
    again, other = _epochs(torch, loader, seed), _epochs(torch, loader, seed + 1)
    noises = [torch.cat(batches).double() - before for batches in epochs]
    numbers = torch.cat([*noises, torch.cat(other[0]).double() - before])
    return {
        "batches": [[[*x.shape], str(x.dtype), (x.double() / 64).round().tolist()] for x in epochs[0]],
        "equal noises": len(numbers) - len(numbers.unique()),
        "size of the noise": bool(0.4 < numbers.std() < 1.7 and numbers.mean().abs() < 1),
        "epochs": len(epochs[1]),
        "repeated": str(epochs) == str(again),
        "workers": loader.num_workers,
        "data": torch.equal(data, before),
    }


def _noise(length=8, batch_size=2, workers=2, kind="float64", seed=1):
    return {"length": length, "batch_size": batch_size, "workers": workers, "kind": kind, "seed": seed}


_NORMAL = "the noise is of the standard normal distribution: another one has other shares of large and small numbers"


@program(
    "clinic.training.noisy_loader",
    cases=drawn(length=(6, 12), batch_size=(1, 4), workers=(0, 3), kind=["float64"], seed=(0, 99)),
    edges=[_noise(), _noise(11, 3, 3), _noise(8, 2, 0), _noise(12, 1, 2, seed=7), _noise(9, 2, 2, "float32"),
           _noise(MANY, 500)],
    hint=explained(
        equal_noises="two samples have the same noise: which generator makes it, and who seeds that one in each worker and epoch?",
        size_of_the_noise=_NORMAL, distribution=_NORMAL,
        repeated="after the same torch.manual_seed, the epochs are others",
        batches="the samples are in the order of the data, and of its dtype",
        workers="the loader has as many workers as asked for",
        data="the data is only read",
    ),
    draws=4,
    disposable=True,
)  # fmt: skip
def noisy_loader(rl, **case):
    import torch

    with _quiet():
        return _noisy(torch, rl.clinic.training.noisy_loader, **case)


@noisy_loader.oracle
def loader_by_rule(torch, length, batch_size, workers, kind, seed):
    if length == MANY:
        return {"distribution": True}
    numbers = [*range(length)]
    batches = [numbers[i : i + batch_size] for i in range(0, length, batch_size)]
    return {
        "batches": [[[len(batch)], f"torch.{kind}", [*map(float, batch)]] for batch in batches],
        "equal noises": 0,
        "size of the noise": True,
        "epochs": len(batches),
        "repeated": True,
        "workers": workers,
        "data": True,
    }
