"""Wrong answers to lab 13a that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import math
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from rushlight.clinic import tensors
from rushlight.clinic.tensors import COPIES

from ..shared import edited

# Programs that show nothing, or too much


def narrow_1__dense(xp):
    return xp.arange(8).reshape(2, 4).reshape(-1)


def narrow_1__too_long(xp):
    a = xp.arange(24)
    b = a.reshape(4, 6)
    c = b[:, ::2]
    d = c.reshape(-1)
    d.zero_()
    return a


def narrow_1__chance(xp):
    return xp.rand(1)


def narrow_2__with_dimensions(xp):
    return (xp.ones(1, dtype=xp.float16) * 2.5).dtype


def narrow_3__the_other_order(xp):
    with xp.inference_mode():
        frozen = xp.ones(1)
    return xp.cat([xp.ones(1, requires_grad=True), frozen]).requires_grad


def narrow_4__no_dimension_of_size_1(xp):
    x = xp.zeros(2, 4)
    x[:, :2] += 1
    return x


def narrow_5__the_other_order(xp):
    with xp.autocast("cpu", dtype=xp.float16):
        return xp.cat([xp.ones(1), xp.ones(1, dtype=xp.float16)]).dtype


def narrow_6__one_row(xp):
    return xp.tensor([[0.0, 200.0]]).logsumexp(1)


# Neighbours


def name_1__reshape():
    return ["strided.reshape", "strided.slice"]


def name_2__promote_types():
    return ["dtypes.promote_types"]


def name_3__the_table():
    return ["dispatch.compute_table_entry", "dispatch.skip_fallthrough"]


def name_4__the_order():
    return ["memory_formats.reorder_dimensions"]


def name_5__the_cast():
    return ["autocast_mode.cached_cast", "autocast_mode.autocast_kernel"]


def name_6__softmax():
    return ["reductions.softmax"]


# Mends that move the fault


def mend_1__no_view():
    return "strided.compute_stride", lambda old_sizes, old_strides, new_sizes: None


def mend_1__another_function():
    def reshape(self, sizes):
        return as_strided(self, sizes, contiguous_strides(sizes), self.storage_offset())

    return "strided.reshape", reshape


def mend_2__tensors_first():
    def result_type(*operands):
        tensors = [operand.dtype for operand in operands if hasattr(operand, "dim")]
        common = tensors[0] if tensors else scalar_type(operands[0])
        for found in tensors:
            common = promote_types(common, found)
        return common

    return "dtypes.result_type", result_type


def mend_3__the_last_one():
    def dispatch_key_set(stack, included, excluded):
        keys = included
        for argument in stack:
            for tensor in [*tensors_in([argument])][-1:]:
                keys |= tensor._key_set
        return keys & (~excluded | BACKEND_MASK)

    return "dispatch.dispatch_key_set", dispatch_key_set


def mend_4__joins_nothing():
    def coalesce_dimensions(sizes, operand_strides):
        return tuple(sizes), tuple(map(tuple, operand_strides))

    return "iterator.coalesce_dimensions", coalesce_dimensions


def mend_5__always_wide():
    return "autocast_mode.promote_type", lambda stack: float32


def mend_6__no_maximum():
    def logsumexp(array, dims, keepdim):
        return np.log(np.exp(array).sum(axis=dims, keepdims=keepdim))

    return "reductions.logsumexp", logsumexp


# Real torch


def find_copies__a_constant(function, *args):
    return [(1, 24), (2, 24)]


def find_copies__by_address(function, *args):
    """The result of the function, if it is no view of an argument."""
    result = function(*args)
    return [(1, result.nbytes)] if result.data_ptr() not in [x.data_ptr() for x in args] else []


def find_copies__by_the_functions_name(function, *args):
    copies = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func in COPIES:
                frame = sys._getframe()
                while frame.f_code.co_name != function.__name__:
                    frame = frame.f_back
                copies.append((frame.f_lineno - function.__code__.co_firstlineno, result.nbytes))
            return result

    with Watch():
        function(*args)
    return copies


def attend__still_moved(cache, query):
    keys, values = cache.permute(1, 2, 0, 3).contiguous()
    weights = (keys @ query[..., None] / math.sqrt(query.shape[-1])).softmax(1)
    return (weights.transpose(1, 2) @ values).squeeze(1)


def attend__product_of_all(cache, query):
    weights = ((cache[:, 0] * query).sum(-1) / query.shape[-1] ** 0.5).softmax(0)
    return (weights.unsqueeze(-1) * cache[:, 1]).sum(0)


def aliased__addresses(kept, live):
    addresses = {y.data_ptr() for y in live.values()}
    return [name for name, x in kept.items() if x.data_ptr() in addresses]


def aliased__storages(kept, live):
    storages = {y.untyped_storage().data_ptr() for y in live.values()}
    return [name for name, x in kept.items() if x.untyped_storage().data_ptr() in storages]


def aliased__intervals(kept, live):
    def interval(x):
        reach = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride()))
        return x.data_ptr(), x.data_ptr() + (reach + 1) * x.itemsize

    spans = [interval(y) for y in live.values() if y.numel()]
    return [
        name
        for name, x in kept.items()
        if x.numel() and any(a < interval(x)[1] and interval(x)[0] < b for a, b in spans)
    ]


def keep_best__shallow(model, step, score, steps):
    best, state = -math.inf, None
    for _ in range(steps):
        step(model)
        if state is None or (value := score(model)) > best:
            best, state = value if state is not None else score(model), dict(model.state_dict())
    return state


def keep_best__last_of_equals(model, step, score, steps):
    history = []
    for _ in range(steps):
        step(model)
        history.append((score(model), {name: x.clone() for name, x in model.state_dict().items()}))
    return max(reversed(history), key=lambda pair: pair[0])[1]


def keep_best__loads_it(model, step, score, steps):
    history = []
    for _ in range(steps):
        step(model)
        history.append((score(model), {name: x.clone() for name, x in model.state_dict().items()}))
    best = max(history, key=lambda pair: pair[0])[1]
    model.load_state_dict(best)
    with torch.no_grad():
        return {name: x.clone() for name, x in best.items()}


find_copies__not_of_empty_tensors = edited(
    tensors.find_copies, ("            if func in COPIES:\n", "            if func in COPIES and result.numel():\n")
)
find_copies__the_outermost_call = edited(
    tensors.find_copies,
    ("    copies = []\n", "    import traceback\n\n    copies = []\n"),
    (
        "                while frame.f_code is not function.__code__:\n                    frame = frame.f_back\n",
        "                calls = [each for each, _ in traceback.walk_stack(frame) if each.f_code is function.__code__]\n"
        "                frame = calls[-1]\n",
    ),
)
find_copies__ends_at_an_error_of_an_operator = edited(
    tensors.find_copies,
    (
        "        function(*args)\n",
        "        try:\n            function(*args)\n        except RuntimeError:\n            pass\n",
    ),
)
find_copies__contiguous_too = edited(
    tensors.find_copies,
    ("if func in COPIES:", "if func in COPIES or func._schema.name == 'aten::contiguous':"),
)


find_copies__after_a_trial = edited(
    tensors.find_copies, ("    with Record():", "    function(*args)\n    with Record():")
)


def attend__without_a_maximum(cache, query):
    keys, values = cache.permute(1, 2, 0, 3)
    weights = (torch.bmm(keys, query.unsqueeze(-1)) / math.sqrt(query.size(-1))).exp()
    return torch.bmm((weights / weights.sum(1, keepdim=True)).transpose(1, 2), values).squeeze(1)


def attend__one_maximum_for_all_heads(cache, query):
    keys, values = cache.permute(1, 2, 0, 3)
    scores = torch.bmm(keys, query.unsqueeze(-1)) / math.sqrt(query.size(-1))
    weights = (scores - scores.max()).exp()
    return torch.bmm((weights / weights.sum(1, keepdim=True)).transpose(1, 2), values).squeeze(1)


def attend__weights_of_float32(cache, query):
    keys, values = cache.permute(1, 2, 0, 3)
    scores = torch.bmm(keys, query.unsqueeze(-1)) / math.sqrt(query.size(-1))
    weights = scores.float().softmax(1).to(scores.dtype)
    return torch.bmm(weights.transpose(1, 2), values).squeeze(1)


def attend__divides_the_query(cache, query):
    keys, values = cache.permute(1, 2, 0, 3)
    weights = torch.bmm(keys, query.div_(math.sqrt(query.size(-1))).unsqueeze(-1)).softmax(1)
    return torch.bmm(weights.transpose(1, 2), values).squeeze(1)


def aliased__bytes_of_one_storage(kept, live):
    def memory(x):
        places = torch.arange(x.untyped_storage().nbytes() // x.itemsize).as_strided(
            x.shape, x.stride(), x.storage_offset()
        )
        return {
            (x.untyped_storage().data_ptr(), place * x.itemsize + i)
            for place in places.flatten().tolist()
            for i in range(x.itemsize)
        }

    return [name for name, x in kept.items() if any(memory(x) & memory(y) for y in live.values())]


def aliased__in_the_order_of_live(kept, live):
    found = [name for y in live.values() for name in tensors.aliased(kept, {"": y})]
    return [*dict.fromkeys(found)]


keep_best__in_eval_mode = edited(
    tensors.keep_best, ("    return best_state", "    model.eval()\n    return best_state")
)
keep_best__in_training_mode = edited(tensors.keep_best, ("        step(model)\n", "        step(model.train())\n"))
keep_best__without_gradients = edited(
    tensors.keep_best, ("    return best_state", "    model.zero_grad()\n    return best_state")
)
keep_best__frozen = edited(
    tensors.keep_best, ("    return best_state", "    model.requires_grad_(False)\n    return best_state")
)
keep_best__whole_scores = edited(
    tensors.keep_best, ("now = score(model)", "now = int(max(min(score(model), 9e9), -9e9))")
)
keep_best__scores_of_float = edited(tensors.keep_best, ("now = score(model)", "now = float(score(model))"))
keep_best__single_precision = edited(
    tensors.keep_best,
    (
        "copy.deepcopy(model.state_dict())",
        "{k: v.float() if v.is_floating_point() else v.clone() for k, v in copy.deepcopy(model.state_dict()).items()}",
    ),
)
keep_best__from_a_low_number = edited(tensors.keep_best, ("best = best_state = None", "best, best_state = -1e9, None"))


keep_best__scores_twice = edited(tensors.keep_best, ("now = score(model)", "now = score(model)\n        score(model)"))
keep_best__with_a_graph = edited(tensors.keep_best, ("model.state_dict()", "model.state_dict(keep_vars=True)"))
