"""Metadata, views, broadcasting and copies: whatever torch answers, rushlight answers."""

import copy
import pickle

import pytest
import torch
from both import agree, metadata, outcome
from hypothesis import assume, given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from rushlight.aten import strided

sizes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
strides = st.lists(st.integers(0, 6), max_size=4).map(tuple)
dims = st.integers(-4, 4)
maybe = st.one_of(st.none(), st.integers(-6, 6))
positive_slice = st.builds(slice, maybe, maybe, st.sampled_from([None, -1, 1, 2, 3]))
key = st.one_of(st.integers(-4, 4), positive_slice, st.none(), st.just(...))

STEPS = {
    "transpose": st.tuples(dims, dims),
    "permute": st.one_of(st.permutations(range(3)), st.permutations(range(2)), st.lists(dims, max_size=4)).map(tuple),
    "select": st.tuples(dims, st.integers(-4, 4)),
    "narrow": st.tuples(dims, st.integers(-4, 4), st.integers(-1, 4)),
    "unsqueeze": st.tuples(dims),
    "squeeze": st.one_of(st.just(()), st.tuples(dims), st.tuples(st.lists(dims, max_size=3).map(tuple))),
    "expand": st.lists(st.integers(-1, 4), min_size=1, max_size=5).map(tuple),
    "flatten": st.tuples(dims, dims),
    "unflatten": st.tuples(dims, st.lists(st.integers(-1, 4), min_size=1, max_size=3).map(tuple)),
    "view": st.lists(st.integers(-1, 12), min_size=1, max_size=4).map(tuple),
    "reshape": st.lists(st.integers(-1, 12), min_size=1, max_size=4).map(tuple),
    "unfold": st.tuples(dims, st.integers(-1, 4), st.integers(0, 3)),
    "diagonal": st.tuples(st.integers(-3, 3), dims, dims),
    "movedim": st.one_of(st.tuples(dims, dims), st.tuples(st.permutations(range(3)), st.permutations(range(3)))),
    "as_strided": st.tuples(
        st.lists(st.integers(-1, 4), max_size=3).map(tuple).filter(lambda sizes: not {0, -1} <= set(sizes)),
        st.lists(st.integers(-1, 4), max_size=3).map(tuple),
        st.one_of(st.none(), st.integers(-1, 6)),
    ),
    "t": st.just(()),
    "clone": st.just(()),
    "contiguous": st.just(()),
    "__getitem__": st.one_of(st.tuples(key), st.tuples(st.lists(key, max_size=4).map(tuple))),
    "T": st.none(),
    "mT": st.none(),
    "double": st.just(()),
}
step = st.sampled_from(sorted(STEPS)).flatmap(lambda name: st.tuples(st.just(name), STEPS[name]))


def apply(x, name, args):
    return getattr(x, name) if args is None else getattr(x, name)(*args)


def numbered(xp, shape):
    return xp.arange(rl.Size(shape).numel()).view(shape)


@given(shape=sizes, steps=st.lists(step, min_size=1, max_size=6))
def test_any_chain_of_views_has_the_metadata_elements_sharing_and_errors_of_torch(shape, steps):
    ours, theirs = numbered(rl, shape), numbered(torch, shape)
    for name, args in steps:
        if name == "expand" and not ours.dim() and min(args) < 0:
            continue  # torch makes a tensor with a negative size here
        mine, expected = (outcome(lambda xp, x: apply(x, name, args), None, x) for x in (ours, theirs))
        assert mine == expected, f"{name}{args} of {metadata(theirs)}:\nrushlight {mine}\ntorch     {expected}"
        if isinstance(expected, str):
            continue  # both refused: go on from where we were
        before = ours, theirs
        ours, theirs = apply(ours, name, args), apply(theirs, name, args)
        shared = [
            new.untyped_storage().data_ptr() == old.untyped_storage().data_ptr()
            for new, old in zip((ours, theirs), before)
        ]
        assert shared[0] == shared[1], f"{name}{args} of {metadata(before[1])} shares memory: {shared}"


