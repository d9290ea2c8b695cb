import pytest

from rushlight import codegen, codegen_autograd
from rushlight.dispatch import operators
from rushlight.schema import parse_schema


@pytest.mark.parametrize("generator", [codegen, codegen_autograd])
def test_what_is_committed_is_what_the_declarations_generate(generator):
    assert codegen.is_fresh(generator), "run `rushlight build`"


def test_every_declared_operator_is_there_and_reads_as_it_was_written():
    for native in codegen.load().values():
        assert str(parse_schema(str(native.schema))) == str(native.schema)
        assert f"aten::{native.name}" in operators
