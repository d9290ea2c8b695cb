"""Sends observations whose texts are lists, numbers or megabytes, for the judge to stumble over when it explains them."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    kinds = [["list"], 5, None, {"a": 1}, "x" * 20_000]
    message = kinds[len(request.get("check", "")) % len(kinds)]
    observed = {"error": ["ValueError", "Exception", "BaseException"], "type": "NotAttempted", "message": message}
    return {"outputs": [], "observed": [observed] * len(request.get("cases", ()))}
