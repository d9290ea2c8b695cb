"""Picking, putting together, masking, moving and repeating elements agree with torch."""

import pytest
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl

NAMES = ["float64", "float32", "int64", "int32", "bool"]
sizes = st.lists(st.integers(0, 3), max_size=3)


def numbered(xp, shape, name="int64", turned=False):
    numel = 1
    for size in shape:
        numel *= size
    x = xp.arange(numel).to(getattr(xp, name))
    return x.view(tuple(shape[::-1])).permute(tuple(range(len(shape)))[::-1]) if turned else x.view(tuple(shape))


@given(st.data())
def test_cat_and_stack_agree_with_torch(data):
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    dim = data.draw(st.integers(-len(shape) - 1, len(shape)))
    parts = data.draw(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from(NAMES), st.booleans(), st.booleans()), max_size=3)
    )

    def tensors(xp, same):
        for size, name, turned, nothing in parts:
            sizes = list(shape)
            if not same and -len(shape) <= dim < len(shape):
                sizes[dim] = size
            yield xp.zeros(0) if nothing and not same else numbered(xp, sizes, name, turned)

    agree(lambda xp: xp.cat(list(tensors(xp, False)), dim))
    agree(lambda xp: xp.stack(list(tensors(xp, True)), dim))
    agree(lambda xp: xp.cat(list(tensors(xp, False)), dim, out=xp.empty(0)))


@given(st.data())
def test_what_is_picked_by_index_agrees_with_torch(data):
    shape = data.draw(sizes)
    dim = data.draw(st.integers(-len(shape) - 1, max(len(shape), 1)))
    index_shape = data.draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape)) | sizes)
    shift, steps = data.draw(st.integers(-1, 1)), data.draw(st.sampled_from([1, 2]))
    integer = data.draw(st.sampled_from(["int64", "int32", "uint8"]))
    turned = data.draw(st.booleans())

    def index(xp, sizes):
        modulus = max([1, *shape])
        return xp.remainder(numbered(xp, sizes) * steps, modulus).add(shift).to(getattr(xp, integer))

    def filled(xp):
        return numbered(xp, shape, "float64", turned)

    agree(lambda xp: xp.gather(filled(xp), dim, index(xp, index_shape)))
    if shift == 0 or dim == 0:  # along others, what torch raises for a wrong index depends on the path it takes
        size = shape[dim] if -len(shape) <= dim < len(shape) else 1
        agree(
            lambda xp: xp.index_select(filled(xp), dim, index(xp, index_shape[:1]).clamp(max=max(size - 1, 0) + shift))
        )
    agree(lambda xp: xp.scatter_add(filled(xp), dim, index(xp, index_shape), numbered(xp, shape, "float64")))
    agree(lambda xp: filled(xp).scatter_(dim, index(xp, index_shape), 7))
    agree(lambda xp: filled(xp).scatter_(dim, index(xp, index_shape), 2, reduce="multiply"))
    agree(lambda xp: xp.nn.functional.embedding(index(xp, index_shape), filled(xp)))


@given(sizes, sizes, st.sampled_from(NAMES), st.booleans(), st.sampled_from([0, 1, -1, 2.5, True, 2**40]))
def test_masked_fill_agrees_with_torch(shape, mask_shape, name, turned, value):
    def mask(xp):
        return numbered(xp, mask_shape).remainder(3) == 0

    agree(lambda xp: xp.masked_fill(numbered(xp, shape, name, turned), mask(xp), value))
    agree(lambda xp: numbered(xp, shape, name, turned).masked_fill_(mask(xp), value))
    agree(lambda xp: numbered(xp, shape, name, turned).masked_fill_(mask(xp), xp.tensor(value)))


@given(sizes, st.sampled_from(NAMES), st.booleans(), st.integers(-4, 4), st.lists(st.integers(-4, 3), max_size=3))
def test_triangles_and_what_is_moved_or_repeated_agree_with_torch(shape, name, turned, number, dims):
    def x(xp):
        return numbered(xp, shape, name, turned)

    for program in (
        lambda xp: xp.tril(x(xp), number),
        lambda xp: xp.triu(x(xp), number),
        lambda xp: x(xp).tril_(number),
        lambda xp: xp.flip(x(xp), dims),
        lambda xp: xp.roll(x(xp), number),
        lambda xp: xp.roll(x(xp), [number] * len(dims), dims),
        lambda xp: x(xp).repeat(dims),
        lambda xp: x(xp).tile(dims),
    ):
        agree(program)


