"""`save` and `load`: an exported program as a file that has data only.

A file is a zip archive. `models/model.json` has the graph, its signature, and the sizes that it is valid for, in the form that
torch uses: an argument is a dict with one key, which says its kind, `{"as_int": 3}` or `{"as_tensor": {"name": "x"}}`.
`data/weights.safetensors` has the tensors: the length of a header, the header in JSON, and the bytes. There is no pickle, no
source, and nothing is evaluated. An operator is a name, which is looked up among those that are registered. `load` checks all of
it before it makes the program (`verifier`).

In PyTorch: `torch/_export/serde/serialize.py`, `schema.py`, `torch/export/pt2_archive/`. There each tensor has a file of its own,
and the metadata of nodes are saved too. Left out: named tuples, custom objects.
"""

from __future__ import annotations

import json
import math
import operator
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10 import dtypes
from rushlight.c10.dispatch import operators
from rushlight.c10.memory_formats import channels_last, contiguous_format, memory_format, preserve_format
from rushlight.c10.schema import bind
from rushlight.c10.storage import device, layout, strided_layout
from rushlight.export.dynamic_shapes import Guard, ValueRange
from rushlight.export.exported_program import ExportedProgram
from rushlight.export.expressions import Relation
from rushlight.export.graph_signature import (
    Argument,
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
    named_placeholder,
)
from rushlight.export.symbolic_shapes import sym_size
from rushlight.export.verifier import SpecViolationError, verify_program
from rushlight.fx import Graph, Node
from rushlight.library import OpOverload
from rushlight.utils._pytree import LEAF

SCHEMA_VERSION = 1


class SerializeError(RuntimeError):
    """A value that a file cannot have, or a bad file. Source: `torch/_export/serde/serialize.py`, `SerializeError`."""


# Arguments -----------------------------------------------------------------------------------------------------------

SCALAR_TYPES = {
    "uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "bool": 12,
    "bfloat16": 13,
}  # fmt: skip
MEMORY_FORMATS = {contiguous_format: 1, channels_last: 2, preserve_format: 4}
STRIDED = 7
EMPTY_LISTS = {"Tensor": "as_tensors", "int": "as_ints", "SymInt": "as_ints", "float": "as_floats", "bool": "as_bools"}
CONSTANTS = {bool: "as_bool", str: "as_string", int: "as_int"}


def is_sym_int(arg: Any) -> bool:
    """Whether an argument is a node that has a size."""
    return isinstance(arg, Node) and isinstance(arg.meta["val"], int)


def encode_float(number: float) -> float | str:
    """A float as JSON has it: JSON has no numbers for infinity and nan."""
    if math.isfinite(number):
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def serialize_argument(arg: Any, base: str = "Tensor") -> dict[str, Any]:
    """An argument of a node as a dict that JSON can express. It has one entry, whose key says the kind.

    | argument | entry |
    |---|---|
    | None | `"as_none": True` |
    | a bool, an int, a str | `"as_bool"`, `"as_int"`, `"as_string"`: the value |
    | a float | `"as_float": encode_float(value)` |
    | a node (`Node`) with a tensor | `"as_tensor": {"name": "x"}`, the name of the node |
    | a node with a size (`is_sym_int`) | `"as_sym_int": {"as_name": "s"}` |
    | a list or tuple of bools, of ints, of floats, of strs | `"as_bools"`, `"as_ints"`, `"as_floats"`, `"as_strings"`: a list |
    | ... of nodes with tensors | `"as_tensors": [{"name": "x"}, ...]` |
    | ... of nodes with sizes, or of these and ints | `"as_sym_ints": [{"as_name": "s"}, {"as_int": 3}, ...]` |
    | ... of None, or of None and nodes with tensors | `"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "x"}}]` |
    | an empty list or tuple | a list of the kind `EMPTY_LISTS[base]`. `base` is the type of an item in the operator's schema |

    For a value of any other class, such as a dtype, return `serialize_object(arg)`. A bool is no int. `CONSTANTS` is a dict of
    the classes bool, str and int, and their keys. A list with a node with a size has no None, and no node with a tensor.

    Raises:
        SerializeError: for a list with other items than these, such as an int and a float, an int and a bool, or two lists.

    >>> serialize_argument([1, 2]), serialize_argument(float("inf"))
    ({'as_ints': [1, 2]}, {'as_float': 'Infinity'})

    Source: `torch/_export/serde/serialize.py`, `GraphModuleSerializer.serialize_input`.
    """
    if isinstance(arg, (list, tuple)):
        if not arg:
            return {EMPTY_LISTS[base]: []}
        for kind, name in CONSTANTS.items():
            if all(type(item) is kind for item in arg):
                return {f"{name}s": list(arg)}
        if all(type(item) is float for item in arg):
            return {"as_floats": [encode_float(item) for item in arg]}
        if all(type(item) is int or is_sym_int(item) for item in arg):
            return {"as_sym_ints": [{"as_int": item} if type(item) is int else {"as_name": item.name} for item in arg]}
        if all(isinstance(item, Node) for item in arg):
            return {"as_tensors": [{"name": item.name} for item in arg]}
        if all(item is None or isinstance(item, Node) for item in arg):
            return {"as_optional_tensors": [serialize_argument(item) for item in arg]}
        raise SerializeError(f"Unsupported list/tuple argument type: {[type(item) for item in arg]}")
    if arg is None:
        return {"as_none": True}
    if is_sym_int(arg):
        return {"as_sym_int": {"as_name": arg.name}}
    if isinstance(arg, Node):
        return {"as_tensor": {"name": arg.name}}
    if type(arg) in CONSTANTS:
        return {CONSTANTS[type(arg)]: arg}
    if type(arg) is float:
        return {"as_float": encode_float(arg)}
    return serialize_object(arg)


