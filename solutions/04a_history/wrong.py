"""Wrong answers to lab 04a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import graph, history
from rushlight.autograd.graph import NO_EDGE, Edge, grad_accumulator, with_edge
from rushlight.c10.memory_formats import contiguous_format
from rushlight.course import breaks, predictions

from ..shared import copied, edited

# The graph


def gradient_edge__forgets_the_leaves(tensor):
    if not isinstance(tensor, Tensor) or tensor.grad_fn is None:
        return NO_EDGE
    return Edge(tensor.grad_fn, tensor._autograd.output_nr)


def gradient_edge__always_to_the_first_input(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    return Edge(tensor.grad_fn or grad_accumulator(tensor), 0)


def gradient_edge__makes_an_accumulator_each_time(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    if tensor.grad_fn is None:
        return Edge(graph.AccumulateGrad(tensor))
    return Edge(tensor.grad_fn, tensor._autograd.output_nr)


def gradient_edge__of_a_history_out_of_date(tensor):
    meta = tensor._autograd if isinstance(tensor, Tensor) else None
    if meta is None:
        return NO_EDGE
    if meta.grad_fn is not None:
        return Edge(meta.grad_fn, meta.output_nr)
    return Edge(grad_accumulator(tensor)) if meta.requires_grad else NO_EDGE


def unpack_saved__does_not_look_at_versions(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    return with_edge(saved.tensor, Edge(node, saved.output_nr)) if saved.is_output else saved.tensor


def unpack_saved__cuts_the_result_off(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version != saved.version:
        raise RuntimeError("written to")
    return saved.tensor


def unpack_saved__of_the_first_result_only(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, 0) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version != saved.version:
        raise RuntimeError("written to")
    return with_edge(saved.tensor, Edge(node, 0)) if saved.is_output else saved.tensor


def unpack_saved__looks_for_other_values(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version > saved.version + 1:
        raise RuntimeError("written to")
    return with_edge(saved.tensor, Edge(node, saved.output_nr)) if saved.is_output else saved.tensor


def check_inplace__refuses_leaves_only(self):
    if self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf")


def check_inplace__makes_the_node_of_a_view(self):
    base = self._base
    if self._creation_meta or any(x is not None and x.is_leaf and x.requires_grad for x in (self, base)):
        raise RuntimeError("a leaf, a view of a leaf, or one of several views")


def check_inplace__refuses_all_views(self):
    if self.requires_grad and (self.is_leaf or self._base is not None):
        raise RuntimeError("a leaf or a view")


def check_inplace__refuses_leaves_that_require_nothing(self):
    base = self._base
    if self.is_leaf or self._creation_meta or base is not None and base.is_leaf and base.requires_grad:
        raise RuntimeError("a leaf")


def _refuse(self, creation_metas):
    without_node = self._autograd is None or self._autograd.grad_fn is None
    if self._creation_meta in creation_metas:
        raise RuntimeError("a view with a flag")
    if history.requires_grad(self) and (without_node or self._base is not None and self._base.is_leaf):
        raise RuntimeError("a leaf, or a view of a leaf")


def check_inplace__allows_views_made_in_no_grad(self):
    _refuse(self, (1, 2, 4))


def check_inplace__allows_views_made_in_inference_mode(self):
    _refuse(self, (1, 2, 3))


def check_inplace__allows_views_made_by_a_function(self):
    _refuse(self, (2, 3, 4))


def check_inplace__asks_only_the_view(self):
    if history.requires_grad(self):
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if self._base is not None and self._base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if self._creation_meta:
        raise RuntimeError("one of several views of one call is being modified in place.")


# Writing to views


def copy_slices__lets_everything_through(function, grad, base, view):
    _, *others = history._as_tuple(function(grad.as_strided(*view).clone()))
    return [grad, *others]


def copy_slices__counts_from_the_storage_on(function, grad, base, view):
    sizes, strides, offset = base
    whole = functions.empty_strided((offset + grad.numel() + 100,), (1,), dtype=grad.dtype).fill_(0)
    result = whole.as_strided(sizes, strides, 0).copy_(grad)
    part = whole.as_strided(view[0], view[1], view[2] + offset)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


def copy_slices__writes_to_the_gradient(function, grad, base, view):
    part = grad.detach().as_strided(*view)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [grad, *others]


def copy_slices__adds_to_what_was_there(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    part = result.as_strided(*view)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.add_(first)
    return [result, *others]


def copy_slices__shows_the_function_what_is_written_over(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    part = result.as_strided(*view)
    first, *others = history._as_tuple(function(part))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


# A function of one's own, and what is made of it


_backward_order = copied(predictions.backward_order)

backward_order__with_the_accumulators_last = edited(
    predictions.backward_order,
    (
        '            "AccumulateGrad",\n            "MulBackward0",\n',
        '            "MulBackward0",\n            "AccumulateGrad",\n',
    ),
)
backward_order__for_another_name = edited(predictions.backward_order, ('"Ada"', '"Bob"'))


def backward_order__for_three_programs():
    return {key: value for key, value in _backward_order().items() if key != "d"}


saved_tensors__both_factors_always = edited(
    predictions.saved_tensors, ('"DivBackward0.other"]', '"DivBackward0.other", "DivBackward0.self"]')
)
saved_tensors__without_a_name = edited(predictions.saved_tensors, ('"name": "Ada",', ""))


# Sentences that are easily passed over


_copy_slices = copied(history.copy_slices)


def copy_slices__copies_the_other_gradients(function, grad, base, view):
    first, *others = _copy_slices(function, grad, base, view)
    return [first, *(None if other is None else other.clone() for other in others)]


def copy_slices__has_an_entry_for_every_argument(function, grad, base, view):
    return [*_copy_slices(function, grad, base, view), None][:2]


def copy_slices__clears_the_region_by_a_product(function, grad, base, view):
    sizes, strides, _ = base
    result = grad.new_empty_strided(sizes, strides).copy_(grad)
    region = functions.as_strided(result, *view)
    mine = function(functions.clone(region, memory_format=contiguous_format))
    mine, *rest = (mine,) if isinstance(mine, Tensor) else mine
    if mine is not None:
        region.mul_(0).add_(mine)
    return (mine if mine is None else result, *rest)


def copy_slices__copies_afterwards(function, grad, base, view):
    first, *others = copy_slices__writes_to_the_gradient(function, grad, base, view)
    return [None if first is None else first.clone(), *others]


copy_slices__contiguous = edited(history.copy_slices, ("[result, *others]", "[result.contiguous(), *others]"))
copy_slices__clears_the_region_first = edited(
    history.copy_slices, ("    first, *others", "    part.fill_(0)\n    first, *others")
)
copy_slices__with_the_strides_of_the_view = edited(
    history.copy_slices, ("functions.clone(part, memory_format=contiguous_format)", "functions.clone(part)")
)
copy_slices__copies_numbers = edited(history.copy_slices, ("part.copy_(first)", "part.copy_(first.detach())"))
_unpack = copied(graph.unpack_saved)


def unpack_saved__compares_versions_also_with_a_hook(saved, node):
    if saved.unpack_hook is not None and isinstance(saved.packed, Tensor) and saved.packed._version != saved.version:
        raise RuntimeError("written to")
    return _unpack(saved, node)


_unpacked = {}


def unpack_saved__calls_the_hook_once(saved, node):
    if saved.unpack_hook is None:
        return _unpack(saved, node)
    if saved not in _unpacked:
        _unpacked[saved] = _unpack(saved, node)
    return _unpacked[saved]


unpack_saved__leaves_an_input_without_its_edge = edited(
    graph.unpack_saved, ("edge.node is not None else", "saved.is_output else")
)
copy_slices__returns_two_gradients = edited(history.copy_slices, ("[result, *others]", "[result, *others[:1]]"))

# Cases

_breaks = copied(breaks.breaks_check_inplace)


def breaks_check_inplace__of_the_table():
    return [{"requires_grad": True, "steps": ["clone", view]} for view in ("first", "unbind")]


def breaks_check_inplace__of_leaves_that_require_grad():
    return [case | {"requires_grad": True} for case in _breaks()]


def breaks_check_inplace__without_writes_to_a_base():
    return [case for case in _breaks() if "write to the base" not in case["steps"]]


def breaks_check_inplace__with_views_made_in_no_grad():
    return [
        case | {"steps": [step.replace("in a Function", "in no_grad") for step in case["steps"]]} for case in _breaks()
    ]


def breaks_check_inplace__writes_to_the_view_in_the_place_of_the_base():
    return [case | {"steps": [step.replace(" to the base", "") for step in case["steps"]]} for case in _breaks()]


def breaks_check_inplace__as_programs():
    return ["x.add_(weight)", "x[0].add_(weight)", "x.clone()[0].add_(weight)"]


def breaks_check_inplace__zero_or_one():
    return [case | {"requires_grad": int(case["requires_grad"])} for case in _breaks()]


def breaks_check_inplace__of_nine_steps():
    return [case | {"steps": [*["detach"] * 9, *case["steps"]]} for case in _breaks()]
