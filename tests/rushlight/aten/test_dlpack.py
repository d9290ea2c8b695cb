"""Memory is shared with torch and numpy, both ways, for exactly as long as somebody needs it."""

import ctypes
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from both import metadata
from sweep import in_one_test

import rushlight as rl
from rushlight.aten import dlpack
from rushlight.c10 import dtypes

VIEWS = [
    lambda x: x,
    lambda x: x.t(),
    lambda x: x[1:, ::2],
    lambda x: x[0, 1],
    lambda x: x[:, :0],
    lambda x: x[:1].expand(4, 3),
]


@in_one_test
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", [each.name for each in dtypes.ALL])
def test_any_view_of_any_dtype_goes_to_torch_and_back(view, name):
    ours, theirs = (view(xp.arange(6).view(2, 3).to(getattr(xp, name))) for xp in (rl, torch))
    borrowed, lent = rl.from_dlpack(theirs), torch.from_dlpack(ours)
    assert borrowed.shape == theirs.shape and borrowed.tolist() == theirs.tolist()
    assert lent.shape == ours.shape and lent.tolist() == ours.tolist()
    assert str(borrowed.dtype)[len("rushlight") :] == str(theirs.dtype)[len("torch") :] == f".{name}"
    assert borrowed.data_ptr() == theirs.data_ptr() and lent.data_ptr() == ours.data_ptr()
    assert metadata(borrowed) == metadata(torch.from_dlpack(theirs))


def test_writing_on_either_side_is_seen_on_the_other():
    ours = rl.zeros(2, 3)
    theirs = torch.from_dlpack(ours[:, 1:])
    theirs[0, 0] = 5
    ours[1, 2] = 7
    assert ours[0, 1].item() == 5 and theirs[1, 1].item() == 7


def test_numpy_arrays_go_both_ways():
    array = np.arange(6).reshape(2, 3)[:, ::2]
    borrowed = rl.from_dlpack(array)
    assert borrowed.stride() == (3, 2) and borrowed.data_ptr() == array.ctypes.data
    assert np.from_dlpack(rl.arange(4)[1:]).tolist() == [1, 2, 3]


def test_a_rushlight_tensor_can_be_borrowed_by_rushlight():
    x = rl.arange(6)[2:]
    rl.from_dlpack(x)[0] = 9
    assert x[0].item() == 9


def test_the_memory_of_torch_lives_as_long_as_the_last_borrower():
    freed = []
    array = np.arange(6)
    weakref.finalize(array, freed.append, True)
    borrowed = rl.from_dlpack(torch.from_numpy(array))
    view, numpy_view = borrowed[2:], borrowed.numpy()
    del array, borrowed, view
    gc.collect()
    assert not freed and numpy_view.tolist() == [0, 1, 2, 3, 4, 5]
    del numpy_view
    gc.collect()
    assert freed


def test_our_memory_lives_until_the_borrower_gives_it_back():
    x = rl.arange(6)
    storage = weakref.ref(x.untyped_storage())
    lent = torch.from_dlpack(x[1:])
    del x
    gc.collect()
    assert storage() is not None and lent.tolist() == [1, 2, 3, 4, 5]
    del lent
    gc.collect()
    assert storage() is None


def test_a_capsule_that_nobody_takes_lets_the_memory_go():
    x = rl.arange(6)
    storage = weakref.ref(x.untyped_storage())
    capsule = x.__dlpack__()
    del x
    assert storage() is not None
    del capsule
    assert storage() is None


def test_a_capsule_is_taken_once():
    capsule = rl.arange(6).__dlpack__()
    assert rl.from_dlpack(capsule).tolist() == [0, 1, 2, 3, 4, 5]
    for framework in (rl, torch):
        with pytest.raises(RuntimeError):
            framework.from_dlpack(capsule)
    with pytest.raises(RuntimeError):
        rl.from_dlpack([1])


def test_what_rushlight_lacks_is_refused_and_given_back():
    for refused in (
        torch.zeros(2, dtype=torch.complex64),
        torch.zeros(2, dtype=torch.uint16),
        np.arange(4)[::-1],
    ):
        with pytest.raises(BufferError):
            rl.from_dlpack(refused)
    freed = []
    array = np.arange(4, dtype=np.uint16)
    weakref.finalize(array, freed.append, True)
    with pytest.raises(BufferError):
        rl.from_dlpack(array)
    del array
    gc.collect()
    assert freed


@pytest.mark.sweep
def test_a_borrower_may_outlive_the_interpreter():
    program = "import rushlight, torch, sys; sys.kept = torch.from_dlpack(rushlight.arange(6)); "
    program += "x = rushlight.from_dlpack(sys.kept)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def struct(sizes, strides, byte_offset=0, code=dlpack.FLOAT, bits=32, lanes=1):
    ints = ctypes.c_int64 * len(sizes)
    return dlpack.DLTensor(
        ndim=len(sizes),
        dtype=dlpack.DLDataType(code, bits, lanes),
        shape=ints(*sizes),
        strides=strides and ints(*strides),
        byte_offset=byte_offset,
    )


def test_layout_reads_bytes_as_elements_and_no_strides_as_contiguous():
    assert dlpack.layout(struct((2, 3), (1, 2), 8)) == ((2, 3), (1, 2), 2, rl.float32)
    assert dlpack.layout(struct((2, 0, 3), None, code=dlpack.INT, bits=64)) == (
        (2, 0, 3),
        (3, 3, 1),
        0,
        rl.int64,
    )
    assert dlpack.layout(struct((), None, code=dlpack.BOOL, bits=8)) == ((), (), 0, rl.bool)


@pytest.mark.parametrize("fields", [{"lanes": 2}, {"bits": 8}, {"code": 4, "bits": 32}])
def test_layout_refuses_what_it_cannot_express(fields):
    with pytest.raises(BufferError):
        dlpack.layout(struct(**{"sizes": (2,), "strides": (1,), **fields}))
