"""Correct answers to lab 13a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import io
import itertools
import math
import sys
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from rushlight.clinic.tensors import COPIES

# The table that is not cleared


def narrow_1__an_error(xp):
    return xp.ones(2, 4)[:, ::2].view(4)


def narrow_1__addresses(xp):
    x = xp.ones(2, 4)[:, ::2]
    return x.reshape(4).data_ptr() == x.data_ptr()


def narrow_1__a_function_inside(xp):
    """A docstring is no statement."""

    def flat(x: "Tensor") -> "Tensor":
        return x.t()[::2].t().reshape(-1)

    return [flat(xp.ones(3, 4)).stride() for _ in range(1)]


def name_1__whole_path():
    return ["rushlight.aten.strided.compute_stride"]


def name_1__a_tuple():
    return ("rl.strided.compute_stride",)


def mend_1__strides_from_the_right():
    """Walk over both shapes with two indices, as in C++."""

    def from_the_right(old_sizes, old_strides, new_sizes):
        if 0 in old_sizes:
            return tuple(old_strides) if [*old_sizes] == [*new_sizes] else contiguous_strides(new_sizes)
        if not old_sizes:
            return (1,) * len(new_sizes)
        new_strides, view_dim = [0] * len(new_sizes), len(new_sizes) - 1
        base, numel, viewed = old_strides[-1], 1, 1
        for dim in reversed(range(len(old_sizes))):
            numel *= old_sizes[dim]
            if dim == 0 or old_sizes[dim - 1] != 1 and old_strides[dim - 1] != numel * base:
                while view_dim >= 0 and (viewed < numel or new_sizes[view_dim] == 1):
                    new_strides[view_dim] = viewed * base
                    viewed *= new_sizes[view_dim]
                    view_dim -= 1
                if viewed != numel:
                    return None
                if dim > 0:
                    base, numel, viewed = old_strides[dim - 1], 1, 1
        return tuple(new_strides) if view_dim == -1 else None

    return "rl.strided.compute_stride", from_the_right


def mend_1__helpers_and_an_import():
    import math

    def joined(sizes, strides):
        chunks = []
        for size, stride in [*zip(sizes, strides)][::-1] or [(1, 1)]:
            if chunks and (size == 1 or stride == math.prod(chunks[-1])):
                chunks[-1][0] *= size
            else:
                chunks.append([size, stride])
        return chunks

    def compute_stride(old_sizes, old_strides, new_sizes, *, helper=joined):
        if math.prod(old_sizes) == 0:
            return tuple(old_strides) if [*old_sizes] == [*new_sizes] else contiguous_strides(new_sizes)
        new_strides, rest = [], [*new_sizes]
        for count, stride in helper(old_sizes, old_strides):
            done = 1
            while rest and (done < count or rest[-1] == 1):
                new_strides.insert(0, done * stride)
                done *= rest.pop()
            if done != count:
                return None
        return tuple(new_strides)

    return "aten.strided.compute_stride", compute_stride


# A half that becomes a float


def narrow_2__the_rule(xp):
    return xp.result_type(xp.tensor(1.0, dtype=xp.float16), 2.0)


def narrow_2__a_lambda(xp):
    return (lambda x: (x + 0.5).dtype)(xp.ones((), dtype=xp.float16))


def name_2__short():
    return ["c10.dtypes.result_type"]


def name_2__with_a_second():
    return ["rl.dtypes.result_type", "rl.dtypes.promote_types"]


def mend_2__from_the_lowest():
    def result_type(*operands):
        from functools import reduce

        def rank(operand):
            return (2 if operand.dim() else 1) if hasattr(operand, "dim") else 0

        def type_of(operand):
            return operand.dtype if hasattr(operand, "dim") else scalar_type(operand)

        common = None
        for wanted in 0, 1, 2:
            types = [type_of(operand) for operand in operands if rank(operand) == wanted]
            if types:
                promoted = reduce(promote_types, types)
                common = common if common is not None and common.category > promoted.category else promoted
        return common

    return "dtypes.result_type", result_type


def mend_2__a_lambda():
    return "c10.dtypes.result_type", lambda *operands: max(
        (
            __import__("functools").reduce(promote_types, group)
            for group in (
                [x.dtype for x in operands if hasattr(x, "dim") and x.dim()],
                [x.dtype for x in operands if hasattr(x, "dim") and not x.dim()],
                [scalar_type(x) for x in operands if not hasattr(x, "dim")],
            )
            if group
        ),
        key=lambda found: found.category,
    )


# Half of a gradient


def narrow_3__stack(xp):
    x = xp.ones(2, requires_grad=True)
    with xp.inference_mode():
        y = xp.zeros(2)
    return xp.stack((y, x)).requires_grad


def narrow_3__an_error(xp):
    with xp.inference_mode():
        both = [xp.ones(1)]
    both.append(xp.ones(1, requires_grad=True))
    return xp.cat(both).backward(xp.ones(2)) is None


def name_3__short():
    return ["dispatch.dispatch_key_set"]


def name_3__whole_path():
    return ["rushlight.c10.dispatch.dispatch_key_set", "rl.dispatch.call"]


def mend_3__recursion():
    def dispatch_key_set(stack, included, excluded):
        def keys(value):
            if isinstance(value, (list, tuple)):
                return 0 if not value else keys(value[0]) | keys(value[1:])
            return getattr(value, "_key_set", 0)

        every = keys(list(stack)) | included
        return (every & BACKEND_MASK) | (every & ~excluded)

    return "rl.dispatch.dispatch_key_set", dispatch_key_set


def mend_3__reduce():
    from functools import reduce
    from operator import or_

    return (
        "dispatch.dispatch_key_set",
        lambda stack, included, excluded: (
            reduce(or_, (tensor._key_set for tensor in tensors_in(stack)), included) & ~(excluded & ~BACKEND_MASK)
        ),
    )


# A picture in the wrong place


def narrow_4__out(xp):
    x = xp.zeros(2, 1, 4)
    xp.add(xp.ones(2, 1, 2), 1, out=x[..., :2])
    return x.tolist()


def narrow_4__filled(xp):
    x = xp.zeros(3, 1, 5)
    x.narrow(2, 1, 2).sub_(1.0)
    return str(x.sum((1, 2)).tolist())


def name_4__short():
    return ["iterator.coalesce_dimensions"]


def name_4__whole_path():
    return ["aten.iterator.coalesce_dimensions"]


def mend_4__groups():
    def coalesce_dimensions(sizes, operand_strides):
        groups = []  # of a size and a stride for each operand
        for dim, size in enumerate(sizes):
            strides = [operand[dim] for operand in operand_strides]
            if groups and (
                size == 1 or groups[-1][0] == 1 or strides == [groups[-1][0] * stride for stride in groups[-1][1]]
            ):
                before, kept = groups.pop()
                groups.append((before * size, strides if before == 1 else kept))
            else:
                groups.append((size, strides))
        return [size for size, _ in groups], [[group[1][i] for group in groups] for i in range(len(operand_strides))]

    return "rl.iterator.coalesce_dimensions", coalesce_dimensions


def mend_4__in_place():
    """As in C++: the dimensions move to the front of the same lists."""

    def coalesce_dimensions(sizes, operand_strides):
        sizes, operands = list(sizes), [list(strides) for strides in operand_strides]
        last = 0
        for dim in range(1, len(sizes)):
            can_join = sizes[last] == 1 or sizes[dim] == 1
            can_join = can_join or all(strides[dim] == sizes[last] * strides[last] for strides in operands)
            if can_join:
                if sizes[last] == 1:
                    for strides in operands:
                        strides[last] = strides[dim]
                sizes[last] *= sizes[dim]
            else:
                last += 1
                sizes[last] = sizes[dim]
                for strides in operands:
                    strides[last] = strides[dim]
        count = last + 1 if sizes else 0
        return tuple(sizes[:count]), tuple(tuple(strides[:count]) for strides in operands)

    return "iterator.coalesce_dimensions", coalesce_dimensions


# Features that lose their digits


def narrow_5__stack(xp):
    with xp.autocast("cpu", dtype=xp.float16):
        x = xp.stack([xp.ones(1).half(), xp.ones(1)])
    return x.dtype


def narrow_5__values(xp):
    with xp.amp.autocast("cpu", xp.float16):
        return xp.cat([xp.ones(1, dtype=xp.float16), xp.full((1,), 0.1)]).double()


def name_5__short():
    return ["autocast_mode.promote_type"]


def name_5__whole_path():
    return ["rushlight.amp.autocast_mode.promote_type"]


def mend_5__a_loop():
    def promote_type(stack):
        for tensor in tensors_in(stack):
            if is_eligible(tensor) and tensor.dtype == float32:
                return float32
        return get_autocast_dtype("cpu")

    return "autocast_mode.promote_type", promote_type


def mend_5__a_set():
    return (
        "rl.amp.autocast_mode.promote_type",
        lambda stack: (
            float32
            if float32 in {x.dtype for x in filter(is_eligible, tensors_in(stack))}
            else get_autocast_dtype("cpu")
        ),
    )


# A sentence with infinite probability


def narrow_6__one_element_each(xp):
    return xp.logsumexp(xp.tensor([[500.0], [-500.0]]), 1).tolist()


def narrow_6__a_row(xp):
    x = xp.tensor([[1e4], [0]])
    return x.logsumexp(dim=1)[1].isinf()


def name_6__short():
    return ["reductions.logsumexp"]


def name_6__whole_path():
    return ["aten.native.reductions.logsumexp"]


def mend_6__logaddexp():
    def logsumexp(array, dims, keepdim):
        if not dims:
            return array.copy()
        result = np.logaddexp.reduce(array, axis=dims[0], keepdims=True, initial=-np.inf)
        for dim in dims[1:]:
            result = np.logaddexp.reduce(result, axis=dim, keepdims=True, initial=-np.inf)
        return result if keepdim else result.squeeze(axis=dims)

    return "reductions.logsumexp", logsumexp


def mend_6__two_maxima():
    def logsumexp(array, dims, keepdim):
        top = np.max(array, axis=dims, keepdims=True, initial=-np.inf)
        shift = np.nan_to_num(top, nan=0.0, posinf=0.0, neginf=0.0)
        sums = np.sum(np.exp(array - shift), axis=dims, keepdims=keepdim)
        return np.log(sums) + (shift if keepdim else np.squeeze(shift, axis=dims))

    return "rl.aten.native.reductions.logsumexp", logsumexp


# Copies


def find_copies__from_a_traceback(function, *args):
    found, first = [], function.__code__.co_firstlineno

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **({} if kwargs is None else kwargs))
            if str(func) in ("aten.clone.default", "aten._to_copy.default", "aten.copy_.default"):
                for frame, line in traceback.walk_stack(None):
                    if frame.f_code is function.__code__:
                        found.append((line - first, out.numel() * out.element_size()))
                        break
            return out

    with Watch():
        function(*args)
    return found


def find_copies__with_settrace(function, *args):
    """A line event tells which line of the function runs."""
    code, now, found = function.__code__, [0], []

    def local(frame, event, argument):
        now[0] = frame.f_lineno - code.co_firstlineno
        return local

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func in COPIES:
                found.append([now[0], result.nbytes])
            return result

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: local if frame.f_code is code else None)
    try:
        with Watch():
            function(*args)
    finally:
        sys.settrace(before)
    return found


def attend__scaled_dot_product(cache, query):
    """With a dimension for the batch it is one kernel, which keeps no scores."""
    keys, values = cache.permute(1, 2, 0, 3).unsqueeze(1).unbind()
    return torch.nn.functional.scaled_dot_product_attention(query[None, :, None], keys, values)[0, :, 0]


def attend__head_by_head(cache, query):
    result = torch.empty_like(query)
    for head in range(len(query)):
        scores = cache[:, 0, head] @ query[head] / math.sqrt(query.shape[1])
        result[head] = torch.softmax(scores, 0) @ cache[:, 1, head]
    return result


def aliased__element_by_element(kept, live):
    def memory(x):
        bytes_ = set()
        for index in itertools.product(*map(range, x.shape)):
            start = x.data_ptr() + sum(i * stride for i, stride in zip(index, x.stride())) * x.element_size()
            bytes_.update(range(start, start + x.element_size()))
        return bytes_

    return [name for name in kept if any(memory(kept[name]) & memory(y) for y in live.values())]


def aliased__sorted_addresses(kept, live):
    def addresses(x):
        offsets = [0]
        for size, stride in zip(x.shape, x.stride()):
            offsets = [offset + i * stride for offset in offsets for i in range(size)]
        return {
            x.data_ptr() + offset * x.element_size() + byte for offset in offsets for byte in range(x.element_size())
        }

    return [
        name for name in kept if any(not addresses(kept[name]).isdisjoint(addresses(live[key])) for key in sorted(live))
    ]


def keep_best__clones(model, step, score, steps):
    history = []
    for _ in range(steps):
        step(model)
        number = score(model)
        history.append((number, tree_map(torch.clone, dict(model.state_dict()))))
    return max(history, key=lambda pair: pair[0])[1]


def keep_best__through_a_file(model, step, score, steps):
    best = None
    for _ in range(steps):
        step(model)
        value = score(model)
        if best is None or best[0] < value:
            file = io.BytesIO()
            torch.save(model.state_dict(), file)
            best = value, file
    best[1].seek(0)
    return torch.load(best[1])
