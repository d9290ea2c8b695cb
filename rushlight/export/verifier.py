"""The check of a loaded program before it runs: its operators must be known, and each name that it uses must have a value.

In PyTorch: `torch/_export/verifier.py`. Left out: the types of arguments and the metadata of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rushlight.export.expressions import ARITHMETIC, COMPARISONS

IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")
VALUE_KINDS = ("as_tensor", "as_sym_int", "as_tensors", "as_sym_ints", "as_optional_tensors")
KINDS = (
    *VALUE_KINDS, "as_none", "as_bool", "as_int", "as_float", "as_string", "as_bools", "as_ints", "as_floats", "as_strings",
    "as_scalar_type", "as_device", "as_memory_format", "as_layout",
)  # fmt: skip


class SpecViolationError(Exception):
    """A graph that is no exported program. Source: `torch/_export/verifier.py`, `SpecViolationError`."""


def names_in(argument: Mapping[str, Any]) -> list[str]:
    """The names of nodes in an argument."""
    ((kind, value),) = argument.items()
    if kind not in VALUE_KINDS:
        return []
    items = value if isinstance(value, list) else [value]
    items = [item.get("as_tensor", item) for item in items]
    return [
        item["name"] if "name" in item else item["as_name"] for item in items if "name" in item or "as_name" in item
    ]


def verify_graph(graph: Mapping[str, Any], is_known: Callable[[str], Any]) -> None:
    """Raise an error if a graph from a file must not run.

    `graph` is a dict with the lists `"inputs"`, `"nodes"` and `"outputs"`, as for `run_graph`. It is right if all of these hold:

    - Each argument of a node, and each input and output, all of which are dicts, has one entry, whose key is in `KINDS`.
    - The operator of each node, `node["target"]`, is known: `is_known(target)` returns the operator or True, and not None or False.
    - A name is given once: to an input, or to a result (`node["outputs"]`). `names_in(argument)` is a list of the names in an
      argument. A name is an identifier (`IDENTIFIER.fullmatch(name)`).
    - A name that an argument of a node uses was given before, by an input or by a result of an earlier node. The outputs of the
      graph may use all names.
    - The `"kind"` of a node's argument is 1 or 2, and no argument of kind 1 comes after one of kind 2.

    Nothing of the graph runs.

    Raises:
        SpecViolationError: with a message of one line that says what is wrong.

    >>> name = {"as_tensor": {"name": "y"}}
    >>> try: verify_graph({"inputs": [], "nodes": [], "outputs": [name]}, {}.get)
    ... except SpecViolationError as error: print(error)
    'y' has no value

    Source: `torch/_export/verifier.py`, `Verifier.check`; `torch/fx/graph.py`, `Graph.lint`.
    """

    def kind_of(argument: Mapping[str, Any]):
        if len(argument) != 1 or next(iter(argument)) not in KINDS:
            raise SpecViolationError(f"there is no argument like {argument!r}")

    given = set()

    def give(argument: Mapping[str, Any]):
        kind_of(argument)
        for name in names_in(argument):
            if not IDENTIFIER.fullmatch(name):
                raise SpecViolationError(f"{name!r} is no name")
            if name in given:
                raise SpecViolationError(f"{name!r} has two values")
            given.add(name)

    def use(argument: Mapping[str, Any]):
        kind_of(argument)
        for name in names_in(argument):
            if name not in given:
                raise SpecViolationError(f"{name!r} has no value")

    for argument in graph["inputs"]:
        give(argument)
    for node in graph["nodes"]:
        if not is_known(node["target"]):
            raise SpecViolationError(f"the operator {node['target']!r} is not known")
        kinds = [argument["kind"] for argument in node["inputs"]]
        if not {*kinds} <= {1, 2} or kinds != sorted(kinds):
            raise SpecViolationError(f"the arguments of {node['target']!r} are not in order")
        for argument in node["inputs"]:
            use(argument["arg"])
        for argument in node["outputs"]:
            give(argument)
    for argument in graph["outputs"]:
        use(argument)


INPUT_KINDS = ("USER_INPUT", "PARAMETER", "BUFFER", "CONSTANT_TENSOR")
MUTATIONS = {"BUFFER_MUTATION": "BUFFER", "PARAMETER_MUTATION": "PARAMETER"}


def require(holds: Any, problem: str) -> None:
    """Raise a `SpecViolationError` if a condition on the graph does not hold."""
    if not holds:
        raise SpecViolationError(problem)


def verify_program(data: Any, is_known: Callable[[str], Any], tensors: Mapping[str, Any]) -> None:
    """Raise SpecViolationError if the data of a file are not those of a program."""
    require(isinstance(data, dict) and data.get("schema_version") == 1, "the version of its schema is not known")
    graph, inputs, outputs = data["graph"], data["input_specs"], data["output_specs"]
    verify_graph(graph, is_known)
    require(len(graph["inputs"]) == len(inputs), "the signature has another number of inputs than the graph")
    require(len(graph["outputs"]) == len(outputs), "the signature has another number of outputs than the graph")
    for node in graph["nodes"]:
        require(IDENTIFIER.fullmatch(node["name"]), f"{node['name']!r} is no name")
    symbols, ranges = set(), data["range_constraints"]
    for spec, argument in zip(inputs, graph["inputs"]):
        name, target, sizes = spec["arg"]["name"], spec["target"], spec["sizes"]
        require(spec["kind"] in INPUT_KINDS, f"there is no input of the kind {spec['kind']!r}")
        require(IDENTIFIER.fullmatch(name), f"{name!r} is no name")
        require(names_in(argument) == ([] if "value" in spec["arg"] else [name]), f"{name!r} is not in the graph")
        if spec["kind"] == "USER_INPUT":
            require(target is None, f"the user input {name!r} has a target")
            symbols |= {size for size in sizes or () if isinstance(size, str)}
        else:
            require(target in tensors, f"the tensor {target!r} is missing")
            require(list(tensors[target].shape) == sizes, f"the tensor {target!r} has another shape")
    require(symbols <= {*ranges}, "a dynamic dimension has no range")
    for bounds in ranges.values():
        ends = [bounds["min_val"], *([] if bounds["max_val"] is None else [bounds["max_val"]])]
        require(all(type(end) is int for end in ends), "the ends of a range are not ints")
    for left, comparison, right in data["guards"]:
        sides = is_expression(left, ranges) and is_expression(right, ranges)
        require(sides and comparison in COMPARISONS, "a guard is no guard")
    known = {spec["target"]: spec["kind"] for spec in inputs if spec["target"] is not None}
    users = {spec["arg"]["name"] for spec in inputs if spec["kind"] == "USER_INPUT" and "value" not in spec["arg"]}
    for spec in outputs:
        kind, target = spec["kind"], spec["target"]
        if kind in MUTATIONS:
            require(
                known.get(target) == MUTATIONS[kind], f"there is no {MUTATIONS[kind].lower()} {target!r} to write to"
            )
        elif kind == "USER_INPUT_MUTATION":
            require(target in users, f"there is no user input {target!r} to write to")
        else:
            require(kind == "USER_OUTPUT" and target is None, f"there is no output of the kind {kind!r}")
    users = sum(spec["kind"] == "USER_INPUT" for spec in inputs)
    results = sum(spec["kind"] == "USER_OUTPUT" for spec in outputs)
    require(leaves(data["in_spec"]) == users, "the inputs do not fit the structure of the arguments")
    require(leaves(data["out_spec"]) == results, "the outputs do not fit the structure of the results")


def is_expression(data: Any, symbols: Mapping[str, Any], depth: int = 20) -> bool:
    """Whether data are an expression of sizes: a number, a symbol, or an operator with two expressions."""
    if isinstance(data, list) and len(data) == 3 and depth:
        return data[0] in ARITHMETIC and all(is_expression(operand, symbols, depth - 1) for operand in data[1:])
    return type(data) is int or (isinstance(data, str) and data in symbols)


def leaves(structure: Any) -> int:
    """The number of leaves of a structure."""
    if structure is None:
        return 1
    kind, keys, children = structure["type"], structure["keys"], structure["children"]
    require(kind in ("tuple", "list", "dict"), f"there is no container {kind!r}")
    require(
        (keys is None) == (kind != "dict") and (keys is None or len(keys) == len(children)), "a dict needs its keys"
    )
    return sum(map(leaves, children))
