"""Takes the subject's place on the channel and sends verdicts where observations are asked for."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    name = request.get("check", "aten.strided.permute")
    verdict = {"check": name, "outcome": "passed", "cases": 120, "agreed": 120, "mine": "", "theirs": ""}
    return {"verdict": verdict, "outputs": [], "outcome": "passed", "observed": {"verdict": verdict}}
