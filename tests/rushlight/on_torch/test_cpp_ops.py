"""The operator in C++ is PyTorch's own in every respect, and a text is compiled once."""

import subprocess

import pytest
import torch

from rushlight.on_torch import cpp_ops
from rushlight.utils import cpp_extension as cpp

TWICE = """
#include <torch/library.h>
at::Tensor itself(const at::Tensor& x) { return x; }
TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("itself(Tensor(a) x) -> Tensor(a)", &itself); }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and a process that has built nothing."""
    monkeypatch.setattr(cpp, "build_folder", lambda: tmp_path)
    monkeypatch.setattr(cpp_ops, "_built", {})
    return tmp_path


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 2, 5), (0, 3), (2, 0)])
def test_it_computes_what_torch_does(shape, dtype):
    x, weight = torch.randn(shape, dtype=dtype), torch.randn(shape[-1], dtype=dtype)
    expected = torch.nn.functional.rms_norm(x, shape[-1:], weight, 0.25)
    torch.testing.assert_close(cpp_ops.rms_norm(x, weight, 0.25), expected)


@pytest.mark.sweep
def test_any_strides_are_followed_and_the_result_is_contiguous():
    x, weight = torch.randn(5, 3).t(), torch.randn(10)[::2]
    result = cpp_ops.rms_norm(x, weight)
    torch.testing.assert_close(result, torch.nn.functional.rms_norm(x, (5,), weight, 1e-5))
    assert result.is_contiguous()


@pytest.mark.sweep
def test_its_errors_are_pythons():
    with pytest.raises(RuntimeError, match="at least one dimension"):
        cpp_ops.rms_norm(torch.tensor(1.0), torch.ones(1))
    with pytest.raises(RuntimeError, match="last dimension"):
        cpp_ops.rms_norm(torch.ones(2, 3), torch.ones(2))
    with pytest.raises(RuntimeError, match="dtype"):
        cpp_ops.rms_norm(torch.ones(2, 3), torch.ones(3, dtype=torch.float64))
    with pytest.raises(NotImplementedError, match="Long"):
        cpp_ops.rms_norm(torch.ones(2, 3, dtype=torch.int64), torch.ones(3, dtype=torch.int64))


@pytest.mark.sweep
def test_gradients_are_right_once_and_twice():
    for shape in ((2, 3), (3,), (2, 2, 3)):
        x, weight = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in (shape, shape[-1:]))
        assert torch.autograd.gradcheck(cpp_ops.rms_norm, (x, weight))
        assert torch.autograd.gradgradcheck(cpp_ops.rms_norm, (x, weight))


@pytest.mark.sweep
def test_opcheck_finds_nothing():
    x, weight = torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    assert set(torch.library.opcheck(cpp_ops.operator(), (x, weight, 0.5)).values()) == {"SUCCESS"}


@pytest.mark.sweep
def test_it_is_one_call_in_a_graph_that_is_right_for_batches_of_all_sizes():
    op, graphs = cpp_ops.operator(), []

    def keep(graph, inputs):
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph

    weight = torch.randn(4)
    compiled = torch.compile(lambda x: op(x, weight) + 1, fullgraph=True, backend=keep, dynamic=True)
    for length in (2, 3, 5, 8):
        x = torch.randn(length, 4)
        torch.testing.assert_close(compiled(x), op(x, weight) + 1)
    assert len(graphs) == 1
    assert graphs[0][0] == op
    x = torch.randn(3, 4, requires_grad=True)
    torch.compile(lambda x: op(x, weight), fullgraph=True, backend="aot_eager")(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.autograd.grad(op(x, weight).sum(), x)[0])


@pytest.mark.sweep
def test_a_text_is_compiled_once_and_then_loaded(folder, monkeypatch):
    operators = cpp_ops.build(TWICE)
    x = torch.ones(2)
    assert operators.itself(x).data_ptr() == x.data_ptr()
    assert cpp_ops.build(TWICE) is operators
    [library] = folder.glob("*.so")
    # another process has the file, and needs no compiler for it
    monkeypatch.setattr(cpp_ops, "_built", {})
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: pytest.fail("it compiles again"))
    monkeypatch.setattr(torch.ops, "load_library", lambda path: path == library or pytest.fail("another library"))
    assert cpp_ops.build(TWICE).itself(x) is not None


def test_a_text_that_does_not_compile_says_where(folder):
    with pytest.raises(cpp.CompileError, match="^operator.cpp:2:.*error"):
        cpp_ops.build("// TORCH_EXTENSION_NAME\nthis is no C++")
    with pytest.raises(cpp.CompileError, match="TORCH_EXTENSION_NAME"):
        cpp_ops.build(TWICE.replace("TORCH_EXTENSION_NAME", "mine"))
    assert not list(folder.iterdir())


def test_without_a_compiler_there_is_one_line_that_says_what_to_do(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(RuntimeError, match=r"^there is no C\+\+ compiler: install one .*$") as raised:
        cpp_ops.build(TWICE + "// no compiler")
    assert "\n" not in str(raised.value)
