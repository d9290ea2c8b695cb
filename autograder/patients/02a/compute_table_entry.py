"""Wrong bodies of `compute_table_entry`, for lab 02a: what cases of a student must catch."""

from rushlight.c10.dispatch import AUTOGRAD_KEYS, BACKEND_KEYS, MISSING, DispatchKey

AT = "c10.dispatch.compute_table_entry"
MOST = 6
CASE = {
    "kernels": {
        "some of": [
            "CPU", "CUDA", "PrivateUse1", "Meta", "BackendSelect", "Python", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA",
            "AutogradPrivateUse1", "AutogradMeta", "AutocastCPU", "AutocastCUDA", "Autograd", "CompositeImplicitAutograd",
            "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
        ]
    },
    "fallthroughs": {
        "some of": [
            "CPU", "CUDA", "PrivateUse1", "Meta", "BackendSelect", "Python", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA",
            "AutogradPrivateUse1", "AutogradMeta", "AutocastCPU", "AutocastCUDA", "Autograd", "CompositeImplicitAutograd",
            "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
        ]
    },
    "key": {
        "one of": [
            "Undefined", "CPU", "CUDA", "PrivateUse1", "Meta", "BackendSelect", "Python", "ADInplaceOrView", "AutogradCPU",
            "AutogradCUDA", "AutogradPrivateUse1", "AutogradMeta", "AutocastCPU", "AutocastCUDA",
        ]
    },
}  # fmt: skip


def compute_table_entry(kernels, fallbacks, key):
    if key in kernels:
        return kernels[key], "kernel"
    backend, autograd = key in BACKEND_KEYS | {DispatchKey.Undefined}, key in AUTOGRAD_KEYS
    explicit = DispatchKey.CompositeExplicitAutograd
    if backend:
        for alias in DispatchKey.CompositeExplicitAutogradNonFunctional, explicit:
            if alias in kernels:
                return kernels[alias], "default backend kernel"
    if (backend or autograd) and DispatchKey.CompositeImplicitAutograd in kernels:
        own = DispatchKey[key.name.removeprefix("Autograd")]  # a backend key is known to have no kernel at this point
        if own not in kernels and explicit not in kernels:
            return kernels[DispatchKey.CompositeImplicitAutograd], "math kernel"
    if autograd and DispatchKey.Autograd in kernels:
        return kernels[DispatchKey.Autograd], "autograd kernel"
    if key in fallbacks:
        return fallbacks[key], "backend fallback"
    return MISSING, "missing"


WRONG = {
    "calls without tensors": [("key in BACKEND_KEYS | {DispatchKey.Undefined}", "key in BACKEND_KEYS")],
    "the order of the two explicit composite kernels": [
        ("for alias in DispatchKey", "for alias in explicit, DispatchKey"),
        (", explicit:", ":"),
    ],
    "the order of an explicit and the implicit composite kernel": [
        ("    if backend:\n", "    if backend and DispatchKey.CompositeImplicitAutograd not in kernels:\n"),
        ("explicit not in kernels:", "(backend or explicit not in kernels):"),
    ],
    "the order of a composite kernel and the fallback of a backend": [
        ("    if backend:\n", "    if backend and key not in fallbacks:\n")
    ],
    "when an autograd key does not take the implicit composite kernel": [(" and explicit not in kernels:", ":")],
    "which kernels count as own kernels of a backend": [
        (
            "explicit not in kernels:",
            "not {explicit, DispatchKey.CompositeExplicitAutogradNonFunctional} & kernels.keys():",
        )
    ],
    "keys that the implicit composite kernel does not fill": [("(backend or autograd) and", "")],
    "keys that a kernel for Autograd does not fill": [("if autograd and", "if not backend and")],
    "all fallthroughs of an operator": [
        (
            "    if key in kernels:",
            "    kernels = {k: v for k, v in kernels.items() if v is not FALLTHROUGH}\n    if key in kernels:",
        )
    ],
    "some fallthroughs of an operator": [("own not in kernels", "kernels.get(own, FALLTHROUGH) is FALLTHROUGH")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"kernels": ["CPU"], "fallthroughs": [], "key": "CUDA"},
    {"kernels": ["CompositeExplicitAutograd"], "fallthroughs": [], "key": "AutogradCPU"},
    {"kernels": ["CPU", "Autograd"], "fallthroughs": [], "key": "AutogradCUDA"},
    {"kernels": ["CompositeImplicitAutograd", "CPU"], "fallthroughs": [], "key": "AutogradCPU"},
    {"kernels": ["CompositeImplicitAutograd", "CPU"], "fallthroughs": [], "key": "AutogradCUDA"},
    {"kernels": ["CompositeImplicitAutograd", "Autograd"], "fallthroughs": [], "key": "AutogradCPU"},
    {"kernels": ["CompositeImplicitAutograd", "Autograd"], "fallthroughs": [], "key": "CPU"},
]
