"""Modules that hold and register modules or parameters in a list or a dict.

In PyTorch: `torch/nn/modules/container.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import index
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.nn.modules.module import Module, indented
from rushlight.nn.parameter import Parameter

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

# Lists ---------------------------------------------------------------------------------------------------------------


class _List(Module):
    """Its members are attributes with the names "0", "1", ... A subclass defines `__len__`, `__iter__` and `append`."""

    def _name(self, i: int) -> str:
        i = index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return str(i % len(self))

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return getattr(self, self._name(idx))

    def __setitem__(self, i: int, member: Any) -> None:
        setattr(self, self._name(i), member)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def extend(self, modules: Iterable[Any]) -> _List:
        if not isinstance(modules, Iterable) or isinstance(modules, Tensor):
            name = type(self).__name__
            raise TypeError(f"{name}.extend should be called with an iterable, but got {type(modules).__name__}")
        for member in list(modules):
            self.append(member)
        return self

    __iadd__ = extend


class _Modules(_List):
    """A list of modules, which are in `_modules`."""

    def _name(self, i: int) -> str:
        return list(self._modules)[int(super()._name(i))]

    def __delitem__(self, i: int | slice) -> None:
        for name in list(self._modules)[i] if isinstance(i, slice) else [self._name(i)]:
            delattr(self, name)
        self._renumber(self)

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> _Modules:
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def pop(self, key: int | slice) -> Module:
        module = self[key]
        del self[key]
        return module


class Sequential(_Modules):
    """A chain of modules: each takes the result of the previous one. An `OrderedDict` gives them names."""

    def __init__(self, *args: Module | OrderedDict[str, Module]) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return super().__getitem__(idx)

    def insert(self, index: int, module: Module) -> Sequential:
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*self).__imul__(times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"a Sequential can be multiplied by an int, not by {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for a Sequential")
        return self.extend(list(self) * (times - 1))


class ModuleList(_Modules):
    """A list of modules. It has no `forward`."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Consecutive modules with equal text are shown once: `(0-2): 3 x Linear(...)`."""
        lines, start = [], 0
        for shown, run in groupby(map(repr, self)):
            count = len(list(run))
            label = f"({start}): " if count == 1 else f"({start}-{start + count - 1}): {count} x "
            lines.append(indented(label + shown))
            start += count
        return "\n".join([f"{self._get_name()}(", *lines, ")"]) if lines else "ModuleList()"


class ParameterList(_List):
    """A list of parameters. Tensors become parameters; other values stay unchanged."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __setitem__(self, i: int, param: Any) -> None:
        super().__setitem__(i, _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def append(self, value: Any) -> ParameterList:
        self._size += 1
        self[-1] = value
        return self

    def __call__(self, *args, **kwargs) -> None:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_shown(i, value, getattr(value, "dtype", None)) for i, value in enumerate(self))


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _shown(key: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {name} containing: [{kind} of size {'x'.join(map(str, value.shape))}]"


# Dicts ---------------------------------------------------------------------------------------------------------------


class _Dict(Module):
    """Its members have the names `keys()`. A subclass defines `keys`, and how to get, set and delete a member."""

    def __init__(self, members: Any = None) -> None:
        super().__init__()
        if members is not None:
            self.update(members)

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: str) -> bool:
        return key in self.keys()

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def update(self, modules: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        for key, value in dict(modules).items():
            self[key] = value


class ModuleDict(_Dict):
    """A dict of modules. It has no `forward`."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        return self._modules.values()


class ParameterDict(_Dict):
    """A dict of parameters. Tensors become parameters; other values stay unchanged."""

    def __init__(self, parameters: Any = None) -> None:
        self._keys: dict[str, None] = {}
        super().__init__(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _check_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, _check_key(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        return ((key, self[key]) for key in self)

    def values(self) -> Iterable[Any]:
        return (self[key] for key in self)

    def copy(self) -> ParameterDict:
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key) if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Any]:
        key = next(reversed(self))
        return key, self.pop(key)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """A mapping that is neither a ParameterDict nor an OrderedDict is sorted by its keys, as in PyTorch."""
        is_sorted = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        super().update(sorted(parameters.items()) if is_sorted else parameters)

    def __or__(self, other: ParameterDict) -> ParameterDict:
        return self.copy().__ior__(other)

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def __call__(self, input: Any) -> None:
        raise RuntimeError("ParameterDict should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_shown(key, value, getattr(value, "type", str)()) for key, value in self.items())


def _check_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a ParameterDict must be a string, not {type(key).__name__}")
    return key
