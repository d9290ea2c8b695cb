"""Lab 11c, further: why a compiled graph is not captured, as PyTorch's own lowering and checks say without a GPU."""

from __future__ import annotations

import random
from importlib import import_module

from ...engine.check import program
from ..cases import when

FORBIDDEN = "aten._fused_moving_avg_obs_fq_helper.default"
TARGETS = {
    "put": "prims.device_put.default",
    "copy": "aten.copy_.default",
    "index_put": "aten.index_put.default",
    "unsafe_put": "aten._unsafe_index_put.default",
    "where": "aten.where.self",
    "randperm": "aten.randperm.default",
    "mul": "aten.mul.Tensor",
    "add": "aten.add.Tensor",
    "sin": "aten.sin.default",
}


def _nodes(text):
    """`x y,cpu i,cuda:0,bool | mul x y | output mul_0`: placeholders with device and dtype, then operators, numbered from 0."""
    first, *others = (part.split() for part in text.split("|"))
    nodes, devices = [], {}
    for word in first:
        name, *given = word.split(",")
        devices[name], dtype = (*given, *("cuda:0", "float32")[len(given) :])
        nodes.append([name, "placeholder", [], devices[name], dtype])
    for i, (kind, *inputs) in enumerate(others):
        name, *to = kind.split(",")
        if kind == "output":
            nodes.append(["output", "output", inputs, None, ""])
            continue
        devices[f"{name}_{i}"] = to[0] if to else devices[inputs[0]]
        dtype = {"where": "bool", "randperm": "int64"}.get(name, "float32")
        nodes.append([f"{name}_{i}", TARGETS[name], inputs, devices[f"{name}_{i}"], dtype])
    return nodes


EDGES = [
    ("x | sin x | output sin_0", []),
    ("x y | mul x y | output mul_0", [0]),
    ("x y,cpu | sin x | output sin_0", []),
    ("x y,cpu | put,cuda:0 y | mul x put_0 | output mul_1", []),
    ("x y,cpu | sin y | output sin_0", []),
    ("x,cpu y,cpu | put,cuda:0 y | mul put_0 put_0 | sin x | output mul_1 sin_2", []),
    ("x | put,cpu x | output put_0", []),
    ("x,cpu y | sin y | output sin_0 x", []),
    ("x y,cuda:1 | put,cuda:0 y | mul x put_0 | output mul_1", []),
    ("x,cuda:1 y z,cuda:1 | put,cuda:1 y | mul x put_0 | mul mul_1 z | output mul_2", []),
    ("x y,cuda:1 | sin x | output sin_0", []),
    ("x y,cuda:1 z,cpu | sin z | mul x x | sin y | output sin_0 mul_1 sin_2", []),
    ("x | put,cuda:1 x | copy x x | output put_0", []),
    ("x y | copy x y | output copy_0", []),
    ("x y | copy x y | output copy_0", [0]),
    ("x y | copy x y | output copy_0", [1]),
    ("x y z | copy x z | copy y z | output copy_1", [2]),
    ("x y z | copy x z | copy x y | output copy_1", []),
    ("x y z | copy y z | copy z x | output copy_1", [1]),
    ("x y | mul x y | copy mul_0 x | output copy_1", []),
    ("x | put,cpu x | output x", []),
    ("x | randperm,cpu | output x", []),
    ("x | randperm,cuda:1 | output x", []),
    ("x y | add x y | output add_0", []),
    ("x | put,cuda:0 x | copy put_0 x | output copy_1", []),
    ("x,cuda:0,bool y,cuda:0,bool z,cuda:0,bool | where x y z | output where_0", []),
    ("x,cpu y | put,cuda:0 x | copy y put_0 | output copy_1", []),
    ("x i,cuda:0,int64 v | index_put x i v | output index_put_0", []),
    ("x i,cuda:0,bool v | index_put x i v | output index_put_0", []),
    ("x i,cuda:0,uint8 v | index_put x i v | output index_put_0", []),
    ("x,cuda:0,bool i,cuda:0,int64 v,cuda:0,bool | index_put x i v | output index_put_0", []),
    ("x j,cuda:0,int64 i,cuda:0,bool v c,cpu | index_put x j i v | sin c | output index_put_0 sin_1", []),
    ("x i,cuda:0,bool v | mul x i | output mul_0 v", []),
    ("x i,cuda:0,bool v | unsafe_put x i v | output unsafe_put_0", []),
]


def _case(text, static):
    return {"nodes": _nodes(text), "static": static}


def _with_a_late_input():
    """A graph with an operator before its second input, which is static."""
    nodes = _nodes("x y | sin x | copy y sin_0 | output copy_1")
    nodes.insert(1, nodes.pop(2))
    return {"nodes": nodes, "static": [1]}


def _with_observer(where, text="x y,cpu | sin x | sin y | output sin_0 sin_1", target=FORBIDDEN):
    """A graph that fake quantization in training makes, whose observer may not be captured."""
    nodes = _nodes(text)
    nodes.insert(where, ["observer", target, ["x"], "cuda:0", "float32"])
    return {"nodes": nodes, "static": []}