@given(shape=sizes, name=st.sampled_from(sorted(STEPS)), data=st.data())
def test_any_single_view_agrees_with_torch(shape, name, data):
    args = data.draw(STEPS[name])
    assume(name != "expand" or shape or min(args) >= 0)  # torch makes a tensor with a negative size there
    agree(lambda xp: apply(numbered(xp, shape), name, args))


layouts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12)), max_size=4).map(
    lambda pairs: (tuple(size for size, _ in pairs), tuple(stride for _, stride in pairs))
)


@st.composite
def dense_layouts(draw):
    """Sizes and strides of a permuted contiguous tensor, in which size-1 dimensions have any stride."""
    shape = draw(st.lists(st.integers(1, 4), max_size=4))
    order = draw(st.permutations(range(len(shape))))
    x = torch.empty(shape).permute(order)
    return tuple(x.shape), tuple(
        draw(st.integers(0, 9)) if size == 1 else stride for size, stride in zip(x.shape, x.stride())
    )


any_layout = st.one_of(layouts, dense_layouts())


def laid_out(xp, sizes, strides):
    return xp.arange(300).as_strided(sizes, strides)


@given(sizes)
def test_contiguous_strides_are_those_of_a_new_torch_tensor(sizes):
    assert strided.contiguous_strides(sizes) == torch.empty(sizes).stride()


@given(any_layout)
def test_is_contiguous_agrees_with_torch_for_any_strides(layout):
    x = laid_out(torch, *layout)
    assert strided.is_contiguous(*layout) is x.is_contiguous()
    assert strided.is_channels_last(*layout) is x.is_contiguous(memory_format=torch.channels_last)


@given(any_layout)
def test_non_overlapping_and_dense_agrees_with_torch_for_any_strides(layout):
    assert strided.non_overlapping_and_dense(*layout) == torch.ops.aten.is_non_overlapping_and_dense(
        laid_out(torch, *layout)
    )


@given(any_layout)
def test_internal_overlap_is_seen_exactly_when_torch_refuses_to_add_in_place(layout):
    try:
        laid_out(torch, *layout).add_(1)
        refused = False
    except RuntimeError:
        refused = True
    assert strided.has_internal_overlap(*layout) is refused


@given(any_layout, st.data())
def test_compute_stride_finds_a_view_exactly_when_torch_does(layout, data):
    x = laid_out(torch, *layout)
    shape = data.draw(factorisations(x.numel()))
    try:
        expected = x.view(shape).stride()
    except RuntimeError:
        expected = None
    assert strided.compute_stride(*layout, shape) == expected


@st.composite
def factorisations(draw, numel):
    if numel == 0:
        return tuple(draw(st.permutations([0, *draw(st.lists(st.integers(0, 4), max_size=3))])))
    shape = []
    while numel > 1:
        shape.append(draw(st.sampled_from([d for d in range(2, numel + 1) if numel % d == 0])))
        numel //= shape[-1]
    for _ in range(draw(st.integers(0, 3))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return tuple(shape)


@given(any_layout, st.data())
def test_element_offset_is_where_torch_finds_the_element(layout, data):
    sizes, strides = layout
    if 0 not in sizes:
        index = tuple(data.draw(st.integers(0, size - 1)) for size in sizes)
        x = torch.arange(300).as_strided(sizes, strides, 7)
        assert strided.element_offset(index, strides, 7) == x[index].item()


@given(sizes, sizes)
def test_shapes_broadcast_as_in_torch(a, b):
    try:
        expected = tuple((torch.empty(a) + torch.empty(b)).shape)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            strided.infer_size(a, b)
    else:
        assert strided.infer_size(a, b) == expected


@given(any_layout, st.sampled_from(["preserve_format", "contiguous_format", "channels_last"]))
def test_copies_are_laid_out_as_by_torch(layout, name):
    agree(lambda xp: laid_out(xp, *layout).clone(memory_format=getattr(xp, name)))
    if name != "preserve_format":
        agree(lambda xp: laid_out(xp, *layout).contiguous(memory_format=getattr(xp, name)))
    agree(lambda xp: xp.zeros_like(laid_out(xp, *layout)))
    agree(lambda xp: laid_out(xp, *layout).float())


@given(sizes, st.integers(-3, 3), st.one_of(st.integers(-1, 5), st.lists(st.integers(-1, 4), max_size=4)))
def test_split_chunk_and_unbind_agree_with_torch(shape, dim, size):
    agree(lambda xp: xp.split(numbered(xp, shape), size, dim))
    agree(lambda xp: xp.unbind(numbered(xp, shape), dim))
    if isinstance(size, int):
        agree(lambda xp: xp.chunk(numbered(xp, shape), size, dim))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple), maybe, maybe, st.integers(-1, 4), dims)
