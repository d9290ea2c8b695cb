"""Lab 10, files of exported programs: arguments, graphs, and what must not run."""

from __future__ import annotations

import copy
import re

from ...engine.check import program
from ..cases import drawing

# Arguments -----------------------------------------------------------------------------------------------------------
#
# An argument is described as {"node": name} (a tensor), {"size": name}, {"float": text}, {"object": name}, {"tuple": items}, a
# list, or a value of Python.

OBJECTS = ["float32", "bool", "device", "preserve_format"]


def as_read(value):
    """A case as JSON has it: sequences are lists."""
    if isinstance(value, dict):
        return {key: as_read(item) for key, item in value.items()}
    return [as_read(item) for item in value] if isinstance(value, (list, tuple)) else value


def described(xp, value, nodes):
    match value:
        case {"node": name} | {"size": name}:
            return nodes[name]
        case {"float": text}:
            return float(text)
        case {"object": "device"}:
            return xp.device("cpu")
        case {"object": name}:
            return getattr(xp, name)
        case {"tuple": items}:
            return tuple(described(xp, item, nodes) for item in items)
        case list() | tuple():
            return [described(xp, item, nodes) for item in value]
        case _:
            return value


def nodes_of(xp):
    """Nodes with tensors, x, y and z, and with sizes, s and t."""
    graph, nodes = xp.fx.Graph(), {}
    for name in "xyzst":
        nodes[name] = graph.create_node("call_function", abs, (), name=name)
        nodes[name].meta["val"] = 3 if name in "st" else xp.ones(2)
    return nodes


def _arguments(st):
    node = st.sampled_from("xyz").map(lambda name: {"node": name})
    size = st.sampled_from("st").map(lambda name: {"size": name})
    floats = st.one_of(
        st.sampled_from([0.0, 0.5, -2.0, 1e300]), st.sampled_from(["inf", "-inf", "nan"]).map(lambda x: {"float": x})
    )
    plain = [st.integers(-3, 2**40), st.booleans(), floats, st.sampled_from(["mean", "", "x"])]
    single = st.one_of(*plain, node, size, st.none(), st.sampled_from(OBJECTS).map(lambda name: {"object": name}))
    items = [*plain, node, st.one_of(size, st.integers(0, 9)), st.one_of(node, st.none())]
    lists = st.one_of(*(st.lists(item, max_size=4) for item in items))
    lists = st.one_of(lists, lists.map(lambda items: {"tuple": items}))
    base = st.sampled_from(["Tensor", "int", "float", "bool", "SymInt"])
    return st.fixed_dictionaries({"argument": st.one_of(single, lists), "base": base})


X, Y, S, T = {"node": "x"}, {"node": "y"}, {"size": "s"}, {"size": "t"}
INF, NAN = {"float": "inf"}, {"float": "nan"}
ARGUMENTS = [{"argument": argument, "base": base} for argument, base in (
    *((name, "Tensor") for name in (
        None, True, False, 0, 1, -7, 0.0, 1.0, 0.5, "mean", "", X, S, INF, NAN, {"float": "-inf"},
        [1, 2], [True, False], [0.5, 2.0], [INF, 1.0, NAN], ["a", "b"], [X], [X, Y, X], [S], [S, 3], [3, S, T], [None], [X, None],
        [None, Y], {"tuple": [1, 2]}, {"tuple": [X, None]}, {"tuple": [S, 2]}, {"tuple": [0.5]}, {"tuple": [True]},
        {"tuple": [X, Y]},
        [1, True], [True, 1], [1, 0.5], [0.5, 1], [S, True], [S, 0.5], [X, 1], [1, X], [None, 1], ["a", 1], [True, None],
        [X, 0], [X, False],
        [X, 0.5], ["a", None],
        {"tuple": ["a"]}, [{"object": "float32"}], [None, {"object": "bool"}], [[1, 2], [3]],
    )),
    *(([], base) for base in ("Tensor", "int", "float", "bool", "SymInt")), *(({"tuple": []}, base) for base in ("int", "Tensor")),
    *(({"object": name}, "int") for name in OBJECTS),
)]  # fmt: skip


