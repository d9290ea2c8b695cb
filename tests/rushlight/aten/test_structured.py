"""The three forms of an operator agree with torch, and the fourth, on the device meta, with the first."""

import warnings

import pytest
from both import agree
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl
from rushlight.aten.structured import Output, Structured

sizes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(sizes, sizes, st.booleans())
def test_an_out_is_resized_as_in_torch(sizes, before, turned):
    def program(xp):
        x = xp.arange(60)[: max(len(sizes), 1)].sum() + xp.zeros(sizes[::-1], dtype=xp.int64)
        x = x.permute(tuple(reversed(range(len(sizes))))) if turned else x
        out = xp.zeros(before, dtype=xp.int64)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = xp.add(x, 1, out=out)
        return result, result is out, len(warned), out.untyped_storage().nbytes()

    agree(program)


def test_a_resized_out_keeps_its_place_in_the_storage():
    def program(xp):
        base = xp.arange(10)
        out = base[4:6]
        xp.add(xp.ones(3, dtype=xp.int64), 1, out=out)
        return out, out.storage_offset()

    agree(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.add(xp.ones(2), 1, out=xp.empty(2, dtype=xp.int64)),
        lambda xp: xp.add(xp.ones(2), 1, out=xp.empty(2, dtype=xp.float64)),
        lambda xp: xp.add(xp.ones(2), 1, out=xp.empty(1).expand(2)),
        lambda xp: xp.eq(xp.ones(2), 1, out=xp.empty(2)),
        lambda xp: xp.amax(xp.ones(2), 0, out=xp.empty((), dtype=xp.float64)),
        lambda xp: xp.add(xp.ones(2, 3), 1, out=xp.empty(3, 2).t()),
        lambda xp: xp.ones(2).add_(xp.ones(3, 2)),
    ],
)
def test_what_may_be_written_agrees_with_torch(program):
    agree(program)


def test_on_the_device_meta_only_the_metadata_are_made():
    def impl(x, out):
        raise AssertionError("there is nothing to fill")

    kernel = Structured(lambda x: Output(x.shape, (1, 2), rl.int64), impl)
    out = kernel.on_meta(rl.empty(2, 3, device="meta"))
    assert (out.is_meta, out.shape, out.stride(), out.dtype) == (True, (2, 3), (1, 2), rl.int64)
    given = rl.empty(2, 3, dtype=rl.int64, device="meta")
    assert kernel.inplace(given) is given and kernel.out(given, given) is given
