"""Changes to `parse_argument`, for the review of lab 02b."""

AT = "c10.schema.parse_argument"
CASE = {"text": ("text", 12)}


def parse_argument(text, kwarg_only=False):
    match = _ARGUMENT.match(text)
    if match is None:
        raise RuntimeError(f"cannot read the argument {text!r} of a schema")
    type = match["base"] + match["suffix"]
    default = REQUIRED if match["default"] is None else parse_default(match["default"], type)
    return Argument(match["name"] or "", type, default, kwarg_only, match["alias"] or "")


RIGHT = {
    # the pattern matches no empty default
    "a": [('if match["default"] is None', 'if not match["default"]')],
    # the suffix takes part in every match, also where it is empty
    "d": [
        (
            "    if match is None:\n",
            '    try:\n        type = match["base"] + match["suffix"]\n    except TypeError:\n',
        ),
        ('of a schema")\n    type = match["base"] + match["suffix"]\n', 'of a schema") from None\n'),
    ],
}
WRONG = {
    # one number for a list of known length becomes this list
    "b": [('parse_default(match["default"], type)', 'parse_default(match["default"], match["base"])')],
    # 0, False and None are defaults
    "c": [
        (
            'REQUIRED if match["default"] is None else parse_default(match["default"], type)',
            'match["default"] and parse_default(match["default"], type) or REQUIRED',
        )
    ],
    # the pattern has a `$` and no `^`
    "e": [("_ARGUMENT.match", "_ARGUMENT.search")],
}
