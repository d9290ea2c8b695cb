import ast
from pathlib import Path

import pytest
import torchgen

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


def test_schemas_are_those_of_pytorchs_file_but_for_symints_and_a_few():
    """PyTorch generates some operators that its file only names, in `autogen`."""
    path = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    entries = gen.entries_of(path)
    known = {entry["func"].partition("(")[0]: entry["func"].replace("SymInt", "int") for entry in entries}
    generated = {name for entry in entries for name in entry.get("autogen", "").split(", ") if name}
    other = {name for name, native in gen.load().items() if native.text != known.get(name)} - generated
    without_implicit, not_marked = {"expand", "expand_copy"}, {"rrelu_with_noise", "rrelu_with_noise_"}
    assert other == without_implicit | not_marked
