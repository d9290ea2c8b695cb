"""The public names that rushlight has are, in a program for PyTorch, what they are in PyTorch: their kind, their own name and
module, the parameters, and the classes that they inherit from.

The file run as a program, `python test_public_names.py torch`, prints what the names of one framework are.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import types
import warnings
from importlib import import_module

MODULES = [
    "torch", "torch.amp", "torch.ao.quantization", "torch.autograd", "torch.autograd.anomaly_mode", "torch.autograd.function",
    "torch.autograd.functional", "torch.autograd.grad_mode", "torch.autograd.gradcheck", "torch.autograd.graph",
    "torch.autograd.profiler", "torch.backends", "torch.compiler", "torch.cuda", "torch.cuda.amp", "torch.distributed",
    "torch.distributions", "torch.distributions.constraints", "torch.distributions.kl", "torch.export", "torch.functional",
    "torch.fx", "torch.fx.graph", "torch.fx.graph_module", "torch.fx.interpreter", "torch.fx.node", "torch.fx.proxy",
    "torch.fx.subgraph_rewriter", "torch.jit", "torch.library", "torch.linalg", "torch.multiprocessing", "torch.nn",
    "torch.nn.attention", "torch.nn.functional", "torch.nn.init", "torch.nn.modules", "torch.nn.modules.module",
    "torch.nn.parallel", "torch.nn.parameter", "torch.nn.utils", "torch.nn.utils.clip_grad", "torch.nn.utils.parametrize",
    "torch.nn.utils.rnn", "torch.optim", "torch.optim.lr_scheduler", "torch.optim.optimizer", "torch.optim.swa_utils",
    "torch.profiler", "torch.return_types", "torch.serialization", "torch.storage", "torch.testing", "torch.utils",
    "torch.utils.benchmark", "torch.utils.checkpoint", "torch.utils.data", "torch.utils.data.dataset",
    "torch.utils.data.distributed", "torch.utils.flop_counter", "torch.utils.hooks", "torch.version",
]  # fmt: skip
METHODS = ("__init__", "__call__", "__iter__", "__len__", "__getitem__")  # others that begin with `_` are not public
CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType)
CALLABLE += types.WrapperDescriptorType, types.ClassMethodDescriptorType


def kind_of(value):
    if isinstance(value, CALLABLE):
        return "function"
    if isinstance(value, (property, types.GetSetDescriptorType, types.MemberDescriptorType)):
        return "property"
    kinds = {"module": types.ModuleType, "class": type}
    return next((name for name, kind in kinds.items() if isinstance(value, kind)), type(value).__name__)


def describe(value):
    """What is compared: the kind and, as far as it has them, the name, the module, the parameters, the bases, the value."""
    value = getattr(value, "__func__", value)
    told = {"kind": kind_of(value), "python": isinstance(value, (type, types.FunctionType))}
    if told["kind"] in ("class", "function", "module"):
        told["name"] = value.__name__
        told["module"] = getattr(value, "__module__", None)
    if isinstance(value, type):
        told["bases"] = [f"{kind.__module__}.{kind.__qualname__}" for kind in value.__mro__]
    elif isinstance(value, (bool, int, float, str)):
        told["value"] = value
    try:
        parameters = inspect.signature(value).parameters.values() if told["python"] else None
    except (TypeError, ValueError):
        parameters = None
    if parameters is not None:
        is_general = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
        told["parameters"] = None if is_general else [[p.name, written(p)] for p in parameters]
    return told


def written(parameter):
    """The text of a default. Numbers that are equal have one text, as have an empty Size and tuple."""
    default = parameter.default
    if parameter.default is parameter.empty:
        return ""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        return str(float(default))
    return re.sub(
        r" at 0x\w+|torch\.Size\((.*)\)", "", repr(() if isinstance(default, tuple) and not default else default)
    )


def walk(wanted):
    """What each public name is, by its path, if it is `wanted`. An attribute of a class has a colon before it. Without a choice,
    it may be inherited. In PyTorch, it is then compared where it is defined."""
    told, seen = {}, set()
    for path in MODULES:
        try:
            module = import_module(path)
        except ImportError:
            continue
        told[path] = describe(module) | {"all": list(getattr(module, "__all__", ()))}
        for name in dir(module):
            if name.startswith("_") or wanted and f"{path}.{name}" not in wanted or not hasattr(module, name):
                continue
            value = getattr(module, name)
            told[f"{path}.{name}"] = describe(value)
            if isinstance(value, type) and value.__module__.startswith(("torch", "rushlight")) and value not in seen:
                seen.add(value)
                for key in vars(value) if wanted else dir(value):
                    if (key in METHODS or not key.startswith("_")) and (not wanted or f"{path}.{name}:{key}" in wanted):
                        told[f"{path}.{name}:{key}"] = describe(inspect.getattr_static(value, key))
    return told


def read(framework, wanted=()):
    command, environment = [sys.executable, __file__, framework], os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, input=json.dumps(wanted), stdout=subprocess.PIPE, check=True, env=environment, text=True
    )
    return json.loads(done.stdout)


def differences(ours, theirs):
    """Each difference: what differs, the name, and what it is in rushlight and in PyTorch."""
    known = {f"{told['module']}.{told['name']}" for told in ours.values() if told["kind"] == "class"}
    for path, mine in ours.items():
        if path not in theirs:
            continue
        its = theirs[path]
        if mine["kind"] != its["kind"]:
            yield "kind", path, mine["kind"], its["kind"]
            continue
        for what in ("name", "module", "value"):
            if mine.get(what) != its.get(what) == its.get(what) and (
                what != "module" or its["python"]
            ):  # NaN is a value
                yield what, path, mine.get(what), its.get(what)
        if its["kind"] == "class":
            for base in its["bases"]:
                if base in known and base.startswith("torch") and base not in mine["bases"]:
                    yield "bases", path, mine["bases"], base
        if mine.get("parameters") and its.get("parameters"):
            defaults, names = dict(its["parameters"]), [name for name, _ in mine["parameters"]]
            skip = ":" in path and names[:1] != [its["parameters"][0][0]]  # `self` of an exercise
            for name, default in mine["parameters"][skip:]:
                if defaults.get(name) != default:
                    yield "parameters", path, f"{name}={default}", defaults.get(name)
            if [name for name in defaults if name in names] != [name for name in names if name in defaults]:
                yield "parameters", path, names, [*defaults]
    for path in MODULES:
        for name in ours.get(path, {}).get("all", ()):
            if path in theirs and f"{path}.{name}" not in theirs:
                yield "all", f"{path}.{name}", "", None


# What is different on purpose: what differs, whose names these are, and why.
DELIBERATE = [
    ("module", r".*:.*", "a method may be inherited, from a class that PyTorch does not have"),
    ("module", r"torch\.(functional\.)?\w+", "functions of `torch` itself are in the modules of their operators"),
    ("module", r".*\.(SDPBackend|SavedTensor|AcceleratorError|ProfilerActivity|ReduceOp|FileCheck)", "in PyTorch, C++ defines it"),
    ("module", r"torch\.(utils\.data|ao\.nn\.quantized|library|export)\..*", "in PyTorch, it is in another private module"),
    ("name", r".*:.*", "a method may be an operator, or made from a table"),
    ("name", r"torch\.(functional|distributions\.\w+)", "several modules of PyTorch are one module"),
    ("name", r"torch\.(get_rng_state|promote_types|result_type|trace|linalg\.(norm|svdvals))", "one function has several names"),
    ("name", r".*\.(threshold|clip_grads_with_norm_|get_total_norm|map_arg)", "PyTorch's own name is private"),
    ("kind", r".*Tensor:(dtype|is_cuda)", "a class like LongTensor has its dtype as an attribute"),
    ("kind", r".*PackedSequence:\w+", "these methods are `to` with an argument"),
    ("kind", r"torch\.(cuda\.(Device|device|graph)|ops|autograd\.variable)", "another object that does the same"),
    ("kind", r"torch\.(distributions\.|export\.|serialization\.StorageType).*", "an attribute instead of a property"),
    ("kind", r"torch\.distributed\.ReduceOp:\w+", "the members of an Enum are of its own class"),
    ("kind", r"torch\.utils\.(checkpoint|data\.dataset)\.(Callable|Sequence|Iterable)", "an import for type hints"),
    ("value", r".*SDPBackend:\w+", "an IntEnum, and not a class of pybind11"),
    ("value", r".*\.(git_version|EPOCH_DEPRECATION_WARNING)", "texts are rushlight's own"),
    ("bases", r"torch\.(autograd\.(function\.)?Function|utils\.checkpoint\.CheckpointFunction)", "`ctx` is of a class of its own"),
    ("parameters", r".*\.(RemovableHandle|FunctionEvent|ExportedProgram|OpOverload|StorageType|TaskSpec)(:__init__)?",
     "only the framework makes an object of this class"),
    ("parameters", r".*:(extend|set_\w+|forward|setup_output_hook)", "several methods are one function"),
    ("parameters", r".*\.get_default_qat_qconfig(_mapping)?", "only version 0 is here"),
    ("parameters", r".*\.Timer(:__init__)?", "without a GPU, the timer is Python's own"),
    ("all", r"torch\.functional\..*", "this module is `torch` itself"),
    ("all", r"torch\._\w+", "private operators, which labs use"),
    ("all", r"torch\.(aten|c10|distributed\.\w+|backends\.\w+|library\.ops)", "the layout of rushlight's own packages"),
    ("all", r"torch\.(autograd|optim|ao|utils)\..*", "a function of a lab, or a name that PyTorch has elsewhere"),
]  # fmt: skip


def test_public_names_are_what_they_are_in_torch():
    ours = read("rushlight")
    theirs = read("torch", [*ours])
    assert len(theirs) > 2500
    unused = {*DELIBERATE}
    for what, path, mine, its in differences(ours, theirs):
        row = next((row for row in DELIBERATE if row[0] == what and re.fullmatch(row[1], path)), None)
        assert row, f"the {what} of {path} is {mine}, and in PyTorch {its}"
        unused.discard(row)
    assert not unused, "no name is different as this row of the table says"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "rushlight":
        from rushlight.course import as_torch

        as_torch.install()
    print(json.dumps(walk({*json.load(sys.stdin)})))
