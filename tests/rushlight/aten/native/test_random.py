"""With the same seed the numbers are those of torch, and so is the state afterwards."""

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test, sweep

import rushlight as rl

LAYOUTS = {
    "no elements": lambda xp, **kw: xp.zeros(0, **kw),
    "0-dim": lambda xp, **kw: xp.zeros((), **kw),
    "15 elements": lambda xp, **kw: xp.zeros(15, **kw),
    "16 elements": lambda xp, **kw: xp.zeros(4, 4, **kw),
    "23 elements": lambda xp, **kw: xp.zeros(23, **kw),
    "700 elements": lambda xp, **kw: xp.zeros(700, **kw),
    "transposed": lambda xp, **kw: xp.zeros(5, 7, **kw).t(),
    "with holes": lambda xp, **kw: xp.zeros(9, 6, **kw)[::2, 1:5].t(),
    "permuted": lambda xp, **kw: xp.zeros(2, 3, 4, **kw).permute(1, 2, 0),
    "of size 1": lambda xp, **kw: xp.zeros(3, 1, 6, **kw).permute(2, 1, 0),
    "channels last": lambda xp, **kw: xp.zeros(2, 3, 2, 2, **kw).contiguous(memory_format=xp.channels_last),
}
FILLS = {
    "uniform_": lambda xp, x: x.uniform_(),
    "uniform_ with bounds": lambda xp, x: x.uniform_(-0.3, 0.7),
    "uniform_ without a range": lambda xp, x: x.uniform_(2, 1),
    "uniform_ in a range too large for float16": lambda xp, x: x.uniform_(-6e4, 6e4) if "16" in str(x.dtype) else x,
    "uniform_ from nan": lambda xp, x: x.uniform_(float("nan"), 1),
    "normal_": lambda xp, x: x.normal_(),
    "normal_ with mean and deviation": lambda xp, x: x.normal_(1, 0.2),
    "normal_ twice": lambda xp, x: [x.normal_().clone(), x.normal_(0.5, 1)],
    "normal_ with a negative deviation": lambda xp, x: x.normal_(0, -1),
    "exponential_": lambda xp, x: x.exponential_(1.7),
    "exponential_ of 0": lambda xp, x: x.exponential_(0),
    "bernoulli_": lambda xp, x: x.bernoulli_(0.3),
    "bernoulli_ of 1.5": lambda xp, x: x.bernoulli_(1.5),
    "bernoulli_ of a tensor": lambda xp, x: x.bernoulli_(xp.full(tuple(x.shape), 0.4)),
    "bernoulli_ of a row": lambda xp, x: x.bernoulli_(xp.full(tuple(x.shape[-1:]), 0.4, dtype=xp.float64)),
    "bernoulli_ of ints": lambda xp, x: x.bernoulli_(xp.ones(tuple(x.shape), dtype=xp.int64)),
    "bernoulli": lambda xp, x: xp.bernoulli(x.fill_(1) * 0.25),
    "bernoulli of p": lambda xp, x: xp.bernoulli(x, 0.25),
    "random_": lambda xp, x: x.random_(),
    "random_ to 2": lambda xp, x: x.random_(2),
    "random_ to 0": lambda xp, x: x.random_(0),
    "random_ to 300": lambda xp, x: x.random_(300),
    "random_ of 28 bits": lambda xp, x: x.random_(2**28),
    "random_ of less than 28 bits": lambda xp, x: x.random_(2**28 - 1),
    "random_ of more than 32 bits": lambda xp, x: x.random_(-5, 2**40),
    "random_ of all but one": lambda xp, x: x.random_(-(2**63), 2**63 - 1),
    "random_ of 64 bits": lambda xp, x: x.random_(-(2**63), None),
    "random_ from -3": lambda xp, x: x.random_(-3, None),
    "random_ from 3000": lambda xp, x: x.random_(3000, None),
    "random_ to 65504": lambda xp, x: x.random_(0, 65504),
    "random_ from -70000": lambda xp, x: x.random_(-70000, 3),
    "random_ of 2049 only": lambda xp, x: x.random_(2049, 2050),
    "rand_like": lambda xp, x: xp.rand_like(x),
    "randn_like": lambda xp, x: xp.randn_like(x),
    "randint_like": lambda xp, x: xp.randint_like(x, 2),
    "dropout": lambda xp, x: xp.nn.functional.dropout(x.fill_(1), 0.3),
    "dropout in place": lambda xp, x: xp.nn.functional.dropout(x.fill_(1), 0.3, inplace=True),
    "dropout of everything": lambda xp, x: xp.nn.functional.dropout(x, 1.0),
    "dropout of 1.5": lambda xp, x: xp.nn.functional.dropout(x, 1.5),
}
TENSORS = {
    "rand": lambda xp: [xp.rand(2, 3), xp.rand(5, dtype=xp.float64), xp.rand(5, dtype=xp.int64)],
    "rand, out=": lambda xp: xp.rand((4, 3), generator=xp.Generator(), out=xp.zeros(2)),
    "randn": lambda xp: [xp.randn(3), xp.rand(2), xp.randn(16), xp.randn((2,), dtype=xp.float64)],
    "randn, out=": lambda xp: xp.randn(4, out=xp.zeros(8)[::2]),
    "randint": lambda xp: [xp.randint(7, (2, 3)), xp.randint(-3, 10, (9,), dtype=xp.float32), xp.randint(2**50, (9,))],
    "randint, out=": lambda xp: xp.randint(-1, 2, (2, 3), out=xp.zeros(0)),
    "randperm": lambda xp: [xp.randperm(n) for n in (0, 1, 2, 9, 700)],
    "randperm of floats": lambda xp: xp.randperm(100, dtype=xp.float16),
    "randperm of bools": lambda xp: xp.randperm(2, dtype=xp.bool),
    "randperm that overflows": lambda xp: xp.randperm(300, dtype=xp.uint8),
    "randperm, out=": lambda xp: xp.randperm(9, out=xp.zeros(18, dtype=xp.int64)[::2]),
    "randperm, out= and another dtype": lambda xp: xp.randperm(5, out=xp.zeros(5), dtype=xp.float64),
    "multinomial": lambda xp: xp.multinomial(xp.arange(10.0), 4),
    "multinomial of one": lambda xp: xp.multinomial(xp.arange(20.0).view(2, 10), 1),
    "multinomial of a transposed tensor": lambda xp: xp.multinomial(xp.arange(20.0).view(10, 2).t(), 4),
    "multinomial with replacement": lambda xp: xp.multinomial(xp.arange(20.0).view(10, 2).t(), 70, True),
    "multinomial in float64": lambda xp: xp.multinomial(xp.arange(10.0, dtype=xp.float64), 70, True),
    "multinomial in float16": lambda xp: xp.multinomial(xp.arange(10.0).to(xp.float16), 70, True),
    "multinomial of zeros": lambda xp: xp.multinomial(xp.zeros(2), 1),
    "multinomial of nan": lambda xp: xp.multinomial(xp.tensor([1.0, float("nan")]), 1, True),
    "multinomial of too many": lambda xp: xp.multinomial(xp.ones(2), 3),
    "multinomial without rows": lambda xp: xp.multinomial(xp.zeros(0, 3), 2),
    "normal": lambda xp: [xp.normal(1.0, 0.5, (3, 7)), xp.normal(0, 1, (2,), dtype=xp.float64)],
    "normal with means": lambda xp: xp.normal(xp.ones(7, 3).t(), 0.5),
    "normal with means alone": lambda xp: xp.normal(mean=xp.ones(5)),
    "normal with deviations": lambda xp: xp.normal(1.0, xp.arange(20.0) / 20),
    "normal with both": lambda xp: xp.normal(xp.arange(4.0).view(4, 1), xp.arange(5.0) / 5),
    "normal with a negative deviation": lambda xp: xp.normal(xp.zeros(2), xp.tensor([1.0, -1.0])),
    "normal of ints": lambda xp: xp.normal(xp.zeros(2, dtype=xp.int64), 1.0),
    "normal without sizes": lambda xp: xp.normal(0.0, 1.0),
    "normal, out=": lambda xp: xp.normal(0.0, 1.0, (20,), out=xp.zeros(20)),
    "normal, out= of other sizes": lambda xp: xp.normal(xp.zeros(2), 1.0, out=xp.zeros(3)),
}
# torch's loops for different CPUs differ by as much.
TOLERANCE = {"float16": 2e-3, "float32": 4e-6, "float64": 1e-14}
ROUNDED = ("normal", "randn", "exponential", "uniform_ with")


