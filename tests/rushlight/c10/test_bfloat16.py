"""bfloat16 has the numbers, the roundings and the refusals of torch's."""

import io
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from both import agree, outcome
from sweep import in_one_test

import rushlight as rl
from rushlight.c10 import dtypes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, which rushlight hides outside of pytest
NAMES = [each.name for each in dtypes.ALL]
INTERESTING = [
    0.0, -0.0, 1.0, -1.0, 1.00390625, 1.01171875, 1.00390625 + 2**-30, 1 + 2**-9, 3.0, 3.14159, 1e-3, 255.0, 257.0, 65535.0,
    1e-38, 1e-40, -1e-41, 9.2e-41, 3.3895e38, 3.396e38, -3.4e38, math.inf, -math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_numbers_are_rounded_to_the_nearest_and_ties_to_even(source):
    agree(lambda xp: xp.tensor(INTERESTING, dtype=getattr(xp, source)).bfloat16())
    agree(lambda xp: xp.tensor(INTERESTING, dtype=xp.bfloat16))
    bits = np.random.default_rng(0).integers(0, 2**32, 20_000, np.uint32).view(np.float32).astype(source)
    agree(lambda xp: xp.from_numpy(bits).bfloat16())


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_is_converted_from_and_to_it(name):
    def program(xp):
        kind = getattr(xp, name)
        x = xp.tensor([0, 1, 2, 100, 127, 255, 200, 3]).to(kind)
        y = xp.tensor([0.0, 1.0, 2.5, 200.0, 0.5]).bfloat16()
        return (
            x.bfloat16(),
            x.to(xp.bfloat16, copy=True),
            y.to(kind),
            y.new_zeros(2).dtype,
            (x + y[0]),
            (y[:1] * x),
            y.to(x),
        )

    agree(program)


@pytest.mark.parametrize("number", [2**24 + 1, 2**53 + 1, 16_842_751, 2**62 + 2**54, -(2**40) + 1])
def test_large_integers_are_rounded_as_in_torch(number):
    agree(lambda xp: xp.tensor([number]).bfloat16())
    agree(lambda xp: xp.tensor([number], dtype=xp.bfloat16))


PROGRAMS = {
    "promotion with float16": lambda xp, x: (x + x.half(), xp.promote_types(xp.float16, xp.bfloat16), x.half().mul(x)),
    "promotion of numbers": lambda xp, x: (x + 1, x * 0.1, 2 / x, x + xp.tensor(2.0), x + xp.ones(2, 1), x == x.float()),
    "in place": lambda xp, x: (x.clone().add_(0.1), x.float().add_(x), x.half().add_(x), x.clone().mul_(x.double())),
    "in place into integers": lambda xp, x: xp.arange(12).view(3, 4).add_(x),
    "out": lambda xp, x: (xp.add(x, x, out=xp.empty(0)), xp.mul(x, x, out=xp.empty(0, dtype=xp.bfloat16))),
    "properties": lambda xp, x: (x.dtype.itemsize, x.dtype.is_signed, x.dtype.is_floating_point, x.element_size(), x.nbytes),
    "item and tolist": lambda xp, x: (x[1, 2].item(), x.tolist(), float(x[0, 1]), bool(x[1, 1]), f"{x[1, 2]:.3f}"),
    "sums": lambda xp, x: (xp.full((5000,), 1.0).bfloat16().sum(), xp.full((3000,), 0.1).bfloat16().cumsum(0)[-1]),
    "reductions": lambda xp, x: (x.sum(0), x.mean(1), x.amax(), x.argmin(1), x.var(), x.prod(1), x.max(1), x.any(), x.all(0)),
    "NaN among extremes": lambda xp, x: [f(x.masked_fill(x == 5, math.nan)) for f in (xp.amax, xp.argmax, xp.max, xp.argmin)],
    "sorting": lambda xp, x: (x.flip(1).sort(1), x.topk(2), x.argsort(descending=True), x.unique()),
    "products": lambda xp, x: (x @ x.t(), x.t() @ x, x[0] @ x[1], x @ x[0], xp.einsum("ij,kj->ik", x, x)),
    "products with a bias": lambda xp, x: (xp.addmm(x[0], x, x.view(4, 3) @ x), xp.nn.functional.linear(x, x, x[:, 0])),
    "a product of mixed types": lambda xp, x: x @ x.t().float(),
    "a long product": lambda xp, x: xp.full((2, 1000), 0.1).bfloat16() @ xp.full((1000, 2), 0.1).bfloat16(),
    "softmax": lambda xp, x: (x.softmax(1), x.log_softmax(1), x.log_softmax(0)),
    "indexing": lambda xp, x: (x[x > 0.3], x[[2, 0]], x.gather(1, xp.tensor([[1], [0], [2]]))),
    "views": lambda xp, x: (x.t(), x[:, 1::2], x.expand(2, 3, 4), xp.stack([x[0], x[1]]), x.view(2, 6)),
    "mixed types": lambda xp, x: (xp.cat([x, x.float()]), xp.cat([x, x.int()]), xp.where(x > 0, x, x.long())),
    "creation": lambda xp, x: (xp.full((2,), 0.1, dtype=xp.bfloat16), xp.arange(0, 1, 0.3, dtype=xp.bfloat16)),
    "copies": lambda xp, x: xp.zeros(3, 4).copy_(x) + xp.zeros(3, 4, dtype=xp.bfloat16).copy_(x.float() * 1.003),
    "numpy": lambda xp, x: x.numpy(),
    "numpy's functions": lambda xp, x: np.asarray(x),
    "from numpy": lambda xp, x: xp.from_numpy(np.zeros(2, dtypes.bfloat16.numpy)),
    "copy.deepcopy and pickle": lambda xp, x: __import__("copy").deepcopy([x, x.dtype]),
    "too large": lambda xp, x: (x * 1e38 * 1e3, xp.tensor([1e39], dtype=xp.bfloat16)),
    "bits": lambda xp, x: x & x,
}  # fmt: skip


@in_one_test
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_bfloat16_agree_with_torch(name):
    agree(lambda xp: PROGRAMS[name](xp, xp.arange(-4, 8).view(3, 4).bfloat16() * 0.7 + 0.1))


@pytest.mark.parametrize("values", [[1.0, 2.0], [0.1, 12345.0, math.nan], [3e-5, 1.0], [0.333], [], [[1e30, 1.0]]])
def test_it_is_printed_as_in_torch(values):
    ours, theirs = (repr(xp.tensor(values, dtype=xp.bfloat16)) for xp in (rl, torch))
    assert ours.replace("rushlight", "torch") == theirs


GRADIENTS = {
    "linear": lambda F, x, w: F.linear(x, w).sum(),
    "gelu and softmax": lambda F, x, w: (F.gelu(x).softmax(1) * w[0]).sum(),
    "mixed types": lambda F, x, w: (x * w[0].float()).sum() + (x.half() * w[1]).mean(),
    "norm": lambda F, x, w: (F.layer_norm(x, (4,), w[0], w[1]) * x).sum(),
    "cross-entropy": lambda F, x, w: F.cross_entropy(x @ w.t(), (x.sum(1) > 0).long()),
    "indices": lambda F, x, w: (x[:, [0, 0, 1]] ** 2).sum() + w.amax(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_torchs_to_one_rounding(name):
    def gradients(xp):
        xp.manual_seed(0)
        x, w = (xp.randn(*size).bfloat16().requires_grad_() for size in ((3, 4), (2, 4)))
        loss = GRADIENTS[name](xp.nn.functional, x, w)
        loss.backward()
        assert x.grad.dtype is xp.bfloat16
        return [each.tolist() for each in (loss, x.grad) if each is not None] + [str(loss.dtype).rpartition(".")[2]]

    (*ours, ours_dtype), (*theirs, theirs_dtype) = (gradients(xp) for xp in (rl, torch))
    assert ours_dtype == theirs_dtype
    for pair in zip(ours, theirs):
        np.testing.assert_allclose(*pair, rtol=2**-7, atol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_optimizers_step_in_bfloat16_as_in_torch(name):
    def program(xp):
        weight = xp.nn.Parameter(xp.tensor([1.0, -2.0, 0.5], dtype=xp.bfloat16))
        optimizer = getattr(xp.optim, name)([weight], lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))
        for _ in range(4):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
        return weight.detach()

    ours, theirs = (program(xp).tolist() for xp in (rl, torch))
    np.testing.assert_allclose(ours, theirs, rtol=2**-7)


def test_autocast_trains_in_bfloat16_as_in_torch():
    def losses(xp):
        xp.manual_seed(0)
        model = xp.nn.Sequential(xp.nn.Linear(8, 16), xp.nn.GELU(), xp.nn.Linear(16, 3))
        optimizer, found = xp.optim.SGD(model.parameters(), lr=0.1), []
        x = xp.randn(20, 8)
        for _ in range(5):
            optimizer.zero_grad()
            with xp.autocast("cpu"):
                scores = model(x)
                loss = xp.nn.functional.cross_entropy(scores, xp.arange(20) % 3)
            assert scores.dtype is xp.bfloat16 and loss.dtype is xp.float32
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    ours, theirs = map(losses, (rl, torch))
    assert ours == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("writer, reader", [(rl, torch), (torch, rl), (rl, rl)])
def test_files_of_it_are_read_by_the_other_framework(writer, reader):
    x = writer.arange(6).bfloat16().view(2, 3)
    file = io.BytesIO()
    writer.save({"x": x, "half": x[1], "dtype": x.dtype}, file)
    file.seek(0)
    found = reader.load(file)
    assert found["dtype"] is reader.bfloat16 is found["x"].dtype and found["x"].tolist() == x.tolist()
    found["x"].add_(1)
    assert found["half"].tolist() == [4, 5, 6]


def test_a_bfloat16_module_converts_its_parameters():
    def program(xp):
        model = xp.nn.Linear(2, 2).to(xp.bfloat16)
        return model.weight.dtype, model.bfloat16().float().bias.dtype, model(xp.ones(1, 2)).dtype

    assert outcome(program, rl) == outcome(program, torch)


def test_the_package_behind_it_is_imported_with_the_first_array():
    program = "import sys, rushlight as rl; rl.ones(2).half(), rl.bfloat16.itemsize; print('ml_dtypes' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "False"


def test_a_python_without_that_package_says_so_in_a_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    bfloat16 = dtypes.dtype("bfloat16", "BFloat16", dtypes.FLOATING)
    with pytest.raises(RuntimeError, match="^bfloat16 needs the package ml_dtypes, which this Python does not have$"):
        rl.ones(2, dtype=bfloat16)
