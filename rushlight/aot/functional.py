"""Functionalization: turn a program that writes to tensors and to their views into one that does not write.

The program runs on tensors without data. Each of them has a *functional tensor* with its current value, which is computed by
operators that do not write. A write in place replaces the value. Tensors that share memory share a *functional storage*: the
value of the base, and the updates through views that are not applied yet. A view records the operators that made it from the
base. They *regenerate* the view after the base has changed.

In PyTorch: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `FunctionalStorageImpl.cpp`, `FunctionalInverses.cpp`,
`torch/_subclasses/functional_tensor.py`. Left out: `set_`, `resize_`, writing through an
`unfold`, inputs that share memory among themselves.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, NamedTuple

from rushlight.aot.proxy_tensor import composite, disable_modes, fake_like, on_meta, run_meta
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, wrap_dim
from rushlight.autograd.engine import sum_to
from rushlight.c10.dispatch import DispatchKey, DispatchMode, Kernel, Operator, call, local, operators
from rushlight.c10.fast_paths import cache_clearers
from rushlight.c10.schema import Argument, FunctionSchema, bind
from rushlight.library import OpOverload, ops

aten = ops.aten

# Operators -----------------------------------------------------------------------------------------------------------


def is_view(func: Operator) -> bool:
    """Return whether an operator returns views of its first argument, and does not write."""
    first = func.schema.arguments[0] if func.schema.arguments else None
    return first is not None and bool(first.alias) and not func.schema.is_mutable and bool(func.schema.returns[0].alias)


def is_inplace_view(func: Operator) -> bool:
    """Return whether an operator changes the metadata of its argument, and no data, as `t_` does."""
    return func.schema.name in ("as_strided_", "squeeze_", "t_", "transpose_", "unsqueeze_")


@cache
def functional_form(func: Operator) -> Operator:
    """The operator that computes the same result and does not write: `add.Tensor` for `add_.Tensor`. It has the same name,
    without an underscore at its end, and the same arguments, by name and type, without `out`. The names of the overloads may
    differ (`bernoulli_.float` and `bernoulli.p`). `normal_` is the exception: its form is `normal_functional`.
    Source: `torchgen/native_function_generation.py`, `pre_group_native_functions`, which pairs operators by their signatures."""
    schema = func.schema
    inplace = schema.arguments[0].is_written
    name = schema.name.removesuffix("_") if inplace else schema.name
    name = "normal_functional" if schema.name == "normal_" else name
    wanted = [(x.name, x.type) for x in schema.arguments if inplace or not x.is_written]
    for form in operators.values():
        of_that_name = form.full_name.partition(".")[0] == f"{schema.namespace}::{name}"
        if of_that_name and not form.schema.is_mutable and [(x.name, x.type) for x in form.schema.arguments] == wanted:
            return form
    if schema.namespace == "aten":
        raise NotImplementedError(f"{func} has no functional form")
    return auto_functionalized(func)


cache_clearers.append(functional_form.cache_clear)


def auto_functionalized(func: Operator) -> Operator:
    """A functional form for an operator of a program that writes to tensors: it runs on copies of them, and returns its results and
    then the copies. Source: `torch/_higher_order_ops/auto_functionalize.py`."""
    schema = func.schema
    written = [i for i, argument in enumerate(schema.arguments) if argument.is_written]
    if any(schema.arguments[i].is_list for i in written):
        raise NotImplementedError(f"{func} writes to a list of tensors, which has no functional form")

    def run_on_copies(*stack: Any) -> Any:
        copies = [value.clone() if i in written and value is not None else value for i, value in enumerate(stack)]
        result = call(func, *copies)
        results = () if not schema.returns else result if len(schema.returns) > 1 else (result,)
        results = *results, *[copies[i] for i in written]
        return results if len(results) > 1 else results[0]

    arguments = tuple(replace(argument, alias="") for argument in schema.arguments)
    returns = (*schema.returns, *[Argument("", arguments[i].type) for i in written])
    overload = f"{schema.namespace}_{schema.name}_{schema.overload_name or 'default'}"
    form = OpOverload(FunctionSchema("higher_order", "auto_functionalized", overload, arguments, returns))
    form.register(DispatchKey.CompositeExplicitAutograd, Kernel(run_on_copies))
    return form


class View(NamedTuple):
    """One step from a base to a view: an operator, its arguments after the tensor, and the index among several results."""

    operator: Operator
    args: tuple
    place: int | None = None


def view_forward(base: Tensor, view: View) -> Tensor:
    """The view that a step makes of a base."""
    result = view.operator(base, *view.args)
    return result if view.place is None else result[view.place]


def view_inverse(base: Tensor, view: View, new: Tensor) -> Tensor:
    """The base after the value of its view becomes `new`: a tensor of the base's sizes. No tensor is written to.

    The calls are recorded in a graph, which is compared with torch's. So each step calls the operators that its line names, and
    no others. Call an operator as a method of a tensor (`new.t()`), as a function (`functions.t(new)`; there is none for `view`)
    or by its overload (`aten.t.default(new)`). `sum_to(tensor, sizes)` adds up the copies of each element. `wrap_dim(dim, ndim)`
    is `dim` counted from the front.

    Args:
        base: the base before the write.
        view: the step that makes the view. `arguments_of(view)` has the operator's arguments after the tensor by name, with
            defaults filled in. Several numbers, such as `dims`, are a list or a tuple. The operator has a name
            (`view.operator.schema.name`):

            - `alias`, `detach`: the same elements. The base becomes `new` itself, and no operator is called.
            - `view`, `_reshape_alias`: the same elements, row by row. A `view` is the inverse.
            - `t`, `transpose`, `permute`: another order of the dimensions (`dim0`, `dim1`; `dims`), which may be negative. The
              inverse is an operator of the same name, even if the order is the same.
            - `squeeze`: removes dimensions of size 1: all of them, or those in `dim`, an int or a sequence of ints. The inverse is
              an `unsqueeze` for each, from the first dimension to the last.
            - `unsqueeze`: adds a dimension of size 1, `dim` of the view. The inverse is a `squeeze` of this dimension.
            - `expand`: the view may have each element several times. The base adds the sum of all differences from it:
              `base + sum_to(new - base, sizes)`, where `sizes` are those of the base.
            - `select`, `slice`, `diagonal`, `as_strided`: a part of the base. The operators `select_scatter`, ... write this part.
              They have the same arguments after `new`.
            - `unbind`: one `select` along `dim` for each index. The index of this view is `view.place`.
            - `split`, `split_with_sizes`: `slice`s along `dim`. Each has `split_size` elements, and the last one may have fewer; or
              their lengths are `split_sizes`. The index of this view is `view.place`.
        new: a tensor of the view's sizes.

    >>> row = rl.aot.functional.View(rl.ops.aten.select.int, (0, 0))
    >>> view_inverse(rl.zeros(2, 3), row, rl.ones(3)).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]

    Source: `aten/src/ATen/FunctionalInverses.cpp`.
    """
    given = arguments_of(view)
    dim = given.get("dim")
    match view.operator.schema.name:
        case "alias" | "detach":
            return new
        case "view" | "_reshape_alias":
            return new.view(base.shape)
        case "t":
            return new.t()
        case "transpose":
            return new.transpose(given["dim0"], given["dim1"])
        case "permute":
            dims = [wrap_dim(d, base.dim()) for d in given["dims"]]
            return new.permute([dims.index(d) for d in range(base.dim())])
        case "squeeze":
            wanted = range(base.dim()) if dim is None else dim if isinstance(dim, Sequence) else (dim,)
            for d in sorted(wrap_dim(d, base.dim()) for d in wanted):
                new = new.unsqueeze(d) if base.dim() and base.shape[d] == 1 else new
            return new
        case "unsqueeze":
            return new.squeeze(dim)
        case "expand":
            return base + sum_to(new - base, base.shape)
        case "unbind":
            return functions.select_scatter(base, new, dim, view.place)
        case "split":
            start = view.place * given["split_size"]
            end = min(start + given["split_size"], base.shape[dim])
            return aten.slice_scatter.default(base, new, dim, start, end, 1)
        case "split_with_sizes":
            start = sum(given["split_sizes"][: view.place])
            return aten.slice_scatter.default(base, new, dim, start, start + given["split_sizes"][view.place], 1)
        case name:
            return getattr(aten, f"{name}_scatter").default(base, new, *view.args)


def arguments_of(view: View) -> dict[str, Any]:
    """The arguments of a view's operator after the tensor, by name."""
    arguments = view.operator.schema.arguments
    stack = bind(view.operator.schema, (None, *view.args), {})
    return {argument.name: value for argument, value in zip(arguments[1:], stack[1:])}


