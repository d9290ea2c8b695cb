"""`custom_op`: make an operator of one Python function, and add what the subsystems need.

A `CustomOpDef` defines the operator through a `Library` of its own and registers a kernel for each key: the function for the
backends, a kernel for `Meta` that calls the fake implementation, one for `Autograd` that calls the formula, and one that increments
version counters. What is registered later, such as the formula, these kernels look up when they run.

In PyTorch: `torch/_library/custom_ops.py`, and for the functions by name `torch/library.py`. Left out: tags, `register_vmap`
(there are no transforms of functorch), `register_torch_dispatch` (there are no subclasses with a `__torch_dispatch__`), effects,
`opcheck`, `triton_op`.
"""

from __future__ import annotations

import logging
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from rushlight._library.autograd import make_autograd_impl
from rushlight._library.infer_schema import infer_schema
from rushlight.amp.autocast_mode import cached_cast
from rushlight.autograd.graph import increment_version
from rushlight.autograd.history import record_view
from rushlight.c10.dispatch import BACKENDS, BIT, DispatchKey, excluding, redispatch, tensors_in
from rushlight.c10.dtypes import dtype
from rushlight.c10.schema import FunctionSchema, bind
from rushlight.c10.storage import device
from rushlight.library import Library, OpOverload, ops

DeviceTypes = str | Sequence[str] | None
log = logging.getLogger(__name__)
OPDEFS: weakref.WeakValueDictionary[str, CustomOpDef] = weakref.WeakValueDictionary()
OPDEF_TO_LIB: dict[str, Library] = {}  # keeps the registrations: a definition of the same name replaces them
_keep_alive: list[Library] = []


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
) -> Any:
    """Make an operator of a function, or decorate a function to make one.

    Args:
        name: `namespace::name`. An operator of `custom_op` that has this name already is replaced.
        fn: the kernel. Its result must not share memory with an argument.
        mutates_args: the names of the arguments that it writes to, or "unknown".
        device_types: the devices that the kernel is for, by default all.
        schema: by default that of the annotations (`infer_schema`).

    Returns:
        a `CustomOpDef`, or the decorator.

    Raises:
        ValueError: `schema` and `mutates_args` disagree, or `infer_schema` finds no schema.
        NotImplementedError: a tensor is keyword-only.

    Source: `torch/_library/custom_ops.py`, `custom_op`.
    """

    def inner(fn: Callable) -> CustomOpDef:
        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        namespace, opname = name.split("::")
        result = CustomOpDef(namespace, opname, text, fn)
        if schema is not None:
            expected = {argument.name for argument in result._opoverload.schema.arguments if argument.is_written}
            if expected != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema suggests "
                    f"that the op mutates {expected}which is different from what was provided to us in `mutates_args`. "
                    "Please make these consistent."
                )
        result.register_kernel(device_types)(fn)
        return result

    return inner if fn is None else inner(fn)


