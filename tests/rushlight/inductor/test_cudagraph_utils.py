"""The reasons why a graph is not captured, against torch's own: its lowering finds the devices, and its checks the reasons."""

import random

import pytest
import torch
from torch._inductor import cudagraph_utils
from torch._inductor.graph import GraphLowering
from torch._inductor.utils import get_first_incompatible_cudagraph_node
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import rushlight as rl
from rushlight.inductor.cudagraph_utils import FORBIDDEN_CUDAGRAPH_OPS, GraphNode, why_no_graph


@pytest.fixture(autouse=True)
def no_context(monkeypatch):
    """A fake tensor starts its device, and the drawn graphs have two. A machine may have one."""
    monkeypatch.setattr("torch._subclasses.fake_tensor.init_gpu_context", lambda device: None)


def torchs_reason(nodes, static=()):
    mode = FakeTensorMode(shape_env=ShapeEnv())
    graph, made = torch.fx.Graph(), {}
    for node in nodes[:-1]:
        inputs = [made[name] for name in node.inputs]
        target = node.target
        if target == "placeholder":
            made[node.name] = graph.placeholder(node.name)
        else:
            if target.startswith("aten.index_put"):
                inputs = [inputs[0], inputs[1:-1], inputs[-1]]
            elif target == "prims.device_put.default":
                inputs = [*inputs, torch.device(node.device)]
            namespace, name, overload = target.split(".")
            made[node.name] = graph.call_function(
                getattr(getattr(getattr(torch.ops, namespace), name), overload), tuple(inputs)
            )
            made[node.name].name = node.name
        with mode:
            made[node.name].meta["val"] = torch.empty(4, device=node.device, dtype=getattr(torch, node.dtype))
    graph.output(tuple(made[name] for name in nodes[-1].inputs))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    if node := get_first_incompatible_cudagraph_node(module):
        return f"incompatible op {node.target}"
    inputs = [node.meta["val"] for node in graph.find_nodes(op="placeholder")]
    lowering = GraphLowering(module, example_inputs=inputs, shape_env=mode.shape_env)
    with V.set_graph_handler(lowering), V.set_fake_mode(mode):
        lowering.run(*inputs)
    devices = lowering.device_node_mapping
    with torch._inductor.config.patch(graph_partition=False):
        reason = cudagraph_utils.check_multiple_devices_or_any_cpu_nodes(dict(devices))
    placeholders = graph.find_nodes(op="placeholder")
    written = {
        i
        for i, node in enumerate(placeholders)
        if any(user.target is torch.ops.aten.copy_.default and user.args[0] is node for user in node.users)
    }
    names = [placeholders[i].name for i in written]
    reason = reason or cudagraph_utils.check_for_mutation_ignore_cuda_graph_managed_tensor(
        module, names, written, static
    )
    for device in devices:
        reason = reason and reason.replace(repr(device), str(device))
    return reason and reason.removeprefix("skipping cudagraphs due to ")


def drawn(seed):
    rng = random.Random(seed)
    devices = rng.choice([["cuda:0"], ["cuda:0"], ["cuda:0", "cpu"], ["cuda:0", "cuda:1"]])
    nodes = [
        GraphNode(
            f"arg{i}_1", "placeholder", (), rng.choice(devices), rng.choice(["float32", "float32", "bool", "int64"])
        )
        for i in range(rng.randint(2, 4))
    ]
    floats = [node for node in nodes if node.dtype == "float32"]
    for i in range(rng.randint(1, 4) if floats else 0):
        x = rng.choice(floats)
        same = [node for node in nodes if node.device == x.device]
        indices = [node for node in same if node.dtype in ("bool", "int64") and node.target == "placeholder"]
        kind = rng.choice(["mul", "mul", "copy_", "device_put", "index_put"])
        name = f"{kind}_{i}"
        if kind == "mul":
            y = rng.choice([node for node in same if node.dtype == "float32"])
            nodes.append(GraphNode(name, "aten.mul.Tensor", (x.name, y.name), x.device))
        elif kind == "device_put":
            nodes.append(GraphNode(name, "prims.device_put.default", (x.name,), rng.choice(devices)))
        elif kind == "index_put" and indices:
            chosen = (x.name, rng.choice(indices).name, x.name)
            nodes.append(GraphNode(name, "aten.index_put.default", chosen, x.device))
        elif kind == "copy_":
            written = [node for node in same if node.target == "placeholder" and node.dtype == "float32"]
            if written:
                nodes.append(GraphNode(name, "aten.copy_.default", (rng.choice(written).name, x.name), x.device))
        floats = [node for node in nodes if node.dtype == "float32"]
    static = [i for i in range(4) if rng.random() < 0.3]
    result = rng.choice(nodes).name if rng.random() < 0.2 else nodes[-1].name
    return [*nodes, GraphNode("output", "output", (result,), None)], static


def test_the_forbidden_operators_are_torchs():
    assert torch._inductor.utils.FORBIDDEN_CUDAGRAPH_OPS == FORBIDDEN_CUDAGRAPH_OPS


@pytest.mark.parametrize("seed", range(60))
def test_a_reason_is_torchs_reason(seed):
    nodes, static = drawn(seed)
    assert why_no_graph(nodes, static) == torchs_reason(nodes, static)


def test_the_drawn_graphs_have_every_reason():
    reasons = {str(why_no_graph(*drawn(seed))).partition(" ")[0] for seed in range(60)}
    assert reasons == {"None", "incompatible", "cpu", "multiple", "mutated"}


def test_rushlights_compiler_says_that_its_graphs_are_on_the_cpu(monkeypatch, capfd):
    monkeypatch.setenv("RUSHLIGHT_LOGS", "cudagraphs")
    rl.dynamo.reset()
    rl.compile(lambda x: x * 2 + 1)(rl.ones(3))
    assert "skipping cudagraphs due to cpu device (" in capfd.readouterr().err


def test_rushlights_compiler_is_silent_about_a_graph_without_a_reason(monkeypatch, capfd):
    monkeypatch.setenv("RUSHLIGHT_LOGS", "cudagraphs")
    graph = rl.fx.Graph()
    graph.placeholder("unused").meta["val"] = rl.ones(3)
    graph.output((None,))
    assert rl.inductor.compile_fx_inner(rl.fx.GraphModule({}, graph), [rl.ones(3)])(rl.ones(3)) == [None]
    assert capfd.readouterr().err == ""