# Tensors and storages ------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class FunctionalStorageImpl:
    """The state of tensors that share memory: the value of the base, the pending updates, and the number of updates so far.
    Source: `aten/src/ATen/FunctionalStorageImpl.h`."""

    base: Tensor
    updates: list[tuple[Tensor, tuple[View, ...]]] = field(default_factory=list)
    generation: int = 0
    hidden: bool = True  # whether all updates were hidden from autograd: under no_grad, or through `detach`


@dataclass(eq=False)
class FunctionalTensorWrapper:
    """The value of a tensor at a generation of its storage, and the steps that make it from the base.
    Source: `aten/src/ATen/FunctionalTensorWrapper.h`."""

    value: Tensor
    storage: FunctionalStorageImpl
    views: tuple[View, ...] = ()
    generation: int = 0


def apply_update(base: Tensor, new: Tensor, views: Sequence[View]) -> Tensor:
    """The base after the value of a view, which several steps made, becomes `new`.

    `views` is a list or a tuple of steps, which is not changed. The first step makes a view of the base, the next step a view of
    this view, and so on (`view_forward(tensor, step)`). The view that the last step makes is not needed, so the last step is not
    called. Each of the others is called once. Then, from the last step to the first, `view_inverse(tensor, step, new)` is the new
    value of the tensor that the step was applied to. Without steps the base becomes `new` itself.

    >>> View, aten = rl.aot.functional.View, rl.ops.aten
    >>> views = [View(aten.view.default, ([2, 3],)), View(aten.select.int, (0, 0))]
    >>> apply_update(rl.arange(6), rl.tensor([7, 8, 9]), views).tolist()
    [7, 8, 9, 3, 4, 5]

    Source: `aten/src/ATen/FunctionalStorageImpl.cpp`, `apply_update`.
    """
    before = [base]
    for view in views[:-1]:
        before.append(view_forward(before[-1], view))
    for tensor, view in zip(reversed(before), reversed(views)):
        new = view_inverse(tensor, view, new)
    return new


