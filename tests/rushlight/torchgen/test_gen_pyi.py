"""The generated types tell the truth about the framework: they have its names and parameters, and no others."""

import ast
import inspect
from pathlib import Path

import rushlight as rl
from rushlight.aten import strided
from rushlight.torchgen import gen_pyi

OF_EVERY_CLASS = {*vars(object), "__dict__", "__module__", "__weakref__"}


def names(body):
    """The names that the statements of a module or a class bind."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)


def class_of(path, name):
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def functions():
    """The overloads of each function of `functions.pyi`."""
    overloads = {}
    for node in ast.parse(gen_pyi.FUNCTIONS.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            overloads.setdefault(node.name, []).append(node)
    return overloads


def test_a_tensor_has_every_attribute_that_the_types_name_and_no_other():
    typed = {*names(class_of(gen_pyi.METHODS, "TensorBase").body)}
    by_class = {*names(class_of(strided.__file__, "Tensor").body)}
    assert [name for name in typed if not hasattr(rl.Tensor, name)] == []
    assert {*vars(rl.Tensor)} - OF_EVERY_CLASS - by_class - typed == set()
    assert typed & by_class == set()


def test_every_function_of_an_operator_has_a_type_and_every_type_a_function():
    typed = functions()
    generated = {name: value for name, value in vars(rl.functions).items() if inspect.isfunction(value)}
    here = {name for name, value in generated.items() if value.__module__ == rl.functions.__name__}
    assert {*typed} == {
        name for name in here if name == "tensor_split" or not name.startswith(("tensor_", "_tensor_", "__"))
    } - {"compare_array"}
    assert {*rl.functions.__all__} <= {*typed}


def test_the_types_of_a_function_have_its_parameters():
    wrong = []
    for name, overloads in functions().items():
        parameters = inspect.signature(getattr(rl.functions, name)).parameters.values()
        if len(overloads) > 1 or any(each.kind == each.VAR_POSITIONAL for each in parameters):
            continue  # it finds the overload when it is called
        arguments = overloads[0].args
        typed = [each.arg for each in [*arguments.args, *arguments.kwonlyargs]]
        if typed != [each.name for each in parameters if each.kind != each.VAR_KEYWORD]:
            wrong.append((name, typed, parameters))
    assert wrong == []


def test_results_with_names_have_these_names():
    tree = ast.parse(gen_pyi.RETURN_TYPES.read_text(encoding="utf-8"))
    typed = {node.name: [*names(node.body)] for node in tree.body if isinstance(node, ast.ClassDef)}
    there = {each.__name__: [*each.__match_args__] for each in rl.return_types.all_return_types}
    assert typed == {name: fields for name, fields in there.items() if not name.endswith("_out")}
