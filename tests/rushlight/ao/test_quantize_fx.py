"""The walk prepare, calibrate, convert gives torch's graphs and numbers, and so do the int8 layers."""

import importlib
import operator
import warnings

import numpy as np
import pytest
import torch

import rushlight as rl
import rushlight.ao.quantization as ours
from autograder.engine.check import find
from rushlight.ao.nn.quantized import functional, int8_kernel

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(3)


@pytest.fixture(scope="module")
def programs():
    find("together.quantized")
    return importlib.import_module("autograder.checks.10b_graphs.programs")


@pytest.fixture(scope="module")
def theirs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("torch.ao.quantization.quantize_fx")
    return torch.ao.quantization


def names():
    find("together.quantized")
    return [*importlib.import_module("autograder.checks.10b_graphs.programs").LINES]


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("name", names()[::3])
def test_the_reference_form_computes_torchs_numbers(programs, name, channels):
    lines, settings, results = [["x - y", 0, 1], [name, 2, 1]], [0, 127, channels, [], []], []
    for xp in (torch, rl):
        model = programs.prepared(xp, programs.model_of(xp, lines), settings)
        model(*programs.inputs_of(xp))
        converted = programs.quantize_fx(xp)._convert_to_reference_decomposed_fx(model)
        results.append(converted(*programs.inputs_of(xp)).detach().numpy())
    np.testing.assert_allclose(*results, atol=1e-6)


@pytest.mark.parametrize("change", ["none", "relu moves", "relu floats", "mul floats"])
def test_the_nodes_of_a_match_have_the_qconfig_of_its_last_node(programs, change):
    graphs = []
    for xp in (torch, rl):
        fx, ao = programs.quantize_fx(xp), importlib.import_module(f"{xp.__name__}.ao.quantization")
        moving = ao.QConfig(ao.MovingAverageMinMaxObserver.with_args(quant_max=127), ao.default_qconfig.weight)
        mapping = ao.QConfigMapping().set_global(ao.default_qconfig)
        if change.startswith("relu"):
            mapping.set_module_name("relu", moving if change == "relu moves" else None)
        elif change == "mul floats":
            mapping.set_object_type(operator.mul, None)
        model = programs.model_of(xp, [["abs", 0, 0], ["relu of x * y", 0, 2], ["linear", 3, 0]], [4, 2])
        graphs.append(programs.graph_of(fx.prepare_fx(model, mapping, programs.inputs_of(xp))))
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("of_two", [False, True])
def test_a_batch_norm_is_folded_if_its_layer_has_no_other_user(programs, of_two, twice):
    graphs = []
    for xp in (torch, rl):

        class Model(xp.nn.Module):
            def __init__(self, xp=xp):
                super().__init__()
                self.conv, self.bn, self.aux = xp.nn.Conv2d(1, 2, 1), xp.nn.BatchNorm2d(2), xp.nn.Conv2d(2, 1, 1)
                self.relu = xp.nn.functional.relu

            def forward(self, x):
                c = self.conv(x)
                h = self.relu(self.bn(c))
                return h, self.aux(self.conv(x) if twice else c) if of_two else h

        fx, ao = programs.quantize_fx(xp), importlib.import_module(f"{xp.__name__}.ao.quantization")
        mapping = ao.QConfigMapping().set_global(ao.default_qconfig)
        graphs.append(programs.graph_of(fx.prepare_fx(Model().eval(), mapping, (xp.ones(1, 1, 2, 2),))))
    assert graphs[0] == graphs[1]
    assert ("BNReLU2d" in str(graphs[1])) == (of_two and not twice)


def models():
    torch.manual_seed(0)
    theirs = torch.nn.Sequential(torch.nn.Linear(64, 60), torch.nn.ReLU(), torch.nn.Linear(60, 20)).eval()
    mine = rl.nn.Sequential(rl.nn.Linear(64, 60), rl.nn.ReLU(), rl.nn.Linear(60, 20)).eval()
    mine.load_state_dict({name: rl.from_numpy(each.numpy().copy()) for name, each in theirs.state_dict().items()})
    return mine, theirs, rng.standard_normal((10, 64)).astype(np.float32)


