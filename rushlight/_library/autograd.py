"""The kernel for `Autograd` of an operator that a program defines: an autograd `Function` around the call.

In PyTorch: `torch/_library/autograd.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rushlight.aten.strided import Tensor
from rushlight.autograd.function import Function
from rushlight.autograd.history import any_requires_grad, call_below
from rushlight.c10.dispatch import tensors_in
from rushlight.c10.schema import bind
from rushlight.library import OpOverload

Lengths = Sequence[int | None]  # of `flatten`


class InfoProtocol(Protocol):
    """The functions of `register_autograd`, which may be registered after the kernel."""

    _backward_fn: Callable | None
    _setup_context_fn: Callable | None


@dataclass
class Call:
    """What a call of the kernel passes through the `Function`: the key set, the keyword-only arguments, and where lists were."""

    key_set: int
    kwargs: dict[str, Any]
    in_lengths: Lengths
    out_lengths: Lengths = ()
    is_tuple: bool = False


def make_autograd_impl(operator: OpOverload, info: InfoProtocol) -> Callable:
    """The kernel, which takes the key set first. An autograd `Function` has no lists of tensors, so they are flattened before and
    restored after. Source: `torch/_library/autograd.py`, `make_autograd_impl` and `supports_tensorlist`."""
    schema = operator.schema
    count = len(schema.positional)
    has_lists = any(value.base == "Tensor" and value.is_list for value in (*schema.arguments, *schema.returns))

    def forward(ctx: Any, *args: Any) -> Any:
        *flat, call = args
        ctx._pt_metadata = call
        stack = bind(schema, restore(flat, call.in_lengths), call.kwargs)
        result = call_below(operator.below[call.key_set], *stack)
        if info._setup_context_fn:
            given: dict[str, Any] = {"inputs": tuple(stack[:count]), "output": result}
            if keyword_only := schema.arguments[count:]:
                names = [argument.name for argument in keyword_only]
                given["keyword_only_inputs"] = dict(zip(names, stack[count:]))
            info._setup_context_fn(ctx=ctx, **given)
        call.is_tuple = isinstance(result, tuple)
        flat, call.out_lengths = flatten(result if call.is_tuple else (result,))
        return tuple(flat) if has_lists or call.is_tuple else result

    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        if info._backward_fn is None:
            problem = f"Trying to backward through {operator} but no autograd formula was registered."
            raise RuntimeError(f"{problem} Please use register_autograd to add one.")
        call, needed = ctx._pt_metadata, ctx.needs_input_grad
        ctx.needs_input_grad = tuple(restore(needed, call.in_lengths))
        try:
            result = info._backward_fn(ctx, *restore(grads, call.out_lengths))
        finally:
            ctx.needs_input_grad = needed
        result = result if isinstance(result, tuple) else (result,)
        if not has_lists:
            return *result, None
        flat, lengths = flatten(result)
        if lengths != call.in_lengths:
            problem = "Expected the return from backward to be of the same structure as the inputs."
            raise RuntimeError(f"{problem} Got: {lengths} (return from backward), {call.in_lengths} (inputs)")
        return *flat, None

    name = f"GeneratedBackwardFor_{schema.namespace}_{schema.name}_{operator._overloadname}"
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    generated: Any = type(name, (Function,), members)

    def autograd_impl(key_set: int, *args: Any, **kwargs: Any) -> Any:
        if not any_requires_grad(tensors_in(args)):
            return call_below(operator.below[key_set], *bind(schema, args, kwargs))
        flat, lengths = flatten(args)
        call = Call(key_set, kwargs, lengths)
        result = generated.apply(*flat, call)
        if not has_lists:
            return result
        results = restore(result, call.out_lengths)
        return tuple(results) if call.is_tuple else results[0]

    return autograd_impl


def flatten(values: Sequence) -> tuple[list, Lengths]:
    """The values with the items of each list of tensors (or None) in place of the list, and its length. None for other values."""
    flat: list[Any] = []
    lengths: list[int | None] = []
    for value in values:
        is_list = isinstance(value, list) and all(item is None or isinstance(item, Tensor) for item in value)
        flat += value if is_list else [value]
        lengths.append(len(value) if is_list else None)
    return flat, lengths


def restore(flat: Sequence, lengths: Lengths) -> list:
    """The values that `flatten` had. `flat` may have more."""
    items = iter(flat)
    return [next(items) if n is None else [next(items) for _ in range(n)] for n in lengths]
