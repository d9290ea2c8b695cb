"""The short names of modules in labs and readings: `rl.strided` is `rushlight.aten.strided`.

PyTorch has no such names. A module's path is PyTorch's, and an exercise is called by this path. A lab writes the short form,
because a student reads and writes it many times.
"""

SHORT_NAMES = {
    "strided": "aten.strided",
    "iterator": "aten.iterator",
    "structured": "aten.structured",
    "dlpack": "aten.dlpack",
    "functional": "aten.functional",
    "functions": "aten.generated.functions",
    "linear_algebra": "aten.native.linear_algebra",
    "losses": "aten.native.losses",
    "normalisation": "aten.native.normalisation",
    "pointwise": "aten.native.pointwise",
    "random": "aten.native.random",
    "reductions": "aten.native.reductions",
    "autocast_mode": "amp.autocast_mode",
    "derivatives": "autograd.derivatives",
    "engine": "autograd.engine",
    "function": "autograd.function",
    "grad_mode": "autograd.grad_mode",
    "gradcheck": "autograd.gradcheck",
    "graph": "autograd.graph",
    "history": "autograd.history",
    "variable_type": "autograd.generated.variable_type",
    "dispatch": "c10.dispatch",
    "dtypes": "c10.dtypes",
    "memory_formats": "c10.memory_formats",
    "schema": "c10.schema",
    "small_floats": "c10.small_floats",
    "storage": "c10.storage",
    "initialisation": "nn.init",
    "modules": "nn.modules.module",
    "state_dict": "nn.modules.state_dict",
    "clip_grad": "nn.utils.clip_grad",
    "schedules": "optim.lr_scheduler",
    "checkpoint": "utils.checkpoint",
    "cpp": "utils.cpp_extension",
    "data": "utils.data",
    "draw": "course.draw",
    "grammar": "course.grammar",
    "trace": "on_torch.trace",
    "custom_ops": "on_torch.custom_ops",
    "cpp_ops": "on_torch.cpp_ops",
    "triton_ops": "on_torch.triton_ops",
    "wrapper": "on_torch.wrapper",
    "backend": "on_torch.backend",
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
