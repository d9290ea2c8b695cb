"""Wrong bodies of `check_inplace`, for lab 04a: what cases of a student must catch."""

from rushlight.autograd.history import handle_view_on_rebase, requires_grad

AT = "autograd.history.check_inplace"
MOST = 6
CASE = {
    "requires_grad": "bool",
    "steps": {
        "some of": [
            "clone", "detach", "view", "first", "unbind", "view in no_grad", "view in inference mode", "view in a Function",
            "write", "write in no_grad", "write to the base",
        ]
    },
}  # fmt: skip


def check_inplace(self):
    if self._creation_meta:
        handle_view_on_rebase(self)
    if requires_grad(self):
        if self._base is not None and self._base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if self._autograd is None or self._autograd.grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


WRONG = {
    "a leaf itself": [("self._autograd is None or self._autograd.grad_fn is None", "self._autograd is None")],
    "views of a leaf": [("self._base is not None and self._base.is_leaf", "False")],
    "views of a leaf that does not require grad": [
        ("if requires_grad(self):", "if requires_grad(self) or self._base is not None and self._base.is_leaf:")
    ],
    "views of a result": [("is not None and self._base.is_leaf", "is not None")],
    "views of a result that was written to": [
        (
            "self._autograd.grad_fn is None:",
            "self._autograd.grad_fn is None or self._view_version != self._storage.version:",
        )
    ],
    "views that do not require grad": [("if self._creation_meta:", "if self._creation_meta and requires_grad(self):")],
    "views that are the only one of their call": [
        ("if self._creation_meta:", "if self._creation_meta == CreationMeta.MULTI_OUTPUT_NODE:")
    ],
    "views that a Function made": [
        ("if self._creation_meta:", "if self._creation_meta not in (0, CreationMeta.IN_CUSTOM_FUNCTION):")
    ],
    "reading the history of a view": [
        ("self._autograd is None or self._autograd.grad_fn is None", "self.grad_fn is None")
    ],
    "where a view has its requires_grad from": [
        (
            "if requires_grad(self):",
            "if self._autograd is not None and (self._autograd.requires_grad or self._autograd.grad_fn):",
        )
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"requires_grad": True, "steps": []},
    {"requires_grad": True, "steps": ["first"]},
    {"requires_grad": True, "steps": ["clone", "unbind"]},
    {"requires_grad": True, "steps": ["clone", "first"]},
    {"requires_grad": True, "steps": ["clone", "view in no_grad"]},
]