@program("export.serialize.serialize_argument", cases=_arguments, edges=ARGUMENTS)
def arguments_in_a_file(xp, argument, base):
    of = xp.export.serialize
    given = described(xp, argument, nodes_of(xp))
    try:
        return with_container(of.serialize_argument(given, base))
    except of.SerializeError:
        return "refused"


def with_container(found):
    """The content of a file, and the class of its value."""
    return [found, *(type(value).__name__ for value in found.values())]


@arguments_in_a_file.oracle
def _(torch, argument, base):
    import json

    from torch._export.serde.serialize import EnumEncoder, GraphModuleSerializer, SerializeError, _dataclass_to_dict

    serializer = GraphModuleSerializer(None, [])
    serializer.graph_state.sym_int_values |= dict.fromkeys("st")
    types = {"Tensor": torch.TensorType, "float": torch.FloatType, "bool": torch.BoolType}
    wanted = torch.ListType(types.get(base, torch.IntType).get())
    try:
        written = serializer.serialize_input(described(torch, argument, nodes_of(torch)), wanted)
    except SerializeError:
        return "refused"
    return with_container(json.loads(json.dumps(_dataclass_to_dict(written), cls=EnumEncoder)))


ENTRIES = [{"data": data} for data in (
    {"as_none": True}, {"as_bool": True}, {"as_bool": False}, {"as_int": 0}, {"as_int": -7}, {"as_string": "mean"},
    {"as_float": 0.5}, {"as_float": "Infinity"}, {"as_float": "-Infinity"}, {"as_float": "NaN"}, {"as_tensor": {"name": "x"}},
    {"as_sym_int": {"as_name": "s"}}, {"as_sym_int": {"as_name": "t"}},
    {"as_bools": [True, False]}, {"as_ints": [3, 4]}, {"as_strings": ["a", "b"]}, {"as_ints": []},
    {"as_floats": [0.5, "NaN", "Infinity", "-Infinity"]}, {"as_floats": []},
    {"as_tensors": [{"name": "y"}, {"name": "x"}]}, {"as_tensors": []},
    {"as_sym_ints": [{"as_name": "s"}, {"as_int": 0}, {"as_name": "t"}]}, {"as_sym_ints": [{"as_int": 3}]},
    {"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "y"}}, {"as_none": True}]}, {"as_bools": []},
    {"as_strings": []}, {"as_optional_tensors": []}, {"as_sym_ints": []},
    {"as_scalar_type": 7}, {"as_device": {"type": "cpu", "index": None}}, {"as_memory_format": 4}, {"as_layout": 7},
)]  # fmt: skip
NAMES = {"x": "the tensor x", "y": "the tensor y", "s": 8, "t": "the size t"}


def _entries(st):
    floats = st.sampled_from([0.5, -1.0, "Infinity", "-Infinity", "NaN"])
    tensor = st.sampled_from("xy").map(lambda name: {"name": name})
    size = st.one_of(
        st.sampled_from("st").map(lambda name: {"as_name": name}), st.integers(0, 9).map(lambda n: {"as_int": n})
    )
    optional = st.one_of(tensor.map(lambda each: {"as_tensor": each}), st.just({"as_none": True}))
    kinds = {
        "as_float": floats, "as_tensor": tensor, "as_int": st.integers(), "as_bool": st.booleans(),
        **{f"{name}s": st.lists(items, max_size=4) for name, items in (
            ("as_float", floats), ("as_tensor", tensor), ("as_sym_int", size), ("as_optional_tensor", optional),
            ("as_int", st.integers(0, 9)), ("as_string", st.sampled_from(["a", "b"])),
        )},
    }  # fmt: skip
    entry = st.one_of(*(value.map(lambda value, kind=kind: {kind: value}) for kind, value in kinds.items()))
    return st.fixed_dictionaries({"data": entry})


@program("export.serialize.deserialize_argument", cases=_entries, edges=ENTRIES)
def arguments_of_a_file(xp, data):
    data, before = as_read(data), as_read(data)
    argument = xp.export.serialize.deserialize_argument(data, dict(NAMES))
    return {"argument": _plain(argument), "changed": data != before}


def _plain(value):
    """A value without objects of a framework, with the type of each container."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(_plain, value)]
    if isinstance(value, (str, int, float, type(None))):
        return value
    return re.sub(r"^(torch|rushlight)\.", "", str(value))


@arguments_of_a_file.oracle
def _(torch, data):
    from torch._export.serde.schema import Argument
    from torch._export.serde.serialize import GraphModuleDeserializer, _dict_to_dataclass

    deserializer = GraphModuleDeserializer()
    deserializer.serialized_name_to_node = dict(NAMES)
    with_floats = {
        kind: [float(x) for x in value] if kind == "as_floats" else float(value) if kind == "as_float" else value
        for kind, value in as_read(data).items()
    }
    argument = deserializer.deserialize_input(_dict_to_dataclass(Argument, with_floats))
    return {"argument": _plain(argument), "changed": False}


# Graphs --------------------------------------------------------------------------------------------------------------
#
# A graph is that of a file. Its operators are `_operator.add` and some of ATen's.


def tensor(name):
    return {"as_tensor": {"name": name}}


def size(name):
    return {"as_sym_int": {"as_name": name}}


def node(target, inputs, *outputs, name="node"):
    """A node of a file. The inputs are arguments, or (name, argument) for one that is passed by its name."""
    given = [
        {"name": value[0], "arg": value[1], "kind": 2}
        if isinstance(value, tuple)
        else {"name": ["self", "other", "dim", "end"][i], "arg": value, "kind": 1}
        for i, value in enumerate(inputs)
    ]
    return {"name": name, "target": f"torch.ops.aten.{target}", "inputs": given, "outputs": list(outputs)}


def graph(inputs, nodes, outputs):
    return {"inputs": inputs, "nodes": nodes, "outputs": outputs}


x, y, a, b, c, n = tensor("x"), tensor("y"), tensor("a"), tensor("b"), tensor("c"), size("n")
PARTS = {"as_tensors": [{"name": "a"}, {"name": "b"}]}
ROWS = node("sym_size.int", [x, {"as_int": 0}], n)
GRAPHS = [
    graph([x], [], [x]), graph([x, y], [], [y, {"as_none": True}, {"as_int": 3}, x]),
    graph([x], [node("relu.default", [x], a)], [a]),
    graph([x, {"as_none": True}, y], [node("add.Tensor", [x, y, ("alpha", {"as_int": 3})], a)], [a, x]),
    graph([{"as_int": 3}, x], [node("mul.Tensor", [x, {"as_float": 0.5}], a), node("sub.Tensor", [a, x], b)], [b, a]),
    graph([x], [node("split.Tensor", [x, {"as_int": 2}, {"as_int": 1}], PARTS), node("sub.Tensor", [b, a], c)], [c, a]),
    graph([x], [node("max.dim", [x, {"as_int": 1}], a, b)], [b, a]),
    graph([x], [node("unbind.int", [x, {"as_int": 0}], {"as_tensors": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})], [c, a]),
    graph([x], [ROWS, node("view.default", [x, {"as_sym_ints": [{"as_int": 2}, {"as_name": "n"}, {"as_int": 2}]}], a)], [a, n]),
    graph([x, y], [node("cat.default", [{"as_tensors": [{"name": "x"}, {"name": "y"}]}, {"as_int": 1}], a)], [a]),
    graph([x], [node("sum.dim_IntList", [x, {"as_ints": [0]}, ("keepdim", {"as_bool": True})], a)], [a]),
    graph([x], [node("split.Tensor", [x, {"as_int": 4}, {"as_int": 1}], {"as_tensors": [{"name": "a"}]})], [x, a]),
    graph([x, y], [node("sub.Tensor", [x, ("other", y)], a)], [a]), graph([x], [node("neg.default", [("self", x)], a)], [a]),
    graph([x], [node("relu.default", [x], a), node("neg.default", [x], b)], [a]),
]  # fmt: skip


@drawing
def _graphs(draw, st):
    names, nodes = ["x", "y"], []
    for i in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["relu", "neg", "add", "sub", "sort", "split", "size"]))
        one, other = (tensor(draw(st.sampled_from(names))) for _ in range(2))
        made = [f"v{i}"]
        match kind:
            case "relu" | "neg":
                nodes.append(node(f"{kind}.default", [one], tensor(*made)))
            case "add" | "sub":
                more = [("alpha", {"as_int": 2})] if draw(st.booleans()) else []
                nodes.append(node(f"{kind}.Tensor", [one, other, *more], tensor(*made)))
            case "sort":
                made.append(f"w{i}")
                nodes.append(node("sort.default", [one, ("descending", {"as_bool": True})], *map(tensor, made)))
            case "split":
                nodes.append(
                    node("split.Tensor", [one, {"as_int": 4}, {"as_int": 1}], {"as_tensors": [{"name": made[0]}]})
                )
            case "size":
                nodes.append(node("sym_size.int", [one, {"as_int": 1}], size(f"n{i}")))
                nodes.append(node("mul.Tensor", [other, size(f"n{i}")], tensor(*made)))
        names += made
    outputs = [tensor(draw(st.sampled_from(names))) for _ in range(draw(st.integers(1, 3)))]
    return {"graph": graph([x, y], nodes, outputs)}


def operator_of(xp, target):
    name, overload = target.split(".")[3:]
    if name == "sym_size":
        return lambda x, dim: x.shape[dim]
    return getattr(getattr(xp.ops.aten, name), overload)


def inputs_of(xp, graph):
    """A value for each input of a graph: a tensor, or a constant that nobody uses."""
    start = [xp.arange(12, dtype=xp.float64).reshape(3, 4) - 5 * i for i in range(len(graph["inputs"]))]
    return [value if "as_tensor" in spec else 7 for value, spec in zip(start, graph["inputs"])]


@program("export.serialize.run_graph", cases=_graphs, edges=[{"graph": graph} for graph in GRAPHS], draws=40)
def graphs_run(xp, graph):
    calls = []

    def call(node, args, kwargs):
        calls.append([node["target"], type(args).__name__, len(args), type(kwargs).__name__, list(kwargs)])
        return operator_of(xp, node["target"])(*args, **kwargs)

    graph, before = as_read(graph), as_read(graph)
    outputs = xp.export.serialize.run_graph(graph, tuple(inputs_of(xp, graph)), call)
    texts = [f"input {i}" for i in range(len(graph["inputs"]))]
    return {
        "outputs": outputs,
        "calls": calls,
        "outputs if the values are texts": xp.export.serialize.run_graph(graph, texts, written),
        "changed": graph != before,
    }


def written(node, args, kwargs):
    """A call as a text, or a list of texts if it has several results."""
    text = f"{node['target'].split('.')[3]}({', '.join(map(str, [*args, *kwargs.items()]))})"
    names = _names_of(node)
    return [f"{text}[{i}]" for i in range(len(names))] if is_sequence(node) else text


def is_sequence(node):
    return len(node["outputs"]) > 1 or "as_tensors" in node["outputs"][0]


def _names_of(node):
    return re.findall(r"name': '(\w+)'", str(node["outputs"]))


@graphs_run.oracle
def _(torch, graph):
    graph, calls = as_read(graph), []
    for node in graph["nodes"]:
        kinds = [argument["kind"] for argument in node["inputs"]]
        named_inputs = [argument["name"] for argument in node["inputs"] if argument["kind"] == 2]
        calls.append([node["target"], "list", kinds.count(1), "dict", named_inputs])
    texts = [f"input {i}" for i in range(len(graph["inputs"]))]
    return {
        "outputs": _computed(
            graph,
            inputs_of(torch, graph),
            lambda node, args, kwargs: operator_of(torch, node["target"])(*args, **kwargs),
        ),
        "calls": calls,
        "outputs if the values are texts": _computed(graph, texts, written),
        "changed": False,
    }


def _computed(graph, inputs, call):
    """Each value is computed when an output needs it, from the last node to the first."""
    known = {spec["as_tensor"]["name"]: value for spec, value in zip(graph["inputs"], inputs) if "as_tensor" in spec}

    def value_of(argument):
        ((kind, value),) = argument.items()
        if kind == "as_tensors":
            return [named(item["name"]) for item in value]
        if kind == "as_sym_ints":
            return [named(item["as_name"]) if "as_name" in item else item["as_int"] for item in value]
        if isinstance(value, dict):
            return named(value.get("name", value.get("as_name")))
        return None if kind == "as_none" else value

    def named(name):
        if name not in known:
            node = next(node for node in graph["nodes"] if f"'{name}'" in str(node["outputs"]))
            args = [value_of(argument["arg"]) for argument in node["inputs"] if argument["kind"] == 1]
            kwargs = {
                argument["name"]: value_of(argument["arg"]) for argument in node["inputs"] if argument["kind"] == 2
            }
            result = call(node, args, kwargs)
            known.update(zip(_names_of(node), result if is_sequence(node) else [result]))
        return known[name]

    return [value_of(output) for output in graph["outputs"]]


# What must not run ---------------------------------------------------------------------------------------------------

KNOWN = ["torch.ops.aten.relu.default", "torch.ops.aten.add.Tensor", "torch.ops.aten.split.Tensor", "torch.ops.aten.sym_size.int",
         "torch.ops.aten.cat.default", "torch.ops.aten.view.default", "torch.ops.aten.index.Tensor"]  # fmt: skip
RELU = node("relu.default", [x], a)
GOOD = graph(
    [x, {"as_none": True}, y], [RELU, node("add.Tensor", [a, y, ("alpha", {"as_int": 2})], b)], [b, {"as_int": 3}, x]
)
LISTS = graph(
    [x, n],
    [
        node("split.Tensor", [x, {"as_int": 2}], PARTS),
        node("index.Tensor", [a, {"as_optional_tensors": [{"as_none": True}, tensor("b")]}], c),
        node("view.default", [c, {"as_sym_ints": [{"as_name": "n"}, {"as_int": 1}]}], tensor("d")),
        node("cat.default", [{"as_tensors": [{"name": "d"}, {"name": "x"}]}], tensor("e")),
    ],
    [tensor("e"), n],
)
ALONE = graph([], [], [])


def with_node(*changed):
    return graph([x, y], list(changed), [x])


FILES = [
    GOOD, LISTS, ALONE, graph([x], [], [x, x]), with_node(RELU),
    graph([x], [], [y]), graph([x], [RELU], [b]), graph([], [RELU], [a]), graph([x, x], [], [x]),
    with_node(RELU, RELU), with_node(node("relu.default", [x], x)), with_node(node("relu.default", [a], b), RELU),
    with_node(node("relu.default", [a], a)), with_node(node("relu_.default", [x], a)),
    with_node({**RELU, "target": "os.system"}), with_node(RELU, {**RELU, "target": "", "outputs": [b]}),
    with_node(node("relu.default", [tensor("x y")], a)), with_node(node("relu.default", [x], tensor("a b"))),
    with_node(node("relu.default", [x], tensor("1a"))), with_node(node("relu.default", [x], tensor("_a1"))),
    with_node(node("relu.default", [x], tensor("a; import os"))), graph([tensor("")], [], []),
    graph([x], [RELU], [{"as_code": "a"}]),
    with_node(node("relu.default", [{"as_pickle": "gA=="}], a)), with_node(node("relu.default", [x], {"as_graph": "a"})),
    graph([{"as_pickle": ""}, x], [], [x]), with_node(node("relu.default", [{}], a)),
    with_node(node("relu.default", [{"as_int": 1, "as_none": True}], a)), graph([x], [], [{}]), graph([{}], [], []),
    graph([x], [], [{"as_tensor": {"name": "x"}, "as_int": 1}]), graph([{"as_tensor": {"name": "x"}, "as_int": 1}], [], []),
    with_node(node("add.Tensor", [x, ("alpha", {"as_int": 2}), y], a)),
    with_node(node("add.Tensor", [("self", x), ("other", y)], a)),
    with_node({**RELU, "inputs": [{"name": "self", "arg": x, "kind": 3}]}),
    with_node({**RELU, "inputs": [{"name": "self", "arg": x, "kind": 0}]}),
    with_node({**RELU, "inputs": [{"name": "self", "arg": x, "kind": None}]}),
    with_node(node("split.Tensor", [x, {"as_int": 2}], {"as_tensors": [{"name": "a"}, {"name": "a"}]})),
    with_node(node("split.Tensor", [x, {"as_int": 2}], {"as_tensors": [{"name": "a"}, {"name": "x"}]})),
    with_node(node("cat.default", [{"as_tensors": [{"name": "x"}, {"name": "q"}]}], a)),
    with_node(node("cat.default", [{"as_optional_tensors": [{"as_none": True}, tensor("q")]}], a)),
    with_node(node("view.default", [x, {"as_sym_ints": [{"as_int": 1}, {"as_name": "n"}]}], a)),
    with_node(node("sym_size.int", [x, {"as_int": 0}], n), node("view.default", [x, {"as_sym_ints": [{"as_name": "n"}]}], a)),
    with_node(node("split.Tensor", [x, n], PARTS)), graph([x, n], [node("split.Tensor", [x, n], PARTS)], [a]),
    graph([x], [], [x, y]), with_node(node("split.Tensor", [x], a, b), node("add.Tensor", [a, b], c)),
    with_node(node("add.Tensor", [x, ("other", a)], a)), with_node(node("add.Tensor", [x, ("other", y)], a)),
    with_node(node("add.Tensor", [x, ("other", {"as_pickle": "gA=="})], a)), with_node(node("add.Tensor", [x, ("other", {})], a)),
    with_node(node("relu.default", [x], tensor("é"))), with_node(node("relu.default", [x], tensor("a\n"))),
    with_node({**RELU, "target": "os.system", "outputs": []}), with_node(RELU, {**RELU, "outputs": []}),
]  # fmt: skip
PLACES = ["inputs", "outputs"]


@drawing
def _files(draw, st):
    """A good graph in which one or two things have been replaced, by good or bad ones."""
    graph = copy.deepcopy(draw(st.sampled_from([GOOD, LISTS])))
    for _ in range(draw(st.integers(0, 2))):
        new = draw(
            st.sampled_from([x, y, a, b, n, tensor("late"), tensor("a b"), {"as_int": 3}, {"as_pickle": "a"}, {}])
        )
        chosen = draw(st.sampled_from(graph["nodes"]))
        where = draw(st.sampled_from(["inputs", "outputs", "argument", "result", "operator", "order", "name"]))
        if where in PLACES and graph[where]:
            graph[where][draw(st.integers(0, len(graph[where]) - 1))] = new
        elif where == "argument":
            chosen["inputs"][0]["arg"] = new
        elif where == "result":
            chosen["outputs"] = [new]
        elif where == "operator":
            chosen["target"] = draw(st.sampled_from(["torch.ops.aten.exp.default", "os.system", KNOWN[0]]))
        elif where == "order":
            graph["nodes"].reverse()
        elif where == "name":
            chosen["inputs"][-1]["kind"] = draw(st.sampled_from([1, 2, 3]))
    return {"graph": graph}


def _about_graphs(case, mine, theirs):
    if not isinstance(mine, list) or len(mine) != 2:
        return None
    if "refused without a line" in mine:
        return "the message of the error is one line that says what is wrong"
    if mine[0] != mine[1]:
        return "`is_known` returns the operator or True for one that is known, and None or False for others"
    if theirs[0] is None:
        return "nothing in this graph breaks a rule"
    return next(iter(_broken(as_read(case["graph"]))), None)


@program(
    "export.verifier.verify_graph",
    cases=_files,
    edges=[{"graph": graph} for graph in FILES],
    draws=60,
    hint=_about_graphs,
)
def files_verified(xp, graph):
    of, graph = xp.export.verifier, as_read(graph)
    verdicts = []
    for is_known in ({name: name for name in KNOWN}.get, KNOWN.__contains__):
        try:
            verdicts.append(of.verify_graph(graph, is_known))
        except of.SpecViolationError as error:
            verdicts.append("refused" if len(str(error)) > 0 and "\n" not in str(error) else "refused without a line")
    return verdicts


@files_verified.oracle
def _(torch, graph):
    return ["refused" if _broken(as_read(graph)) else None] * 2


def _broken(graph):
    """The rules that a graph breaks. A list of what is given and used, with the time of each, is made first. Then the list is
    looked at."""
    kinds = {
        "as_none", "as_bool", "as_int", "as_float", "as_string", "as_tensor", "as_sym_int", "as_bools", "as_ints", "as_floats",
        "as_strings", "as_tensors", "as_sym_ints", "as_optional_tensors", "as_scalar_type", "as_device", "as_memory_format",
        "as_layout",
    }  # fmt: skip
    last = len(graph["nodes"])
    given = [(-1, spec) for spec in graph["inputs"]]
    given += [(time, output) for time, made in enumerate(graph["nodes"]) for output in made["outputs"]]
    used = [(time, argument["arg"]) for time, made in enumerate(graph["nodes"]) for argument in made["inputs"]]
    used += [(last, output) for output in graph["outputs"]]
    odd = [spec for time, spec in given + used if len(spec) != 1 or not {*spec} <= kinds]
    names = [] if odd else [(time, name) for time, spec in given for name in _names(spec)]
    early = [] if odd else [(time, name) for time, spec in used for name in _names(spec)]
    first = {name: time for time, name in reversed(names)}
    strange = [name for name in first if not (name.isidentifier() and name.isascii())]
    early = [name for time, name in early if first.get(name, last) >= time]
    orders = ["".join(str(argument["kind"]) for argument in made["inputs"]) for made in graph["nodes"]]
    mixed = [order for order in orders if not re.fullmatch("1*2*", order)]
    unknown = {made["target"] for made in graph["nodes"]} - {*KNOWN}
    rules = [
        (odd, "an argument is a dict with one entry, whose key is in KINDS"),
        (len(names) > len(first), "a name is given once, to an input or to a result"),
        (strange, "a name is an identifier: IDENTIFIER matches all of it"),
        (early, "a name is given before a node uses it, and somewhere if an output of the graph uses it"),
        (mixed, "no argument of kind 1 comes after one of kind 2, and there are no other kinds"),
        (unknown, "the operator of each node is known, also of one without results"),
    ]
    return [text for is_broken, text in rules if is_broken]


def _names(argument):
    """The names of nodes, found in the text of an argument that can have some."""
    ((kind, value),) = argument.items()
    if kind.removesuffix("s") not in ("as_tensor", "as_sym_int", "as_optional_tensor"):
        return []
    return re.findall(r"'(?:as_)?name': '([^']*)'", str(value))
