"""The short names of modules in labs and readings: `rl.strided` is `rushlight.aten.strided`.

PyTorch has no such names. A module's path is PyTorch's, and an exercise is called by this path. A lab writes the short form,
because a student reads and writes it many times.
"""

MODULES = (  # their short names are the last parts of their paths
    "aten.strided", "aten.iterator", "aten.structured", "aten.dlpack", "aten.functional", "aten.generated.functions",
    "aten.native.linear_algebra", "aten.native.losses", "aten.native.normalisation", "aten.native.pointwise",
    "aten.native.random", "aten.native.reductions", "amp.autocast_mode", "autograd.derivatives", "autograd.engine",
    "autograd.function", "autograd.grad_mode", "autograd.gradcheck", "autograd.graph", "autograd.history",
    "autograd.generated.variable_type", "c10.dispatch", "c10.dtypes", "c10.memory_formats", "c10.schema",
    "c10.small_floats", "c10.storage", "nn.modules.state_dict", "nn.utils.clip_grad", "utils.checkpoint", "utils.data",
    "course.breaks", "course.draw", "course.grammar", "course.reviews", "on_torch.trace", "on_torch.custom_ops",
    "on_torch.cpp_ops", "on_torch.triton_ops", "on_torch.wrapper", "on_torch.backend",
)  # fmt: skip
SHORT_NAMES = {path.rpartition(".")[2]: path for path in MODULES}
SHORT_NAMES |= {
    "initialisation": "nn.init",
    "modules": "nn.modules.module",
    "schedules": "optim.lr_scheduler",
    "cpp": "utils.cpp_extension",
}


def short_form(path: str) -> str:
    """The path of a module, or of a function in it, below `rushlight`, with the module's short name if it has one."""
    for name, module in SHORT_NAMES.items():
        if f"{path}.".startswith(f"{module}."):
            return name + path[len(module) :]
    return path


def long_form(path: str) -> str:
    """The path below `rushlight` of what has this short form."""
    first, dot, rest = path.partition(".")
    return f"{SHORT_NAMES.get(first, first)}{dot}{rest}"
