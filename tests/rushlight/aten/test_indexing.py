"""`x[...]` and `x[...] = value` with tensors, masks, sequences and bools among the keys agree with torch."""

import numpy as np
import pytest
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl

sizes = st.lists(st.integers(0, 3), min_size=1, max_size=4)


class Index:
    """A part of a key that each framework has its own of: a tensor of these numbers, perhaps with its dimensions turned."""

    def __init__(self, numbers, dtype, turned=False):
        self.numbers, self.dtype, self.turned = numbers, dtype, turned

    def __repr__(self):
        return f"Index({self.numbers}, {self.dtype}{', turned' if self.turned else ''})"

    def on(self, xp):
        numbers = np.array(self.numbers, self.dtype)
        if not self.turned:
            return xp.tensor(numbers)
        return xp.tensor(numbers.T.copy()).permute(tuple(range(numbers.ndim))[::-1])


def on(xp, key):
    if isinstance(key, tuple):
        return tuple(on(xp, each) for each in key)
    return key.on(xp) if isinstance(key, Index) else key


@st.composite
def integers(draw, size):
    """Index tensors of sizes that mostly broadcast, with numbers that are mostly within the size."""
    shape = draw(st.sampled_from([(), (1,), (2,), (2,), (3, 2), (3, 1), (2, 3, 2), (0,)]))
    low, high = (-size, size - 1) if size and draw(st.integers(0, 9)) else (-size - 1, size)
    numbers = draw(st.lists(st.integers(low, high), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    numbers = np.array(numbers, "int64").reshape(shape)
    return Index(
        numbers.tolist() if numbers.size else numbers, draw(st.sampled_from(["int64", "int32"])), draw(st.booleans())
    )


@st.composite
def masks(draw, shape):
    shape = [size + (draw(st.integers(0, 19)) == 0) for size in shape]
    numbers = np.array(draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))), bool)
    numbers = numbers.reshape(shape)
    return Index(
        numbers.tolist() if numbers.size else numbers,
        draw(st.sampled_from(["bool", "bool", "uint8"])),
        draw(st.booleans()),
    )


@st.composite
def keys(draw, shape):
    """A key whose parts are made for the dimensions that they meet, and now and then one too many."""
    parts, dim, ellipsis = [], 0, False
    while dim < len(shape) + (draw(st.integers(0, 19)) == 0):
        size = shape[dim] if dim < len(shape) else 1
        kind = draw(
            st.sampled_from(["index", "index", "mask", "list", "int", "slice", "slice", "None", "bool", "...", "end"])
        )
        if kind == "end":
            break
        if kind == "index":
            parts.append(draw(integers(size)))
        elif kind == "mask":
            span = draw(st.integers(0, min(2, len(shape) - dim)))
            parts.append(draw(masks(shape[dim : dim + span])))
            dim += span - 1
        elif kind == "list":
            within = st.integers(-size, max(size - 1, 0))
            parts.append(draw(st.lists(within, max_size=2) | st.lists(st.booleans(), min_size=size, max_size=size)))
        elif kind == "int":
            parts.append(draw(st.integers(-size, max(size - 1, 0))))
        elif kind == "slice":
            parts.append(draw(st.sampled_from([slice(None), slice(1, None), slice(None, -1), slice(None, None, 2)])))
        elif kind in ("None", "bool"):
            parts.append(None if kind == "None" else draw(st.booleans()))
            dim -= 1
        elif not ellipsis:
            parts.append(...)
            ellipsis, dim = True, dim + draw(st.integers(0, len(shape) - dim)) - 1 if dim < len(shape) else dim
        dim += 1
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


layouts = st.sampled_from(["plain", "turned", "every other", "expanded"])


def numbered(xp, shape, layout="plain", dtype="float32"):
    numel = int(np.prod(shape))
    x = xp.arange(numel).to(getattr(xp, dtype))
    if layout == "turned":
        return x.view(tuple(shape[::-1])).permute(tuple(range(len(shape)))[::-1])
    if layout == "every other":
        return xp.arange(2 * numel).to(getattr(xp, dtype)).view((*shape[:-1], 2 * shape[-1]))[..., ::2]
    if layout == "expanded":
        return xp.arange(int(np.prod(shape[1:]))).to(getattr(xp, dtype)).view((1, *shape[1:])).expand(tuple(shape))
    return x.view(tuple(shape))


@given(sizes, layouts, st.data())
def test_what_a_key_picks_agrees_with_torch(shape, layout, data):
    key = data.draw(keys(shape))
    agree(lambda xp: numbered(xp, shape, layout)[on(xp, key)])


@given(sizes, st.sampled_from(["plain", "turned", "every other"]), st.data())
def test_what_is_written_to_a_key_agrees_with_torch(shape, layout, data):
    """One value, or values along what is picked. Which of several stays where indices repeat is nobody's choice: the values
    of a row are equal."""
    key = data.draw(keys(shape))
    value = data.draw(st.sampled_from([7, 2.5, True, "0-dim", "one", "of another dtype", "rows", "too many", "a list"]))

    def program(xp):
        x = numbered(xp, shape, layout)
        picked = x[on(xp, key)].shape
        given = {
            "0-dim": lambda: xp.tensor(9.0),
            "one": lambda: xp.tensor([[9.0]]),
            "of another dtype": lambda: xp.tensor([9]),
            "rows": lambda: xp.full((1, 1, *picked), 9.0),
            "too many": lambda: xp.full((2, *picked), 9.0),
            "a list": lambda: [1.0],
        }
        x[on(xp, key)] = given[value]() if value in given else value
        return x

    agree(program)


