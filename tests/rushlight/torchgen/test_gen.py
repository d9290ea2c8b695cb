import ast

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


def test_no_formula_of_a_gradient_calls_a_kernel_of_the_file_that_it_is_generated_into():
    """A kernel of `variable_type.py` has the name of its operator and other arguments. A formula calls `functions.softplus`."""
    generated = ast.parse(gen_autograd.TARGET.read_text(encoding="utf-8"))
    kernels = {
        part.name for part in generated.body if isinstance(part, ast.FunctionDef) and part.args.args[0].arg == "key_set"
    }
    called = {call.func for call in ast.walk(generated) if isinstance(call, ast.Call)}
    assert "softplus" in kernels and not kernels & {name.id for name in called if isinstance(name, ast.Name)}