@pytest.fixture
def fbgemm():
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("torch was built without FBGEMM")
    before, torch.backends.quantized.engine = torch.backends.quantized.engine, "fbgemm"
    yield
    torch.backends.quantized.engine = before


@pytest.mark.parametrize("qconfig", ["default_qconfig", "default_per_channel_qconfig"])
def test_a_converted_model_computes_torchs_integers(theirs, fbgemm, qconfig):
    mine, other, x = models()
    settings = [each.QConfigMapping().set_global(getattr(each, qconfig)) for each in (ours, theirs)]
    mine = ours.prepare_fx(mine, settings[0])
    other = theirs.quantize_fx.prepare_fx(other, settings[1], (torch.from_numpy(x),))
    mine(rl.from_numpy(x)), other(torch.from_numpy(x))
    mine, other = ours.convert_fx(mine), theirs.quantize_fx.convert_fx(other)
    results = mine(rl.from_numpy(x)).numpy(), other(torch.from_numpy(x)).detach().numpy()
    step = list(mine.graph.nodes)[-2].args[1]
    apart = np.rint(abs(results[0] - results[1]) / step)
    assert apart.max() <= 1 and (apart > 0).mean() < 0.02  # a sum at a middle may be rounded to either side


def test_a_dynamic_layer_computes_torchs_numbers(theirs, fbgemm):
    mine, other, x = models()
    mine, other = ours.quantize_dynamic(mine), theirs.quantize_dynamic(other)
    assert type(mine.get_submodule("0")).__name__ == "DynamicLinear"
    np.testing.assert_allclose(mine(rl.from_numpy(x)).numpy(), other(torch.from_numpy(x)).detach().numpy(), atol=1e-2)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 7), (32, 64, 600), (2, 130, 129), (0, 4, 3), (2, 1000, 17)])
def test_the_kernel_computes_what_numpy_computes(sizes, compiled, monkeypatch):
    if compiled and int8_kernel.library() is None:
        pytest.skip("there is no C++ compiler")
    if not compiled:
        monkeypatch.setattr(int8_kernel, "library", lambda: None)
    rows, columns, out = sizes
    x = rl.from_numpy(rng.integers(0, 256, (rows, columns)).astype(np.uint8))
    weight = rl.from_numpy(rng.integers(-128, 128, (out, columns)).astype(np.int8))
    zero_points = rl.from_numpy(rng.integers(-128, 128, out).astype(np.int32))
    scales, bias = (rl.from_numpy((rng.random(out) + 0.1).astype(np.float32)) for _ in range(2))
    packed = int8_kernel.PackedWeight(weight, zero_points)
    exact = (x.numpy().astype(int) - 77) @ (weight.numpy().astype(int) - zero_points.numpy()[:, None]).T
    np.testing.assert_array_equal(int8_kernel.sums(x, packed, 77).numpy(), exact)
    for relu in (False, True):
        settings = (0.01, 77), (scales, zero_points), (0.5 * columns, 100), relu
        expected = functional.linear(x, weight, bias, *settings)
        found = int8_kernel.linear(x, packed, bias, settings[0], scales, *settings[2:])
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_every_pattern_of_the_table_is_one_of_torchs(theirs):
    def named(pattern):
        if isinstance(pattern, tuple):
            return tuple(map(named, pattern))
        return pattern if isinstance(pattern, str) else pattern.__name__

    config = theirs.backend_config.get_native_backend_config()
    known = {named(pattern): each for pattern, each in config._pattern_complex_format_to_config.items()}
    from rushlight.ao.quantization.backend_config import BACKEND_CONFIG

    for pattern, entry in BACKEND_CONFIG.items():
        other = known[named(pattern)]
        assert (entry.fuser_method is None) == (other.fuser_method is None), pattern
        if entry.by_number_of_tensors:
            numbers = other._num_tensor_args_to_observation_type
            assert [each.name for each in entry.by_number_of_tensors] == [numbers[i].name for i in range(3)]
        else:
            assert entry.observation_type.name == other.observation_type.name, pattern
