"""Lab 06, schemas: a schema inferred from a function's signature."""

from __future__ import annotations

import logging
from contextlib import contextmanager

from ...engine.check import program
from ...engine.observe import has
from ...engine.recorder import recorded
from ..cases import drawing, field, listed, lists_too

_SIMPLE = ["Tensor", "int", "float", "bool", "str", "Number", "dtype", "device"]
_TYPES = [
    *_SIMPLE,
    *[f"{name} | None" for name in _SIMPLE],
    *[f"Optional[{name}]" for name in ("Tensor", "int", "str")],
    *["None | Tensor", "None | int"],
    # equal to Number, Number | None, list[Number], Tensor | None
    *["int | float | bool", "Union[bool, float, int]", "bool | int | float | None", "Optional[bool | int | float]"],
    *["list[int | float | bool]", "Union[Tensor, None]"],
    *[f"{many}[{name}]" for many in ("list", "Sequence") for name in ("Tensor", "int", "float", "bool", "Number")],
]
_RESULTS = ["Tensor", "list[Tensor]", "int", "float", "bool", "Number", "None", "tuple[Tensor, Tensor]"]
_RESULTS += ["tuple[Tensor, list[Tensor], int]", "tuple[float, bool]"]
_TEXTS = ["'Tensor'", "'int'", "'Tensor | None'", "'Count | None'"]  # annotations may be texts
_NO_RESULTS = ["str", "missing", "dtype", "list[int]", "Tensor | None"]
_DEFAULTS = ["", "", "", "None", "0", "-2", "0.5", "1e-05", "True", "'relu'", "float32", "cpu", "[1]", "(2, 3)", "ANY"]
_KINDS = ["first", "any", "many", "named", "rest"]


def _types(torch):
    """The objects that the names in annotations and defaults mean."""
    from collections.abc import Sequence
    from typing import Optional, Union
    from unittest.mock import ANY

    names = {"Tensor": torch.Tensor, "Number": torch.types.Number, "dtype": torch.dtype, "device": torch.device}
    names |= {"Sequence": Sequence, "Optional": Optional, "Union": Union, "ANY": ANY}
    names |= {"float32": torch.float32, "cpu": torch.device("cpu")}
    names |= {"Parameter": torch.nn.Parameter, "Own": type("Own", (int,), {})}
    return names | {"Count": int}  # a name that only the function's module has


def _function(torch, parameters, returns):
    """A function with these parameters, `[name, kind, annotation, default]`, and this result."""
    written, defaults = [], False
    for name, kind, annotation, default in sorted(parameters, key=lambda each: _KINDS.index(each[1])):
        if kind == "named" and not any(text.startswith("*") for text in written):
            written.append("*")
        star = {"many": "*", "rest": "**"}.get(kind, "")
        defaults = kind in ("first", "any") and (defaults or bool(default))
        default = "" if star else default or ("None" if defaults else "")
        annotation = "" if annotation == "missing" else f": {annotation}"
        written.append(f"{star}{name}{annotation}" + f" = {default}" * bool(default) + ", /" * (kind == "first"))
    names = _types(torch)
    result = "" if returns == "missing" else f" -> {returns}"
    text = f"def function({', '.join(written)}){result}: ..."
    code = compile(text, "<signature>", "exec", dont_inherit=True)  # else its annotations are text, as this file's are
    exec(code, names)
    return names["function"]