@given(st.lists(st.integers(-1, 4), max_size=4), st.integers(-1, 6))
def test_one_hot_agrees_with_torch(classes, num_classes):
    agree(lambda xp: xp.nn.functional.one_hot(xp.tensor(classes, dtype=xp.int64), num_classes))


def test_the_version_of_one_hot_counts_two_writes():
    agree(lambda xp: [xp.nn.functional.one_hot(xp.tensor([0, 1]), count)._version for count in (-1, 3)])


ROWS = [
    lambda xp, x, i: x.index_add(0, i, x[: i.numel()]),
    lambda xp, x, i: x.index_add(0, i, x[: i.numel()], alpha=2),
    lambda xp, x, i: x.index_add(0, i, x[: i.numel(), :1].expand(-1, 3)),
    lambda xp, x, i: x.index_select(0, i),
    lambda xp, x, i: x.t().index_select(1, i),
    lambda xp, x, i: x.index_put([i], x[: i.numel()], True),
    lambda xp, x, i: x.index_put([i, i % 3], xp.ones(i.numel()), True),
    lambda xp, x, i: x.index_put([i, i % 3], xp.ones(1), True),
    lambda xp, x, i: x.view(2, 2, 3).index_put([i % 2], x[: i.numel()].unsqueeze(1), True),
    lambda xp, x, i: x.index_put_([i], x[: i.numel()], True),
    lambda xp, x, i: xp.nn.functional.one_hot(i, 4),
    lambda xp, x, i: x.topk(2, 1)[1].index_add(0, i, x[: i.numel(), :2].long()),
]


@in_one_test
@pytest.mark.parametrize("program", ROWS)
@pytest.mark.parametrize("rows", [[0, 2, 2], [3], []])
def test_rows_are_selected_and_added_as_in_torch(program, rows):
    agree(lambda xp: program(xp, xp.arange(12.0).view(4, 3), xp.tensor(rows, dtype=xp.int64)))


OF_DIMS = [
    lambda xp, x, i: x.index_select(1, i + 1),
    lambda xp, x, i: x.view(2, 2, 3).index_select(2, i),
    lambda xp, x, i: x[:0].index_select(1, i + 1),
    lambda xp, x, i: x.index_add(1, i, x[:, :2]),
    lambda xp, x, i: x.view(2, 2, 3).index_add(1, i, xp.ones(2, 2, 3)),
    lambda xp, x, i: x[:0].index_add(1, i, x[:0, :2]),
    lambda xp, x, i: x.index_add(0, i.int(), x[:2]),
    lambda xp, x, i: x.index_reduce(0, i, x[:2], "prod"),
    lambda xp, x, i: x[:0].index_reduce(1, i, x[:0, :2], "amax"),
]


@in_one_test
@pytest.mark.parametrize("program", ROWS[:11] + OF_DIMS)
@pytest.mark.parametrize("rows", [[1, -1], [0, 4]])
def test_negative_indices_count_from_the_end_and_others_out_of_range_raise(program, rows):
    agree(lambda xp: program(xp, xp.arange(12.0).view(4, 3), xp.tensor(rows)))


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, x: xp.cat([x, x], out=x),
        lambda xp, x: xp.cat([x, x], out=xp.empty(0, dtype=xp.bool)),
        lambda xp, x: xp.cat(x),
        lambda xp, x: xp.cat([x, None]),
        lambda xp, x: xp.stack([x, 1]),
        lambda xp, x: xp.cat([x.view(1, 3, 4, 1), x.view(1, 3, 4, 1)], 3),
        lambda xp, x: xp.cat([xp.zeros(2, 3, 4, 5).contiguous(memory_format=xp.channels_last)] * 2),
        lambda xp, x: xp.gather(x, 0, xp.zeros(1, 1, dtype=xp.int64), out=x),
        lambda xp, x: xp.index_select(x, 0, xp.tensor([0]), out=xp.empty(0, dtype=xp.float64)),
        lambda xp, x: x.scatter_(0, xp.zeros(1, 4, dtype=xp.int64), x),
        lambda xp, x: x.scatter(0, xp.zeros(1, 4, dtype=xp.int64), x, reduce="mean"),
        lambda xp, x: x.masked_fill(x, 1),
        lambda xp, x: x.flip(0, 0),
        lambda xp, x: x.roll(()),
        lambda xp, x: xp.nn.functional.embedding(xp.tensor([1]), x, padding_idx=3),
        lambda xp, x: (xp.nn.functional.embedding(xp.tensor([2, 2]), x, max_norm=6.0, norm_type=1.0), x),
    ],
)
def test_special_cases_agree_with_torch(program):
    agree(lambda xp: program(xp, xp.arange(12, dtype=xp.float32).view(3, 4)))


