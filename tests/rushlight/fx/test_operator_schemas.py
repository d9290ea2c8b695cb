"""Signatures of operators, and arguments of calls in one form, as torch gives them."""

import operator
from typing import Any

import pytest
import torch
from sweep import in_one_test

import rushlight as rl

NAMES = [
    "add", "sum", "cat", "relu", "clamp", "roll", "arange", "full", "max", "max_pool1d", "conv2d", "normal", "where", "split",
    "stack", "addmm", "topk", "to",
]  # fmt: skip


def schemas(m):
    return __import__(f"{m.__name__}.fx.operator_schemas", fromlist=["x"])


@in_one_test
@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(torch, name)])
def test_each_signature_of_an_operator_is_one_that_torch_gives(name):
    theirs, ours = (schemas(m).get_signature_for_torch_op(getattr(m, name)) for m in (torch, rl))
    written = [str(signature) for signature in ours]
    written = [
        text.replace("rushlight.aten.strided", "torch").replace("rushlight.c10.storage", "torch") for text in written
    ]
    assert ours and {*written} <= {str(signature) for signature in theirs}


def test_functions_in_python_have_no_schemas():
    for m in (torch, rl):
        assert schemas(m).get_signature_for_torch_op(m.nn.functional.relu) is None
        assert schemas(m).get_signature_for_torch_op(operator.add, return_schemas=True) == (None, None)


def normalized(program):
    """The arguments that torch and rushlight give, or their error."""
    found = []
    for m in (torch, rl):
        try:
            found.append(program(m, schemas(m)))
        except RuntimeError as error:
            found.append(str(error).split("!")[0].replace("rushlight", "torch").replace("_VariableFunctionsClass.", ""))
    assert found[0] == found[1]
    return found[0]


def test_normalized_arguments_have_all_defaults():
    assert normalized(lambda m, s: s.normalize_function(m.nn.functional.dropout, (1, 0.5))) == (
        (1, 0.5),
        {"training": True, "inplace": False},
    )
    assert normalized(lambda m, s: s.normalize_function(m.relu, (1,), None, None, None, True)) == ((), {"input": 1})
    assert normalized(lambda m, s: s.normalize_function(m.relu, (1, 2, 3))) is None
    assert "ambiguous" in normalized(lambda m, s: s.normalize_function(m.add, (1, 2)))
    for other in (torch.Tensor, int):
        normalized(
            lambda m, s, other=other: s.normalize_function(
                m.add,
                (1, 2),
                arg_types=(m.Tensor, m.Tensor if other is not int else int),
                normalize_to_only_use_kwargs=True,
            )
        )


def test_nodes_give_their_normalized_arguments():
    def arguments(m, s):
        graph = m.fx.Graph()
        x = graph.placeholder("x")
        nodes = [
            graph.call_module("0", (x,)),
            graph.call_method("relu", (x,)),
            graph.call_function(m.nn.functional.dropout, (x, 0.1)),
        ]
        module = m.nn.Sequential(m.nn.Linear(2, 2))
        return [repr(node.normalized_arguments(module, normalize_to_only_use_kwargs=True)) for node in nodes]

    normalized(arguments)


def test_types_match_as_in_torch():
    def answers(m, s):
        tensor, parameter = m.Tensor, m.nn.Parameter
        kinds = [
            int,
            float,
            tensor,
            parameter,
            m.dtype,
            list[int],
            list[tensor],
            list[parameter],
            tuple[int, ...],
            tuple[tensor, ...],
            Any,
        ]
        return [s.type_matches(first, second) for first in kinds for second in kinds]

    def hints(m, s):
        tensor, parameter = m.Tensor, m.nn.Parameter
        values = [[int, int], (int, int), [tensor, parameter], (parameter, tensor), [int, str], [], (), int]
        return [str(s.create_type_hint(value)).replace("rushlight.aten.strided", "torch") for value in values]

    normalized(answers)
    normalized(hints)


def test_functions_that_call_operators_are_not_traced():
    for m in (torch, rl):
        with pytest.raises(AssertionError, match="Expected FunctionType"):
            m.fx.symbolic_trace(m.relu)


def test_a_function_is_traced_while_another_recording_runs():
    kept = [m.fx.Proxy(m.fx.Graph().placeholder("x")) for m in (torch, rl)]
    codes = [m.fx.symbolic_trace(m.nn.functional.softmax).code.split(" -> ")[1] for m in (torch, rl)]
    assert len(kept) == 2 and codes[0].split(";")[0] == codes[1].split(";")[0].replace("rushlight", "torch")
