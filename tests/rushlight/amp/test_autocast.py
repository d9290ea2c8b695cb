"""Autocast: which operators cast, and what to."""

import warnings

import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl
from rushlight.amp import autocast_mode
from rushlight.c10.dispatch import DispatchKey, operators

LISTED = {name for names in autocast_mode.POLICIES.values() for name in names}
DTYPES = ("lower", "float32", "float64", "int64")


def test_the_lists_are_torchs_as_far_as_the_operators_are_here():
    theirs = {
        name.removeprefix("aten::") for name in torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCPU")
    }
    assert {name for name in theirs if f"aten::{name}" in operators} == LISTED
    assert all(DispatchKey.AutocastCPU in operators[f"aten::{name}"].kernels for name in LISTED)


MATRICES = {
    "addmm": lambda ops, a, b: ops.addmm(a, a, b),
    "baddbmm": lambda ops, a, b: ops.baddbmm(*(ops.unsqueeze(each, 0) for each in (a, a, b))),
    "bmm": lambda ops, a, b: ops.bmm(ops.unsqueeze(a, 0), ops.unsqueeze(b, 0)),
    "linear": lambda ops, a, b: ops.linear(a, b),
    "matmul": lambda ops, a, b: ops.matmul(a, b),
    "mm": lambda ops, a, b: ops.mm(a, b),
    "prod": lambda ops, a, b: ops.prod(a),
    "prod.dim_int": lambda ops, a, b: ops.prod(a, 0),
    "cat": lambda ops, a, b: ops.cat([a, b]),
    "stack": lambda ops, a, b: ops.stack([a, b]),
    "mul": lambda ops, a, b: ops.mul(a, b),
    "sum": lambda ops, a, b: ops.sum(a),
}


@in_one_test
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_an_operator_computes_in_the_type_that_torch_chooses(name, a, b):
    def program(xp, lower):
        x, y = (xp.ones(2, 2, dtype=getattr(xp, lower if dtype == "lower" else dtype)) for dtype in (a, b))
        with xp.autocast("cpu", dtype=getattr(xp, lower)):
            return MATRICES[name](xp.ops.aten, x, y)

    for lower in "float16", "bfloat16":
        agree(program, lower)


def state(xp):
    dtype = xp.get_autocast_dtype("cpu")
    return [
        xp.is_autocast_enabled("cpu"),
        xp.is_autocast_enabled("cuda"),
        xp.mm(xp.ones(1, 1), xp.ones(1, 1)).dtype,
        dtype,
    ]


def test_nesting_turns_it_on_and_off_and_leaves_things_as_they_were():
    def program(xp):
        seen = []
        with xp.autocast("cpu", dtype=xp.float16):
            seen.append(state(xp))
            with xp.autocast("cpu", enabled=False):
                seen.append(state(xp))
                with xp.autocast("cpu"):
                    seen.append(state(xp))
            with pytest.raises(KeyError), xp.autocast("cpu", dtype=xp.float16, enabled=False, cache_enabled=False):
                raise KeyError
            seen.append(state(xp))
        seen.append(state(xp))
        return seen

    agree(program)


def test_as_a_decorator_it_lasts_for_the_call():
    def program(xp):
        @xp.autocast("cpu", dtype=xp.float16)
        def product(a, *, b):
            return xp.mm(a, b)

        return product(xp.ones(1, 1), b=xp.ones(1, 1)), product.__name__, state(xp)

    agree(program)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_another_dtype_warns_and_casts_nothing(dtype):
    def program(xp):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            autocast = xp.autocast("cpu", dtype=getattr(xp, dtype))
        with autocast:
            return [each.category for each in seen], state(xp)

    agree(program)


@pytest.mark.parametrize("device", ["meta", "foo", None, 3])
def test_a_device_that_cannot_is_refused(device):
    agree(lambda xp: xp.autocast(device, dtype=xp.float16))


def test_what_is_no_function_is_refused():
    agree(lambda xp: xp.autocast("cpu", dtype=xp.float16)(3))


def test_the_lower_precision_is_bfloat16_unless_given():
    def program(xp):
        with xp.autocast("cpu"):
            return state(xp)

    agree(program)


def test_a_compiled_function_runs_as_it_is_under_autocast():
    def within(x):
        with rl.autocast("cpu"):
            return x @ x

    compiled = rl.compile(lambda x: x @ x, backend="eager")
    x = rl.ones(2, 2)
    assert compiled(x).dtype is rl.float32
    with rl.autocast("cpu"):
        assert compiled(x).dtype is rl.bfloat16
    assert compiled(x).dtype is rl.float32 and rl.compile(within, backend="eager")(x).dtype is rl.bfloat16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_compiled_function_computes_in_the_reduced_floating_types(dtype):
    def program(x, w):
        return (x @ w).relu().softmax(1) * 2 + x.sum()

    x, w = (rl.arange(n, n + 16.0).view(4, 4).mul(0.1).to(getattr(rl, dtype)).requires_grad_() for n in (-8, -4))
    ours, theirs = rl.compile(program)(x, w), program(x, w)
    assert ours.dtype is theirs.dtype and ours.tolist() == theirs.tolist()
    for pair in zip(rl.autograd.grad(ours.sum(), (x, w)), rl.autograd.grad(theirs.sum(), (x, w))):
        assert pair[0].tolist() == pair[1].tolist()