def test_the_slice_operator_agrees_with_aten(shape, start, end, step, dim):
    ours = outcome(lambda xp: strided.slice(numbered(rl, shape), dim, start, end, step), rl)
    theirs = outcome(lambda xp: torch.ops.aten.slice(numbered(torch, shape), dim, start, end, step), torch)
    assert ours == theirs


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.zeros(2, 3).size(),
        lambda xp: xp.zeros(2, 3).size(-1),
        lambda xp: xp.zeros(2, 3).size(2),
        lambda xp: xp.zeros(()).size(0),
        lambda xp: xp.zeros(()).stride(-1),
        lambda xp: xp.zeros(2, 3).stride(0),
        lambda xp: xp.zeros(2, 3).shape[:1],
        lambda xp: xp.zeros(2, 3).shape + (1,),
        lambda xp: xp.zeros(2, 3).shape.numel(),
        lambda xp: xp.zeros(2, 3).element_size(),
        lambda xp: xp.zeros(2, 3, dtype=xp.int64).nbytes,
        lambda xp: xp.zeros(2, 3).untyped_storage().nbytes(),
        lambda xp: xp.zeros(2, 3).device,
        lambda xp: str(xp.zeros(2, 3).device),
        lambda xp: xp.zeros(2, 3).device == xp.device("cpu"),
        lambda xp: xp.zeros(2, 3).layout,
        lambda xp: xp.zeros(0).data_ptr(),
        lambda xp: xp.zeros(6)[6:].data_ptr(),
        lambda xp: (lambda x: x[1, 2].data_ptr() - x.data_ptr())(xp.zeros(2, 3)),
        lambda xp: len(xp.zeros(())),
        lambda xp: list(xp.zeros(())),
        lambda xp: list(xp.arange(4).view(2, 2)),
        lambda xp: bool(xp.zeros(2)),
        lambda xp: bool(xp.zeros(0)),
        lambda xp: bool(xp.ones(1, 1)),
        lambda xp: xp.zeros(2).item(),
        lambda xp: int(xp.zeros(2)),
        lambda xp: int(xp.full((1,), 2.7)),
        lambda xp: float(xp.full((), 2)),
        lambda xp: [10, 20, 30][xp.full((1,), 2)],
        lambda xp: [10, 20, 30][xp.full((1,), 2.0)],
        lambda xp: xp.zeros(3, 1).expand(()),
        lambda xp: xp.zeros(()).expand(1, 2),
        lambda xp: xp.zeros(()).expand(()),
        lambda xp: xp.zeros(1).reshape(()),
        lambda xp: xp.zeros(2, 0).reshape(-1),
        lambda xp: xp.zeros(2, 0).view(-1, 0),
        lambda xp: xp.zeros(2, 3).view(-2, -3),
        lambda xp: xp.zeros(2, 3).expand([4, 2, 3]),
        lambda xp: xp.zeros(3).expand_as(xp.zeros(2, 3)),
        lambda xp: xp.zeros(6).view_as(xp.zeros(2, 3)),
        lambda xp: xp.broadcast_to(xp.zeros(3), (2, 3)),
        lambda xp: xp.broadcast_tensors(xp.zeros(2, 1), xp.zeros(3)),
        lambda xp: xp.broadcast_shapes((2, 1), (3,), ()),
        lambda xp: xp.broadcast_shapes((2, 1), (3, 3)),
        lambda xp: xp.broadcast_shapes(),
        lambda xp: xp.empty(2, -1),
        lambda xp: xp.empty(2.0),
        lambda xp: xp.empty_strided((2, 3), (1, 2)).stride(),
        lambda xp: xp.empty_strided((2, 3), (1,)),
        lambda xp: xp.empty_strided((2, 3), (1, -2)),
        lambda xp: xp.zeros(2)[1.0],
        lambda xp: xp.zeros(2)[::0],
        lambda xp: xp.zeros(2)[0:1.0],
        lambda xp: xp.zeros(())[0],
        lambda xp: xp.zeros(())[:],
        lambda xp: xp.zeros(3)[..., ..., 0],
        lambda xp: xp.zeros(3).permute(),
        lambda xp: xp.zeros(3).select(0, 1.0),
    ],
)
def test_questions_about_a_tensor_are_answered_as_by_torch(program):
    agree(program)


