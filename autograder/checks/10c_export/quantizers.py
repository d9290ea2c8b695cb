"""Lab 10c, annotations of an exported graph: which values have an observer, and which have the same one.

PyTorch 2.13 has no quantizer. But `prepare_fx` makes the same decision for any table of patterns, so the oracle gives it a graph of
ATen's operators and a table of them. One thing differs: it gives a shared observer to the nodes at hand, and forgets the
values that had the old observer. The oracle notes each replacement, so that all values of the old observer are in the group.
"""

from __future__ import annotations

import logging
import warnings
from functools import cache
from importlib import import_module

from ...engine.check import program
from ..cases import attempt, drawn, entries, field, first_apart, is_torch, rows

CALLS = {  # an operator and its arguments: x and y are values, w and b attributes of this call, w0 and b0 those of the first call
    "linear": ("linear.default", ["x", "w", "b"]), "linear without a bias": ("linear.default", ["x", "w"]),
    "linear with the first weight": ("linear.default", ["x", "w0", "b"]), "conv1d": ("conv1d.default", ["x", "w", "b"]),
    "conv2d": ("conv2d.default", ["x", "w", None]), "conv2d with a bias": ("conv2d.default", ["x", "w", "b", [1, 1]]),
    "add": ("add.Tensor", ["x", "y"]), "add 1": ("add.Tensor", ["x", 1]), "add the first bias": ("add.Tensor", ["x", "b0"]),
    "add the first weight": ("add.Tensor", ["w0", "x"]), "mul": ("mul.Tensor", ["x", "y"]), "mul 2": ("mul.Tensor", ["x", 2.0]),
    "relu": ("relu.default", ["x"]), "cat": ("cat.default", [["x", "y"]]), "cat of three": ("cat.default", [["x", "y", "w"], 1]),
    "cat with x twice": ("cat.default", [["x", "y", "x"]]), "cat of one": ("cat.default", [["x"]]),
    "cat with the first weight": ("cat.default", [["x", "w0"]]),
    "view": ("view.default", ["x", [2, 4]]), "permute": ("permute.default", ["x", [1, 0]]),
    "flatten": ("flatten.using_ints", ["x", 1]), "max_pool2d": ("max_pool2d.default", ["x", [1, 1]]),
    "adaptive_avg_pool2d": ("adaptive_avg_pool2d.default", ["x", [1, 1]]), "hardtanh": ("hardtanh.default", ["x"]),
    "mean": ("mean.dim", ["x", [0]]), "squeeze": ("squeeze.dim", ["x", 0]), "exp": ("exp.default", ["x"]),
    "sub": ("sub.Tensor", ["x", "y"]), "sigmoid": ("sigmoid.default", ["x"]),
}  # fmt: skip
LAYERS, BINARY = ("linear.default", "conv1d.default", "conv2d.default"), ("add.Tensor", "mul.Tensor")
NONE = ("exp.default", "sub.Tensor", "sigmoid.default")  # in no table


def operator_of(xp, name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(xp.ops.aten, packet), overload)


def not_ours(*args):
    """In the oracle's graph, nodes that are annotated already call this. It is in no table."""


def exported(xp, calls, returned, annotated):
    """A module whose graph calls operators, and the nodes of the calls. A call is a name in `CALLS`, and the numbers of its values.
    The nodes `annotated` call `not_ours` on torch."""
    graph, root = xp.fx.Graph(), xp.nn.Module()
    nodes, values, attributes = [], [graph.placeholder("x"), graph.placeholder("y")], {}

    def argument(described, i, places):
        match described:
            case "x" | "y":
                return values[places["xy".index(described)] % len(values)]
            case str():
                name = described if len(described) == 2 else f"{described}{i}"
                if name not in attributes:
                    setattr(root, name, xp.nn.Parameter(xp.zeros(2)))
                    attributes[name] = graph.get_attr(name)
                return attributes[name]
            case [str(), *_]:
                return [argument(item, i, places) for item in described]
        return described

    for i, (name, *places) in enumerate(calls):
        operator, arguments = CALLS[name]
        target = not_ours if is_torch(xp) and i in annotated else operator_of(xp, operator)
        args = tuple(argument(described, i, places) for described in arguments)
        nodes.append(graph.create_node("call_function", target, args, {}, f"{name.partition(' ')[0]}_{i}"))
        values.append(nodes[-1])
    graph.output([values[place % len(values)] for place in returned])
    return root, graph, nodes


