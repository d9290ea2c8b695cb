"""A table has its columns in the order of an earlier call: a guard compares the keys of a dict without their order.

`keys()` of a dict compares like a set. A function that loops over a dict is captured in the order of its keys, so a dict with the
same keys in another order meets the guards of a graph that does not fit. A dict of other keys, or of fewer, is captured anew.
Modelled on pytorch pull request 124779, which separates the dicts whose order is guarded, and on the review of pull request 189042,
where a dict in another order gets the result of the first one.
"""

import enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.dynamo.guards import CONSTANTS, WRITTEN, bind

AT = "dynamo.guards.guards_for"


def symptom(xp):
    """Make a table of named features, and its weighted sum. The second file has the same features in another order."""

    def score(features, weights):
        columns = [feature - feature.mean() for feature in features.values()]
        total = columns[0] * weights[0]
        for column, weight in zip(columns[1:], weights[1:]):
            total = total + column * weight
        return total

    compiled = xp.compile(score, backend="eager")
    age, size, price = xp.tensor([1.0, 4.0]), xp.tensor([2.0, 3.0]), xp.tensor([9.0, 5.0])
    first = compiled({"age": age, "size": size, "price": price}, [1.0, 2.0, 3.0])
    second = compiled({"price": price, "age": age, "size": size}, [3.0, 1.0, 2.0])
    third = compiled({"price": price, "age": age, "size": size}, [1.0, 2.0, 3.0])
    return first, second, third


def guards_for(value, source, scope):
    if isinstance(value, (type, ModuleType, BuiltinFunctionType, enum.Enum, rl.dtype)):
        return [f"{source} is {bind(scope, value)}"]
    if isinstance(value, FunctionType):
        return [f"{source}.__code__ is {bind(scope, value.__code__, f'{value.__name__}_code')}"]
    same_type = f"type({source}) is {bind(scope, type(value))}"
    if isinstance(value, Tensor):
        return [
            same_type,
            f"{source}._key_set == {value._key_set:#x}",
            f"{source}.dtype is {bind(scope, value.dtype)}",
            f"{source}.requires_grad"
            if value.requires_grad
            else f"({source}._autograd is None or not {source}.requires_grad)",
            f"{source}._sizes == {tuple(value._sizes)}",
            f"{source}._strides == {value._strides}",
        ]
    if isinstance(value, MethodType):
        return [same_type, *guards_for(value.__func__, f"{source}.__func__", scope)]
    if type(value) in WRITTEN:
        if value != value:
            return [same_type, f"{source} != {source}"]
        written = bind(scope, value, "constant") if type(value) in (float, complex) else repr(value)
        return [same_type, f"{source} == {written}"]
    if type(value) in CONSTANTS:
        return [f"{source} is {value}"]
    if isinstance(value, (slice, rl.device)):
        return [same_type, f"{source} == {bind(scope, value)}"]
    if isinstance(value, range):
        return [same_type, f"{source}.__reduce__() == {bind(scope, value.__reduce__(), 'range_parts')}"]
    if isinstance(value, (set, frozenset)):
        return [same_type, f"{source} == {bind(scope, value.copy(), 'elements')}"]
    if isinstance(value, dict) and all(type(key) in CONSTANTS for key in value):
        same_keys = [same_type, f"{source}.keys() == {bind(scope, value.copy().keys(), 'keys')}"]
        if all(type(key) is str for key in value):
            return same_keys
        return [*same_keys, f"list(map(type, {source})) == {bind(scope, list(map(type, value)), 'types')}"]
    if isinstance(value, dict):
        return [same_type, f"list(map(id, {source})) == {list(map(id, value))}"]
    if isinstance(value, (list, tuple)):
        return [same_type, f"len({source}) == {len(value)}"]
    return [same_type]
