import pytest

from rushlight.c10.dispatch import operators
from rushlight.c10.schema import parse_schema
from rushlight.torchgen import gen, gen_autograd, gen_pyi


@pytest.mark.parametrize("generator", [gen, gen_autograd, gen_pyi])
def test_what_is_committed_is_what_the_declarations_generate(generator):
    assert not gen.stale(generator), "run `rushlight build`"


def test_every_declared_operator_is_there_and_reads_as_it_was_written():
    for native in gen.load().values():
        assert str(parse_schema(str(native.schema))) == str(native.schema)
        assert f"aten::{native.name}" in operators
