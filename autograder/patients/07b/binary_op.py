"""Wrong bodies of `binary_op`, for lab 07b: what cases of a student must catch."""

from rushlight.dynamo import calls
from rushlight.dynamo.bytecode import MIRRORED, OPERATORS, PLAIN
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.lists import ListVariable, TupleVariable
from rushlight.dynamo.variables.tensor import TensorVariable

AT = "dynamo.symbolic.binary_op"
MOST = 7
CASE = {
    "left": {"one of": ["x", "2", "list", "list of numbers", "argument list", "tuple", "pair"]},
    "symbol": {"one of": ["+", "*", "<", "==", "+="]},
    "right": {"one of": ["x", "2", "word", "list", "tuple", "pair"]},
}


def binary_op(frame, symbol, left, right):
    if isinstance(left, TensorVariable):
        return calls.call_in_graph(frame, OPERATORS[symbol], [left, right], {})
    if isinstance(right, TensorVariable):
        if symbol in MIRRORED:
            return calls.call_in_graph(frame, OPERATORS[MIRRORED[symbol]], [right, left], {})
        return calls.call_in_graph(frame, OPERATORS[PLAIN.get(symbol, symbol)], [left, right], {})
    if symbol == "+=" and isinstance(left, ListVariable):
        more = right.unpack_var_sequence(frame)
        frame.output.changed(left)
        left.items.extend(more)
        return left
    try:
        return calls.fold(frame, OPERATORS[symbol], [left, right])
    except Unsupported:
        match left, right:
            case ListVariable(), ListVariable() if symbol == "+":
                return ListVariable(left.items + right.items)
            case TupleVariable(), TupleVariable() if symbol in ("+", "+="):
                return TupleVariable(left.items + right.items)
            case ListVariable() | TupleVariable(), ConstantVariable() if symbol == "*":
                return type(left)(left.items * right.value)
            case ConstantVariable(), ListVariable() | TupleVariable() if symbol == "*":
                return type(right)(left.value * right.items)
        raise


WRONG = {
    "the node of a comparison": [("if symbol in MIRRORED:", "if symbol in ():")],
    "which comparisons are exchanged": [("if symbol in MIRRORED:", 'if symbol in MIRRORED and symbol != "==":')],
    "an operator in place and a tensor": [("PLAIN.get(symbol, symbol)", "symbol")],
    "what happens after the graph": [("        frame.output.changed(left)\n", "")],
    "the object that a list operator returns": [
        (
            'if symbol == "+=" and isinstance(left, ListVariable):',
            'if symbol == "+=" and isinstance(left, ListVariable) and not all('
            'isinstance(item, ConstantVariable) for item in left.items):',
        )
    ],
    "what a list can be extended by": [("right.unpack_var_sequence(frame)", "right.items")],
    "operators in place on what cannot change": [('if symbol in ("+", "+=")', 'if symbol == "+"')],
    "sums of two kinds": [
        (
            'case ListVariable(), ListVariable() if symbol == "+":',
            'case ListVariable(), ListVariable() | TupleVariable() if symbol == "+":',
        )
    ],
    "the class of a sum": [("TupleVariable(left.items + right.items)", "TupleVariable(left.items + right.items, cls=left.cls)")],
    "the kind of a multiple": [("type(right)(left.value * right.items)", "ListVariable(left.value * right.items)")],
}  # fmt: skip

# Cases that the lab shows: they catch less than half
USUAL = [
    {"left": "x", "symbol": "*", "right": "2"},
    {"left": "2", "symbol": "+", "right": "x"},
    {"left": "2", "symbol": "<", "right": "2"},
    {"left": "list", "symbol": "+", "right": "list"},
    {"left": "list", "symbol": "*", "right": "2"},
    {"left": "tuple", "symbol": "+", "right": "tuple"},
    {"left": "list", "symbol": "+=", "right": "list"},
]
