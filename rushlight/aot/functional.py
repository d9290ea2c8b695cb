"""Functionalisation: a program that writes into tensors and into views of them, as one that writes to nothing.

The program runs on tensors without data; beside each of them goes a *functional tensor*, which holds the value that it has now,
made by operators that write nothing. Where the program writes in place, the value is replaced. Tensors that share memory share
a *functional storage*: it holds the value of the base, and the updates that came through views and have not been applied yet.
A view remembers by which operators it was made of the base, and is *regenerated* by them when the base is no longer what it was.

In PyTorch: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `FunctionalStorageImpl.cpp`, `FunctionalInverses.cpp`,
`torch/_subclasses/functional_tensor.py`. Left out: `set_`, `resize_`, writing through an
`unfold`, inputs that share memory among themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, NamedTuple

from rushlight.aot.proxy_tensor import composite, disable_modes, fake_like, local_state, run_meta
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, wrap_dim
from rushlight.autograd.engine import sum_to
from rushlight.c10.dispatch import DispatchMode, Operator, local, operators
from rushlight.c10.schema import bind
from rushlight.library import ops

aten = ops.aten

# ------------------------------------------------------------------------------------------------------------
# Operators


def is_view(func: Operator) -> bool:
    """Whether an operator gives views of its first argument, and writes to nothing."""
    first = func.schema.arguments[0] if func.schema.arguments else None
    return first is not None and bool(first.alias) and not func.schema.is_mutable and bool(func.schema.returns[0].alias)


def is_inplace_view(func: Operator) -> bool:
    """Whether an operator changes the metadata of its argument, and no data: `t_`."""
    return func.schema.name in ("as_strided_", "squeeze_", "t_", "transpose_", "unsqueeze_")


def functional_form(func: Operator) -> Operator:
    """The operator that computes what this one writes, and writes nothing: for `add_.Tensor` it is `add.Tensor`.

    An operator that writes to its first argument has a name that ends in an underscore, and its functional form the name without
    it. One that writes to `out`, the last argument, has a form of the same name. Either way it is the one, of all overloads of
    that name, that writes nothing (`schema.is_mutable`) and has the same arguments, in order, by name and type: of an operator
    that writes to `out`, all but those to which it writes (`argument.is_written`). The overloads' own names need not agree
    (`bernoulli_.float` and `bernoulli.p`). `normal_` is the exception: its form is called `normal_functional`.

    Args:
        func: an operator that writes; `operators` has all of them, by `full_name`.

    Raises:
        NotImplementedError: there is none.

    Source: `torchgen/native_function_generation.py`, `pre_group_native_functions`, which pairs operators by their signatures.
    """
    schema = func.schema
    inplace = schema.arguments[0].is_written
    name = schema.name.removesuffix("_") if inplace else schema.name
    name = "normal_functional" if schema.name == "normal_" else name
    wanted = [(x.name, x.type) for x in schema.arguments if inplace or not x.is_written]
    for each in operators.values():
        of_that_name = each.full_name.partition(".")[0] == f"{schema.namespace}::{name}"
        if of_that_name and not each.schema.is_mutable and [(x.name, x.type) for x in each.schema.arguments] == wanted:
            return each
    raise NotImplementedError(f"{func} has no functional form")


class View(NamedTuple):
    """One step from a base to a view: an operator, its arguments after the tensor, and of several results which."""

    operator: Operator
    args: tuple
    place: int | None = None


def view_forward(base: Tensor, view: View) -> Tensor:
    """The view of a base that a step makes."""
    result = view.operator(base, *view.args)
    return result if view.place is None else result[view.place]


def view_inverse(base: Tensor, view: View, new: Tensor) -> Tensor:
    """What a base becomes when what a view shows of it becomes `new`: a tensor of the base's sizes. Nothing is written to.

    A graph is recorded of what this calls: for each step only the operators that are named here, as in graphs of torch.

    Args:
        base: the base as it was.
        view: the step that makes the view of it; `arguments_of(view)` gives the operator's arguments after the tensor by name,
            with defaults filled in. Its operator is named (`view.operator.schema.name`):

            - `alias`, `detach`: the same elements, so the base becomes `new` itself, and no operator is called;
            - `view`, `_reshape_alias`: the same elements, row by row; undone by a `view`;
            - `t`, `transpose`, `permute`: other orders of the dimensions (`dim0`, `dim1`; `dims`), which may be negative; each
              is undone by an operator of its own name, also where the order is the same;
            - `squeeze`: without dimensions of size 1: all, or, if `dim` is given, an int or a sequence of ints, those among them;
              undone by an `unsqueeze` for each;
            - `unsqueeze`: with a dimension of size 1, `dim` of the view; undone by a `squeeze`;
            - `expand`: each element may be shown many times. The base gains, for each, the sum of what was added to all of them
              (`sum_to`);
            - `select`, `slice`, `diagonal`, `as_strided`: a part of the base, and for each there is an operator with the same
              arguments after `new` that puts it there: `select_scatter`, ...;
            - `unbind`: all `select`s along `dim`, of which this is `view.place`;
            - `split`, `split_with_sizes`: `slice`s along `dim`, of `split_size` elements, the last perhaps of fewer, or of as
              many as `split_sizes` says, of which this is `view.place`;
        new: of the view's sizes.

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


