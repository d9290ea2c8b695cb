"""Wrong bodies of `infer_schema`, for lab 06a: what cases of a student must catch."""

import inspect
import typing

from rushlight.on_torch.custom_ops import default_text, result_type, schema_type

AT = "on_torch.custom_ops.infer_schema"
MOST = 6
CASE = {
    "parameters": {
        "some of": [
            "x: Tensor", "y: 'Tensor'", "z: Tensor | None", "xs: list[Tensor]", "n: int", "flag: bool = False",
            "kind: str = 'none'", "w", "*", "/",
        ]
    },
    "mutates_args": {"some of": ["x", "y", "z", "xs", "n", "flag", "kind", "w"]},
    "returns": {"one of": ["Tensor", "'Tensor'", "int", "None", "no annotation"]},
}  # fmt: skip


def infer_schema(function, mutates_args):
    parameters, hints = inspect.signature(function).parameters, typing.get_type_hints(function)
    if unknown := [name for name in mutates_args if name not in parameters]:
        raise ValueError(f"{function} has no parameters {unknown}")
    written = []
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints:
            raise ValueError(f"a schema has no place for {parameter}")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        kind = schema_type(hints[name])
        if name in mutates_args:
            if not kind.startswith("Tensor"):
                raise ValueError(f"{name} is of type {kind}: an operator writes to tensors only")
            kind = kind.replace("Tensor", f"Tensor(a{place}!)")
        default = "" if parameter.default is parameter.empty else f"={default_text(parameter.default)}"
        written.append(f"{kind} {name}{default}")
    return f"({', '.join(written)}) -> {result_type(hints.get('return'))}"


WRONG = {
    "what the number of a written argument counts": [("(a{place}!)", "(a{len(written)}!)")],
    "keyword-only parameters": [(' and "*" not in written', "")],
    "how the names of written arguments are compared": [
        ("        if name in mutates_args:\n", '        if name in " ".join(mutates_args):\n')
    ],
    "the type of a written argument": [('kind.replace("Tensor", f"Tensor(a{place}!)")', 'f"{kind}(a{place}!)"')],
    "what may be written to": [('if not kind.startswith("Tensor"):', "if not kind:")],
    "annotations that are texts": [
        (
            "typing.get_type_hints(function)",
            "{key: type(None) if type_ is None else type_ for key, type_ in function.__annotations__.items()}",
        )
    ],
    "operators that return nothing": [
        ("typing.get_type_hints(function)", "inspect.get_annotations(function, eval_str=True)")
    ],
    "parameters without an annotation": [
        (" or name not in hints", ""),
        ("schema_type(hints[name])", "schema_type(hints.get(name, Tensor))"),
    ],
    "a result without an annotation": [("hints.get('return')", "hints.get('return', type(None))")],
    "positional-only parameters": [
        (
            "parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)",
            "parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)",
        )
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"parameters": ["x: Tensor", "*", "kind: str = 'none'"], "mutates_args": [], "returns": "Tensor"},
    {"parameters": ["x: Tensor", "n: int"], "mutates_args": ["x"], "returns": "None"},
]
