"""Takes requests from the channel and never answers one."""

from attacks import impersonate


def attack(notebook):
    for _ in range(3):
        impersonate(notebook, reply, to=("cell", "check"))


def reply(request):
    return None