# ------------------------------------------------------------------------------------------------------------
# Tensors and storages


@dataclass(eq=False)
class FunctionalStorage:
    """What tensors share that share memory: the value of the base, updates to come, and how many there were in all.

    Source: `aten/src/ATen/FunctionalStorageImpl.h`.
    """

    base: Tensor
    updates: list[tuple[Tensor, tuple[View, ...]]] = field(default_factory=list)
    generation: int = 0
    hidden: bool = True  # whether autograd saw no update of the base: all were under no_grad, or through `detach`


@dataclass(eq=False)
class FunctionalTensor:
    """The value of a tensor as of a generation of its storage, and how it is made of the base.

    Source: `aten/src/ATen/FunctionalTensorWrapper.h`.
    """

    value: Tensor
    storage: FunctionalStorage
    views: tuple[View, ...] = ()
    generation: int = 0


def apply_update(base: Tensor, new: Tensor, views: Sequence[View]) -> Tensor:
    """What a base becomes when a view of it, made by several steps, becomes `new`.

    The first step makes a view of the base, the next a view of that, and so on: `view_forward(tensor, step)`; what the last one
    makes is not needed. From the last step to the first, `view_inverse(tensor, step, new)` gives what the tensor becomes that the
    step was a view of. Without steps the base becomes `new` itself.

    Source: `aten/src/ATen/FunctionalStorageImpl.cpp`, `apply_update`.
    """
    before = [base]
    for view in views[:-1]:
        before.append(view_forward(before[-1], view))
    for tensor, view in zip(reversed(before), reversed(views)):
        new = view_inverse(tensor, view, new)
    return new


def sync(tensor: FunctionalTensor) -> Tensor:
    """Bring a tensor up to date, and return its value.

    If its `generation` is its storage's, it is up to date. If not, all updates of the storage, pairs of a new value and the steps
    of the view that got it, are applied to the storage's `base`, the first one first (`apply_update`), and then there are none
    any more. The tensor's `value` is made anew, from the base, by the steps in its `views` (`view_forward`), and its
    generation is now the storage's. Other tensors of the storage are left as they are; they are brought up to date when
    they are needed.

    Source: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `sync_`, `apply_updates` and `regenerate_from_base`.
    """
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


def commit_update(tensor: FunctionalTensor, new: Tensor) -> None:
    """Something was written to a tensor that was up to date: its storage has an update more, and the tensor sees it at once.

    Source: `aten/src/ATen/FunctionalTensorWrapper.cpp`, `replace_` and `commit_update`.
    """
    if new.dtype is not tensor.value.dtype:
        new = aten._to_copy.default(new, dtype=tensor.value.dtype)
    tensor.storage.updates.append((new, tensor.views))
    tensor.storage.generation += 1
    sync(tensor)


# ------------------------------------------------------------------------------------------------------------
# The mode


