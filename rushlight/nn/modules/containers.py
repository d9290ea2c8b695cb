"""Modules that hold and register modules or parameters in a list or a dict.

In PyTorch: `torch/nn/modules/container.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.nn.modules.module import Module, indented
from rushlight.nn.parameter import Parameter

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

# ------------------------------------------------------------------------------------------------------------
# Modules by number


class _Indexed(Module):
    """Its modules have the names "0", "1", ..."""

    def _name(self, i: int) -> str:
        i = index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._name(i), module)

    def __delitem__(self, i: int | slice) -> None:
        for name in list(self._modules)[i] if isinstance(i, slice) else [self._name(i)]:
            delattr(self, name)
        self._renumber(self._modules.values())

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> _Indexed:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> _Indexed:
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module:
        module = self[key]
        del self[key]
        return module


class Sequential(_Indexed):
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

    def __getitem__(self, i: int | slice) -> Module:
        if isinstance(i, slice):
            return type(self)(OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._name(i)]

    def insert(self, index: int, module: Module) -> Sequential:
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *_check_sequential(other))

    def __iadd__(self, other: Sequential) -> Sequential:
        return self.extend(_check_sequential(other))

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*list(self) * _check_factor(times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        return self.extend(list(self) * (_check_factor(times) - 1))


def _check_sequential(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return other


def _check_factor(times: Any) -> int:
    if not isinstance(times, int):
        raise TypeError(f"a Sequential can be multiplied by an int, not by {type(times)}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for a Sequential")
    return times


class ModuleList(_Indexed):
    """A list of modules. It has no `forward`."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i: int | slice) -> Module:
        if isinstance(i, slice):
            return type(self)(list(self)[i])
        return self._modules[self._name(i)]

    def insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Consecutive modules with equal text are shown once: `(0-2): 3 x Linear(...)`."""
        runs: list[list] = []  # first index, last index, text
        for i, shown in enumerate(map(repr, self)):
            if runs and runs[-1][2] == shown:
                runs[-1][1] = i
            else:
                runs.append([i, i, shown])
        lines = [
            f"({first}): {shown}" if first == last else f"({first}-{last}): {last - first + 1} x {shown}"
            for first, last, shown in runs
        ]
        return (
            "\n".join([f"{self._get_name()}(", *(indented(line) for line in lines), ")"]) if lines else "ModuleList()"
        )


# ------------------------------------------------------------------------------------------------------------
# Modules by name


class ModuleDict(Module):
    """A dict of modules. It has no `forward`."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Module:
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        for key, module in _pairs(self, modules):
            self[key] = module


def _pairs(self: Module, given: Any) -> list[tuple[str, Any]]:
    """The pairs of a mapping, or of an iterable of pairs."""
    name = type(self).__name__
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    pairs = []
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{i} should be Iterable; is {type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{i} has length {len(pair)}; 2 is required")
        pairs.append(tuple(pair))
    return pairs


# ------------------------------------------------------------------------------------------------------------
# Parameters


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _shown(key: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {name} containing: [{kind} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list of parameters. Tensors become parameters; other values stay unchanged."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name(self, i: int) -> str:
        i = index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return str(i % len(self))

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return type(self)(list(self)[i])
        return getattr(self, self._name(i))

    def __setitem__(self, i: int, param: Any) -> None:
        setattr(self, self._name(i), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def __call__(self, *args, **kwargs) -> None:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_shown(i, value, getattr(value, "dtype", None)) for i, value in enumerate(self))


class ParameterDict(Module):
    """A dict of parameters. Tensors become parameters; other values stay unchanged."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _check_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, _check_key(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key) if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        return ((key, self[key]) for key in self)

    def values(self) -> Iterable[Any]:
        return (self[key] for key in self)

    def update(self, parameters: Any) -> None:
        """A mapping that is neither a ParameterDict nor an OrderedDict is sorted by its keys, as in PyTorch."""
        pairs = _pairs(self, parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort()
        for key, value in pairs:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def __call__(self, input: Any) -> None:
        raise RuntimeError("ParameterDict should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_shown(key, value, f"rushlight.{type(value).__name__}") for key, value in self.items())


def _check_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a ParameterDict must be a string, not {type(key).__name__}")
    return key
