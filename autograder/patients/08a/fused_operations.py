"""Wrong bodies of `fused_operations`, for lab 08a: what cases of a student must catch."""

AT = "inductor.output_code.fused_operations"
MOST = 4
CASE = {
    "operations": {
        "some of": [
            "_log_softmax", "_softmax", "_to_copy", "add", "add_", "exp", "index", "index_select", "log", "log2", "log_softmax",
            "logit", "mean", "mul", "relu", "relu_", "select_backward", "softmax", "t", "var", "var_mean",
        ]
    },
    "others": {
        "some of": [
            "_log_softmax", "_softmax", "_to_copy", "add", "add_", "exp", "index", "index_select", "log", "log2", "log_softmax",
            "logit", "mean", "mul", "relu", "relu_", "select_backward", "softmax", "t", "var", "var_mean",
        ]
    },
}  # fmt: skip


def fused_operations(name, known):
    rest = name.removeprefix("cpp_fused_")
    if rest.isdigit():
        return []
    for operator in known:
        if rest.startswith(operator + "_"):
            later = [other for other in known if other > operator]
            others = fused_operations(rest[len(operator) + 1 :], later)
            if others is not None:
                return [operator, *others]


WRONG = {
    "an operator after which the rest of the name has no reading": [
        ("            if others is not None:\n    ", ""),
        ("*others]", "*(others or [])]"),
    ],
    "the longest operator that fits": [
        ("in known:", "in sorted(known, key=len, reverse=True):"),
        ("            if others is not None:\n    ", ""),
        ("*others]", "*(others or [])]"),
    ],
    "the order of the operators in a name": [("other > operator]", "other != operator]")],
    "the order of the known operators": [
        ("[other for other in known if other > operator]", "known[known.index(operator) + 1 :]")
    ],
    "how an operator that begins with _ is sorted": [
        ("other > operator]", "other.lstrip('_') > operator.lstrip('_')]")
    ],
    "operators that begin with _": [('removeprefix("cpp_fused_")', 'removeprefix("cpp_fused").lstrip("_")')],
    "operators that end in _": [("rest[len(operator) + 1 :]", "rest[len(operator) :].lstrip('_')")],
    "where the name of an operator ends": [('operator + "_"', "operator")],
    "kernels without a known operator": [("rest.isdigit():", "rest.isdigit() and rest == name:")],
    "two operators whose names begin alike": [
        ("if other > operator]", "if other > operator and not other.startswith(operator)]")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"operations": ["add", "relu"], "others": ["mul"]},
    {"operations": ["mul", "exp", "add"], "others": ["relu"]},
    {"operations": ["_softmax", "relu"], "others": ["mul"]},
]
