"""Wrong bodies of `recording`, for lab 04c: what cases of a student must catch."""

from rushlight.c10.dispatch import local

AT = "autograd.grad_mode.recording"
MOST = 4
CASE = {
    "steps": {
        "some of": [
            "no_grad", "enable_grad", "inference_mode", "set_grad_enabled(True)", "set_grad_enabled(False)",
            "end", "end of the first", "end by KeyError", "end by KeyboardInterrupt",
        ]
    },
}  # fmt: skip


def recording(enabled):
    before, local.grad_enabled = local.grad_enabled, enabled
    try:
        yield
    finally:
        local.grad_enabled = before


WRONG = {
    "blocks that an error ends": [
        (
            "    try:\n        yield\n    finally:\n        local.grad_enabled = before",
            "    yield\n    local.grad_enabled = before",
        )
    ],
    "the classes of errors that end a block": [
        ("finally:\n", "except Exception:\n        local.grad_enabled = before\n        raise\n    else:\n")
    ],
    "the mode after an error": [
        ("finally:\n", "except BaseException:\n        local.grad_enabled = not enabled\n        raise\n    else:\n")
    ],
    "the value that comes back": [("grad_enabled = before", "grad_enabled = not enabled")],
    "the end of a block inside another one": [("grad_enabled = before", "grad_enabled = True")],
    "the beginning of a block inside another one": [
        ("= local.grad_enabled, enabled", "= local.grad_enabled, enabled and local.grad_enabled")
    ],
    "blocks in inference mode": [
        ("= local.grad_enabled, enabled", "= local.grad_enabled, enabled and not local.inference")
    ],
    "a mode that is set inside a block": [
        (
            "        local.grad_enabled = before",
            "        if local.grad_enabled == enabled:\n            local.grad_enabled = before",
        )
    ],
    "blocks whose mode is set already": [
        (
            "        local.grad_enabled = before",
            "        if before != enabled:\n            local.grad_enabled = before",
        )
    ],
    "the order in which blocks end": [
        (
            "before, local.grad_enabled = local.grad_enabled, enabled",
            "vars(local).setdefault('before', []).append(local.grad_enabled)\n    local.grad_enabled = enabled",
        ),
        ("grad_enabled = before", "grad_enabled = local.before.pop()"),
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"steps": ["no_grad"]},
    {"steps": ["no_grad", "end"]},
    {"steps": ["no_grad", "enable_grad"]},
    {"steps": ["no_grad", "end by KeyError"]},
]