def described(model, group_of):
    """What each node reads, and the observers of each result. Observers of one group have one number."""
    modules, numbers = dict(model.named_modules(remove_duplicate=False)), {}

    def observer_of(node):
        return (
            modules[node.target]
            if node.op == "call_module" and "Observer" in type(modules[node.target]).__name__
            else None
        )

    def observer_text(observer):
        number = numbers.setdefault(group_of(observer), len(numbers))
        dtype, scheme = (str(each).rpartition(".")[2].removeprefix("q") for each in (observer.dtype, observer.qscheme))
        axis = f", axis {observer.ch_axis}" if hasattr(observer, "ch_axis") else ""
        return f"observer {number} ({dtype}, {observer.quant_min} ... {observer.quant_max}, {scheme}{axis})"

    def read(node):
        return f"{node.args[0]} by {observer_text(observer_of(node))}" if observer_of(node) else str(node)

    lines = {}
    for node in model.graph.nodes:
        if not observer_of(node):
            lines[node.name] = f"reads {', '.join(map(read, node.all_input_nodes)) or 'nothing'}"
            observers = filter(None, map(observer_of, node.users))
            texts = map(observer_text, sorted(observers, key=lambda observer: type(observer).__name__))
            lines[node.name] += "".join(f"; {text} on its result" for text in texts)
    return lines


# The check -----------------------------------------------------------------------------------------------------------


def settings_of(xp, most, channels):
    """What the observers of activations and those of weights are called with. An observer of torch has another dtype."""
    ao, prefix = import_module(f"{xp.__name__}.ao.quantization"), "q" if is_torch(xp) else ""
    activation = {
        "dtype": getattr(xp, f"{prefix}uint8"),
        "quant_min": 0,
        "quant_max": most,
        "qscheme": xp.per_tensor_affine,
    }
    weight = {"dtype": getattr(xp, f"{prefix}int8"), "quant_min": -127, "quant_max": 127}
    if channels:
        weight |= {"qscheme": xp.per_channel_symmetric, "ch_axis": 0}
        return (ao.MinMaxObserver, activation), (ao.PerChannelMinMaxObserver, weight)
    return (ao.MinMaxObserver, activation), (
        ao.MovingAverageMinMaxObserver,
        weight | {"qscheme": xp.per_tensor_symmetric},
    )


def shown(torch, calls, returned, annotated, most, channels):
    """A case as code."""
    _, graph, nodes = exported(torch, calls, returned, [])
    lines = ["def forward(x, y):"]
    for node in graph.nodes:
        args = ", ".join(map(str, node.args))
        if node in nodes:
            after = "  # annotated already" if nodes.index(node) in annotated else ""
            lines.append(f"    {node.name} = {node.target}({args}){after}")
        elif node.op == "output":
            lines.append(f"    return {args}")
    kind = "for each channel" if channels else "for the tensor"
    return "\n".join([*lines, f"# activations are integers 0 ... {most}, and a weight has one scale {kind}"])


def hint(case, mine, theirs):
    if isinstance(field(mine, "observers"), str):
        return (
            "`prepare` cannot use these annotations: a key is a node that this node reads, and the edge (first, node) of a "
            "SharedQuantizationSpec has a spec of its own"
        )
    both = entries(field(mine, "observers"), field(theirs, "observers"))
    name = both and first_apart(field(mine, "observers"), field(theirs, "observers"))
    if first_apart(mine, theirs) == "earlier annotations are kept":
        return "a node that has an annotation keeps it: it belongs to another quantizer"
    if not name and first_apart(mine, theirs) == "annotated":
        return "a node gets an annotation if its operator is in a table, or if it is the relu of a pattern, and no other node does"
    if name:
        return f"the first node that differs is {name}. Yours\n{both[0].get(name)}\nand expected\n{both[1].get(name)}"
    return None


