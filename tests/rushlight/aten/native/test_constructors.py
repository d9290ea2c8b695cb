"""Ways to make a tensor from Python objects, and the limits of dtypes."""

import numpy as np
import pytest
from both import agree
from sweep import in_one_test


def written(xp, make):
    """Whether a tensor shares the memory of an array from which it is made."""
    array = np.ones(4, np.float32)
    made = make(xp, array)
    array[1] = 7
    return made, made.dtype


CONSTRUCTORS = {
    "empty": lambda xp: xp.Tensor(),
    "sizes": lambda xp: xp.Tensor(2, 3).shape,
    "one size": lambda xp: xp.Tensor(5).shape,
    "Size": lambda xp: xp.Tensor(xp.Size((2, 3))).shape,
    "list": lambda xp: xp.Tensor([1, 2]),
    "nested list": lambda xp: xp.Tensor([[True, 2.5], [1, 2]]),
    "tuple": lambda xp: xp.Tensor((2, 3)),
    "range": lambda xp: xp.Tensor(range(3)),
    "tensor": lambda xp: xp.Tensor(xp.tensor([1, 2])),
    "shared": lambda xp: (lambda x: (xp.Tensor(x).fill_(3), x))(xp.ones(2)),
    "with a history": lambda xp: xp.Tensor(xp.ones(2, requires_grad=True)).grad_fn.name(),
    "array": lambda xp: written(xp, lambda xp, array: xp.Tensor(array)),
    "keyword": lambda xp: xp.Tensor(data=[1.0]),
    "device": lambda xp: xp.Tensor([2, 3], device="cpu"),
    "float": lambda xp: xp.Tensor(2.5),
    "bool": lambda xp: xp.Tensor(True),
    "string": lambda xp: xp.Tensor("ab"),
    "None": lambda xp: xp.Tensor(None),
    "negative": lambda xp: xp.Tensor(-1),
    "dtype": lambda xp: xp.Tensor(2, dtype=xp.float64),
    "asarray of an array": lambda xp: written(xp, lambda xp, array: xp.asarray(array)),
    "asarray, copied": lambda xp: written(xp, lambda xp, array: xp.asarray(array, copy=True)),
    "asarray of another dtype": lambda xp: written(xp, lambda xp, array: xp.asarray(array, dtype=xp.float64)),
    "asarray, never copied": lambda xp: written(xp, lambda xp, array: xp.asarray(array, dtype=xp.float64, copy=False)),
    "asarray of a number of numpy": lambda xp: xp.asarray(np.float32(3)),
    "asarray of a number": lambda xp: xp.asarray(3, dtype=xp.int32),
    "asarray of a list": lambda xp: xp.asarray([1, 2.5]),
    "asarray of a list, never copied": lambda xp: xp.asarray([1, 2.5], copy=False),
    "asarray of a buffer": lambda xp: xp.asarray(bytearray(b"abcdefgh"), dtype=xp.int32),
    "asarray of a string": lambda xp: xp.asarray("ab"),
    "asarray of None": lambda xp: xp.asarray(None),
    "asarray of a tensor": lambda xp: (lambda x: xp.asarray(x) is x)(xp.ones(2)),
    "asarray of a leaf": lambda xp: (lambda x: (xp.asarray(x, requires_grad=False) is x, x.requires_grad))(
        xp.ones(2, requires_grad=True)
    ),
    "asarray of a result": lambda xp: (lambda x: (x.requires_grad, x.is_leaf))(
        xp.asarray(xp.ones(2, requires_grad=True) * 2)
    ),
    "asarray of a result, detached": lambda xp: (
        xp.asarray(xp.ones(2, requires_grad=True) * 2, requires_grad=False).is_leaf
    ),
    "asarray, to be trained": lambda xp: xp.asarray([1.0], requires_grad=True).requires_grad,
    "frombuffer": lambda xp: (lambda b: (xp.frombuffer(b, dtype=xp.int32).fill_(1), list(b)))(bytearray(8)),
    "frombuffer, a part": lambda xp: xp.frombuffer(bytearray(range(12)), dtype=xp.int32, count=1, offset=4),
    "frombuffer, an odd offset": lambda xp: xp.frombuffer(bytearray(range(8)), dtype=xp.int32, count=1, offset=1),
    "frombuffer, too many": lambda xp: xp.frombuffer(bytearray(8), dtype=xp.int32, count=3),
    "frombuffer, not a multiple": lambda xp: xp.frombuffer(bytearray(7), dtype=xp.int32),
    "frombuffer of nothing": lambda xp: xp.frombuffer(bytearray(0), dtype=xp.int32),
    "frombuffer, a far offset": lambda xp: xp.frombuffer(bytearray(8), dtype=xp.int32, offset=9),
    "frombuffer of a list": lambda xp: xp.frombuffer([1], dtype=xp.int32),
    "frombuffer without a dtype": lambda xp: xp.frombuffer(bytearray(8)),
    "is_tensor": lambda xp: [xp.is_tensor(x) for x in (xp.ones(2), xp.nn.Parameter(xp.ones(2)), 2, None)],
    "finfo": lambda xp: [xp.finfo(), xp.finfo(xp.float16), xp.finfo(xp.float64), xp.finfo(xp.float32).eps],
    "finfo, attributes": lambda xp: [
        getattr(xp.finfo(xp.float16), name)
        for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")
    ],
    "iinfo": lambda xp: [xp.iinfo(xp.int64), xp.iinfo(xp.uint8).max, xp.iinfo(xp.int32).min, xp.iinfo(xp.int32).bits],
    "infos are equal": lambda xp: (xp.finfo() == xp.finfo(xp.float32), xp.finfo() == xp.finfo(xp.float16)),
    "finfo of an integer": lambda xp: xp.finfo(xp.int64),
    "iinfo of a float": lambda xp: xp.iinfo(xp.float32),
    "iinfo of bool": lambda xp: xp.iinfo(xp.bool),
    "finfo of a string": lambda xp: xp.finfo("float32"),
}


@in_one_test
@pytest.mark.parametrize("program", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_tensors_are_made_from_what_torch_makes_them_from(program):
    agree(program)


def subclass(xp):
    class Marked(xp.Tensor):
        __torch_function__ = xp._C._disabled_torch_function_impl

        def twice(self):
            return self * 2

    return Marked


SUBCLASSES = {
    "as_subclass": lambda xp, cls: (lambda x: (type(x).__name__, x.twice(), type(x.twice()).__name__))(
        xp.ones(2).as_subclass(cls)
    ),
    "its memory": lambda xp, cls: (lambda x: (x.as_subclass(cls).fill_(3).tolist(), x))(xp.ones(2)),
    "its history": lambda xp, cls: xp.ones(2, requires_grad=True).as_subclass(cls).grad_fn.name(),
    "its text": lambda xp, cls: repr(xp.ones(2).as_subclass(cls)),
    "constructor": lambda xp, cls: (type(cls([1, 2])).__name__, cls([1, 2]).tolist(), isinstance(cls(2), xp.Tensor)),
    "_make_subclass": lambda xp, cls: (
        lambda x: (type(x).__name__, x.requires_grad, x.is_leaf, xp.autograd.grad(x.twice().sum(), x))
    )(xp.Tensor._make_subclass(cls, xp.ones(2), True)),
    "of a parameter": lambda xp, cls: type(type("P", (xp.nn.Parameter,), {})(xp.ones(2))).__name__,
}


@pytest.mark.parametrize("program", SUBCLASSES.values(), ids=SUBCLASSES)
def test_a_subclass_without_torch_function_is_torchs(program):
    agree(lambda xp: program(xp, subclass(xp)))