IN_PLACE = {
    "transpose_": STEPS["transpose"],
    "t_": st.just(()),
    "squeeze_": st.one_of(st.just(()), st.tuples(dims), st.tuples(st.lists(dims, max_size=3).map(tuple))),
    "unsqueeze_": st.tuples(dims),
    "as_strided_": st.tuples(sizes, strides) | st.tuples(sizes, strides, st.integers(0, 9)),
}


@given(sizes, st.sampled_from(list(IN_PLACE)), st.data())
def test_a_tensor_becomes_its_view_as_in_torch(shape, name, data):
    args = data.draw(IN_PLACE[name])

    def program(xp):
        base = xp.arange(2 * xp.empty(shape).numel()).view(2, *shape)
        x = base[1]
        x.tolist()  # what is known of the old metadata must be forgotten
        same = getattr(x, name)(*args) is x
        return same, x + 1, x.fill_(7), base, x.is_contiguous()

    agree(program)


def test_a_dimension_of_size_1_may_have_a_stride_that_is_too_large_for_numpy():
    x = rl.arange(6)[2 :: 2**62]
    assert x.tolist() == [2] and x.stride() == torch.arange(6)[2 :: 2**62].stride() == (2**62,)


def test_a_view_keeps_the_storage_alive():
    x = rl.arange(1000)[500:]
    assert x[0].item() == 500


def test_the_constructor_turns_lists_into_tuples():
    x = strided.Tensor(strided.UntypedStorage(24), [2, 3], [3, 1], 0, rl.float32)
    assert isinstance(x.shape, rl.Size) and x.shape == (2, 3) and x.stride() == (3, 1)


@pytest.mark.sweep
def test_importing_rushlight_calls_no_exercise_and_imports_no_torch():
    import subprocess
    import sys

    program = (
        "import sys, rushlight; assert 'torch' not in sys.modules; assert 'matplotlib' not in sys.modules;"
        "assert callable(rushlight.course.draw.strides)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_or_a_pickle_is_on_one_memory_with_its_views(again):
    def program(xp):
        x = xp.arange(6).to(xp.float32)
        y = again(x)
        y.add_(1)
        y[:2].mul_(10)
        return [x, y, again(xp.arange(4)[::2]), again(xp.zeros(2, 0)), again(xp.tensor(3.0))]

    agree(program)


def test_tensors_that_are_copied_together_share_memory_as_they_did():
    def program(xp):
        x = xp.arange(6)
        pair = copy.deepcopy([x, x[1:4]])
        pair[0].add_(1)
        return [x, *pair]

    agree(program)
