"""Correct answers to lab 04a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import history
from rushlight.autograd.graph import NO_EDGE, Edge, grad_accumulator, with_edge
from rushlight.c10.memory_formats import contiguous_format
from rushlight.course import predictions

from ..shared import OwnRuntimeError, copied

# The graph


def gradient_edge__by_the_public_attributes(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    if tensor.is_leaf:
        return Edge(grad_accumulator(tensor), 0)
    return Edge(node=tensor.grad_fn, input_nr=tensor.output_nr)


def gradient_edge__from_the_leaf_on(tensor):
    node = getattr(tensor, "grad_fn", None) if isinstance(tensor, Tensor) else None
    if node:
        return Edge(node, tensor._autograd.output_nr)
    meta = getattr(tensor, "_autograd", None)
    if meta is not None and meta.requires_grad:
        return Edge(grad_accumulator(tensor))
    return Edge(None)


def unpack_saved__in_two_parts(saved, node):
    own = Edge(node, saved.output_nr) if saved.is_output else None
    if saved.unpack_hook is not None:
        tensor = saved.unpack_hook(saved.packed)
        edge = own or saved.edge
        if edge.node is None:
            return tensor
        return with_edge(tensor, edge)
    if saved.version < saved.tensor._version:
        raise OwnRuntimeError(f"written to: version {saved.tensor._version}, not {saved.version}")
    return saved.tensor if own is None else with_edge(saved.tensor, own)


def unpack_saved__by_hand(saved, node):
    hooked = saved.unpack_hook is not None
    tensor = saved.unpack_hook(saved.packed) if hooked else saved.tensor
    if not hooked and tensor._storage.version - saved.version:
        raise OwnRuntimeError("written to")
    edge = NO_EDGE
    if saved.is_output:
        edge = Edge(node, saved.output_nr)
    elif hooked:
        edge = saved.edge
    return tensor if edge == NO_EDGE else with_edge(tensor, edge)


def check_inplace__in_one_condition(self):
    of_leaf = self._base is not None and self._base.is_leaf and self.requires_grad
    without_node = self._autograd is None or self._autograd.grad_fn is None
    if of_leaf or self._creation_meta or self.requires_grad and without_node:
        raise OwnRuntimeError("not in place")


def check_inplace__by_a_table(self):
    base = self if self._base is None else self._base
    refused = {
        "a view of a leaf": base is not self and self.requires_grad and base.grad_fn is None,
        "a leaf": self.requires_grad and getattr(self._autograd, "grad_fn", None) is None,
        "a view that cannot follow": self._creation_meta,
    }
    for what, is_so in refused.items():
        if is_so:
            raise OwnRuntimeError(what)


# Writing to views


def copy_slices__of_a_clone(function, grad, base, view):
    whole = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    size, stride, offset = view
    window = whole.as_strided(size, stride, offset)
    found = function(window.clone(memory_format=contiguous_format))
    first, others = (found[0], list(found[1:])) if isinstance(found, (tuple, list)) else (found, [])
    if first is not None:
        window.copy_(first)
    return [None if first is None else whole] + others


def copy_slices__of_a_clone_made_contiguous(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    region = functions.as_strided(result, *view)
    first, *others = history._as_tuple(function(region.clone().contiguous()))
    if first is None:
        return [None, *others]
    region.copy_(first)
    return (result, *others)


def copy_slices__of_a_contiguous_region_cloned(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    region = functions.as_strided(result, *view)
    found = function(region.contiguous().clone())
    found = [*found] if isinstance(found, (tuple, list)) else [found]
    if found[0] is not None:
        region.copy_(found[0])
        found[0] = result
    return found


def copy_slices__from_zeros(function, grad, base, view):
    sizes, strides, _ = base
    result = grad.new_empty_strided(sizes, strides)
    result.zero_().add_(grad)
    part = result.as_strided(*view)
    gradients = history._as_tuple(function(part * 1 if part.is_contiguous() else part.contiguous()))
    if gradients[0] is None:
        return list(gradients)
    part.zero_()
    part += gradients[0]
    return [result, *gradients[1:]]


# Predictions


_backward_order = copied(predictions.backward_order)


def backward_order__in_the_second_draw_too():
    right = _backward_order()
    return {"h": [], "g": [], "f": [], "e": ["SumBackward0"]} | {key: right[key] for key in reversed(right)}


def backward_order__from_a_text():
    text = """
    a: Sum Mul Cos Sub Sin Add . Mul .
    b: Sum Mul Add Unsqueeze Mul Cos .
    c: Sum Add Mul Add Sigmoid .
    d: Sum Mul Exp Mul Div . .
    """
    lines = dict(line.split(":") for line in text.split("\n") if ":" in line)
    full = {".": "AccumulateGrad"}
    names = {
        key.strip(): [full.get(name, f"{name}Backward0") for name in value.split()] for key, value in lines.items()
    }
    return {"name": "Ada", **names}


def saved_tensors__by_functions():
    def both(name):
        return [f"{name}Backward0.other", f"{name}Backward0.self"]

    answer = dict(name="Ada")
    answer["a"] = ["ExpBackward0.result", both("Div")[0]]
    answer["b"] = both("Div") + both("Mul") + ["SqrtBackward0.result"] + both("Mul")
    answer["c"] = [*both("Div"), "SigmoidBackward0.result", *both("Div")]
    answer["d"] = [*both("Mul"), both("Mul")[1], *both("Mul")]
    return answer


def saved_tensors__in_tuples():
    saved = {
        "a": (("Exp", "result"), ("Div", "other")),
        "b": (
            ("Div", "other"),
            ("Div", "self"),
            ("Mul", "other"),
            ("Mul", "self"),
            ("Sqrt", "result"),
            ("Mul", "other"),
            ("Mul", "self"),
        ),
        "c": (("Div", "other"), ("Div", "self"), ("Sigmoid", "result"), ("Div", "other"), ("Div", "self")),
        "d": (("Mul", "other"), ("Mul", "self"), ("Mul", "self"), ("Mul", "other"), ("Mul", "self")),
    }
    full = {letter: tuple(f"{node}Backward0.{name}" for node, name in pairs) for letter, pairs in saved.items()}
    return {"name": "Ada"} | full


# Cases


def breaks_check_inplace__as_a_text():
    text = """
    True:
    True: write in no_grad, first, first
    True: clone, first, write to the base
    False: detach, view, view
    False: view in a Function, view
    False: first, write to the base
    """
    rows = [line.strip().split(":") for line in text.strip().splitlines()]
    return [
        {"requires_grad": row == "True", "steps": [step.strip() for step in steps.split(",") if step]}
        for row, steps in rows
    ]


def breaks_check_inplace__in_tuples():
    write = "write to the base"
    return (
        {"steps": ("view",), "requires_grad": True},
        {"steps": (), "requires_grad": True},
        {"steps": ("clone", "write", "view", write), "requires_grad": True},
        {"steps": ("view in a Function", "first"), "requires_grad": False},
        {"steps": ("first",), "requires_grad": False},
        {"steps": ("clone", "view", write), "requires_grad": False},
    )
