"""Wrong bodies of `may_recompute`, for lab 07d: what cases of a student must catch."""

import operator

from rushlight.aot.partition import RECOMPUTABLE, is_fusible, is_view_node, operator_name, size_of
from rushlight.fx import Node

AT = "aot.partition.may_recompute"
MOST = 4
CASE = {
    "columns": {"one of": ["4", "8"]},
    "steps": {
        "some of": [
            "cos", "tanh", "exp", "t", "mul x", "mm x", "mm w", "rows", "amax", "split", "cat", "masked", "noise",
        ]
    },
}  # fmt: skip


def may_recompute(node, info):
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False
    waiting = [node]
    while waiting:
        current = waiting.pop()
        for user in current.users:
            if user not in info.required_fw and not is_fusible(current, user):
                return False
            if is_view_node(user):
                waiting.append(user)
    return size_of(node) * 4 >= sum(size_of(arg) for arg in node.args if isinstance(arg, Node))


WRONG = {
    "views": [("operator.getitem or is_view_node(node)", "operator.getitem")],
    "operators with several results": [("node.target is operator.getitem or ", "")],
    "random numbers": [
        ("operator_name(node) not in RECOMPUTABLE:", 'operator_name(node) not in {*RECOMPUTABLE, "rand_like"}:')
    ],
    "users that the forward needs": [("user not in info.required_fw and not", "not")],
    "users of views": [("if is_view_node(user):", "if False:")],
    "views of views": [("if is_view_node(user):", "if is_view_node(user) and current is node:")],
    "the users after the first one": [("for user in current.users:", "for user in [*current.users][:1]:")],
    "the limit of a small result": [("size_of(node) * 4 >= sum", "size_of(node) * 4 > sum")],
    "operators of two tensors": [
        ("sum(size_of(arg) for arg in node.args if isinstance(arg, Node))", "size_of(node.args[0])")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"columns": "8", "steps": ["cos"]},
    {"columns": "8", "steps": ["mm x", "tanh", "mul x"]},
    {"columns": "8", "steps": ["exp", "rows"]},
]
