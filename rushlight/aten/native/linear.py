"""`einsum`: products of any number of tensors, with named dimensions, summed over those that the result does not name.

Two tensors are multiplied by one `bmm`: dimensions of both and of the result are its batch, dimensions of one tensor its rows or
columns, summed dimensions its inner dimension. Autograd records the operators that are called, so they and their order are
PyTorch's. In PyTorch: `aten/src/ATen/native/Linear.cpp` (`linear` is in `linear_algebra.py` here).
"""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor

ELLIPSIS = "..."
# The order of dimensions that an equation without `->` leaves open.
LETTERS = string.ascii_uppercase + string.ascii_lowercase


def parse_subscripts(text: str, where: str) -> list[str]:
    """The labels of one operand or of the output: letters, and at most one `...`."""
    labels: list[str] = []
    for label in re.findall(r"\.\.\.|[^ ]", text):
        if label[0] == "." and ELLIPSIS in labels:
            raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
        if label == ".":
            raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
        if label != ELLIPSIS and label not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript {label!r} for {where}, subscripts must be in [a-zA-Z]")
        labels.append(label)
    return labels


def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None = None) -> Tensor:
    """Multiply tensors and sum over the dimensions that the equation leaves out of the result.

    Source: `aten/src/ATen/native/Linear.cpp`, `einsum`.
    """
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(tensors):
        which = "fewer" if len(tensors) < len(texts) else "more"
        raise RuntimeError(f"einsum(): {which} operands were provided than specified in the equation")
    inputs = [parse_subscripts(text, f"operand {i}") for i, text in enumerate(texts)]
    ell_dims = ellipsis_dims(inputs, tensors)
    count = Counter(label for labels in inputs for label in labels if label != ELLIPSIS)
    output = [ELLIPSIS, *(label for label in LETTERS if count[label] == 1)]
    if arrow:
        output = parse_subscripts(right, "output")
        for label in output:
            if label != ELLIPSIS and (not count[label] or output.count(label) > 1):
                wrong = "appears more than once in the output"
                wrong = wrong if count[label] else "does not appear in any input operand"
                raise RuntimeError(f"einsum(): output subscript {label} {wrong}")
    # All operands get the same dimensions: those of the output, then those that are summed.
    summed = [] if ELLIPSIS in output else [ELLIPSIS]
    summed += [label for label in LETTERS if count[label] and label not in output]
    dims = expand_ellipsis([*output, *summed], ell_dims)
    out_dims = len(expand_ellipsis(output, ell_dims))
    sizes: dict[str, int] = {}
    counts: Counter[int] = Counter()
    operands = []
    for i, (labels, tensor) in enumerate(zip(inputs, tensors)):
        operands.append(align(tensor, labels, dims, ell_dims, sizes, i))
        counts.update(dim for dim, size in enumerate(operands[-1].shape) if size != 1)
    order = list(path or ())
    while len(operands) > 1:
        i, j = sorted((order.pop(0), order.pop(0))) if path is not None else (0, 1)
        if not 0 <= i < j < len(operands):
            raise RuntimeError(f"einsum(): invalid contraction ({i}, {j})")
        b, a = operands.pop(j), operands.pop(i)
        result = contract(a, b, range(out_dims, len(dims)), counts)
        operands.insert(0 if path is None else len(operands), result)
    (result,) = operands
    if len(dims) == out_dims:
        return result
    if len(tensors) > 1:  # the summed dimensions have size 1
        return result.view(result.shape[:out_dims])
    return result.sum(list(range(out_dims, len(dims))))


def ellipsis_dims(inputs: Sequence[Sequence[str]], tensors: Sequence[Tensor]) -> int:
    """The number of dimensions that `...` stands for: the largest of all operands."""
    ndim = 0
    for i, (labels, tensor) in enumerate(zip(inputs, tensors)):
        has_ellipsis = ELLIPSIS in labels
        rest = tensor.dim() - (len(labels) - has_ellipsis)
        if rest < 0 or rest and not has_ellipsis:
            problem = "is more than" if has_ellipsis else "does not match"
            subscripts = f"the number of subscripts in the equation ({len(labels) - has_ellipsis})"
            problem += f" the number of dimensions ({tensor.dim()})"
            raise RuntimeError(f"einsum(): {subscripts} {problem} for operand {i}")
        ndim = max(ndim, rest if has_ellipsis else 0)
    return ndim


def expand_ellipsis(labels: Sequence[str], ndim: int, most: int | None = None) -> list[str]:
    """The labels with one of its own, a number, for each dimension of `...`: the last `ndim` of `most`."""
    most = ndim if most is None else most
    numbers = [str(i) for i in range(most - ndim, most)]
    return [expanded for label in labels for expanded in (numbers if label == ELLIPSIS else [label])]