@contextmanager
def _without_warnings():
    """Within: torch does not warn of each type that it does not know."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@drawing
def _signatures(draw, st):
    kinds, names = ["any", "any", "any", "named"], [*"abcdef"]
    usual = listed(names, kinds, [*["Tensor"] * 8, *_TYPES, *_TEXTS], _DEFAULTS[:-3])(st)
    seldom = listed(names, _KINDS, ["Tensor", "int", "missing", "dict"], _DEFAULTS)(st)
    parameter = st.integers(0, 12).flatmap(lambda chosen: usual if chosen else seldom)
    stars = st.lists(parameter, max_size=5, unique_by=lambda each: each[0]).map(
        lambda each: [p for i, p in enumerate(each) if p[1] not in {q[1] for q in each[:i]} & {"many", "rest", "first"}]
    )
    result = st.sampled_from([*_RESULTS, *_RESULTS, *_RESULTS, *_NO_RESULTS])

    parameters = draw(stars)
    tensors = [parameter[0] for parameter in parameters if "Tensor" in parameter[2]]
    others = [parameter[0] for parameter in parameters] + ["z"]
    chosen = draw(st.lists(st.sampled_from(tensors), max_size=3, unique=True)) if tensors else []
    if not draw(st.integers(0, 9)):
        chosen = [*chosen, draw(st.sampled_from(others))]
    return {"parameters": parameters, "returns": draw(result), "mutates_args": chosen}


def _signature(*parameters, returns="Tensor", mutates_args=()):
    return {
        "parameters": [list(parameter) for parameter in parameters],
        "returns": returns,
        "mutates_args": list(mutates_args),
    }


_X, _Y, _N = ("x", "any", "Tensor", ""), ("y", "any", "Tensor", ""), ("n", "any", "int", "")


def _about_schemas(case, mine, theirs):
    if has(mine, "type", "AssertionError"):
        return None
    mine, theirs = field(mine, "result"), field(theirs, "result")
    if not isinstance(theirs, str):
        return "a signature that no schema can express is a ValueError: the contract lists the cases"
    if isinstance(mine, str) and mine.partition("->")[2] != theirs.partition("->")[2]:
        return "the parameters are right so far; the results are as result_type writes them"
    if any("'" in text for text in (*[annotation for _, _, annotation, _ in case["parameters"]], case["returns"])):
        return "an annotation may be a text; the text means the type of that name in the function's module"
    written = [
        [part.split("=")[0].split()[-1] for part in text.split(", ") if "!" in part] for text in (str(mine), theirs)
    ]
    if written[0] != written[1]:
        return "an operator writes to the parameters that mutates_args names, by their whole names, and to no others"
    if case["mutates_args"]:
        return "the number in (a0!) is the parameter's position among all of them; it comes after the word Tensor"
    return None


@program(
    "on_torch.custom_ops.infer_schema",
    cases=_signatures,
    edges=[
        *[_signature(), _signature(_X), _signature(_X, _N), _signature(_X, ("n", "named", "int", ""))],
        _signature(_X, ("n", "named", "int", ""), ("m", "named", "float", "0.5")),
        _signature(("n", "named", "int", ""), ("m", "named", "bool", "")),
        *[_signature(_X, ("n", "any", "int", default)) for default in _DEFAULTS[3:]],
        *[_signature(_X, ("n", "any", annotation, "")) for annotation in (
            "Tensor | None", "list[int]", "dict", "missing",
        )],
        *[_signature(("n", kind, annotation, "")) for kind in _KINDS for annotation in ("int", "Tensor", "missing")],
        *[_signature(_X, returns=returns) for returns in [*_RESULTS, *_NO_RESULTS, "'Tensor'", "'None'", "'str'"]],
        *[_signature(_X, ("n", "any", annotation, "None")) for annotation in [*_TEXTS, "'dict'"]],
        _signature(_X, ("y", "named", "'list[Tensor]'", ""), returns="'tuple[Tensor, int]'", mutates_args=["y"]),
        *[_signature(_X, mutates_args=["x"]), _signature(_X, _Y, mutates_args=["x"])],
        *[_signature(_X, _Y, mutates_args=["y"]), _signature(_X, ("xs", "any", "Tensor", ""), mutates_args=["xs"])],
        _signature(_X, _N, ("y", "any", "Tensor | None", "None"), mutates_args=["y"], returns="None"),
        _signature(_X, ("y", "any", "list[Tensor]", ""), mutates_args=["y", "x"], returns="None"),
        _signature(_X, ("n", "named", "int", ""), ("y", "named", "Tensor", ""), mutates_args=["y"]),
        *[_signature(_X, _N, mutates_args=["n"]), _signature(_X, ("n", "any", "list[int]", ""), mutates_args=["n"])],
        *[_signature(_X, mutates_args=["y"]), _signature(_X, mutates_args=["x", "y"]), _signature(mutates_args=["x"])],
    ],
    hint=_about_schemas,
)  # fmt: skip
def schemas(xp, parameters, returns, mutates_args):
    function = _function(xp.custom_ops.torch, parameters, returns)
    with recorded(watched=["torch.library.infer_schema"]) as beyond:
        result = lists_too(xp.custom_ops.infer_schema, function, tuple(mutates_args))
    return {"result": result, "beyond": beyond}


@schemas.oracle
def torch_schemas(torch, parameters, returns, mutates_args):
    with _without_warnings():
        schema = torch.library.infer_schema(_function(torch, parameters, returns), mutates_args=mutates_args)
    return {"result": schema, "beyond": []}