def _drawn(seed):
    rng = random.Random(seed)
    devices = rng.choice([["cuda:0"], ["cuda:0"], ["cuda:0"], ["cuda:0", "cpu"], ["cuda:0", "cuda:1"]])
    dtypes = ["float32", "float32", "float32", "bool", "int64"]
    nodes = [[f"x{i}", "placeholder", [], rng.choice(devices), rng.choice(dtypes)] for i in range(rng.randint(2, 4))]
    nodes[0][4] = "float32"
    for i in range(rng.randint(1, 4)):
        x = rng.choice([node for node in nodes if node[4] == "float32"])
        same = [node for node in nodes if node[3] == x[3]]
        indices = [node for node in same if node[4] != "float32"]
        writable = [node for node in same if node[1] == "placeholder" and node[4] == "float32"]
        y = rng.choice([node for node in same if node[4] == "float32"])
        choices = [("aten.mul.Tensor", [x, y], x[3]), ("prims.device_put.default", [x], rng.choice(devices))]
        choices += [("aten.copy_.default", [rng.choice(writable), x], x[3])] * 2 if writable else []
        choices += [("aten.index_put.default", [x, rng.choice(indices), y], x[3])] if indices else []
        target, inputs, device = rng.choice(choices)
        nodes.append([f"y{i}", target, [node[0] for node in inputs], device, "float32"])
    nodes.append(["output", "output", [nodes[-1][0]], None, ""])
    return {"nodes": nodes, "static": [i for i in range(4) if rng.random() < 0.25]}


def _shown(torch, nodes, static):
    lines = [
        f"{name} = {target}({', '.join(inputs)})  # {dtype} on {device}"
        for name, target, inputs, device, dtype in nodes
    ]
    return "\n".join([f"# static inputs: {static}", *lines])


@program(
    "inductor.cudagraph_utils.why_no_graph",
    cases=lambda st: st.integers(0, 100_000).map(_drawn),
    edges=[
        *(_case(*edge) for edge in EDGES),
        _with_a_late_input(),
        _with_observer(2),
        _with_observer(4),
        _with_observer(2, target=FORBIDDEN.replace(".default", "_functional.default")),
        *(_with_observer(where, "x i,cuda:0,bool v | index_put x i v | output index_put_0") for where in (3, 4)),
    ],
    draws=20,
    show=_shown,
    hint=when(
        lambda case: case["static"], "an input that is written does not count if its number is among the static ones"
    ),
)
def reason(rl, nodes, static):
    names = import_module(f"{rl.__name__}.inductor.cudagraph_utils")
    given = [names.GraphNode(name, target, tuple(inputs), *rest) for name, target, inputs, *rest in nodes]
    return names.why_no_graph(given, static)


@reason.oracle
def _(torch, nodes, static):
    """PyTorch lowers the graph, with fake tensors on CUDA devices, and checks the devices that it has met."""
    utils, checks = (import_module(f"torch._inductor.{name}") for name in ("utils", "cudagraph_utils"))
    mode, module = _module(torch, nodes)
    if node := utils.get_first_incompatible_cudagraph_node(module):
        return f"incompatible op {node.target}"
    placeholders = module.graph.find_nodes(op="placeholder")
    inputs = [node.meta["val"] for node in placeholders]
    handlers = import_module("torch._inductor.virtualized").V
    lowering = import_module("torch._inductor.graph").GraphLowering(
        module, example_inputs=inputs, shape_env=mode.shape_env
    )
    with handlers.set_graph_handler(lowering), handlers.set_fake_mode(mode):
        lowering.run(*inputs)
    devices = lowering.device_node_mapping
    with torch._inductor.config.patch(graph_partition=False):
        reason = checks.check_multiple_devices_or_any_cpu_nodes(dict(devices))
    writes = torch.ops.aten.copy_.default
    written = {
        i for i, node in enumerate(placeholders) if any(u.target is writes and u.args[0] is node for u in node.users)
    }
    reason = reason or checks.check_for_mutation_ignore_cuda_graph_managed_tensor(module, written, written, static)
    for device in devices:
        reason = reason and reason.replace(repr(device), str(device))
    return reason and reason.removeprefix("skipping cudagraphs due to ")


def _module(torch, nodes):
    """The graph in torch.fx, with fake tensors as its values."""
    symbols = import_module("torch.fx.experimental.symbolic_shapes")
    mode = import_module("torch._subclasses.fake_tensor").FakeTensorMode(shape_env=symbols.ShapeEnv())
    graph, made = torch.fx.Graph(), {}
    for name, target, inputs, device, dtype in nodes[:-1]:
        arguments = [made[name] for name in inputs]
        if target == "placeholder":
            made[name] = graph.placeholder(name)
        else:
            options = {}
            if target == "prims.device_put.default":
                arguments.append(torch.device(device))
            elif target == "aten.randperm.default":
                arguments, options = [4], {"device": torch.device(device)}
            elif "index_put" in target:
                arguments = [arguments[0], arguments[1:-1], arguments[-1]]
            namespace, operator, overload = target.split(".")
            operator = getattr(getattr(getattr(torch.ops, namespace), operator), overload)
            made[name] = graph.call_function(operator, tuple(arguments), options, name=name)
        with mode:
            made[name].meta["val"] = torch.empty(4, device=device, dtype=getattr(torch, dtype))
    graph.output(tuple(made[name] for name in nodes[-1][2]))
    return mode, torch.fx.GraphModule(torch.nn.Module(), graph)
