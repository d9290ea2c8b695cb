"""The int8 layers as operators: autograd refuses them as torch does, and compiler, export and files have them as one node."""

import copy
import io
import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import torch
from sweep import in_one_test

import rushlight as rl
import rushlight.ao.quantization as rq
from rushlight.ao.nn.quantized import functional, int8_kernel, operators
from rushlight.export import Dim, export, load, save
from rushlight.export.serialize import SerializeError
from rushlight.inductor.ir import FallbackKernel

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(8)
LINEAR, DYNAMIC = operators.linear_op, operators.linear_dynamic_op


def weight_of(out=5, columns=7):
    weight = rl.from_numpy(rng.integers(-128, 128, (out, columns)).astype(np.int8))
    scales, bias = (rl.from_numpy((rng.random(out) + 0.1).astype(np.float32)) for _ in range(2))
    return [weight, scales, rl.from_numpy(rng.integers(-3, 4, out).astype(np.int32)), bias]


def integers(*sizes):
    return rl.from_numpy(rng.integers(0, 256, sizes).astype(np.uint8))


def call(x, weight, quant_max=255, post_op="none"):
    return LINEAR(x, 0.1, 3, *weight, 0.9, 100, 0, quant_max, post_op)


@pytest.fixture
def model():
    rl.manual_seed(0)
    return rl.nn.Sequential(rl.nn.Linear(7, 6), rl.nn.ReLU(), rl.nn.Linear(6, 5)).eval()


def forms(model, qconfig=rq.default_per_channel_qconfig):
    """The reference form of a model, the form on integers, and the dynamic one."""
    prepared = rq.prepare_fx(model, rq.QConfigMapping().set_global(qconfig))
    prepared(rl.randn(20, 7))
    reference = rq.quantize_fx._convert_to_reference_decomposed_fx(prepared)
    return {"reference": reference, "integers": rq.convert_fx(prepared), "dynamic": rq.quantize_dynamic(model)}


def targets(graph):
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


# Kernels -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(7,), (3, 7), (2, 3, 7), (0, 7), (2, 0, 7)])
@pytest.mark.parametrize("compiled", [True, False])
def test_the_kernel_computes_the_layer_and_the_fake_kernel_its_sizes(sizes, compiled, monkeypatch):
    if compiled and int8_kernel.library() is None:
        pytest.skip("there is no C++ compiler")
    if not compiled:
        monkeypatch.setattr(int8_kernel, "library", lambda: None)
    weight = weight_of()
    for quant_max, post_op in ((255, "none"), (127, "relu")):
        x = integers(*sizes)
        found, fake = call(x, weight, quant_max, post_op), call(x.to("meta"), [w.to("meta") for w in weight], quant_max)
        settings = (0.1, 3), tuple(weight[1:3]), (0.9, 100), post_op == "relu"
        expected = functional.linear(x.reshape(-1, 7), weight[0], weight[3], *settings)
        np.testing.assert_array_equal(found.numpy(), np.minimum(expected.numpy(), quant_max).reshape(found.shape))
        assert (found.shape, found.stride(), found.dtype) == (fake.shape, fake.stride(), fake.dtype)
        x = rl.randn(*sizes)
        found, fake = DYNAMIC(x, *weight, post_op), DYNAMIC(x.to("meta"), *[w.to("meta") for w in weight], post_op)
        assert (found.shape, found.stride(), found.dtype) == (fake.shape, fake.stride(), fake.dtype)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_arguments_that_do_not_fit_never_reach_the_kernel(device):
    def refused(x, weight, *settings):
        with pytest.raises(RuntimeError) as error:
            LINEAR(x.to(device), 0.1, 3, *[w.to(device) for w in weight], *(settings or (0.9, 100, 0, 255, "none")))
        assert "\n" not in str(error.value)

    good, x = weight_of(), integers(2, 7)
    refused(integers(2, 8), good)
    refused(rl.randn(2, 7), good)
    refused(integers(1).reshape(()), good)
    for i in range(4):
        refused(x, [w[:3] if i == j else w for j, w in enumerate(good)])
        refused(x, [w.double() if i == j else w for j, w in enumerate(good)])
    refused(x, [good[0].reshape(-1), *good[1:]])
    for settings in ((0.9, 100, 0, 256, "none"), (0.9, 300, 0, 255, "none"), (0.0, 1, 0, 255, "none")):
        refused(x, good, *settings)
    refused(x, good, 0.9, 100, 0, 255, "gelu")