def run(program, xp):
    """The tensors that a program returns, or the type of its error, and the state that it leaves without a kept number."""
    xp.manual_seed(1234567890123)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors = program(xp)
    except Exception as error:
        return type(error).__name__, None
    state = xp.get_rng_state().numpy().tobytes()
    return tensors if isinstance(tensors, list) else [tensors], (state[:5024], state[5040:])


def assert_same_numbers(name, program):
    ours, theirs = (run(program, xp) for xp in FRAMEWORKS)
    assert ours[1] == theirs[1]
    if isinstance(theirs[0], str):
        assert ours[0] == theirs[0]
        return
    for x, y in zip(ours[0], theirs[0], strict=True):
        dtype = str(y.dtype).removeprefix("torch.")
        assert (tuple(x.shape), x.stride(), x.dtype.name) == (tuple(y.shape), y.stride(), dtype)
        tolerance = TOLERANCE.get(dtype, 0) if name.startswith(ROUNDED) else 0
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", sweep([*FILLS], every=8))
def test_fills_draw_the_numbers_of_torch(name):
    for dtype in ("bool", "uint8", "int32", "int64", "float16", "float32", "float64"):
        for layout in LAYOUTS.values():
            assert_same_numbers(name, lambda xp: FILLS[name](xp, layout(xp, dtype=getattr(xp, dtype))))


