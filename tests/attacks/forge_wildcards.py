"""Takes the subject's place and sends observations with wildcards, extra fields and two kinds at once."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    tensor = {"dtype": None, "shape": None, "stride": None, "offset": None, "data": None}
    kinds = [
        {"tensor": tensor, "error": None, "dict": [], "dtype": None, "other": None},
        {"error": None, "type": "", "message": ""},
        {"dict": [[["list"], 1]]},
        {"dict": "text"},
        {"bytes": 0},
        {},
        [[[]]],
    ]
    count = len(request.get("cases", ()))
    return {"outputs": [], "observed": (kinds * (count // len(kinds) + 1))[:count]}
