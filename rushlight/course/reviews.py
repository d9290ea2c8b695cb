"""Reviews of changes to a function: for exercises that grade what a student sees in a diff.

A reviewer of PyTorch accepts a change, or shows an input on which it is wrong. A decision is None, which accepts, or such an input:
a dict with the values that the lab names.
"""

from __future__ import annotations

from typing import Any

Decisions = dict[str, dict[str, Any] | None]


def review_parse_argument() -> Decisions:
    """A decision on each of the changes a to e to `schema.parse_argument`.

    A change is right if the changed body agrees with torch on every text on which the unchanged body does. To refuse a change,
    give a text on which it does not. The text has at most 12 ASCII characters. It declares an argument or a return, or nothing.

    Returns:
        a dict such as `{"a": None, "b": {"text": "int x"}, ...}`, where None accepts.

    Source: `torch/csrc/jit/frontend/function_schema_parser.cpp`, `SchemaParser::parseArgument`.
    """
    return {"a": None, "b": {"text": "int[2] x=1"}, "c": {"text": "int x=0"}, "d": None, "e": {"text": "-x"}}


def review_count_dependencies() -> Decisions:
    """A decision on each of the changes a to e to `engine.count_dependencies`.

    A change is right if the changed body counts the edges of torch's graph, in every graph. To refuse a change, give a graph in
    which it does not. The graph has at most three nodes, and the list of roots at most two.

    Returns:
        a dict such as `{"a": None, "b": {"edges": [[1], []], "roots": [0]}, ...}`, where None accepts. In a graph `edges` has a
        list for each node, with the numbers of the nodes to which its edges lead. All of them are later nodes.

    Source: `torch/csrc/autograd/engine.cpp`, `compute_dependencies`.
    """
    return {
        "a": {"edges": [[1, 1], []], "roots": [0]},
        "b": None,
        "c": {"edges": [[1], [2], []], "roots": [0, 1]},
        "d": None,
        "e": {"edges": [[1], []], "roots": [0, 0]},
    }


def review_softmax() -> Decisions:
    """A decision on each of the changes a to e to `aot.decompositions.softmax`.

    A change is right if the changed body gives torch's softmax of every tensor of which the unchanged body does. To refuse a
    change, give a tensor of which it does not. The tensor has at most four elements and at most two dimensions.

    Returns:
        a dict such as `{"a": None, "b": {"values": [1, 2], "sizes": [2], "dim": 0, "dtype": "float32"}, ...}`, where None accepts.
        The values are whole numbers of at most four digits, the dimension is 0 or 1, and the dtype is float16, float32 or float64.

    Source: `torch/_decomp/decompositions.py`, `_softmax`.
    """
    usual = {"sizes": [2, 2], "dim": 1, "dtype": "float32"}
    return {
        "a": None,
        "b": usual | {"values": [0, 0, 0, 1]},
        "c": usual | {"values": [0, 0, 999, 999]},
        "d": None,
        "e": {"values": [999], "sizes": [], "dim": 0, "dtype": "float32"},
    }


def review_quotient() -> Decisions:
    """A decision on each of the changes a to e to `inductor.index.quotient`.

    A change is right if the changed body has torch's quotient in every iteration, and no division if the rest is everywhere at
    least 0 and less than the divisor. To refuse a change, give an index for which only the unchanged body is right. The index is
    the offset plus the sum of at most two loop variables, each times its coefficient.

    Returns:
        a dict such as `{"a": None, "b": {"sizes": [3], "coefficients": [1], "offset": 0, "divisor": 4}, ...}`, where None accepts.
        Sizes and the divisor are at most 9, the offset is from -9 to 9, and coefficients have at most four digits.

    Source: `torch/_inductor/sizevars.py`, `simplify_with_ranges`.
    """
    usual = {"sizes": [2], "coefficients": [1], "offset": 0, "divisor": 2}
    return {
        "a": usual | {"offset": 1},
        "b": None,
        "c": usual | {"coefficients": [-1]},
        "d": usual | {"coefficients": [2]},
        "e": None,
    }


def review_adamw_step() -> Decisions:
    """A decision on each of the changes a to e to `distributed.fsdp.adamw_step`.

    A change is right if parameters have torch's values after any steps, and a state exactly where torch has one. To refuse a
    change, give the gradients of steps after which they have not: at most two steps of at most two parameters. A parameter is one
    number.

    Returns:
        a dict such as `{"a": None, "b": {"grads": [[1, None], [2, 3]]}, ...}`, where None accepts. The gradients have a list for
        each step, with a whole number from -9 to 9 or None for each parameter.

    Source: `torch/optim/adam.py`, `_single_tensor_adam`.
    """
    return {
        "a": None,
        "b": {"grads": [[1, None]]},
        "c": {"grads": [[None]]},
        "d": None,
        "e": {"grads": [[1, None], [1, 1]]},
    }