class FunctionalMode(DispatchMode):
    """Within: calls run on the tensors that the program sees, and their functional forms on the values.

    What the program sees are `outer` tensors, on which autograd works; `of` has the functional tensor of each. The values are
    for the mode outside of this one.

    Source: `torch/_subclasses/functional_tensor.py`, `FunctionalTensorMode`.
    """

    def __init__(self, on_meta: bool = False, sync_views: bool = True) -> None:
        self.sync_views = sync_views  # before a view is made of something, bring it up to date
        self.call = run_meta if on_meta else call_as_it_is  # of values, which may be without data
        self.known: dict[int, tuple[Tensor, FunctionalTensor]] = {}

    def wrap(self, outer: Tensor, value: Tensor) -> Tensor:
        """From now on `outer` has this value."""
        self.known[id(outer)] = outer, FunctionalTensor(value, FunctionalStorage(value))
        return outer

    def of(self, outer: Tensor) -> FunctionalTensor:
        if id(outer) not in self.known:
            self.wrap(outer, outer)  # a constant
        return self.known[id(outer)][1]

    def unwrap(self, value: Any) -> Any:
        """What the program returns, by value."""
        if isinstance(value, (list, tuple)):
            return [self.unwrap(item) for item in value]
        return sync(self.of(value)) if isinstance(value, Tensor) else value

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        kwargs = kwargs or {}
        simpler = composite(func)
        if simpler is not None:
            with self:
                return simpler(*args, **kwargs)
        with disable_modes():
            outer = run_meta(func, args, kwargs)
        if is_view(func):
            self.note_views(outer, func, args)
        elif is_inplace_view(func):
            self.change_view(func, args)
        elif func.schema.is_mutable:
            self.write(func, args, kwargs)
        else:
            self.note_new(outer, self.call(func, *self.values(args, kwargs)))
        return outer

    def values(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments of a call, by value, brought up to date."""
        return tuple(map(self.value_of, args)), {name: self.value_of(value) for name, value in kwargs.items()}

    def value_of(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
            return [self.value_of(item) for item in value]
        return sync(self.of(value)) if isinstance(value, Tensor) else value

    def note_new(self, outer: Any, values: Any) -> None:
        if isinstance(outer, Tensor):
            self.wrap(outer, values)
        elif isinstance(outer, (list, tuple)):
            for tensor, value in zip(outer, values):
                self.wrap(tensor, value)

    def note_views(self, outer: Any, func: Operator, args: tuple) -> None:
        """A new view begins with generation 0: if there were updates before, it is regenerated when it is first needed."""
        base = self.of(args[0])
        values = func(sync(base) if self.sync_views else base.value, *args[1:])
        several = isinstance(outer, (list, tuple))
        for i, (tensor, value) in enumerate(zip(outer, values) if several else [(outer, values)]):
            view = View(func, args[1:], i if several else None)
            self.known[id(tensor)] = tensor, FunctionalTensor(value, base.storage, (*base.views, view))

    def change_view(self, func: Operator, args: tuple) -> None:
        tensor = self.of(args[0])
        form = functional_form(func) if func.schema.name != "as_strided_" else aten.as_strided.default
        view = View(form, args[1:])
        sync(tensor)
        tensor.views, tensor.value = (*tensor.views, view), view_forward(tensor.value, view)

    def write(self, func: Operator, args: tuple, kwargs: dict[str, Any]) -> None:
        """The functional form runs on the values, and gives those that the written tensors have from now on."""
        form = form_of(func)
        names = [argument.name for argument in func.schema.arguments]
        inplace = func.schema.arguments[0].is_written
        given = dict(zip(names, args)) | kwargs
        written = [self.of(given[x.name]) for x in func.schema.arguments if x.is_written and x.name in given]
        values, options = self.values(args, kwargs)
        if not inplace:
            options = {
                name: value for name, value in options.items() if name in {x.name for x in form.schema.arguments}
            }
            values = values[: len(form.schema.positional)]
        result = self.call(form, values, options)
        for tensor, new in zip(written, result if isinstance(result, (list, tuple)) else (result,)):
            sync(tensor)
            commit_update(tensor, new)
            detached = any(view.operator is aten.detach.default for view in tensor.views)
            tensor.storage.hidden = tensor.storage.hidden and (detached or not local.grad_enabled)


def call_as_it_is(func: Operator, args: tuple, kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


@cache
def form_of(func: Operator) -> Operator:
    return functional_form(func)


def functionalize(function: Callable) -> Callable:
    """The same function made of operators that write to nothing; what it wrote to its arguments it writes at the end, by `copy_`.

    It works on tensors without data of its own and on values, the arguments.

    Source: `torch/_functorch/eager_transforms.py`, `functionalize`.
    """

    @wraps(function)
    def functional(*args: Any) -> Any:
        mode = FunctionalMode(sync_views=False)
        with disable_modes():
            fakes = [fake_like(x) if isinstance(x, Tensor) else x for x in args]
        outers = [mode.wrap(fake, x) if isinstance(x, Tensor) else x for fake, x in zip(fakes, args)]
        before, local_state.on_meta = local_state.on_meta, True
        try:
            with mode:
                results = function(*outers)
            found = mode.unwrap(results)
            for x, outer in zip(args, outers):
                if isinstance(x, Tensor) and mode.of(outer).storage.generation:
                    x.copy_(sync(whole(mode.of(outer))))
            return found
        finally:
            local_state.on_meta = before

    return functional


def whole(tensor: FunctionalTensor) -> FunctionalTensor:
    """The base of a tensor's storage: what an input is, whatever became of its metadata."""
    return FunctionalTensor(tensor.storage.base, tensor.storage, (), -1)