def drawn_calls(st, most=7):
    index = st.one_of(st.integers(0, 8), st.just(-1))
    return st.lists(st.tuples(st.sampled_from([*CALLS]), index, index).map(list), min_size=1, max_size=most)


def relu(place):
    return ["relu", place, 0]


LINEAR, ADD, EXP = ["linear", 0, 0], ["add", 0, 1], ["exp", 0, 0]
EDGES = [  # the calls, the numbers of the values that are returned, and those of the calls that are annotated already
    *(([[name, 0, 1], ["exp", 2, 0]], [3], []) for name in CALLS),
    *(([[name, 0, 1], relu(2)], [3], []) for name in CALLS),  # patterns, and operators before a relu that are in none
    *(([first, relu(2)], [2, 3], []) for first in (LINEAR, ADD)),  # the value between them is returned, too
    *(([first, relu(2), ["exp", 2, 0]], [3, 4], []) for first in (LINEAR, ADD, ["mul 2", 0, 0])),
    ([LINEAR, ["exp", 2, 0], relu(2)], [3, 4], []), ([LINEAR, relu(2), relu(2)], [3, 4], []),
    *(([first, relu(2), ["exp", 3, 0], ["sub", 3, 1]], [3, 5], []) for first in (LINEAR, ADD)),
    ([LINEAR, relu(2), relu(3)], [4], []), ([LINEAR, ["sigmoid", 2, 0], relu(3)], [4], []),
    ([LINEAR, ["view", 2, 0], relu(3)], [4], []),
    ([relu(0), ["linear", 2, 0], relu(3), ["add", 4, 2], relu(5)], [6], []), ([["add", 0, 0], relu(2)], [3], []),
    *(([LINEAR, relu(2), ["exp", 3, 0]], [4], annotated) for annotated in ([0], [1], [0, 1], [2])),  # earlier annotations
    *(([ADD, relu(2), ["linear", 3, 0]], [4], annotated) for annotated in ([0], [1], [2], [0, 2])),
    *(([[name, 0, 1], ["linear", 2, 0]], [3], [0]) for name in ("cat", "view", "mul", "exp")),
    *(([EXP, [name, 2, 0]], [3], [0]) for name in ("add", "mul 2", "cat", "linear", "view")),
    ([LINEAR, EXP], [3], []), ([ADD, EXP], [3], []),  # a result that nothing reads
    ([["cat", 0, 1], ["cat", 2, 0]], [3], []), ([["cat", 0, 0]], [2], []), ([["cat with x twice", 1, 0]], [2], []),
    ([["cat", 0, 1], ["cat", 1, 2]], [3], [0]), ([LINEAR, ["cat with the first weight", 1, 0]], [2, 3], []),
    ([LINEAR, ["linear", 1, 0], ["cat", 2, 3], ["linear", 4, 0]], [5], []),
    ([LINEAR, ["linear with the first weight", 2, 0], relu(3)], [4], []),
    ([LINEAR, ["add the first bias", 2, 0], relu(3)], [4], []),
    ([LINEAR, ["add the first weight", 2, 0]], [2, 3], []), ([["view", 0, 0], ["permute", 2, 0], ["add", 3, 1]], [4], []),
    ([["sub", 0, 1], ["view", 2, 0], ["mul", 3, 2]], [4], []), ([EXP, ["add", 2, 0], ["sub", 3, 2]], [4], []),
    ([LINEAR, ["conv2d", 2, 0], relu(3), ["max_pool2d", 4, 0], ["flatten", 5, 0], ["linear", 6, 0]], [7], []),
]  # fmt: skip


