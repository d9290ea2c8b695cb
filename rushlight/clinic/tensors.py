"""Diagnoses of lab 13a: tensors and dispatch.

For each patient of rushlight there are three answers: a small program that shows the fault, the name of the function at fault, and
a sound function in its place. For each patient on real torch there are two: a function that finds the evidence, and the mended
script.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 4 statements and calls at most 5 operators. It uses the public names of `xp` and its own variables, and
    has no import and no `try`.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    table = xp.arange(8).reshape(2, 4)
    table[:, ::2].reshape(-1).zero_()
    return table


def name_1() -> list[str]:
    """The function at fault in patient 13a.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["strided.compute_stride"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13a.1.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_1`, and your function with the contract of that one.
    """

    def compute_stride(old_sizes, old_strides, new_sizes):
        if 0 in old_sizes:
            return tuple(old_strides) if list(old_sizes) == list(new_sizes) else contiguous_strides(new_sizes)  # noqa: F821
        chunks = [] if old_sizes else [(1, 1)]
        for size, stride in zip(reversed(old_sizes), reversed(old_strides)):
            if chunks and (size == 1 or stride == chunks[-1][0] * chunks[-1][1]):
                chunks[-1] = (chunks[-1][0] * size, chunks[-1][1])
            else:
                chunks.append((size, stride))
        new_strides, remaining = [], list(new_sizes)
        for numel, stride in chunks:
            filled = 1
            while remaining and (filled < numel or remaining[-1] == 1):
                new_strides.append(filled * stride)
                filled *= remaining.pop()
            if filled != numel:
                return None
        return tuple(reversed(new_strides))

    return "strided.compute_stride", compute_stride


def narrow_2(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.2.

    It has at most 2 statements and calls at most 4 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, a dtype, or a list or tuple of these. An exception is a result too.
    """
    return (xp.tensor(7, dtype=xp.uint8) * 3).dtype


def name_2() -> list[str]:
    """The function at fault in patient 13a.2.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["dtypes.result_type"]


def mend_2() -> tuple[str, Callable]:
    """A sound function for patient 13a.2.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def result_type(*operands):
        ranks = [None, None, None]
        for operand in operands:
            if hasattr(operand, "dim"):
                rank, operand_type = 0 if operand.dim() else 1, operand.dtype
            else:
                rank, operand_type = 2, scalar_type(operand)  # noqa: F821
            ranks[rank] = operand_type if ranks[rank] is None else promote_types(ranks[rank], operand_type)  # noqa: F821
        common = None
        for promoted in ranks:
            if promoted is not None and (common is None or promoted.category > common.category):
                common = promoted
        return common

    return "dtypes.result_type", result_type


def narrow_3(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.3.

    It has at most 4 statements and calls at most 5 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, a dtype, or a list or tuple of these. An exception is a result too.
    """
    with xp.inference_mode():
        frozen = xp.ones(1)
    return xp.cat([frozen, xp.ones(1, requires_grad=True)]).requires_grad


def name_3() -> list[str]:
    """The function at fault in patient 13a.3.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["dispatch.dispatch_key_set"]


def mend_3() -> tuple[str, Callable]:
    """A sound function for patient 13a.3.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def dispatch_key_set(stack, included, excluded):
        keys = included
        for tensor in tensors_in(stack):  # noqa: F821
            keys |= tensor._key_set
        return keys & (~excluded | BACKEND_MASK)  # noqa: F821

    return "dispatch.dispatch_key_set", dispatch_key_set


def narrow_4(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.4.

    It has at most 4 statements and calls at most 6 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, a dtype, or a list or tuple of these. An exception is a result too.
    """
    canvas = xp.zeros(2, 1, 3)
    canvas[:, :, :2] += 1
    return canvas


def name_4() -> list[str]:
    """The function at fault in patient 13a.4.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["iterator.coalesce_dimensions"]


def mend_4() -> tuple[str, Callable]:
    """A sound function for patient 13a.4.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def coalesce_dimensions(sizes, operand_strides):
        if not sizes:
            return (), ((),) * len(operand_strides)
        new_sizes, new_strides = [sizes[0]], [[strides[0]] for strides in operand_strides]
        for dim in range(1, len(sizes)):
            size = new_sizes[-1]
            even = all(strides[dim] == size * new[-1] for strides, new in zip(operand_strides, new_strides))
            if even or 1 in (size, sizes[dim]):
                new_sizes[-1] *= sizes[dim]
                if size == 1:
                    for strides, new in zip(operand_strides, new_strides):
                        new[-1] = strides[dim]
            else:
                new_sizes.append(sizes[dim])
                for strides, new in zip(operand_strides, new_strides):
                    new.append(strides[dim])
        return tuple(new_sizes), tuple(tuple(new) for new in new_strides)

    return "iterator.coalesce_dimensions", coalesce_dimensions


def narrow_5(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.5.

    It has at most 3 statements and calls at most 5 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, a dtype, or a list or tuple of these. An exception is a result too.
    """
    with xp.autocast("cpu", dtype=xp.float16):
        return xp.cat([xp.ones(1, dtype=xp.float16), xp.ones(1)]).dtype


def name_5() -> list[str]:
    """The function at fault in patient 13a.5.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["autocast_mode.promote_type"]


def mend_5() -> tuple[str, Callable]:
    """A sound function for patient 13a.5.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def promote_type(stack):
        wide = any(tensor.dtype is float32 and is_eligible(tensor) for tensor in tensors_in(stack))  # noqa: F821
        return float32 if wide else get_autocast_dtype("cpu")  # noqa: F821

    return "autocast_mode.promote_type", promote_type


def narrow_6(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.6.

    It has at most 2 statements and calls at most 4 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, a dtype, or a list or tuple of these. An exception is a result too.
    """
    return xp.tensor([[0.0], [200.0]]).logsumexp(1)


def name_6() -> list[str]:
    """The function at fault in patient 13a.6.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`, or its short
        form `"strided.permute"`.
    """
    return ["reductions.logsumexp"]


def mend_6() -> tuple[str, Callable]:
    """A sound function for patient 13a.6.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def logsumexp(array, dims, keepdim):
        largest = array.max(axis=dims, keepdims=True, initial=-np.inf)  # noqa: F821
        largest = np.where(np.isinf(largest), 0, largest)  # noqa: F821
        total = np.log(np.exp(array - largest).sum(axis=dims, keepdims=True)) + largest  # noqa: F821
        return total if keepdim else total.squeeze(axis=dims)

    return "reductions.logsumexp", logsumexp


# Patients of theirs: real torch --------------------------------------------------------------------------------------

COPIES = (torch.ops.aten.clone.default, torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


def find_copies(function: Callable, *args: Any) -> list[tuple[int, int]]:
    """The copies that one call `function(*args)` makes, in order: for each, the line and the bytes.

    A copy is a call of one of the operators `COPIES` that a `TorchDispatchMode` sees, also if another operator or another function
    calls it. The mode does not see what a kernel does inside: `clone` calls `copy_` there, and `masked_fill` calls `clone`.
    The line is that of `function` that runs at this moment, counted from the line with `def`, which is line 0. If the function
    calls itself, it is the line of the innermost call. The bytes are those of the operator's result.

        >>> def double(x):
        ...     rows = x.t().contiguous()
        ...     return rows * 2
        >>> find_copies(double, torch.ones(2, 3))
        [(1, 24)]

    Args:
        function: a Python function without decorators, called once. Each of its statements is on a line of its own. Its source may
            not be at hand. An error that it raises is raised further.
    """
    copies = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func in COPIES:
                frame = sys._getframe()
                while frame.f_code is not function.__code__:
                    frame = frame.f_back
                copies.append((frame.f_lineno - function.__code__.co_firstlineno, result.nbytes))
            return result

    with Record():
        function(*args)
    return copies


def attend(cache: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """The attention of one new token to all tokens of a cache, without a copy of the cache.

    For each head: the product of the query with each key, divided by the root of the width, gives weights by softmax. The result is
    the sum of the values with these weights.

    Args:
        cache: the keys, `cache[:, 0]`, and the values, `cache[:, 1]`: float32 or float64, (tokens, 2, heads, width). The last
            dimension has stride 1. It is only read.
        query: (heads, width), of the same dtype. It is only read. The scores may be of any size, and differ from head to head.

    Returns:
        (heads, width). No operator on the way makes a new tensor of more elements than `heads * max(tokens, width)`.
    """
    keys, values = cache.permute(1, 2, 0, 3)
    scores = torch.bmm(keys, query.unsqueeze(-1)) / math.sqrt(query.size(-1))
    return torch.bmm(scores.softmax(1).transpose(1, 2), values).squeeze(1)


def aliased(kept: dict[str, torch.Tensor], live: dict[str, torch.Tensor]) -> list[str]:
    """The names of the tensors in `kept` that change if the tensors in `live` are written to, in the order of `kept`.

    These are the tensors that share at least one byte of memory with an element of a tensor in `live`. Two tensors on one storage
    need not share an element, and two tensors that do may have different addresses, strides and dtypes.

        >>> x = torch.zeros(4)
        >>> aliased({"half": x[:2], "rest": x[3:], "copy": x.clone()}, {"end": x[2:]})
        ['rest']

    Args:
        kept, live: tensors on the CPU by their names, each of at most a few thousand elements. Elements of one tensor may share
            memory. Two storages may share memory too. The tensors are only read.
    """

    def memory(x):
        steps = torch.zeros(x.shape, dtype=torch.int64)
        for dim, (size, stride) in enumerate(zip(x.shape, x.stride())):
            steps += (torch.arange(size) * stride).reshape([-1] + [1] * (x.dim() - 1 - dim))
        elements = x.data_ptr() + steps.reshape(-1, 1) * x.itemsize
        return (elements + torch.arange(x.itemsize)).flatten().tolist()

    written = set().union(*map(memory, live.values()))
    return [name for name, x in kept.items() if not written.isdisjoint(memory(x))]


def keep_best(
    model: torch.nn.Module, step: Callable[[torch.nn.Module], None], score: Callable, steps: int
) -> dict[str, torch.Tensor]:
    """Train a model for some steps, and return its best state.

    Each of the `steps`, at least one, calls `step(model)`, which changes the model, and then `score(model)`, which returns a
    number and does not change the model. The best state is the one with the highest score, the first one of equals.

    Returns:
        the values of `model.state_dict()` as they were right after the best step, by name. Nothing that is done to the model
        afterwards changes them. The model itself is left as the last step left it, with its gradients and its mode.
    """
    best = best_state = None
    for _ in range(steps):
        step(model)
        now = score(model)
        if best is None or now > best:
            best, best_state = now, copy.deepcopy(model.state_dict())
    return best_state