def serialize_object(arg: Any) -> dict[str, Any]:
    """An argument that is no number, list or node."""
    if isinstance(arg, dtypes.dtype):
        return {"as_scalar_type": SCALAR_TYPES[arg.name.rpartition(".")[2]]}
    if isinstance(arg, device):
        return {"as_device": {"type": arg.type, "index": arg.index}}
    if isinstance(arg, memory_format) and arg in MEMORY_FORMATS:
        return {"as_memory_format": MEMORY_FORMATS[arg]}
    if isinstance(arg, layout):
        return {"as_layout": STRIDED}
    raise SerializeError(f"Unsupported argument type: {type(arg)}")


def deserialize_argument(data: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """The value of an argument in a file: the inverse of `serialize_argument`.

    `data` is a dict with one entry, as `serialize_argument` returns it. `values` is a dict that has the value of each node by its
    name: a tensor, a number, or anything else. A list of any kind becomes a list. A float may be one of the texts that
    `encode_float` returns. A kind that `serialize_argument` does not have is handled by `deserialize_object(data)`.

    >>> deserialize_argument({"as_sym_ints": [{"as_name": "n"}, {"as_int": 3}]}, {"n": 8})
    [8, 3]

    Source: `torch/_export/serde/serialize.py`, `GraphModuleDeserializer.deserialize_input`.
    """
    ((kind, value),) = data.items()
    match kind:
        case "as_none":
            return None
        case "as_bool" | "as_int" | "as_string":
            return value
        case "as_float":
            return float(value)
        case "as_tensor":
            return values[value["name"]]
        case "as_sym_int":
            return values[value["as_name"]]
        case "as_bools" | "as_ints" | "as_strings":
            return list(value)
        case "as_floats":
            return [float(item) for item in value]
        case "as_tensors":
            return [values[item["name"]] for item in value]
        case "as_sym_ints":
            return [item["as_int"] if "as_int" in item else values[item["as_name"]] for item in value]
        case "as_optional_tensors":
            return [deserialize_argument(item, values) for item in value]
    return deserialize_object(data)


DTYPES = {SCALAR_TYPES[dtype.name]: dtype for dtype in dtypes.ALL}
FORMATS = {number: memory_format for memory_format, number in MEMORY_FORMATS.items()}


def deserialize_object(data: Mapping[str, Any]) -> Any:
    """The inverse of `serialize_object`."""
    ((kind, value),) = data.items()
    if kind == "as_scalar_type" and value in DTYPES:
        return DTYPES[value]
    if kind == "as_device" and value.get("type") in ("cpu", "meta"):
        return device(value["type"])
    if kind == "as_memory_format" and value in FORMATS:
        return FORMATS[value]
    if kind == "as_layout" and value == STRIDED:
        return strided_layout
    raise SerializeError(f"unknown argument {dict(data)}")


# Graphs --------------------------------------------------------------------------------------------------------------

SIZE_OPERATORS = {
    "torch.ops.aten.sym_size.int": sym_size, "_operator.mul": operator.mul, "_operator.add": operator.add,
    "_operator.sub": operator.sub, "_operator.floordiv": operator.floordiv, "_operator.mod": operator.mod,
}  # fmt: skip
SIZE_ARGUMENTS = {"torch.ops.aten.sym_size.int": ("self", "dim")}
NAMES = {function: name for name, function in SIZE_OPERATORS.items()}


def operator_of(target: str) -> Callable | None:
    """The operator that a file names, `torch.ops.<namespace>.<name>.<overload>`, or None. It is looked up among the operators
    that are registered, in any namespace, and must not write to an argument. Nothing is imported. Arithmetic on sizes has names
    too."""
    if target in SIZE_OPERATORS:
        return SIZE_OPERATORS[target]
    if not target.startswith("torch.ops.") or target.count(".") != 4:
        return None
    namespace, name, overload = target.split(".")[2:]
    operator = operators.get(f"{namespace}::{name}" if overload == "default" else f"{namespace}::{name}.{overload}")
    return operator if isinstance(operator, OpOverload) and not operator.schema.is_mutable else None


def known_operator(target: str) -> Callable:
    """As `operator_of`, but an unknown operator that is not PyTorch's own is refused with a way out."""
    operator = operator_of(target)
    if operator is None and target.startswith("torch.ops.") and not target.startswith("torch.ops.aten."):
        raise SerializeError(f"the operator {target!r} is not registered: first import the module that registers it")
    return operator


def argument_names(target: Any) -> list[tuple[str, str]]:
    """The names of an operator's arguments, and the types of their items."""
    if isinstance(target, OpOverload):
        return [(argument.name, argument.base) for argument in target.schema.arguments]
    return [(name, "int") for name in SIZE_ARGUMENTS.get(NAMES[target], ("a", "b"))]


def serialize_graph(graph: Graph) -> dict[str, Any]:
    """A graph as data. The parts of a node with several results are outputs of this node, and no nodes."""
    parts: dict[tuple[Node, int], str] = {}
    for node in graph.nodes:
        if node.target is operator.getitem and isinstance(node.args[0], Node):
            parts.setdefault(node.args, node.name)
    inputs, nodes, outputs = [], [], []
    for node in graph.nodes:
        if node.op == "placeholder":
            inputs.append({"as_tensor": {"name": node.name}} if node.meta["sizes"] is not None else {"as_none": True})
        elif node.op == "output":
            outputs = [serialize_argument(result) for result in node.args[0]]
        elif node.target is not operator.getitem or not isinstance(node.args[0], Node):
            nodes.append(serialize_node(node, parts))
    return {"inputs": inputs, "outputs": outputs, "nodes": nodes}


def serialize_node(node: Node, parts: Mapping[tuple[Node, int], str]) -> dict[str, Any]:
    """A node as a dict: its operator, its arguments by name, and the names of its outputs. A target that is no operator
    raises a `SerializeError`."""
    target = node.target
    if not isinstance(target, OpOverload) and target not in NAMES:
        raise SerializeError(f"Unsupported target type: {target}")
    names = argument_names(target)
    given = [(name, base, arg, 1) for (name, base), arg in zip(names, node.args)]
    given += [(name, dict(names)[name], arg, 2) for name, arg in node.kwargs.items()]
    inputs = [{"name": name, "arg": serialize_argument(arg, base), "kind": kind} for name, base, arg, kind in given]
    value = node.meta["val"]
    if isinstance(value, (list, tuple)):
        made = [{"name": parts.get((node, i), f"{node.name}_unused_{i}")} for i in range(len(value))]
        is_list = len(target.schema.returns) == 1
        outputs = [{"as_tensors": made}] if is_list else [{"as_tensor": name} for name in made]
    else:
        outputs = [serialize_argument(node)]
    name = f"torch.ops.{target.full_name.replace('::', '.')}" if isinstance(target, OpOverload) else NAMES[target]
    if isinstance(target, OpOverload) and not target.schema.overload_name:
        name += ".default"
    return {"name": node.name, "target": name, "inputs": inputs, "outputs": outputs}


def run_graph(graph: Mapping[str, Any], inputs: Sequence[Any], call: Callable[..., Any]) -> list[Any]:
    """Run a graph that was read from a file. Its values may be tensors, or nodes of a new graph: `call` decides.

    `graph` is a dict with three lists:

    - `"inputs"` has an argument for each of `inputs`. Only `{"as_tensor": {"name": name}}` gives the value a name. All other
      inputs are not used by the graph.
    - `"nodes"` has a dict for each node, in order. Its arguments are in `"inputs"`, a list of
      `{"name": name, "arg": argument, "kind": kind}`. The kind is 1 for a positional argument, and 2 for one that is passed by its
      name. `"outputs"` gives names to the results, and has one entry or more: one `as_tensor` or `as_sym_int` is the result
      itself. Several `as_tensor` are the items of a result with as many items. One `as_tensors` has the names for the items of
      the result, also if there is only one.
    - `"outputs"` has an argument for each value that the graph returns.

    `call(node, args, kwargs)` runs a node: `node` is its dict, `args` a list, and `kwargs` a dict.
    `deserialize_argument(argument, values)` is the value of an argument.

    Returns:
        a list of values.

    >>> x, y = {"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "y"}}
    >>> node = {"target": "double", "inputs": [{"name": "self", "arg": x, "kind": 1}], "outputs": [y]}
    >>> run_graph({"inputs": [x], "nodes": [node], "outputs": [y, x]}, [4], lambda node, args, kwargs: args[0] * 2)
    [8, 4]

    Source: `torch/_export/serde/serialize.py`, `GraphModuleDeserializer.deserialize_graph`.
    """
    values = {}
    for argument, value in zip(graph["inputs"], inputs):
        if "as_tensor" in argument:
            values[argument["as_tensor"]["name"]] = value
    for node in graph["nodes"]:
        args, kwargs = [], {}
        for given in node["inputs"]:
            value = deserialize_argument(given["arg"], values)
            if given["kind"] == 1:
                args.append(value)
            else:
                kwargs[given["name"]] = value
        result, outputs = call(node, args, kwargs), node["outputs"]
        if "as_sym_int" in outputs[0]:
            values[outputs[0]["as_sym_int"]["as_name"]] = result
        elif "as_tensor" in outputs[0] and len(outputs) == 1:
            values[outputs[0]["as_tensor"]["name"]] = result
        else:
            named = (
                outputs[0]["as_tensors"] if "as_tensors" in outputs[0] else [output["as_tensor"] for output in outputs]
            )
            values |= {output["name"]: result[i] for i, output in enumerate(named)}
    return [deserialize_argument(argument, values) for argument in graph["outputs"]]


def deserialize_graph(data: Mapping[str, Any], names: Sequence[str]) -> Graph:
    """The graph of a file: the interpreter runs on nodes, and each call makes a node."""
    graph = Graph()

    def call(node: Mapping[str, Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        made = graph.create_node("call_function", operator_of(node["target"]), tuple(args), kwargs, node["name"])
        named = [entry for output in node["outputs"] for entry in output.get("as_tensors", [output.get("as_tensor")])]
        if "as_tensors" not in node["outputs"][0] and len(node["outputs"]) == 1:
            made.meta["val"] = 0 if "as_sym_int" in node["outputs"][0] else None
            return made
        parts = []
        for i, entry in enumerate(named):
            parts.append(graph.create_node("call_function", operator.getitem, (made, i), {}, entry["name"]))
            parts[-1].meta["val"] = None
        made.meta["val"] = named
        return parts

    placeholders = [named_placeholder(graph, name) for name in names]
    for node in placeholders:
        node.meta["val"] = None
    graph.output(tuple(run_graph(data, placeholders, call)))
    return graph


# Programs ------------------------------------------------------------------------------------------------------------


def serialize(program: ExportedProgram) -> dict[str, Any]:
    """A program as data, without its tensors."""
    signature = program.graph_signature
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    return {
        "schema_version": SCHEMA_VERSION,
        "graph": serialize_graph(program.graph),
        "input_specs": [
            serialize_spec(spec) | {"persistent": spec.persistent, "sizes": nodes[spec.arg.name].meta["sizes"]}
            for spec in signature.input_specs
        ],
        "output_specs": [*map(serialize_spec, signature.output_specs)],
        "range_constraints": {
            name: {"min_val": bounds.lower, "max_val": bounds.upper}
            for name, bounds in program.range_constraints.items()
        },
        "guards": [list(guard) for guard in program.guards],
        "in_spec": serialize_structure(program.in_spec),
        "out_spec": serialize_structure(program.out_spec),
    }


def serialize_spec(spec: InputSpec | OutputSpec) -> dict[str, Any]:
    """An input or an output of the signature as a dict."""
    arg: dict[str, Any] = {"name": spec.arg.name}
    if isinstance(spec.arg, ConstantArgument):
        arg["value"] = serialize_argument(spec.arg.value)
    else:
        arg["is_size"] = isinstance(spec.arg, SymIntArgument)
    return {"kind": spec.kind.name, "arg": arg, "target": spec.target}


def serialize_structure(spec: Any) -> Any:
    """The structure of nested containers: None for a leaf."""
    if not isinstance(spec, tuple):
        return None
    kind, names, parts = spec
    if kind not in (tuple, list, dict) or not all(type(name) in (str, int) for name in names or ()):
        raise SerializeError(
            f"a file has tuples, lists, and dicts with names or ints, and no {kind.__name__} like this one"
        )
    return {"type": kind.__name__, "keys": names, "children": [serialize_structure(part) for part in parts]}


def deserialize(data: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> ExportedProgram:
    """The program that a file has. `data` has been verified."""
    inputs = [
        InputSpec(InputKind[spec["kind"]], deserialize_spec(spec["arg"]), spec["target"], spec["persistent"])
        for spec in data["input_specs"]
    ]
    outputs = [
        OutputSpec(OutputKind[spec["kind"]], deserialize_spec(spec["arg"]), spec["target"])
        for spec in data["output_specs"]
    ]
    graph = deserialize_graph(data["graph"], [spec.arg.name for spec in inputs])
    for node, spec in zip(graph.nodes, data["input_specs"]):
        node.meta["sizes"] = spec["sizes"]
    state, rest = {}, {}
    for spec in inputs:
        if spec.target is not None:
            held = state if spec.kind is InputKind.PARAMETER or spec.persistent else rest
            held[spec.target] = tensors[spec.target]
    ranges = {name: ValueRange(ends["min_val"], ends["max_val"]) for name, ends in data["range_constraints"].items()}
    guards = [deserialize_guard(*guard) for guard in data["guards"]]
    structures = deserialize_structure(data["in_spec"]), deserialize_structure(data["out_spec"])
    return ExportedProgram(graph, ExportGraphSignature(inputs, outputs), state, rest, ranges, guards, *structures)


def deserialize_guard(left: Any, comparison: str, right: Any) -> Guard | Relation:
    """The inverse of a list with the parts of a guard. A guard on one symbol has a name at the left, and a number at the right."""

    def expression(data: Any) -> Any:
        return (data[0], expression(data[1]), expression(data[2])) if isinstance(data, list) else data

    is_guard = isinstance(left, str) and isinstance(right, int)
    return Guard(left, comparison, right) if is_guard else Relation(expression(left), comparison, expression(right))


def deserialize_spec(data: Mapping[str, Any]) -> Argument:
    """The argument of an input or an output, from the dict that `serialize_spec` made."""
    if "value" in data:
        return ConstantArgument(data["name"], deserialize_argument(data["value"], {}))
    return SymIntArgument(data["name"]) if data["is_size"] else TensorArgument(data["name"])


def deserialize_structure(data: Any) -> Any:
    """The structure of nested tuples, lists and dicts, from the data of a file. None is a leaf."""
    if data is None:
        return LEAF
    kinds = {"tuple": tuple, "list": list, "dict": dict}
    return kinds[data["type"]], data["keys"], [deserialize_structure(part) for part in data["children"]]


# Files ---------------------------------------------------------------------------------------------------------------

MODEL, WEIGHTS = "models/model.json", "data/weights.safetensors"
SAFETENSORS = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16",
    "BF16": "bfloat16", "F32": "float32", "F64": "float64",
}  # fmt: skip
LARGEST_HEADER = 100_000_000  # bytes


def save(ep: ExportedProgram, f: str | os.PathLike | BinaryIO) -> None:
    """Write a program to a file. Source: `torch/export/__init__.py`, `save`."""
    model = json.dumps(serialize(ep), allow_nan=False)
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("archive_format", "pt2")
        archive.writestr(MODEL, model)
        archive.writestr(WEIGHTS, write_tensors(ep.state_dict | ep.constants))


def load(f: str | os.PathLike | BinaryIO) -> ExportedProgram:
    """Read a program from a file. A bad file raises a SerializeError of one line, and nothing of it runs.
    Source: `torch/export/__init__.py`, `load`."""
    try:
        with zipfile.ZipFile(f) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise SerializeError("an entry is compressed")
            data = json.loads(archive.read(MODEL))
            tensors = read_tensors(archive.read(WEIGHTS))
        verify_program(data, known_operator, tensors)
        check_calls(data["graph"])
        return deserialize(data, tensors)
    except FileNotFoundError:
        raise
    except (
        SpecViolationError, SerializeError, zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError,
        RecursionError, NotImplementedError, EOFError, OverflowError,
    ) as error:  # fmt: skip
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SerializeError(f"this is no file of an exported program: {reason}") from None


PLAIN = {"as_bool": bool, "as_int": int, "as_string": str, "as_float": (float, str)}


def check_calls(graph: Mapping[str, Any]) -> None:
    """Raise SpecViolationError if the arguments of a node are not those of its operator, by number and name, or a value is not of
    its kind."""
    for node in graph["nodes"]:
        for given in node["inputs"]:
            ((kind, value),) = given["arg"].items()
            items = value if kind.endswith("s") and isinstance(value, list) else [value]
            wanted = PLAIN.get(kind.removesuffix("s"), object)
            if any(not isinstance(item, wanted) or (wanted is int and isinstance(item, bool)) for item in items):
                raise SpecViolationError(f"{node['name']}: {given['arg']} is not of its kind")
        target = operator_of(node["target"])
        names = [name for name, _ in argument_names(target)]
        positional = [given["name"] for given in node["inputs"] if given["kind"] == 1]
        by_name = [given["name"] for given in node["inputs"] if given["kind"] == 2]
        if positional != names[: len(positional)] or not {*by_name} <= {*names[len(positional) :]}:
            raise SpecViolationError(f"{node['name']}: {node['target']} has no such arguments")
        if isinstance(target, OpOverload):
            bind(target.schema, [None] * len(positional), dict.fromkeys(by_name))


def write_tensors(tensors: Mapping[str, Tensor]) -> bytes:
    """Tensors in the format safetensors: eight bytes with the length of the header, the header in JSON, the elements."""
    codes = {name: code for code, name in SAFETENSORS.items()}
    header, chunks, start = {}, [], 0
    for name, tensor in tensors.items():
        data = bytes(np.ascontiguousarray(tensor.detach()._array).tobytes())
        offsets = [start, start + len(data)]
        header[name] = {
            "dtype": codes[tensor.dtype.name],
            "shape": list(map(int, tensor.shape)),
            "data_offsets": offsets,
        }
        header[name] |= {"requires_grad": True} if tensor.requires_grad else {}
        chunks.append(data)
        start += len(data)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


def read_tensors(data: bytes) -> dict[str, Tensor]:
    """The inverse of `write_tensors`."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, LARGEST_HEADER):
        raise SerializeError("the header of the tensors is longer than the file")
    header, body, tensors = json.loads(data[8 : 8 + length]), data[8 + length :], {}
    for name, entry in header.items():
        dtype = getattr(dtypes, "bool_" if (known := SAFETENSORS[entry["dtype"]]) == "bool" else known)
        (start, end), shape = entry["data_offsets"], entry["shape"]
        whole = all(type(n) is int and n >= 0 for n in (start, end, *shape))
        if not whole or not start <= end <= len(body) or math.prod(shape) * dtype.itemsize != end - start:
            raise SerializeError(f"the bytes of {name!r} are not those of a tensor of its shape")
        tensor = functions.empty(shape, dtype=dtype)
        if tensor.numel():
            tensor._array[...] = np.frombuffer(body[start:end], dtype.numpy).reshape(shape)
        tensors[name] = tensor.requires_grad_() if entry.get("requires_grad") is True else tensor
    return tensors