@program(
    "ao.quantization.pt2e.annotate",
    cases=drawn(
        calls=drawn_calls, returned=lambda st: st.lists(st.sampled_from([-1, -2, 0, 3]), min_size=1, max_size=2, unique=True),
        annotated=lambda st: st.one_of(st.just([]), st.lists(st.integers(0, 4), max_size=2, unique=True)),
        most=[127, 255], channels=bool,
    ),
    edges=rows(
        "calls returned annotated most channels",
        *((*edge, 255 if i % 3 else 127, i % 2 == 0) for i, edge in enumerate(EDGES)),
    ),
    show=shown,
    hint=hint,
)  # fmt: skip
def annotated(rl, calls, returned, annotated, most, channels):
    pt2e = rl.ao.quantization.pt2e
    root, graph, nodes = exported(rl, calls, returned, annotated)
    earlier = {node: pt2e.QuantizationAnnotation() for i, node in enumerate(nodes) if i in annotated}
    for node, annotation in earlier.items():
        node.meta["quantization_annotation"] = annotation
    specs = [
        pt2e.QuantizationSpec(observer_or_fake_quant_ctr=observer, **settings)
        for observer, settings in settings_of(rl, most, channels)
    ]
    pt2e.annotate(graph, *specs)
    kept = all(node.meta["quantization_annotation"] is annotation for node, annotation in earlier.items())
    names = [node.name for node in graph.nodes if "quantization_annotation" in node.meta and node not in earlier]
    model = attempt(pt2e.prepare, rl.fx.GraphModule(root, graph))  # which fails on some wrong annotations
    observers = model if isinstance(model, str) else described(model, id)
    return {"earlier annotations are kept": kept, "annotated": names, "observers": observers}


@annotated.oracle
def _(torch, calls, returned, annotated, most, channels):
    warnings.filterwarnings("ignore")  # they say that FX mode is deprecated
    logging.getLogger("torch.ao.quantization").setLevel(logging.ERROR)
    ao, prepare = torch.ao.quantization, import_module("torch.ao.quantization.fx.prepare").prepare
    root, graph, nodes = exported(torch, calls, returned, annotated)
    replaced = {}  # an observer, and the one that took its place

    class Noted(torch.fx.GraphModule):
        def __setattr__(self, name, value):
            old = self._modules.get(name) if "_modules" in vars(self) else None
            if old is not None and group_of(old) is not group_of(value):
                replaced[group_of(old)] = group_of(value)
            super().__setattr__(name, value)

    def group_of(observer):
        while observer in replaced:
            observer = replaced[observer]
        return observer

    activation, weight = (observer.with_args(**settings) for observer, settings in settings_of(torch, most, channels))
    mapping = ao.QConfigMapping().set_global(ao.QConfig(activation, weight))
    model, scopes = Noted(root, graph), {node.name: ("", type(root)) for node in graph.nodes}
    prepared = prepare(model, mapping, False, scopes, (), backend_config=table())
    names = [
        node.name for node in nodes if node.name in prepared.meta["_observed_graph_module_attrs"].observed_node_names
    ]
    return {"earlier annotations are kept": True, "annotated": names, "observers": described(prepared, group_of)}


@cache
def table():
    """The operators of `CALLS` as torch's table of patterns."""
    torch = import_module("torch")
    backend = import_module("torch.ao.quantization.backend_config")
    own, shared, _ = backend.ObservationType
    dtypes = backend.DTypeConfig(torch.quint8, torch.quint8, torch.qint8, torch.float)
    relu, entries = operator_of(torch, "relu.default"), []
    for name in {name for name, _ in CALLS.values()} - {*NONE}:
        operator = operator_of(torch, name)
        passes_on = name not in LAYERS + BINARY
        for pattern in [operator] if passes_on else [operator, (operator, relu)]:
            entry = backend.BackendPatternConfig(pattern).add_dtype_config(dtypes)
            entry.set_observation_type(shared if passes_on else own)
            if name in LAYERS:
                entry._set_input_type_to_index({"weight": 1, "bias": 2})
            entries.append(entry)
    return backend.BackendConfig("the table").set_backend_pattern_configs(entries)
