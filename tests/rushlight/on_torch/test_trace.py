import os
import subprocess
import sys

import pytest
import torch
import torchgen
import yaml
from sweep import in_one_test
from torch.profiler import profile
from torchgen.model import FunctionSchema

from rushlight.on_torch import trace

NATIVE = os.path.join(os.path.dirname(torchgen.__file__), "packaged", "ATen", "native", "native_functions.yaml")
SITE = os.path.dirname(os.path.dirname(torch.__file__))


@pytest.fixture(scope="module")
def entries():
    with open(NATIVE) as file:
        return {entry["func"].partition("(")[0]: entry for entry in yaml.load(file, Loader=yaml.CSafeLoader)}


@pytest.fixture
def device():
    return trace.FakeDevice(overhead=0.5)


def table(op):
    return torch._C._dispatch_dump_table(op)


# The source map


@pytest.mark.sweep  # `test_rooms.py` has all modules
def test_importing_rushlight_does_not_import_torch():
    program = 'import sys, rushlight\nassert "torch" not in sys.modules\nrushlight.trace.layer_of("c10/x.h")'
    subprocess.run([sys.executable, "-c", program], check=True)


@in_one_test
@pytest.mark.parametrize("folder", [path for path in trace.SOURCE_MAP if path.startswith(("torch", "torchgen"))])
def test_what_the_map_names_in_python_is_there(folder):
    """(The C++ sources are not in the wheel.)"""
    if not folder.endswith(".cpp") and "csrc" not in folder:
        assert os.path.exists(os.path.join(SITE, folder))


@pytest.mark.parametrize("op", ["aten::add.Tensor", "aten::matmul", "aten::_softmax", "aten::empty.memory_format"])
def test_every_file_in_a_dump_is_on_the_map(op):
    places = {line.partition("registered at ")[2].partition(":")[0] for line in table(op).splitlines()}
    assert {trace.layer_of(place)[0] for place in places} <= {"dispatcher", "ATen", "frontend"}


def test_the_layers_are_the_four_that_the_map_has():
    assert {layer for layer, _ in trace.SOURCE_MAP.values()} == {"frontend", "dispatcher", "ATen", "compiler"}
    with pytest.raises(ValueError):
        trace.layer_of("numpy/core/numeric.py")


# Schemas and registrations


def test_all_schemas_of_pytorch_are_read_as_torch_reads_them(entries):
    for entry in entries.values():
        parts = trace.read_schema(entry["func"])
        parsed, shared = torch._C.parse_schema("aten::" + entry["func"]), FunctionSchema.parse(entry["func"])
        assert parts["name"] == str(shared.name)
        assert parts["required"] == [argument.name for argument in parsed.arguments if not argument.has_default_value()]
        assert parts["by name"] == [argument.name for argument in parsed.arguments if argument.kwarg_only]
        assert bool(parts["written"]) == parsed.is_mutable
        assert len(parts["shared"]) == len(parsed.returns)
        assert bool(sum(parts["shared"], [])) == any(result.annotation for result in shared.returns)


def test_a_schema_that_torch_prints_is_read_like_one_in_the_file():
    parts = trace.read_schema(str(torch.ops.aten.convolution.default._schema))
    assert parts["name"] == "aten::convolution" and len(parts["required"]) == 9
    assert trace.read_schema(str(torch.ops.aten.rot90.default._schema))["required"] == ["self"]


def test_what_the_file_registers_torch_has_registered(entries):
    text = yaml.dump([entries[name] for name in ("mm", "mm.out", "softmax.int", "relu", "matmul.out", "add.Scalar")])
    for name in ("mm", "mm.out", "softmax.int", "relu", "matmul.out", "add.Scalar"):
        kernels = trace.registrations(text, name)
        for key in ("CPU", "SparseCPU", "QuantizedCPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"):
            assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key) == (key in kernels), (name, key)


# Calls


def test_a_program_runs_as_it_always_does_and_is_seen_below_autograd():
    x = torch.ones(2, 3, requires_grad=True)
    calls = trace.aten_calls(lambda x: (x @ x.T).sum().backward(), x)
    assert x.grad is not None
    assert ("aten.mm.default", [(2, 3), (3, 2)]) in calls


def test_the_mode_is_left_when_the_function_raises():
    with pytest.raises(RuntimeError):
        trace.aten_calls(torch.mm, torch.ones(2, 3), torch.ones(2, 3))
    assert torch._C._len_torch_dispatch_stack() == 0


# Keys and kernels


def test_keys_depend_on_the_tensor_and_on_the_thread():
    x = torch.ones(2)
    assert trace.keys_in_order(x) == ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"]
    with torch.autocast("cpu"):
        assert trace.keys_in_order(x)[0] == "AutocastCPU"
    with torch.inference_mode():
        assert trace.keys_in_order(torch.ones(2)) == ["BackendSelect", "CPU"]
    assert trace.keys_in_order(x.to("meta"))[-1] == "Meta"


@pytest.mark.parametrize(
    ("op", "autocast", "served"),
    [
        ("add.Tensor", False, ("AutogradCPU", "autograd kernel")),
        ("add.Tensor", True, ("AutogradCPU", "autograd kernel")),  # which autocast leaves alone
        ("matmul", True, ("AutocastCPU", "kernel")),
        ("matmul", False, ("AutogradCPU", "math kernel")),
    ],
)
def test_the_first_key_that_is_not_passed_over_serves(op, autocast, served):
    with torch.autocast("cpu", enabled=autocast):
        key, place, kind = trace.serving(table(f"aten::{op}"), trace.keys_in_order(torch.ones(2, 2)))
    assert (key, kind) == served
    assert place.partition("/pytorch/")[2]


def test_where_nothing_serves_torch_raises():
    keys = trace.keys_in_order(torch.ones(2, 2).to_sparse())[1:]
    assert trace.serving(table("aten::_softmax"), keys) is None
    with pytest.raises(NotImplementedError):
        torch.ops.aten._softmax(torch.ones(2, 2).to_sparse(), 1, False)


# Time


def test_self_times_are_those_of_the_profiler():
    with profile() as seen:
        for _ in range(3):
            (torch.ones(40, 40) @ torch.ones(40, 40)).softmax(1).sum()
    events = [
        trace.Event(event.name, event.thread, round(event.time_range.start * 1000), round(event.time_range.end * 1000))
        for event in seen.events()
    ]
    mine = dict(trace.hot_operators(events, 0))
    theirs = {event.key: event.self_cpu_time_total * 1000 for event in seen.key_averages()}
    assert mine == pytest.approx({name: time for name, time in theirs.items() if name in mine}, abs=200)
    assert len(mine) > 3


def test_without_synchronising_only_the_launch_is_timed(device):
    def call():
        device.launch(10)

    assert trace.timed(call, lambda: None, device.clock) == 0.5
    assert trace.timed(call, device.synchronize, device.clock) == 10.5


def test_what_was_launched_before_is_not_timed(device):
    device.launch(100)
    assert trace.timed(lambda: device.launch(1), device.synchronize, device.clock, warmup=0, repeats=1) == 1.5