def align(tensor: Tensor, labels: Sequence[str], dims: Sequence[str], ell_dims: int, sizes: dict, i: int) -> Tensor:
    """The operand with the dimensions `dims`: size 1 where it has none, the diagonal where it has a label twice. `sizes`
    has the size of each label in the operands so far."""
    own = expand_ellipsis(labels, tensor.dim() - len(labels) + 1, ell_dims)
    position: dict[str, int] = {}
    for label in own:
        dim = len(position)
        if label in position:
            before = position[label]
            if tensor.size(dim) != tensor.size(before):
                unequal = f"{tensor.size(dim)} != {tensor.size(before)}"
                problem = f"is repeated for operand {i} but the sizes differ, {unequal}"
                raise RuntimeError(f"einsum(): subscript {label} {problem}")
            tensor = functions.movedim(functions.diagonal(tensor, 0, before, dim), -1, before)
            continue
        size = tensor.size(dim)
        if size != 1 and sizes.setdefault(label, size) != size:
            problem = f"which does not broadcast with previously seen size {sizes[label]}"
            raise RuntimeError(f"einsum(): subscript {label} has size {size} for operand {i} {problem}")
        position[label] = dim
    for label in dims:
        if label not in position:
            position[label] = len(position)
            tensor = tensor.unsqueeze(position[label])
    return tensor.permute([position[label] for label in dims])


def contract(a: Tensor, b: Tensor, dims: Sequence[int], counts: Counter) -> Tensor:
    """The product of two operands, summed over those of `dims` that no other operand has. `counts` has for each dimension how
    many operands have a size other than 1 there."""
    both, of_a, of_b = [], [], []
    for dim in dims:
        if a.size(dim) != 1 and b.size(dim) != 1:
            counts[dim] -= 1
            if counts[dim] == 1:
                both.append(dim)
        elif counts[dim] == 1 and a.size(dim) != 1:
            of_a.append(dim)
        elif counts[dim] == 1 and b.size(dim) != 1:
            of_b.append(dim)
    for dim in (*both, *of_a, *of_b):
        counts[dim] = 0
    a, b = a.sum(of_a, True) if of_a else a, b.sum(of_b, True) if of_b else b
    return sumproduct_pair(a, b, both)


def sumproduct_pair(left: Tensor, right: Tensor, sum_dims: Sequence[int]) -> Tensor:
    """The product of two tensors of the same number of dimensions, summed over `sum_dims`, which stay with size 1.
    Source: `aten/src/ATen/native/Linear.cpp`, `sumproduct_pair`."""
    if not sum_dims:
        return functions.mul(left, right)
    batch: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    for dim in range(left.dim()):
        if dim not in sum_dims:
            in_left, in_right = left.size(dim) != 1, right.size(dim) != 1
            (batch if in_left and in_right else rows if in_left else columns).append(dim)
    if rows and columns and columns[-1] < rows[0]:  # the product has the memory order of the result
        left, right, rows, columns = right, left, columns, rows

    def numel(tensor: Tensor, of: Sequence[int]) -> int:
        return math.prod(tensor.size(dim) for dim in of)

    order = [*batch, *rows, *sum_dims, *columns]
    sizes = [*(left.size(dim) for dim in (*batch, *rows)), *(1 for _ in sum_dims), *(right.size(d) for d in columns)]
    many, inner = numel(left, batch), numel(left, sum_dims)
    a = left.permute(order).reshape(many, numel(left, rows), inner)
    b = right.permute([*batch, *sum_dims, *columns, *rows]).reshape(many, inner, numel(right, columns))
    return functions.bmm(a, b).view(sizes).permute([order.index(dim) for dim in range(left.dim())])


def tensordot(self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]) -> Tensor:
    """The product of two tensors, summed over pairs of dimensions. Source: `aten/src/ATen/native/Linear.cpp`, `tensordot`."""
    summed, matched = ([dim % x.dim() for dim in dims] for x, dims in ((self, dims_self), (other, dims_other)))
    for i, j in zip(summed, matched):
        if self.size(i) != other.size(j) and 1 not in (self.size(i), other.size(j)):
            raise RuntimeError("contracted dimensions need to match")
        self = self.sum(i, True) if self.size(i) > other.size(j) else self
        other = other.sum(j, True) if other.size(j) > self.size(i) else other
    rows, columns = ([d for d in range(x.dim()) if d not in dims] for x, dims in ((self, summed), (other, matched)))
    inner = math.prod(self.size(dim) for dim in summed)
    a = self.permute([*rows, *summed]).reshape(-1 if inner else math.prod(self.size(d) for d in rows), inner)
    b = other.permute([*matched, *columns]).reshape(inner, -1 if inner else math.prod(other.size(d) for d in columns))
    return functions.mm(a, b).reshape([*(self.size(d) for d in rows), *(other.size(d) for d in columns)])