@in_one_test
@pytest.mark.parametrize("name", TENSORS)
def test_new_tensors_have_the_numbers_of_torch(name):
    assert_same_numbers(name, TENSORS[name])


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 1300])
def test_a_state_goes_to_torch_and_comes_back(drawn):
    ours, theirs = rl.Generator(), torch.Generator()
    theirs.manual_seed(-9)
    torch.rand(drawn, generator=theirs)
    if drawn % 2:
        torch.randn(1, generator=theirs)
    state = theirs.get_state()
    ours.set_state(rl.from_numpy(state.numpy()))
    assert ours.get_state().tolist() == state.tolist() and ours.initial_seed() == theirs.initial_seed()
    for _ in range(2):
        assert (
            rl.randint(2**40, (400,), generator=ours).tolist()
            == torch.randint(2**40, (400,), generator=theirs).tolist()
        )
        assert rl.randn(3, generator=ours).tolist() == pytest.approx(torch.randn(3, generator=theirs).tolist(), 1e-6)
        theirs = torch.Generator()
        theirs.set_state(torch.from_numpy(ours.get_state().numpy()))


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
    with xp.random.fork_rng(), xp.random.fork_rng([], True):
        xp.rand(7)
    before = xp.get_rng_state().tolist()
    copies = own.clone_state(), copy.deepcopy(own), pickle.loads(pickle.dumps(own))
    for each in (own, *copies):
        assert xp.rand(4, generator=each).tolist() == first
    assert xp.get_rng_state().tolist() == before
    with xp.random.fork_rng(enabled=False):
        xp.rand(7)
    assert xp.get_rng_state().tolist() != before
    assert xp.seed() == xp.initial_seed() != xp.default_generator.seed()


def test_another_device_has_no_generator_to_fork():
    with pytest.raises(RuntimeError, match="leaves out"), rl.random.fork_rng([0]):
        pass


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.Generator().initial_seed(),
        lambda xp: xp.Generator().get_state(),
        lambda xp: xp.Generator(None).device.type,
        lambda xp: xp.Generator("meta"),
        *(lambda xp, s=s: xp.Generator().manual_seed(s).initial_seed() for s in (-1, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)),
        *(lambda xp, s=s: xp.Generator().manual_seed(s) for s in (3.7, True, "3")),
        *(lambda xp, s=s: xp.manual_seed(s).initial_seed() for s in (-1, 3.7, "3", "x")),
        lambda xp: xp.Generator().set_state(1),
        lambda xp: xp.Generator().set_state(xp.zeros(3)),
        lambda xp: xp.Generator().set_state(xp.zeros(3, dtype=xp.uint8)),
        lambda xp: xp.Generator().set_state(xp.zeros(5056, dtype=xp.uint8)),
        lambda xp: xp.Generator().set_state(xp.zeros(10112, dtype=xp.uint8)[::2]),
        lambda xp: xp.Generator().set_state(xp.Generator().get_state().view(2, -1)).initial_seed(),
    ],
)  # fmt: skip
def test_a_generator_takes_the_seeds_and_states_of_torch(program):
    agree(program)


def test_a_filled_tensor_and_its_parameters_get_zeros_as_gradients():
    def program(xp):
        x, mean, std = (xp.ones(n, requires_grad=True) for n in (3, 3, 1))
        results = [
            xp.normal(mean, 1.0), xp.normal(0.0, std), xp.normal(mean, std), (x * 1).exponential_(), (x * 1).normal_()
        ]  # fmt: skip
        sum(each.sum() for each in results).backward()
        return [[type(each.grad_fn).__name__ for each in results], x.grad, mean.grad, std.grad]

    agree(program)


def test_multinomial_never_draws_what_has_no_chance():
    chances = rl.tensor([0.0, 1.0, 2.0, 3.0, 0.0])
    rl.manual_seed(0)
    drawn = [rl.multinomial(chances, 3).tolist() for _ in range(300)]
    assert all(sorted(each) == [1, 2, 3] for each in drawn)
    assert set(rl.multinomial(chances, 6000, replacement=True).tolist()) == {1, 2, 3}


def test_dropout_does_nothing_to_a_tensor_that_is_not_trained_on():
    x = rl.ones(3)
    assert rl.nn.functional.dropout(x, 0.5, training=False) is x
    assert rl.nn.functional.dropout(x, 0.5, inplace=True) is x


def test_importing_rushlight_does_not_load_numpys_generators():
    code = "import sys, rushlight; sys.exit('numpy.random' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_same_script_has_the_same_losses():
    def losses(xp):
        xp.manual_seed(0)
        x, target = xp.randn(40, 6), xp.randint(3, (40,))
        batches = xp.utils.data.DataLoader(xp.utils.data.TensorDataset(x, target), 8, shuffle=True)
        nn = xp.nn
        model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 3))
        optimizer = xp.optim.AdamW(model.parameters(), lr=0.01)
        seen = []
        for _ in range(4):
            for rows, truth in batches:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(rows), truth)
                loss.backward()
                optimizer.step()
                seen.append(loss.item())
        return seen

    ours, theirs = map(losses, FRAMEWORKS)
    assert len(ours) == 20 and ours == pytest.approx(theirs, 1e-4)