class CustomOpDef:
    """The operator that `custom_op` makes. Its methods register more for it.
    Source: `torch/_library/custom_ops.py`, `CustomOpDef`."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable) -> None:
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self._backend_fns: dict[str | None, Callable] = {}
        self._disabled_kernel: set[str | None] = set()
        self._abstract_fn: Callable | None = None
        self._setup_context_fn: Callable | None = None
        self._backward_fn: Callable | None = None
        self._autocast_dtype: dict[str, dtype] = {}
        if before := OPDEF_TO_LIB.pop(self._qualname, None):
            before._destroy()
        self._lib = OPDEF_TO_LIB[self._qualname] = Library(namespace, "FRAGMENT")
        self._register_to_dispatcher()
        OPDEFS[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def _register_to_dispatcher(self) -> None:
        self._lib.define(self._name + self._schema)
        self._opoverload = lookup_op(self._qualname)
        schema = self._opoverload.schema
        if has_kwarg_only_tensors(schema):
            self._lib._destroy()
            problem = "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only."
            raise NotImplementedError(f"{problem} Got: {self._name}{self._schema}")
        self._lib._register_fake(self._name, self._fake_impl)
        self._lib.impl(self._name, make_autograd_impl(self._opoverload, self), "Autograd", with_keyset=True)
        if schema.is_mutable or is_view_op(schema):
            self._lib.impl(self._name, self._adinplaceorview_impl, "ADInplaceOrView", with_keyset=True)

    def _fake_impl(self, *args: Any, **kwargs: Any) -> Any:
        if self._abstract_fn is not None:
            with device("meta"):
                return self._abstract_fn(*args, **kwargs)
        schema = self._opoverload.schema
        if not schema.is_mutable or schema.returns:
            problem = f"There was no fake impl registered for {self}."
            reason = "This is necessary for torch.compile/export/fx tracing to work."
            remedy = f"Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."
            raise MissingFakeImpl(f"{problem} {reason} {remedy}")
        return None

    def _adinplaceorview_impl(self, key_set: int, *args: Any, **kwargs: Any) -> Any:
        schema = self._opoverload.schema
        stack = bind(schema, args, kwargs)
        increment_version(tensors_in([x for argument, x in zip(schema.arguments, stack) if argument.is_written]))
        if is_view_op(schema):
            if any(argument.base == "SymInt" for argument in schema.arguments):
                raise RuntimeError("Custom ops that are views do not support SymInt. Please write the schema with int.")
            return record_view(self._opoverload, key_set, *stack)
        return self._opoverload.below[key_set](*stack)

    def register_kernel(self, device_types: DeviceTypes, fn: Callable | None = None, /) -> Callable:
        """Register a kernel for devices, or for all if None. Without `fn`, return the decorator.

        Raises ValueError for an operator that takes neither a tensor nor a `device`: nothing would select the kernel.
        """

        def inner(fn: Callable) -> Callable:
            types = [device_types] if device_types is None or isinstance(device_types, str) else device_types
            for device_type in types:
                if device_type not in self._backend_fns:
                    key = "CompositeExplicitAutograd" if device_type is None else key_for_device(device_type)
                    self._lib.impl(self._name, self._backend_impl(device_type), key)
                self._backend_fns[device_type] = fn
            return fn

        schema = self._opoverload.schema
        if device_types is not None and not any(argument.base == "Tensor" for argument in schema.arguments):
            names = [argument.name for argument in schema.arguments if argument.base == "Device"]
            if "device" not in names:
                problem = "Functions without tensor inputs are required to have a `device: torch.device` argument"
                raise ValueError(problem)
            self._lib.impl(self._name, self._backend_select, "BackendSelect", with_keyset=True)
        return inner if fn is None else inner(fn)

    def _backend_impl(self, device_type: str | None) -> Callable:
        def run(*args: Any, **kwargs: Any) -> Any:
            fn = self._init_fn if device_type in self._disabled_kernel else self._backend_fns[device_type]
            result = fn(*args, **kwargs)
            if not is_view_op(self._opoverload.schema):
                check_aliasing_constraint(self._name, (*args, *kwargs.values()), result)
            return result

        return run

    def _backend_select(self, key_set: int, *args: Any, **kwargs: Any) -> Any:
        schema = self._opoverload.schema
        stack = bind(schema, args, kwargs)
        position = next(i for i, argument in enumerate(schema.arguments) if argument.name == "device")
        device_type = device(stack[position]).type
        if device_type not in self._backend_fns:
            problem = f"{self._name} does not have a kernel registered for {device_type}."
            raise RuntimeError(f"{problem} Please use register_kernel to do so.")
        return redispatch(self._opoverload, BIT["Dense"] | BIT[key_for_device(device_type)], *stack)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """While active, the kernel of a device is enabled, or disabled: then the function of `custom_op` runs in its place."""
        action, was_disabled = "enable" if enabled else "disable", device_type in self._disabled_kernel
        if device_type not in self._backend_fns:
            problem = "Attempted to %s kernel for %s but no kernel was registered for this device type."
            log.warning(problem, action, device_type)
        if was_disabled is not enabled:
            log.warning("Attempted to %s kernel for %s but it was already %sd.", action, device_type, action)
        self._disabled_kernel ^= {device_type} if was_disabled is enabled else set()
        try:
            yield
        finally:
            self._disabled_kernel -= {device_type}
            self._disabled_kernel |= {device_type} if was_disabled else set()

    def register_fake(self, fn: Callable, /) -> Callable:
        """Register the function that makes the results without data, from tensors without data."""
        self._abstract_fn = fn
        return fn

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """Register the formula: `backward(ctx, *grads)` as that of a `Function`, and `setup_context(ctx, inputs, output)`, which
        fills `ctx` after the forward. If there are keyword-only arguments, it takes `keyword_only_inputs` too.

        Raises RuntimeError for an operator that writes to an argument or returns nothing.
        """
        schema = self._opoverload.schema
        views = is_view_op(schema)
        one = [value.type for value in schema.arguments].count("Tensor") == 1 == len(schema.returns)
        check_functional(self, schema, not views or one)
        self._backward_fn, self._setup_context_fn = backward, setup_context

    def register_autocast(self, device_type: str, cast_inputs: dtype) -> Callable:
        """Make autocast on a device cast the floating tensors among the arguments to a dtype. A second call changes nothing."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        check_autocast(device_type)
        kernel = autocast_kernel(self._opoverload, device_type, cast_inputs)
        if device_type not in self._autocast_dtype:
            self._autocast_dtype[device_type] = cast_inputs
            self._lib.impl(self._name, kernel, f"Autocast{key_for_device(device_type)}", with_keyset=True)
        return kernel