def test_a_weight_that_was_written_to_is_packed_again():
    weight, x = weight_of(), integers(2, 7)
    packed = operators.packed(*weight[:3:2])
    before = call(x, weight)
    if int8_kernel.library() is not None:
        assert operators.packed(*weight[:3:2]) is packed
    weight[0].add_(1)
    assert call(x, weight).tolist() == call(x, [weight[0].clone(), *weight[1:]]).tolist() != before.tolist()
    weight[2].sub_(2)
    assert call(x, weight).tolist() == call(x, [weight[0].clone(), *weight[1:]]).tolist()


def test_a_layer_with_a_packed_weight_is_copied_and_its_state_loaded(model):
    layer, x = forms(model)["integers"].get_submodule("0"), integers(2, 7)
    before = layer(x)
    other = copy.deepcopy(layer)
    assert other(x).tolist() == before.tolist()
    other.load_state_dict({name: w * 0 for name, w in layer.state_dict().items()})
    layer.load_state_dict(other.state_dict())
    assert layer(x).tolist() != before.tolist()


# Autograd ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs():
    """Two operators of torch without a derivative, from floating point and to integers."""
    one = torch.library.custom_op(
        "test_int8::linear_dynamic", torch.clone, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    to_integers = "(Tensor x, Tensor bias) -> Tensor"
    two = torch.library.custom_op("test_int8::linear", lambda x, bias: x.clone(), mutates_args=(), schema=to_integers)
    return one, two


def test_a_backward_through_floating_point_is_refused_as_in_torch(theirs):
    messages = []
    for xp, op in ((torch, theirs[0]), (rl, lambda x: DYNAMIC(x, *weight_of(), "none"))):
        x = xp.ones(2, 7, requires_grad=True)
        y = op(x)
        assert y.requires_grad
        with pytest.raises(RuntimeError) as error:
            y.sum().backward()
        messages.append(str(error.value).replace("test_int8", "rushlight_quantized").partition(". Please")[0])
        assert x.grad is None
        with xp.no_grad():
            assert not op(x).requires_grad
    assert messages[0] == messages[1]


def test_integers_have_no_history_as_in_torch(theirs):
    messages = []
    for xp, op in ((torch, theirs[1]), (rl, lambda x, bias: call(x, [*weight_of()[:3], bias]))):
        y = op(xp.ones(2, 7, dtype=xp.uint8), xp.ones(5, requires_grad=True))
        assert y.grad_fn is None and not y.requires_grad
        with pytest.raises(RuntimeError) as error:
            y.sum().backward()
        messages.append(str(error.value))
    assert messages[0] == messages[1]


# Capture -------------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_a_compiled_model_calls_the_operator_once_for_each_layer(model):
    for name, form in forms(model).items():
        graphs = []

        def backend(module, inputs, graphs=graphs):
            return rl.aot.aot_autograd(module, inputs, lambda graph, _: graphs.append(graph) or graph.forward)

        seen, fast = rl.compile(form, backend=backend, fullgraph=True), rl.compile(form, fullgraph=True)
        for rows in (5, 3, 11):  # each size has a graph of its own
            x = rl.randn(rows, 7)
            with rl.no_grad():
                expected = form(x)
                assert seen(x).tolist() == expected.tolist()
                np.testing.assert_allclose(fast(x).numpy(), expected.numpy(), atol=1e-5)
        layers = [each for each in targets(graphs[0].graph) if each.startswith("rushlight_quantized")]
        wanted = {"integers": "linear", "dynamic": "linear_dynamic"}
        assert layers == [f"rushlight_quantized.{wanted[name]}.default"] * 2 if name in wanted else not layers
        steps = rl.inductor.graph.lower(graphs[0]).operations
        extern = [step for step in steps if isinstance(step, FallbackKernel) and step.target in (LINEAR, DYNAMIC)]
        assert len(extern) == len(layers)


def test_a_compiled_model_refuses_a_gradient_when_it_is_captured(model):
    compiled = rl.compile(forms(model)["dynamic"])
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        compiled(rl.ones(2, 7, requires_grad=True))


@pytest.mark.parametrize("name", ["reference", "integers", "dynamic"])
def test_an_exported_model_runs_in_a_process_without_its_source(model, name, tmp_path):
    form = forms(model)[name]
    program = export(form, (rl.randn(5, 7),), dynamic_shapes=({0: Dim.AUTO},))
    assert [*program.range_constraints.values()] == [(2, None)]
    operator = {"reference": "quantized_decomposed.quantize_per_channel", "integers": "rushlight_quantized.linear"}
    assert targets(program.graph).count(f"{operator.get(name, 'rushlight_quantized.linear_dynamic')}.default") == 2
    save(program, tmp_path / "program.pt2")
    script = f"""
import sys
import rushlight as rl
try:
    rl.export.load({str(tmp_path / "program.pt2")!r})
except RuntimeError as error:
    print(error)
import rushlight.ao.nn.quantized
module = rl.export.load({str(tmp_path / "program.pt2")!r}).module()
print(module((rl.arange(21).reshape(3, 7) - 10).float() / 10).tolist(), "rushlight.fx.symbolic_trace" in sys.modules)
"""
    found = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    start = "this is no file of an exported program: the operator 'torch.ops."
    assert len(found) == 2 and found[0].startswith(start) and "first import the module that registers it" in found[0]
    with rl.no_grad():
        expected = form((rl.arange(21).reshape(3, 7) - 10).float() / 10).tolist()
    assert found[1] == f"{expected} False"


def test_the_reference_form_exports_to_torchs_nodes(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.ao.quantization import quantize_fx
    for qconfig in ("default_qconfig", "default_per_channel_qconfig"):
        reference = forms(model, getattr(rq, qconfig))["reference"]
        mine = export(reference, (rl.randn(5, 7),)).graph
        other = torch.nn.Sequential(torch.nn.Linear(7, 6), torch.nn.ReLU(), torch.nn.Linear(6, 5)).eval()
        mapping, x = torch.ao.quantization.QConfigMapping(), torch.randn(5, 7)
        prepared = quantize_fx.prepare_fx(other, mapping.set_global(getattr(torch.ao.quantization, qconfig)), (x,))
        prepared(x)
        other = torch.export.export(quantize_fx._convert_to_reference_decomposed_fx(prepared), (x,))
        kept = [node for node in other.run_decompositions({}).graph.nodes if node.op == "call_function"]
        found = [node for node in mine.nodes if node.op == "call_function" and str(node.target) != "aten.t.default"]
        assert [str(node.target).replace("addmm", "linear") for node in found] == [str(node.target) for node in kept]
        for node, wanted in zip(found, kept):
            if "decomposed" in str(node.target):
                assert [str(arg) for arg in node.args[3:]] == [
                    str(arg).replace("torch.", "rushlight.") for arg in wanted.args[3:]
                ] or "per_tensor.default" in str(node.target)


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def library():
    library = rl.library.Library("test_int8_files", "DEF")
    yield library
    library._destroy()


def rewritten(program, change=lambda nodes: None):
    """The file of a program after `change` of the nodes in it."""
    file, new = io.BytesIO(), io.BytesIO()
    save(program, file)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("model.json"):
                model = json.loads(data)
                change(model["graph"]["nodes"])
                data = json.dumps(model)
            target.writestr(name, data)
    return new


@pytest.mark.parametrize("other", [
    "rushlight_quantized.linear_dynamic.out", "rushlight_quantized.os.default", "os.system.default",
    "rushlight_quantized.packed.default", "test_int8_files.write.default", "rushlight_quantized.linear.default",
    "rushlight_quantized.linear_dynamic", "rushlight_quantized::linear_dynamic.default.x",
])  # fmt: skip
def test_an_operator_that_is_not_registered_or_writes_is_refused_in_one_line(model, library, other):
    library.define("write(Tensor(a!) x, Tensor a, Tensor b, Tensor c, Tensor? d, str e) -> Tensor(a!)")
    ran = []
    library.impl("write", lambda *args: ran.append(args), "CPU")
    program = export(forms(model)["dynamic"], (rl.randn(5, 7),))
    load(rewritten(program))
    before = set(sys.modules)
    with pytest.raises(SerializeError) as error:
        load(rewritten(program, lambda nodes: nodes[0].update(target=f"torch.ops.{other}")))
    assert "\n" not in str(error.value) and not ran and set(sys.modules) == before


def test_a_file_whose_sizes_do_not_fit_fails_before_the_kernel(model):
    program = export(forms(model)["dynamic"], (rl.randn(5, 7),))

    def swap(nodes):
        one, other = (next(each for each in node["inputs"] if each["name"] == "bias") for node in nodes[::2])
        one["arg"], other["arg"] = other["arg"], one["arg"]

    module = load(rewritten(program, swap)).module()
    with pytest.raises(RuntimeError, match="bias must be"):
        module(rl.randn(5, 7))


def test_an_operator_of_the_user_is_saved_and_loaded(library):
    library.define("parts(Tensor x, float[] scales, *, ScalarType dtype) -> (Tensor, Tensor)")
    library.impl("parts", lambda x, scales, *, dtype: ((x * scales[0]).to(dtype), x * scales[1]), "CPU")
    library.impl("parts", lambda x, scales, *, dtype: (rl.empty_like(x, dtype=dtype), rl.empty_like(x)), "Meta")

    class Parts(rl.nn.Module):
        def forward(self, x):
            a, b = rl.ops.test_int8_files.parts(x, [2.0, 0.5], dtype=rl.int8)
            return a, b + 1

    file = rewritten(export(Parts(), (rl.ones(3),), dynamic_shapes=({0: Dim.AUTO},)))
    with zipfile.ZipFile(file) as archive:
        node = json.loads(archive.read("models/model.json"))["graph"]["nodes"][0]
    assert node["target"] == "torch.ops.test_int8_files.parts.default"
    x = rl.tensor([1.0, 2.0, 3.0, 4.0])
    assert [y.tolist() for y in load(file).module()(x)] == [[2, 4, 6, 8], [1.5, 2.0, 2.5, 3.0]]
    library._destroy()
    with pytest.raises(SerializeError, match="not registered"):
        load(file)


# The operators of the reference form ---------------------------------------------------------------------------------

I8, U8 = (-128, 127, "int8"), (0, 255, "uint8")
META = {
    "quantize_per_tensor.default": [("float32", (3, 4)), 0.1, 3, *I8],
    "quantize_per_tensor.tensor": [("float32", (3, 4)), ("float32", (1,)), ("int64", (1,)), *U8],
    "quantize_per_tensor.tensor of half": [("float16", (3, 4)), ("float32", ()), ("int64", ()), *U8],
    "quantize_per_tensor.tensor of double": [("float64", (3, 4)), ("float32", ()), ("int64", ()), *U8],
    "quantize_per_tensor.tensor with two scales": [("float32", (3, 4)), ("float32", (2,)), ("int64", (1,)), *U8],
    "quantize_per_tensor.tensor with two zeros": [("float32", (3, 4)), ("float32", (2,)), ("int64", (2,)), *U8],
    "dequantize_per_tensor.default": [("int8", (3, 4)), 0.1, 3, *I8],
    "dequantize_per_tensor.tensor": [("uint8", (3, 4)), ("float32", (1,)), ("int64", (1,)), *U8],
    "dequantize_per_tensor.tensor of another": [("int8", (3, 4)), ("float32", (1,)), ("int64", (1,)), *U8],
    "choose_qparams.tensor": [("float32", (3, 4)), 0, 255, 1e-6, "uint8"],
    "choose_qparams.tensor of integers": [("int32", (3, 4)), 0, 255, 1e-6, "uint8"],
    "choose_qparams_symmetric.tensor": [("float32", (3, 4)), -128, 127, 1e-6, "int8"],
    "quantize_per_channel.default": [("float32", (3, 4)), ("float32", (4,)), ("int64", (4,)), 1, *I8],
    "dequantize_per_channel.default": [("int8", (3, 4)), ("float32", (3,)), ("int64", (3,)), 0, *I8],
}


@in_one_test
@pytest.mark.parametrize("case", META)
def test_the_fake_kernels_of_the_reference_form_give_torchs_sizes_and_dtypes(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.ao.quantization.fx import _decomposed  # noqa: F401
    found = []
    for xp in (torch, rl):

        def made(arg, xp=xp):
            if isinstance(arg, tuple):
                return xp.empty(arg[1], dtype=getattr(xp, arg[0]), device="meta")
            return getattr(xp, arg) if isinstance(arg, str) else arg

        name, overload = case.split()[0].split(".")
        operator = getattr(getattr(xp.ops.quantized_decomposed, name), overload)
        try:
            results = operator(*map(made, META[case]))
        except AssertionError as error:
            found.append(str(error).replace("torch.", "").replace("rushlight.", ""))
            continue
        results = results if isinstance(results, tuple) else (results,)
        found.append([(tuple(r.shape), r.stride(), str(r.dtype).split(".")[1], str(r.device)) for r in results])
    assert found[0] == found[1]
