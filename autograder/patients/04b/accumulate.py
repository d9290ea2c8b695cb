"""Wrong bodies of `accumulate`, for lab 04b: what cases of a student must catch."""

from rushlight.autograd.graph import clone_obey_contract
from rushlight.c10.dispatch import local

AT = "autograd.graph.accumulate"
MOST = 4
CASE = {
    "leaf": {"one of": ["rows", "columns", "rows with gaps", "columns with gaps"]},
    "steps": {
        "some of": ["grad mode on", "grad mode off", "rows", "columns", "rows with history", "columns with history"]
    },
}


def accumulate(variable, grad):
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = clone_obey_contract(grad, variable)
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


WRONG = {
    "the memory of the first gradient": [
        (
            "= clone_obey_contract(grad, variable)",
            "= grad if grad.stride() == variable.stride() and not grad.requires_grad else clone_obey_contract(grad, variable)",
        )
    ],
    "the strides of the copy": [("clone_obey_contract(grad, variable)", "grad.clone()")],
    "leaves whose strides have gaps": [
        (
            "clone_obey_contract(grad, variable)",
            "grad.new_empty_strided(variable.shape, variable.stride()).copy_(grad)",
        )
    ],
    "leaves that are not stored row by row": [
        (
            "clone_obey_contract(grad, variable)",
            "grad.clone(memory_format=contiguous_format)",
        )
    ],
    "the history of the copy": [
        ("clone_obey_contract(grad, variable)", "clone_obey_contract(grad.detach(), variable)")
    ],
    "what an arriving history decides": [
        ("elif local.grad_enabled:", "elif local.grad_enabled and grad.requires_grad:")
    ],
    "what a stored history decides": [
        ("elif local.grad_enabled:", "elif local.grad_enabled and meta.grad.requires_grad:")
    ],
    "the history of a sum": [("meta.grad = meta.grad + grad", "meta.grad = meta.grad.detach() + grad")],
    "the strides of a sum": [("meta.grad = meta.grad + grad", "meta.grad = grad + meta.grad")],
    "the version of a sum": [("meta.grad.add_(grad)", "meta.grad.data.add_(grad)")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"leaf": "rows", "steps": ["rows"]},
    {"leaf": "rows", "steps": ["rows", "rows"]},
    {"leaf": "rows", "steps": ["grad mode on", "rows", "rows"]},
]