def sync(tensor: FunctionalTensorWrapper) -> Tensor:
    """Bring a tensor up to date, and return its value: apply all updates of the storage, and regenerate the tensor from the base.
    Other tensors of the storage do not change until they are needed.
    Source: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `sync_`, `apply_updates` and `regenerate_from_base`."""
    storage = tensor.storage
    if tensor.generation != storage.generation:
        for new, views in storage.updates:
            storage.base = apply_update(storage.base, new, views)
        storage.updates.clear()
        tensor.value = storage.base
        for view in tensor.views:
            tensor.value = view_forward(tensor.value, view)
        tensor.generation = storage.generation
    return tensor.value


def commit_update(tensor: FunctionalTensorWrapper, new: Tensor) -> None:
    """Record a write to a tensor that is up to date: its storage gets one more update, and the tensor is synchronized at once.
    Source: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `replace_` and `commit_update`."""
    if new.dtype is not tensor.value.dtype:
        new = aten._to_copy.default(new, dtype=tensor.value.dtype)
    tensor.storage.updates.append((new, tensor.views))
    tensor.storage.generation += 1
    sync(tensor)


# The mode ------------------------------------------------------------------------------------------------------------


class FunctionalTensorMode(DispatchMode):
    """Calls run on the tensors of the program, and their functional forms run on the values.

    The program works with `outer` tensors, which autograd sees; `of(outer)` is the functional tensor. Calls on the values go to
    the next mode outside of this one.

    Source: `torch/_subclasses/functional_tensor.py`, `FunctionalTensorMode`.
    """

    def __init__(self, on_meta: bool = False, sync_views: bool = True) -> None:
        self.sync_views = sync_views  # whether a tensor is brought up to date before a view of it is made
        # Values on the meta device have no data.
        self.call = run_meta if on_meta else lambda func, args, kwargs: func(*args, **kwargs)
        self.known: dict[int, tuple[Tensor, FunctionalTensorWrapper]] = {}

    def wrap(self, outer: Tensor, value: Tensor) -> Tensor:
        """Give `outer` a value, over a storage of its own."""
        self.known[id(outer)] = outer, FunctionalTensorWrapper(value, FunctionalStorageImpl(value))
        return outer

    def of(self, outer: Tensor) -> FunctionalTensorWrapper:
        if id(outer) not in self.known:
            self.wrap(outer, outer)  # a constant
        return self.known[id(outer)][1]

    def unwrap(self, value: Any) -> Any:
        """The up-to-date values of the tensors in an argument or a result. A container without tensors stays as it is."""
        if isinstance(value, (list, tuple)):
            values = [self.unwrap(item) for item in value]
            return value if all(map(operator.is_, values, value)) else values
        return sync(self.of(value)) if isinstance(value, Tensor) else value

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        kwargs = kwargs or {}
        simpler = composite(func)
        if simpler is not None:
            with self:
                return simpler(*args, **kwargs)
        with disable_modes():
            outer = run_meta(func, args, kwargs)
        if func is aten.lift_fresh_copy.default and local.on_meta:
            outer = fake_like(outer)
        if is_view(func):
            self.wrap_views(outer, func, args)
        elif is_inplace_view(func):
            self.write_metadata(func, args)
        elif func.schema.is_mutable:
            self.write(func, args, kwargs, outer)
        else:
            for tensor, value in zip(as_list(outer), as_list(self.call(func, *self.values(args, kwargs)))):
                if isinstance(tensor, Tensor):
                    self.wrap(tensor, value)
        return outer

    def values(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        return tuple(map(self.unwrap, args)), {name: self.unwrap(value) for name, value in kwargs.items()}

    def wrap_views(self, outer: Any, func: Operator, args: tuple) -> None:
        """A new view has generation 0. If its storage has updates, the view is regenerated when it is first needed."""
        base = self.of(args[0])
        values = func(sync(base) if self.sync_views else base.value, *args[1:])
        for i, (tensor, value) in enumerate(zip(as_list(outer), as_list(values))):
            view = View(func, args[1:], None if tensor is outer else i)
            self.known[id(tensor)] = tensor, FunctionalTensorWrapper(value, base.storage, (*base.views, view))

    def write_metadata(self, func: Operator, args: tuple) -> None:
        tensor = self.of(args[0])
        view = View(functional_form(func) if func.schema.name != "as_strided_" else aten.as_strided.default, args[1:])
        sync(tensor)
        tensor.views, tensor.value = (*tensor.views, view), view_forward(tensor.value, view)

    def write(self, func: Operator, args: tuple, kwargs: dict[str, Any], outer: Any) -> None:
        """The functional form runs on the values, and returns the values of the results that are no arguments, and then the new
        values of the written tensors."""
        form = functional_form(func)
        names = [argument.name for argument in func.schema.arguments]
        inplace = len(form.schema.arguments) == len(names)
        given = dict(zip(names, args)) | kwargs
        for argument in func.schema.positional[len(args) :] if inplace else ():
            if argument.name not in kwargs:  # a default of the in-place form, which the functional form may not have
                args = (*args, argument.default)
        targets = [given[x.name] for x in func.schema.arguments if x.is_written and x.name in given]
        values, options = self.values(args, kwargs)
        if not inplace:
            known = {x.name for x in form.schema.arguments}
            options = {name: value for name, value in options.items() if name in known}
            values = values[: len(form.schema.positional)]
        results = as_list(self.call(form, values, options))
        count = len(results) - len(targets)
        for tensor, value in zip(as_list(outer), results[:count]):
            if isinstance(tensor, Tensor):
                self.wrap(tensor, value)
        for target, new in zip(targets, results[count:]):
            if target is None:
                continue
            tensor = self.of(target)
            sync(tensor)
            commit_update(tensor, new)
            detached = any(view.operator is aten.detach.default for view in tensor.views)
            tensor.storage.hidden = tensor.storage.hidden and (detached or not local.grad_enabled)


def as_list(results: Any) -> Sequence[Any]:
    """The results of a call as a sequence: a single result becomes a list."""
    return results if isinstance(results, (list, tuple)) else [results]


def functionalize(function: Callable) -> Callable:
    """The same function, out of operators that do not write. Its writes to arguments are done at the end, by `copy_`. The
    function runs on tensors without data. Their values are the arguments. Source: `torch/_functorch/eager_transforms.py`,
    `functionalize`."""

    @wraps(function)
    def functional(*args: Any) -> Any:
        mode = FunctionalTensorMode(sync_views=False)
        outers = [mode.wrap(fake_like(x), x) if isinstance(x, Tensor) else x for x in args]
        with on_meta(True):
            with mode:
                results = function(*outers)
            outputs = mode.unwrap(results)
            for x, outer in zip(args, outers):
                if isinstance(x, Tensor) and mode.of(outer).storage.generation:
                    x.copy_(sync(base_wrapper(mode.of(outer))))
            return outputs

    return functional


def base_wrapper(tensor: FunctionalTensorWrapper) -> FunctionalTensorWrapper:
    """The base of a tensor's storage: an input before its metadata changed."""
    return FunctionalTensorWrapper(tensor.storage.base, tensor.storage, (), -1)
