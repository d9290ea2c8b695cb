"""The folders of the framework are PyTorch's, and imports go down: the tree itself is a map of PyTorch."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from sweep import in_one_test

import rushlight

PACKAGE = Path(rushlight.__file__).parent
# From the bottom up. A room imports what is below it, and rooms of one line know each other.
ROOMS = [
    "c10",
    "library _ops return_types backends multiprocessing",
    "aten",
    "autograd amp cuda",
    "_library",
    "nn optim utils linalg masked testing _C profiler compiler",
    "serialization distributions",
    "fx",
    "aot ao",
    "inductor",
    "dynamo export",
    "on_torch distributed torchgen",
    "course clinic contribute",
    "__main__",
]
HEIGHT = {room: height for height, rooms in enumerate(ROOMS) for room in rooms.split()}
STATEMENTS = """
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch.utils.checkpoint import checkpoint
from torch.optim.lr_scheduler import OneCycleLR
from torch.optim import Adam
from torch.optim.swa_utils import AveragedModel
from torch.nn.parameter import Parameter
from torch.nn.modules import Linear
import torch.nn.functional as F
from torch.autograd.function import Function
from torch.nn.utils import clip_grad_norm_
import torch.fx
from torch.library import Library
from torch.utils.data.dataset import Dataset, Subset
from torch.utils.data.sampler import BatchSampler
from torch.utils.data.dataloader import DataLoader
from torch.optim.optimizer import Optimizer
from torch.nn.utils.clip_grad import clip_grad_value_
from torch.autograd.grad_mode import no_grad
from torch.autograd.gradcheck import gradcheck
from torch.nn.modules.module import Module
from torch.nn.init import kaiming_uniform_
import torch.autograd.graph
from torch.amp.autocast_mode import autocast
from torch.amp import autocast
from torch.amp import GradScaler
from torch.amp.grad_scaler import GradScaler
from torch.autograd.functional import jacobian
from torch.nn.modules.module import register_module_forward_hook
import torch.cuda
from torch.ao.quantization import FakeQuantize, MinMaxObserver, QConfig, QConfigMapping
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from torch.autograd.profiler import record_function
from torch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from torch.utils.benchmark import Compare, Measurement, Timer
from torch.utils.flop_counter import FlopCounterMode
from torch.ao.quantization.observer import HistogramObserver, PerChannelMinMaxObserver
""".strip().splitlines()


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def imports(node, is_at_import=True, for_types=False):
    """The import statements below a node, each with whether it runs when the module is imported, and whether it is for type
    checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, is_at_import and not for_types, for_types
        elif not isinstance(child, ast.expr):  # in which nothing is imported
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports(child, is_at_import and not is_function, for_types or is_for_types(child))


def imported(name, statement):
    """The modules of the framework that this import statement of a module name."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names if alias.name in MODULES]
    up = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    source = ".".join([*up, *([statement.module] if statement.module else [])])
    inner = [f"{source}.{alias.name}" for alias in statement.names] if source in MODULES else []
    return [each if each in MODULES else source for each in inner]


@cache
def found(name):
    """(The tree of a module is not kept: the search for garbage would go through all of them, which takes longer than to parse.)"""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    return [(other, *when) for node, *when in imports(tree) for other in imported(name, node)]


def at_import(name):
    return {other for other, is_at_import, _ in found(name) if is_at_import} - {name}


def at_any_time(name):
    return {other for other, _, for_types in found(name) if not for_types} - {name}


def for_types_too(name):
    return {other for other, *_ in found(name)} - {name}


def room(name):
    return name.split(".")[1] if "." in name else None


def test_every_room_has_its_height():
    assert {room(name) for name in MODULES} - {None} == HEIGHT.keys()


def test_a_module_imports_from_its_own_room_and_from_those_below():
    pairs = [(name, other) for name in MODULES for other in at_any_time(name) if room(name) and room(other)]
    assert len(pairs) > 1000
    assert [(name, other) for name, other in pairs if HEIGHT[room(other)] > HEIGHT[room(name)]] == []


def reached(graph, start):
    """The modules that one imports, also through others."""
    reached, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def circles(imported):
    """Return the strongly connected components: sets of modules that import each other, also through others."""
    graph = {name: imported(name) for name in MODULES}
    below = {name: reached(graph, name) for name in graph}
    return sorted({tuple(sorted(other for other in below[name] if name in below[other])) for name in graph} - {()})


@pytest.mark.parametrize("imported", [at_import, at_any_time])
def test_no_modules_import_each_other_in_a_circle(imported):
    assert circles(imported) == []


def test_with_imports_for_types_at_most_three_modules_import_each_other():
    assert [circle for circle in circles(for_types_too) if len(circle) > 3] == []


def test_the_framework_never_names_the_grader():
    assert not [name for name, path in MODULES.items() if "autograder" in path.read_text(encoding="utf-8")]


@in_one_test
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_a_script_imports_from_torch_it_imports_from_rushlight_by_the_same_statement(statement):
    found, given = {}, {}
    exec(statement, found)
    exec(statement.replace("torch", "rushlight"), given)
    names = [name for name in found if name not in ("__builtins__", "torch")]
    assert given.keys() >= {*names} or statement.startswith("import torch.")
    for name in names:
        ours = getattr(given[name], "__module__", None) or given[name].__name__
        assert ours.split(".")[0] == "rushlight"


def test_importing_rushlight_imports_neither_torch_nor_a_compiler():
    heavy = ["torch", "matplotlib", "rushlight.fx", "rushlight.inductor", "rushlight.on_torch", "multiprocessing"]
    program = f"import sys, rushlight; assert not [name for name in {heavy} if name in sys.modules]"
    subprocess.run([sys.executable, "-c", program], check=True)
