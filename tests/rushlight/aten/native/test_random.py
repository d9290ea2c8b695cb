"""Random numbers have the distributions of torch, and its ways to be repeated; the numbers are others."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree, outcome
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl

FILLS = {
    "uniform_": lambda x: x.uniform_(2, 5),
    "normal_": lambda x: x.normal_(1, 3),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "random_": lambda x: x.random_(-3, 7),
    "dropout": lambda x: (rl if isinstance(x, rl.Tensor) else torch).nn.functional.dropout(x.fill_(1), 0.25),
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_the_distribution_is_that_of_torch(fill, name):
    samples = []
    for xp in FRAMEWORKS:
        xp.manual_seed(0)
        samples.append(np.sort(fill(xp.empty(40000, dtype=getattr(xp, name))).numpy().astype(np.float64)))
    grid = np.unique(np.concatenate(samples))
    ours, theirs = (np.searchsorted(sample, grid, side="right") / len(sample) for sample in samples)
    assert abs(ours - theirs).max() < 0.02  # Kolmogorov and Smirnov: by chance once in 10**6


PROGRAMS = [
    lambda xp, x: x.uniform_(),
    lambda xp, x: x.uniform_(2, 1),
    lambda xp, x: x.uniform_(to=3),
    lambda xp, x: x.normal_(),
    lambda xp, x: x.normal_(0, -1),
    lambda xp, x: x.bernoulli_(),
    lambda xp, x: x.bernoulli_(1.5),
    lambda xp, x: x.bernoulli_(xp.zeros(3)),
    lambda xp, x: x.bernoulli_(xp.zeros(2)),
    lambda xp, x: x.bernoulli_(xp.zeros(3, dtype=xp.int64)),
    lambda xp, x: x.random_(),
    lambda xp, x: x.random_(2),
    lambda xp, x: x.random_(300),
    lambda xp, x: x.random_(1, 1),
    lambda xp, x: x.random_(-1, None),
    lambda xp, x: xp.rand(2, 3, dtype=x.dtype),
    lambda xp, x: xp.randn((2, 3), dtype=x.dtype),
    lambda xp, x: xp.randint(2, (3,), dtype=x.dtype),
    lambda xp, x: xp.randint(-1, 2, (3,), dtype=x.dtype),
    lambda xp, x: xp.randperm(5, dtype=x.dtype),
    lambda xp, x: xp.rand(2, out=x),
    lambda xp, x: xp.rand((4, 3), generator=xp.Generator(), out=x),
    lambda xp, x: xp.randn(4, out=x),
    lambda xp, x: xp.randint(2, (3,), out=x),
    lambda xp, x: xp.randint(-1, 2, (2, 3), out=x),
    lambda xp, x: xp.randperm(5, out=x),
    lambda xp, x: xp.randperm(5, out=x, dtype=xp.float64),
    lambda xp, x: xp.rand_like(x),
    lambda xp, x: xp.randn_like(x, dtype=xp.float64),
    lambda xp, x: xp.bernoulli(x.fill_(1)),
    lambda xp, x: xp.multinomial(x.fill_(1), 2),
    lambda xp, x: xp.nn.functional.dropout(x, 0.5),
    lambda xp, x: xp.nn.functional.dropout(x, 1.0),
    lambda xp, x: xp.nn.functional.dropout(x, 1.5),
]


@given(st.sampled_from(["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]), st.sampled_from(PROGRAMS))
def test_shape_strides_dtype_and_refusals_are_those_of_torch(name, program):
    def whole(xp):
        return program(xp, xp.zeros(2, 3, dtype=getattr(xp, name)).t().contiguous().t())

    ours, theirs = (outcome(whole, xp) for xp in FRAMEWORKS)
    assert ours[:5] == theirs[:5]


@pytest.mark.parametrize("name", ["bool", "uint8", "int32", "int64", "float16", "float32"])
def test_whole_numbers_fill_the_range_of_torch(name):
    ours, theirs = (xp.empty(100000, dtype=getattr(xp, name)).random_().to(xp.float64).numpy() for xp in FRAMEWORKS)
    for extreme in (np.min, np.max, np.mean):
        assert extreme(ours) == pytest.approx(extreme(theirs), rel=0.02, abs=theirs.max() * 1e-3)


@pytest.mark.parametrize("xp", FRAMEWORKS, ids=["rushlight", "torch"])
def test_a_seed_a_state_and_a_generator_repeat_the_numbers(xp):
    xp.manual_seed(3)
    first = xp.rand(4).tolist()
    assert xp.initial_seed() == 3
    state = xp.get_rng_state()
    second = xp.randn(5).tolist() + xp.randint(9, (3,)).tolist()
    xp.manual_seed(3)
    assert xp.rand(4).tolist() == first
    xp.set_rng_state(state)
    assert xp.randn(5).tolist() + xp.randint(9, (3,)).tolist() == second
    own = xp.Generator().manual_seed(3)
    with xp.random.fork_rng():
        xp.rand(7)
    before = xp.get_rng_state().tolist()
    assert xp.rand(4, generator=own).tolist() == first
    assert xp.randperm(6, generator=own).tolist() != list(range(6))
    assert xp.get_rng_state().tolist() == before


def test_what_is_drawn_without_replacement_is_drawn_once_and_never_by_no_chance():
    chances = rl.tensor([0.0, 1.0, 2.0, 3.0, 0.0])
    rl.manual_seed(0)
    drawn = [rl.multinomial(chances, 3).tolist() for _ in range(300)]
    assert all(sorted(each) == [1, 2, 3] for each in drawn)
    assert np.mean([each[0] == 3 for each in drawn]) == pytest.approx(0.5, abs=0.1)
    many = rl.multinomial(chances, 6000, replacement=True).numpy()
    assert np.bincount(many, minlength=5) / 6000 == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 0], abs=0.03)


def test_dropout_does_nothing_to_a_tensor_that_is_not_trained_on():
    x = rl.ones(3)
    assert rl.nn.functional.dropout(x, 0.5, training=False) is x
    assert rl.nn.functional.dropout(x, 0.5, inplace=True) is x


def test_a_generator_is_of_the_cpu_and_takes_its_own_state_only():
    agree(lambda xp: xp.Generator().set_state(xp.zeros(3)))
    agree(lambda xp: xp.Generator().set_state(xp.zeros(3, dtype=xp.uint8)))
    agree(lambda xp: xp.Generator("meta"))


def test_importing_rushlight_does_not_load_numpys_generators():
    code = "import sys, rushlight; sys.exit('numpy.random' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