class MissingFakeImpl(RuntimeError):
    """An operator of `custom_op` runs on tensors without data, and has no fake implementation."""


# Schemas and kernels -------------------------------------------------------------------------------------------------


def lookup_op(qualname: str) -> OpOverload:
    """The overload with a name such as "aten::add.Tensor". Without an overload's name it is the default one.
    Source: `torch/_library/utils.py`, `lookup_op`."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(ops, namespace), name), overload or "default")


def parse_namespace(qualname: str) -> tuple[str, str]:
    """Split "namespace::name". Another form raises a `ValueError`. Source: `torch/_library/utils.py`,
    `parse_namespace`."""
    if qualname.count("::") != 1:
        problem = f'Expected `qualname` to be of the form "namespace::name", but got {qualname}.'
        rule = "The qualname passed to the torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        raise ValueError(f"{problem} {rule}")
    namespace, name = qualname.split("::")
    return namespace, name


def key_for_device(device_type: str) -> str:
    """The name of a device's backend key. Source: `torch/csrc/utils/python_dispatch.cpp`, `_dispatch_key_for_device`."""
    names = {name.lower(): name for name in BACKENDS} | {"privateuseone": "PrivateUse1"}
    return names.get(device_type) or device(device_type).type.upper()


def is_view_op(schema: FunctionSchema) -> bool:
    """Whether a result is a view of an argument: the schema gives it an alias that is not written."""
    return any(value.alias and not value.is_written for value in schema.returns)


def has_kwarg_only_tensors(schema: FunctionSchema) -> bool:
    """Whether a tensor can be passed by keyword only. Source: `torch/_library/utils.py`, `has_kwarg_only_tensors`."""
    return any(argument.kwarg_only and argument.base == "Tensor" for argument in schema.arguments)


def check_functional(op: object, schema: FunctionSchema, no_views: bool) -> None:
    """Raise a `RuntimeError` for an operator that writes to an argument, returns nothing, or returns a view: it cannot
    have a formula. Source: `torch/_library/utils.py`, `is_functional_schema`."""
    if schema.is_mutable or not schema.returns or not no_views:
        problem = f"Cannot register autograd formula for non-functional operator {op} with schema {schema}."
        raise RuntimeError(f"{problem} Please create a functional operator and register an autograd formula for that.")


def check_aliasing_constraint(name: str, inputs: Sequence, result: Any) -> None:
    """Refuse a result that shares memory with an argument or with another result. Source: `torch/_library/utils.py`."""
    storages = {id(tensor._storage) for tensor in tensors_in(inputs)}
    for tensor in tensors_in(result if isinstance(result, tuple) else (result,)):
        if id(tensor._storage) in storages:
            raise RuntimeError(
                f"{name} (with implementation in {sys.modules[__name__]}): The output of this custom operator (1) must not also be "
                "an input to this custom operator and (2) may not alias any inputs to this custom operator or other returns. The "
                "most common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. Please "
                "instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom "
                "operator to not return y."
            )
        storages.add(id(tensor._storage))


def check_autocast(device_type: str) -> None:
    """Raise a `ValueError` for a type of device without autocast."""
    if device(device_type).type not in ("cpu", "cuda"):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")


