"""Wrong bodies of `unbind`, for lab 02b: what cases of a student must catch."""

from rushlight.c10.schema import is_default

AT = "c10.schema.unbind"
MOST = 4
CASE = {
    "arguments": {
        "some of": [
            "int a", "int b=2", "int c=2", "int? m", "int? n=None", "Scalar s=1", "bool flag=False", "int[] dims=[0, 1]",
            "str mode='sum'", "*",
        ]
    },
    "stack": {"some of": ["1", "2", "3", "True", "False", "None", "1.0", "[0, 1]", "'sum'"]},
}  # fmt: skip


def unbind(schema, stack):
    positional = len(schema.positional)
    args = list(stack[:positional])
    while args and is_default(schema.arguments[len(args) - 1], args[-1]):
        args.pop()
    rest = zip(schema.arguments[positional:], stack[positional:])
    return tuple(args), {argument.name: value for argument, value in rest if not is_default(argument, value)}


WRONG = {
    "how many defaults are dropped": [("while args", "if args")],
    "a default that another positional value follows": [
        (
            "    while args and is_default(schema.arguments[len(args) - 1], args[-1]):\n        args.pop()\n",
            "    args = [value for argument, value in zip(schema.arguments, args) if not is_default(argument, value)]\n",
        )
    ],
    "a positional default, if something is passed by keyword": [
        ("while args and", "while args and all(map(is_default, schema.arguments[positional:], stack[positional:])) and")
    ],
    "a keyword-only default that another value follows": [
        ("rest = zip(schema.arguments[positional:], stack[positional:])", "rest = [*zip(schema.arguments, stack)][positional:]"),
        ("    return tuple(args)", "    while rest and is_default(*rest[-1]):\n        rest.pop()\n    return tuple(args)"),
        (" for argument, value in rest if not is_default(argument, value)", " for argument, value in rest"),
    ],
    "defaults that are false": [("while args and", "while args and args[-1] and")],
    "arguments without a default": [
        ("while args and is_default", "while args and (args[-1] is None or is_default"),
        ("args[-1]):", "args[-1])):"),
    ],
    "which default a value is compared with": [("schema.arguments[len(args) - 1]", "schema.positional[-1]")],
    "values that are equal to a default": [("if not is_default(argument, value)", "if value != argument.default")],
    "how a value and its default are compared": [
        ("is_default(schema.arguments[len(args) - 1], args[-1])", "args[-1] is schema.arguments[len(args) - 1].default")
    ],
    "the order of the values that are passed by keyword": [
        ("for argument, value in rest if", "for argument, value in sorted(rest, key=lambda pair: pair[0].name) if")
    ],
}  # fmt: skip

# Cases that the lab shows: they catch less than half
USUAL = [
    {"arguments": ["int a", "int b=2"], "stack": ["1", "2"]},
    {"arguments": ["int a", "int b=2"], "stack": ["1", "3"]},
    {"arguments": ["int b=2", "int c=2"], "stack": ["2", "2"]},
    {"arguments": ["int b=2", "int c=2"], "stack": ["2", "3"]},
    {"arguments": ["int a", "*", "int b=2"], "stack": ["1", "2"]},
]
