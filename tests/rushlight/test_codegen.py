from rushlight import codegen
from rushlight.dispatch import operators
from rushlight.schema import parse_schema


def test_the_committed_functions_are_what_the_declarations_generate():
    assert codegen.is_fresh(), "run `rushlight build`"


def test_every_declared_operator_is_there_and_reads_as_it_was_written():
    for native in codegen.load().values():
        assert str(parse_schema(str(native.schema))) == str(native.schema)
        assert f"aten::{native.name}" in operators