def autocast_kernel(operator: OpOverload, device_type: str, cast_inputs: dtype) -> Callable:
    """The kernel of an operator for the autocast key: it casts floating-point tensors to `cast_inputs`, and calls the
    operator without autocast."""
    key = BIT[f"Autocast{key_for_device(device_type)}"]

    def kernel(_: int, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise AssertionError(f"Custom ops do not support kwargs yet, got {list(kwargs)}")
        with excluding(key):
            return operator(*cached_cast(cast_inputs, args))

    return kernel


# Registrations by name -----------------------------------------------------------------------------------------------


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()


def _resolve(op: Any, registration: str) -> str | CustomOpDef:
    """The `CustomOpDef` of an operator, or else its name."""
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(f"{registration}({op}): got unexpected type for op: {type(op)}")
    name = op.full_name if isinstance(op, OpOverload) else op
    return OPDEFS.get(name, name) if isinstance(name, str) else name


def _library(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    return lib


def define(qualname: Any, schema: str, alias_analysis: str = "", *, lib: Library | None = None) -> Any:
    """Define an operator by its name and a schema without a name, `define("mylib::f", "(Tensor x) -> Tensor")`; or, with a library
    and a schema, return a decorator for its kernel. Source: `torch/library.py`, `define`."""
    if isinstance(qualname, Library):

        def wrap(fn: Callable) -> Callable:
            qualname.impl(qualname.define(schema, alias_analysis), fn)
            return fn

        return wrap
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = parse_namespace(qualname)
    if not re.fullmatch(r"\(.*\) -> .*", schema):
        example = '"(Tensor x) -> Tensor"'
        raise ValueError(
            f'define(qualname, schema, ...): expected schema to look like e.g. {example} but got "{schema}"'
        )
    return _library(namespace, lib).define(name + schema) and None


def impl(qualname: Any, types: str | Sequence[str], func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel of an operator for devices or keys ("default": all devices), or return a decorator that does; or, with a
    library, a name and perhaps a key, return a decorator. Source: `torch/library.py`, `impl`."""
    if isinstance(qualname, Library):
        name, key = types, func or ""

        def wrap(fn: Callable) -> Callable:
            qualname.impl(name, fn, key)  # type: ignore[arg-type]
            return fn

        return wrap
    namespace, _ = parse_namespace(qualname)
    types = (types,) if isinstance(types, str) else types
    known = {"default": "CompositeExplicitAutograd"} | {key: key for key in DispatchKey.__members__}
    keys = {known.get(each) or key_for_device(each) for each in types}

    def register(fn: Callable) -> None:
        library = _library(namespace, lib)
        for key in keys:
            library.impl(qualname, fn, key)

    return register if func is None else register(func)


def register_kernel(
    op: Any, device_types: DeviceTypes, func: Callable | None = None, /, *, lib: Library | None = None
) -> Any:
    """`CustomOpDef.register_kernel` for any operator, or for its name. Source: `torch/library.py`, `register_kernel`."""
    op = _resolve(op, "register_kernel")
    if isinstance(op, CustomOpDef):
        return op.register_kernel(device_types, func)
    return impl(op, "CompositeExplicitAutograd" if device_types is None else device_types, func, lib=lib)


def register_fake(op: Any, func: Callable | None = None, /, *, lib: Library | None = None) -> Any:
    """`CustomOpDef.register_fake` for any operator, or for its name. Source: `torch/library.py`, `register_fake`."""
    op = _resolve(op, "register_fake")

    def register(fn: Callable) -> Callable:
        if isinstance(op, CustomOpDef):
            return op.register_fake(fn)
        namespace, name = parse_namespace(op)
        _library(namespace, lib)._register_fake(name, fn)
        return fn

    return register if func is None else register(func)


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Library | None = None
) -> None:
    """`CustomOpDef.register_autograd` for any operator, or for its name. Source: `torch/library.py`, `register_autograd`."""
    op = _resolve(op, "register_autograd")
    if isinstance(op, CustomOpDef):
        return op.register_autograd(backward, setup_context=setup_context)
    operator = lookup_op(op)
    schema = operator.schema
    check_functional(operator, schema, not is_view_op(schema))
    if has_kwarg_only_tensors(schema):
        problem = "register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your tensors"
        raise NotImplementedError(f"{problem} not kwarg-only. Got: {schema}")
    info = SimpleNamespace(_backward_fn=backward, _setup_context_fn=setup_context)
    namespace, name = parse_namespace(op)
    _library(namespace, lib).impl(name, make_autograd_impl(operator, info), "Autograd", with_keyset=True)


def register_autocast(op: Any, device_type: str, cast_inputs: dtype, /, *, lib: Library | None = None) -> Any:
    """`CustomOpDef.register_autocast` for any operator, or for its name. Source: `torch/library.py`, `register_autocast`."""
    op = _resolve(op, "register_autocast")
    check_autocast(device_type)
    if isinstance(op, CustomOpDef):
        return op.register_autocast(device_type, cast_inputs)
    namespace, name = parse_namespace(op)
    kernel = autocast_kernel(lookup_op(op), device_type, cast_inputs)
    return _library(namespace, lib).impl(name, kernel, f"Autocast{key_for_device(device_type)}", with_keyset=True)
