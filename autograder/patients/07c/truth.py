"""Wrong bodies of `truth`, for lab 07c: what cases of a student must catch."""

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.symbolic import ALWAYS_TRUE, CONTAINERS
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.tensor import TensorVariable
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable

AT = "dynamo.symbolic.truth"
MOST = 6
CASE = {
    "value": {"one of": ["0", "-1", "''", "'a'", "None", "[]", "[0]", "(0,)", "{0: 0}", "helper", "ValueError()", "o"]},
    "methods": {
        "some of": [
            "__bool__: True", "__bool__: False", "__len__: 0", "__len__: 2", "inherited __len__: 0", "own __bool__: False",
        ]
    },
}  # fmt: skip


def truth(frame, value):
    if isinstance(value, ConstantVariable):
        return bool(value.value)
    if isinstance(value, CONTAINERS):
        return len(value.items) > 0
    if isinstance(value, ALWAYS_TRUE):
        return True
    if isinstance(value, UserDefinedObjectVariable):
        for name in ("__bool__", "__len__"):
            if hasattr(value.cls, name):
                return truth(frame, value.call_method(frame, name, [], {}))
        return True
    raise Unsupported("Data-dependent branching" if isinstance(value, TensorVariable) else f"the truth of {value!r}")


WRONG = {
    "constants that are not numbers": [("bool(value.value)", "value.value not in (0, None)")],
    "what is in a container": [
        ("len(value.items) > 0", 'any(getattr(item, "value", item) for item in value.items)'),
    ],
    "which containers are known": [("isinstance(value, CONTAINERS)", "isinstance(value, CONTAINERS[:1])")],
    "which of two methods decides": [('("__bool__", "__len__")', '("__len__", "__bool__")')],
    "methods of a base class": [("hasattr(value.cls, name)", "name in vars(value.cls)")],
    "where a method is looked for": [("hasattr(value.cls, name)", "hasattr(value.cls, name) or name in value.state()")],
    "the result of a method": [
        ("truth(frame, value.call_method(frame, name, [], {}))", "value.call_method(frame, name, [], {}).value is True")
    ],
    "objects without any of these methods": [("        return True\n    raise", "        return False\n    raise")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"value": "0", "methods": []},
    {"value": "[]", "methods": []},
    {"value": "'a'", "methods": []},
    {"value": "o", "methods": ["__bool__: False"]},
    {"value": "o", "methods": ["__len__: 0"]},
]