@given(sizes, st.data(), st.booleans())
def test_values_that_differ_are_written_where_indices_do_not_repeat(shape, data, accumulate):
    order = data.draw(st.permutations(range(shape[0])))
    mask = data.draw(masks(shape))

    def program(xp):
        x, index = numbered(xp, shape), xp.tensor(np.array(order, "int64"))
        x[index] = -numbered(xp, shape, "turned")
        x.index_put_((mask.on(xp),), x[mask.on(xp)] * 2, accumulate)
        return x, x.index_put((index,), numbered(xp, shape), accumulate=accumulate)

    agree(program)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool"])
def test_where_indices_repeat_all_are_added(dtype):
    def program(xp):
        x, index = numbered(xp, (2, 3), dtype=dtype), xp.tensor([1, -1, 0, 1])
        return x.index_put_((index,), numbered(xp, (4, 3), dtype=dtype), accumulate=True)

    agree(program)


@in_one_test
@pytest.mark.parametrize(
    "key",
    [
        lambda xp: np.array([0, 1]),
        lambda xp: np.array(1),
        lambda xp: np.array([True, False]),
        lambda xp: np.array([1.0]),
        lambda xp: np.int64(1),
        lambda xp: np.bool_(True),
        lambda xp: np.float32(1),
        lambda xp: range(2),
        lambda xp: [],
        lambda xp: [[]],
        lambda xp: [0, True],
        lambda xp: [0.0, 1.0],
        lambda xp: [slice(None), 0],
        lambda xp: [[0, 1], [1, 0]],
        lambda xp: [[0, 1], [0]],
        lambda xp: [xp.tensor(0), xp.tensor(1)],
        lambda xp: ((0, 1), (0, 1)),
        lambda xp: xp.tensor(1.0),
        lambda xp: xp.tensor([1.0]),
        lambda xp: "a",
        lambda xp: 1.0,
        lambda xp: {1},
        lambda xp: {},
        lambda xp: (..., ..., [0]),
        lambda xp: (xp.tensor([0, 1]), xp.tensor([0, 1, 2])),
        lambda xp: xp.tensor([True] * 3),
        lambda xp: (xp.tensor([True, False]),) * 2,
    ],
)
@pytest.mark.parametrize("write", [False, True])
def test_other_kinds_of_keys_agree_with_torch(key, write):
    def program(xp):
        x = numbered(xp, (2, 3, 4))
        if not write:
            return x[key(xp)]
        x[key(xp)] = 7
        return x

    agree(program)


@in_one_test
@pytest.mark.parametrize(
    "value", [2.5, True, np.float64(2.5), np.float32(2.5), np.int32(2), np.bool_(True), 2**40, "a", None]
)
@pytest.mark.parametrize("key", [0, [0, 1], True, False, 7])
def test_what_can_be_written_agrees_with_torch(key, value):
    def program(xp):
        x = xp.arange(6)
        x[key] = value
        return x

    agree(program)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_result_on_meta_has_the_sizes_and_strides(device):
    def program(xp):
        x = xp.empty(2, 3, 4, device="meta").permute(2, 1, 0)
        picked = x[:, xp.tensor([0, 1, 9], device=device)]
        x[xp.tensor([0, 1], device=device)] = 1
        return tuple(picked.shape), picked.stride(), str(picked.device)

    agree(program)


def test_memory_that_is_read_and_written_is_refused():
    def program(xp):
        x = xp.arange(6)
        x[xp.tensor([0, 1])] = x[2:4]  # elsewhere
        x[x] = 1

    agree(program)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_gradients_agree_with_torch(shape, data):
    key = data.draw(keys(shape))

    def program(xp):
        x = numbered(xp, shape, dtype="float64").requires_grad_()
        value = xp.full((), 2.0, dtype=xp.float64).requires_grad_()
        picked = x[on(xp, key)]
        y = x * 3
        y[on(xp, key)] = value
        ((picked * picked).sum() + (y * y).sum()).backward()
        return x.grad, value.grad, type(picked.grad_fn).__name__, type(y.grad_fn).__name__

    agree(program)


def test_the_gradient_of_a_gradient_goes_through_an_index():
    def program(xp):
        x = numbered(xp, (3, 2), dtype="float64").requires_grad_()
        y = x[xp.tensor([0, 0, 2])]
        (grad,) = xp.autograd.grad((y * y * y).sum(), x, create_graph=True)
        grad.sum().backward()
        return x.grad

    agree(program)


def test_writing_to_an_index_is_one_new_version():
    for key in (rl.tensor([0, 1]), rl.tensor([True, False])):
        x = rl.zeros(2)
        before = x._version
        x[key] = 1
        assert x._version == before + 1
