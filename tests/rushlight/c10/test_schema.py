"""Schemas, read and written as torch reads and writes them."""

import pytest
import torch
from both import agree
from hypothesis import given, seed
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from autograder.engine.check import find

GOOD = """
f(Tensor x) -> Tensor
ns::f(Tensor x) -> Tensor
ns::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
f(Tensor(a) x) -> Tensor(a)
f(Tensor(a -> *) x) -> Tensor(a)[]
f(Tensor(a!)[] x) -> ()
f(Tensor?[] x) -> Tensor
f(Tensor[]? x=None) -> Tensor
f(int[2] x=[1,2]) -> Tensor
f(int[2] x=1) -> Tensor
f(int[2] x=[3, 3]) -> Tensor
f(int[2]? x=None) -> Tensor
f(int[3] x=[]) -> Tensor
f(float x=1.0, float y=1e-05, float z=-0.5, float w=1e10, float v=0.1) -> Tensor
f(float x=1, float[] y=[1, 2.5]) -> Tensor
f(int x=-1, int r=Mean) -> Tensor
f(bool x=True, bool? y=None, bool[3] m=[True,False,True], bool[2] n=True) -> Tensor
f(str x="a,b", str y='c(', str z="it's") -> Tensor
f(str? x=None) -> (Tensor, Tensor)
f(Tensor x) -> (Tensor a, Tensor b)
f(Tensor x) -> (Tensor)
f(Tensor x) -> (Tensor a)
f(Tensor x) -> Tensor a
f() -> ()
f(*, int a) -> int
f(int a, *) -> int
f (int a)->int
f(int  a , int b = 3 ) -> int
f(Scalar a=1, Scalar b=1.5) -> Scalar
f(ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
f(SymInt a, SymInt[] b, SymInt[2] c, SymInt? d=None) -> Tensor
f(Generator? g=None) -> Tensor
f(int[2]x, Tensor?y, Tensor (a!) z, float[]w=[1]) -> Tensor
__and__.Tensor(Tensor self) -> Tensor
""".strip().splitlines()
BAD = [
    "",
    "f",
    "f(int a",
    "f(int a)",
    "f(int a) ->",
    "f(int a) -> (int",
    "(int a) -> int",
    "1f(int a) -> int",
    "f(int) -> int",
    "f(int a,) -> int",
    "f(,) -> int",
    "f(int a,, int b) -> int",
    "f(int a=1, int b) -> int",
    "f(int x y) -> int",
    "f(int 1x) -> int",
    "f(int x=3=4) -> int",
    "f(int x=[) -> int",
    "f(Tensor x=1) -> int",
    "f(Tensor?(a!) x) -> int",
    "f-g(int x) -> int",
    "a::b::f(int x) -> int",
    "f.a.b(int x) -> int",
    "f.default(int x) -> int",
]


def written(xp, text):
    schema = str(xp._C.parse_schema(text))
    return schema if "::" in schema.partition("(")[0] else f"aten::{schema}"


@in_one_test
@pytest.mark.parametrize("text", GOOD + BAD)
def test_a_schema_is_read_and_written_as_torch_does(text):
    agree(written, text)


@in_one_test
@pytest.mark.parametrize("text", GOOD)
def test_a_schema_that_was_written_reads_the_same(text):
    once = rl.schema.parse_schema(text)
    assert rl.schema.parse_schema(str(once)) == once


@in_one_test
@pytest.mark.parametrize("text", GOOD)
def test_arguments_are_torchs(text):
    ours, theirs = rl.schema.parse_schema(text), torch._C.parse_schema(text)
    for mine, other in zip(ours.arguments, theirs.arguments, strict=True):
        assert (mine.name, mine.kwarg_only) == (other.name, other.kwarg_only)
        assert mine.has_default == other.has_default_value()
        assert not mine.has_default or mine.default == other.default_value
        assert mine.is_written == (other.alias_info is not None and other.alias_info.is_write)
        assert mine.length == other.N
    assert ours.is_mutable == theirs.is_mutable


def declared():
    from rushlight.torchgen import gen as codegen

    return [native.text for native in codegen.load().values()]


def test_every_declared_schema_is_one_that_torch_has():
    """Word for word, but for the arguments that say where a tensor is to be made, and how the ints in lists are called."""

    def is_torchs(text):
        name, _, overload = text.partition("(")[0].partition(".")
        overloads = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
        return overload in [schema.overload_name for schema in overloads]

    texts = declared()
    assert len(texts) > 700 and [text for text in texts if not is_torchs(text)] == []


@seed(3)
@given(find("c10.schema.parse_schema").cases(st))
def test_any_schema_is_read_and_written_as_torch_does(case):
    agree(written, case["text"])


@in_one_test
@pytest.mark.parametrize("value", [1, 1.0, True, None, "1", [1], (1,)])
@pytest.mark.parametrize("type", ["int x=1", "float x=1", "bool x=True", "int? x=None", "str x='1'", "int[] x=[1]"])
def test_what_is_a_default_is_told_by_type_and_value(type, value):
    argument = rl.schema.parse_argument(type)
    same = value == argument.default and value.__class__ is argument.default.__class__
    assert rl.schema.is_default(argument, value) == same
