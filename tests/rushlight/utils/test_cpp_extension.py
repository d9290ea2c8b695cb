"""Operators in C++ are built once, called through the dispatcher, and cannot do harm unnoticed."""

import numpy as np
import pytest
import torch

import rushlight as rl
from rushlight.utils import cpp_extension as cpp

HEAD = '#include "rushlight.h"\nusing namespace rl;\n'
DOUBLED = (
    HEAD
    + """
Tensor doubled(const Tensor& x, int64_t times, bool negative) {
  CHECK(times >= 0, "times is negative");
  Tensor out = empty({x.numel()}, x.dtype());
  Accessor<const int64_t, 2> from(x);
  Accessor<int64_t, 1> to(out);
  for (int64_t i = 0; i < from.size(0); i++)
    for (int64_t j = 0; j < from.size(1); j++) to[i * from.size(1) + j] = from[i][j] * (1 << times) * (negative ? -1 : 1);
  return out;
}
OPERATOR(doubled, "doubled(Tensor x, int times=1, *, bool negative=False) -> Tensor")
"""
)
NUMBERED = (
    HEAD
    + """
Tensor numbered(const Tensor& x, double) {
  Tensor out = empty_like(x);
  parallel_for(0, x.numel(), 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) static_cast<int64_t*>(out.data)[i] = i;
  });
  return out;
}
OPERATOR(numbered, "numbered(Tensor x, float number=1.5) -> Tensor")
Tensor itself(const Tensor& x) { return x; }
OPERATOR(itself, "itself(Tensor x) -> Tensor")
Tensor falls(const Tensor& x) {
  parallel_for(0, 100, 1, [&](int64_t begin, int64_t) { if (begin == 0) throw std::out_of_range("over the edge"); });
  return x;
}
OPERATOR(falls, "falls(Tensor x) -> Tensor")
Tensor beyond(const Tensor& x) {
  Tensor out = empty_like(x);
  static_cast<char*>(out.data)[x.numel() * 8] = 1;
  return out;
}
OPERATOR(beyond, "beyond(Tensor x) -> Tensor")
"""
)


def test_arguments_are_taken_as_the_schema_says_and_strides_are_followed():
    x = rl.arange(6).view(2, 3).t()
    extension = cpp.build(DOUBLED)
    assert extension.doubled(x).tolist() == [0, 6, 2, 8, 4, 10]
    assert extension.doubled(x, 2, negative=True).tolist() == [0, -12, -4, -16, -8, -20]
    with pytest.raises(RuntimeError, match="times is negative"):
        extension.doubled(x, -1)
    with pytest.raises(RuntimeError, match="missing"):
        extension.doubled()


def test_one_text_may_have_several_operators():
    extension, x = cpp.build(NUMBERED), rl.zeros(5000, dtype=rl.int64)
    assert [*extension.schemas] == ["numbered", "itself", "falls", "beyond"]
    assert extension.numbered(x).tolist() == list(range(5000))
    assert extension.itself(x) is x
    with pytest.raises(IndexError, match="over the edge"):
        extension.falls(x)
    with pytest.raises(AttributeError, match="no operator 'other'"):
        extension.other  # noqa: B018


def test_writing_beside_a_new_tensor_is_noticed():
    with pytest.raises(RuntimeError, match="beyond wrote"):
        cpp.build(NUMBERED).beyond(rl.zeros(3, dtype=rl.int64))


def test_operators_are_called_through_the_dispatcher_and_replaced_by_later_ones():
    cpp.load(DOUBLED, "cpp_for_test")
    x = rl.ones(1, 2, dtype=rl.int64)
    assert rl.ops.cpp_for_test.doubled(x).tolist() == [2, 2]
    cpp.load(DOUBLED.replace("1 << times", "3"), "cpp_for_test")
    assert rl.ops.cpp_for_test.doubled(x).tolist() == [3, 3]
    with pytest.raises(NotImplementedError, match="Meta"):
        rl.ops.cpp_for_test.doubled(rl.empty(1, 2, device="meta"))


def test_a_text_is_compiled_once(monkeypatch, tmp_path):
    library = cpp._build_library(DOUBLED)
    monkeypatch.setattr(cpp.subprocess, "run", None)
    assert cpp._build_library(DOUBLED) == library and cpp.build(DOUBLED) is cpp.build(DOUBLED)


def test_what_does_not_compile_says_where():
    for _ in range(2):
        with pytest.raises(cpp.CompileError, match="operator.cpp:2"):
            cpp.build("int x = 1;\nint y = ;\n")


def test_without_a_compiler_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(RuntimeError, match="install one"):
        cpp.build("// something new")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rms_norm_agrees_with_torch_on_many_lines(dtype):
    x = np.random.default_rng(1).standard_normal((500, 3, 130)).astype(dtype).transpose(1, 0, 2)
    weight = np.linspace(-1, 1, 260, dtype=dtype)[::2]
    mine = cpp.rms_norm(rl.from_numpy(x), rl.from_numpy(weight), 1e-3)
    theirs = torch.nn.functional.rms_norm(torch.from_numpy(x), (130,), torch.from_numpy(weight.copy()), 1e-3)
    assert mine.is_contiguous()
    torch.testing.assert_close(torch.from_numpy(mine.numpy()), theirs)
