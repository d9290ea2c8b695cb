"""Wrong bodies of `create_arg`, for lab 07a: what cases of a student must catch."""

from rushlight.fx.proxy import BASE_TYPES, Proxy, dict_key

AT = "fx.proxy.create_arg"
MOST = 6
CASE = {
    "value": {
        "one of": [
            "x", "x.shape", "the node of x", "3", "'dim'", "None", "[x]", "Colour.RED", "Status.OK", "Word('dim')", "Own()",
            "OwnNumber(3)", "range(3)", "{3}",
        ]
    },
    "within": {
        "one of": [
            "nothing", "tuple", "named tuple", "list", "list of a derived class", "dict", "dict of a derived class", "key",
            "start of a slice", "step of a slice",
        ]
    },
    "tracer": {"one of": ["usual", "doubles"]},
}  # fmt: skip


def create_arg(tracer, a):
    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, tuple):
        items = [tracer.create_arg(item) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, list):
        return [tracer.create_arg(item) for item in a]
    if isinstance(a, dict):
        return {
            key if isinstance(key, str) else dict_key(tracer, key): tracer.create_arg(item) for key, item in a.items()
        }
    if isinstance(a, (slice, range)):
        return type(a)(tracer.create_arg(a.start), tracer.create_arg(a.stop), tracer.create_arg(a.step))
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


WRONG = {
    "which objects are proxies": [("isinstance(a, Proxy)", "type(a) is Proxy")],
    "what is refused": [("isinstance(a, BASE_TYPES)", "isinstance(a, BASE_TYPES) or hasattr(a, 'users')")],
    "objects that two of the rules fit": [
        ('if hasattr(a, "__fx_create_arg__")', 'if hasattr(a, "__fx_create_arg__") and not isinstance(a, BASE_TYPES)')
    ],
    "constants of a derived class": [("isinstance(a, BASE_TYPES)", "type(a) in BASE_TYPES")],
    "the type of a tuple": [('type(a)(*items) if hasattr(a, "_fields") else type(a)(items)', "tuple(items)")],
    "the class of a list": [("return [tracer.create_arg(item) for item in a]", "return type(a)(map(tracer.create_arg, a))")],
    "which function is called for the values of a dict": [
        ("tracer.create_arg(item) for key, item", "create_arg(tracer, item) for key, item")
    ],
    "keys that are strings": [("key if isinstance(key, str) else dict_key", "dict_key")],
    "what may not be a key": [("dict_key(tracer, key)", "tracer.create_arg(key)")],
    "the parts of a slice": [("tracer.create_arg(a.step)", "a.step")],
}  # fmt: skip

# Cases that the lab shows: they catch less than half
USUAL = [
    {"value": "x", "within": "nothing", "tracer": "usual"},
    {"value": "x", "within": "tuple", "tracer": "usual"},
    {"value": "[x]", "within": "dict", "tracer": "usual"},
    {"value": "x", "within": "start of a slice", "tracer": "usual"},
    {"value": "3", "within": "list", "tracer": "doubles"},
    {"value": "{3}", "within": "nothing", "tracer": "usual"},
]