@in_one_test
@pytest.mark.parametrize("source", [(), (1,), (1, 1), (2,)])
@pytest.mark.parametrize("target", [(), (1,), (3, 1), (3,)])
@pytest.mark.parametrize("name", ["index_add", "index_copy"])
def test_slices_of_another_shape_are_refused(name, target, source):
    agree(lambda xp: getattr(xp.zeros(target), name)(0, xp.tensor([0]), xp.ones(source)))


@pytest.mark.parametrize("rows, indices", [(0, []), (3, [[0, 2], [1, 2]])])
def test_the_gradient_of_an_embedding_of_width_0(rows, indices):
    def program(xp):
        weight = xp.zeros(rows, 0, requires_grad=True)
        xp.nn.functional.embedding(xp.tensor(indices, dtype=xp.int64), weight).sum().backward()
        return weight.grad

    agree(program)


SPARSE = {
    "embedding": lambda x: rl.nn.functional.embedding(rl.tensor([1]), x, sparse=True),
    "gather": lambda x: x.gather(0, rl.tensor([[0, 1, 2]]), sparse_grad=True),
}


@pytest.mark.parametrize("program", SPARSE.values(), ids=SPARSE)
def test_a_sparse_gradient_is_refused_in_one_line(program):
    result = program(rl.ones(3, 3, requires_grad=True))
    with pytest.raises(NotImplementedError, match="rushlight leaves out sparse gradients"):
        result.sum().backward()


def test_indices_are_broadcast_along_a_dimension():
    def program(xp):
        x = xp.tensor([[1.0, 5.0, 2.0], [8.0, 3.0, 3.0]])
        found = [xp.take_along_dim(x, xp.tensor([[0], [1]]), 1), xp.take_along_dim(x, xp.tensor([[0, 1, 0]]), 0)]
        return [*found, xp.take_along_dim(x, xp.tensor([4, 0])), x.take_along_dim(x.argsort(1) - 3, 1)]

    agree(program)
    agree(lambda xp: xp.take_along_dim(xp.ones(2, 3), xp.tensor([1]), 0))
    agree(lambda xp: xp.take_along_dim(xp.ones(2, 3), xp.ones(2, 3), 0))


def test_copies_of_views_have_no_base():
    def program(xp):
        x = xp.arange(6.0).reshape(2, 3).requires_grad_()
        copies = [
            xp.view_copy(x, (3, 2)), xp.expand_copy(x[None], (2, 2, 3)), xp.permute_copy(x, (1, 0)), xp.t_copy(x),
            xp.squeeze_copy(x[None]), xp.as_strided_copy(x, (2, 2), (1, 2)), xp.alias_copy(x),
            xp.transpose_copy(x, 0, 1), xp.unsqueeze_copy(x, 0), xp.unfold_copy(x, 1, 2, 1), *xp.unbind_copy(x, 1),
            *xp.split_with_sizes_copy(x, [1, 2], 1),
        ]  # fmt: skip
        sum(copy.sum() * i for i, copy in enumerate(copies)).backward()
        return [*(copy.detach() for copy in copies), all(copy._base is None for copy in copies), x.grad]

    agree(program)
