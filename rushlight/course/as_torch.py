"""Run a program that was written for PyTorch on rushlight: in its process, `import torch` is `import rushlight`.

`install` puts a finder in front of Python's own. The finder answers `import torch.x.y` with the module `rushlight.x.y` itself, so
`isinstance` and assignments to the module hold under both names. Nothing on disk changes, and PyTorch is not imported.

A part of PyTorch that rushlight leaves out, such as `torch.onnx`, does not stop a program that imports it and never uses it:
`import torch.onnx` gives an empty module. The part still counts as missing where a program asks: `hasattr(torch.onnx, "export")` is
False, and `from torch.onnx import export` raises ImportError, because programs guard this line with `try`. A missing name that
a program does not guard ends it with one line, which says which name and where. An error of the program's own has Python's
usual traceback. Which names PyTorch has is read from the files of an installed PyTorch. Without these files, each name that
rushlight does not have is reported as missing.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from itertools import zip_longest
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

import rushlight

OTHER_NAMES = {"_dynamo": "dynamo", "_inductor": "inductor", "_functorch": "aot"}
BUILT_ON_TORCH = ("torchvision", "torchaudio", "torchtext")  # the best known packages, which may not be installed
INSTALLED = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))
_HERE = str(Path(rushlight.__file__).parent)
_NOT_THEIRS = (*INSTALLED, sysconfig.get_path("stdlib"), _HERE, "<frozen ")


# The finder ----------------------------------------------------------------------------------------------------------


def install() -> None:
    """Make `import torch` in this process import rushlight."""
    sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_torch))
    sys.meta_path.append(SimpleNamespace(find_spec=_find_left_out))
    sys.excepthook = _report


def _find_torch(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
    """The module of rushlight that has this name in PyTorch, as the import system asks for it."""
    first, _, rest = name.partition(".")
    if first != "torch":
        return None
    head, dot, tail = rest.partition(".")
    ours = ".".join(filter(None, ("rushlight", OTHER_NAMES.get(head, head) + dot + tail)))
    try:
        return _spec(name, import_module(ours))
    except ModuleNotFoundError as error:
        if error.name != ours:
            raise
    return None  # Python says that there is no module of this name


def _find_left_out(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
    """An empty module in the place of a part of PyTorch that rushlight leaves out."""
    if not name.startswith("rushlight."):
        return None
    path = name.removeprefix("rushlight.").replace(".", "/")
    if folder := _torch_folder():
        if not (folder / f"{path}.py").exists() and not (folder / path / "__init__.py").exists():
            return None
    elif _is_name_of_import():  # `from torch import thing`, in which `thing` may be a function
        return None
    module = ModuleType(name.replace("rushlight", "torch", 1))
    module.__path__ = []  # so that `import torch.onnx.utils` finds its package
    return _spec(name, module)


def _spec(name: str, module: ModuleType) -> ModuleSpec:
    own = module.__spec__  # which importing under another name replaces
    loader = SimpleNamespace(
        create_module=lambda spec: module, exec_module=lambda module: own and setattr(module, "__spec__", own)
    )
    return ModuleSpec(name, loader, is_package=hasattr(module, "__path__"))


def _is_name_of_import() -> bool:
    """Whether the import system looks for a module `c` because of `from a.b import c`."""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


@cache
def _torch_folder() -> Path | None:
    """The folder of an installed PyTorch."""
    spec = PathFinder.find_spec("torch")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


@cache
def _torch_has(owner: str, name: str) -> bool | None:
    """Whether PyTorch has a name in the module or class `owner`, by the text of its files. None if it is not installed."""
    if not (folder := _torch_folder()):
        return None
    place = folder.joinpath(*owner.split(".")[1:])
    if (place / f"{name}.py").exists() or (place / name / "__init__.py").exists():
        return True
    if owner == "torch.Tensor":
        files = [folder / "_tensor.py", folder / "_C" / "__init__.pyi"]
    elif owner == "torch":
        files = [*folder.glob("*.py"), *folder.glob("_C/*.pyi")]
    else:
        files = [*place.rglob("*.py"), place.with_suffix(".py")]
    named = re.compile(rf"^\s*(?:def|class) {name}\b|^\s*{name}\b *[:=,]|import .*\b{name}\b|[\"']{name}[\"']", re.M)
    return any(named.search(file.read_text(encoding="utf-8")) for file in files if file.exists())


# What is missing -----------------------------------------------------------------------------------------------------


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error that a program does not handle: one line if a name of PyTorch is missing, otherwise Python's traceback."""
    trace = _of_program(trace)
    if line := _missing(error, trace):
        print(f"rushlight: {line}", file=sys.stderr)
    else:
        traceback.print_exception(kind, error, trace)


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames that ran the program."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(trace)]
    if _execute.__code__ in codes:
        for _ in range(codes.index(_execute.__code__)):
            trace = trace and trace.tb_next
        while (
            trace
            and not trace.tb_frame.f_code.co_filename.startswith(INSTALLED)
            and not _is_theirs(trace.tb_frame.f_code.co_filename)
        ):
            trace = trace.tb_next
    return trace


def _is_theirs(file: str) -> bool:
    """Whether a file is the program's own: not Python's, not of an installed package, and not rushlight's."""
    return not file.startswith(_NOT_THEIRS)


def _missing(error: BaseException, trace: TracebackType | None) -> str:
    """The line that names what is missing and where, or an empty string if the error is the program's own."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
    theirs = [(file, line) for file, line in frames if _is_theirs(file)]
    if not theirs:
        return ""
    where = f"{Path(theirs[-1][0]).name}, line {theirs[-1][1]}"
    package = getattr(error, "name", None) or ""
    if isinstance(error, ModuleNotFoundError) and package.partition(".")[0] in BUILT_ON_TORCH:
        return f"{where}: {package} is built on PyTorch itself and does not run on rushlight"
    wanted = _wanted(error)
    if not wanted:
        return ""
    for file, _ in reversed(frames):
        if file.startswith(INSTALLED):
            package = re.split(r"[/\\]", file[len(next(filter(file.startswith, INSTALLED))) + 1 :])[0]
            return f"{where}: {package} is built on PyTorch itself and does not run on rushlight (it uses {wanted})"
        if _is_theirs(file):
            return f"{where}: {wanted} is not in rushlight"
    return ""


def _wanted(error: BaseException) -> str:
    """The name in PyTorch that rushlight does not have, or an empty string."""
    if isinstance(error, AttributeError) and error.name:
        owner, name = _public_name(error.obj), error.name
    elif isinstance(error, ImportError) and (
        stated := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    ):
        name, owner = stated.groups()
        owner = _torch_name(owner)
    else:
        return ""
    return f"{owner}.{name}" if owner and _torch_has(owner, name) is not False else ""


def _public_name(owner: Any) -> str:
    """The name in PyTorch of a module, or of the class of a value: `torch.nn`, `torch.Tensor`. Empty if it is not PyTorch's."""
    if isinstance(owner, ModuleType):
        return _torch_name(owner.__name__)
    for kind in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if kind.__module__.partition(".")[0] == "rushlight":
            return f"{_torch_name(_shortest(kind.__module__, kind.__name__))}.{kind.__name__}"
    return ""


def _torch_name(module: str) -> str:
    first, dot, rest = module.partition(".")
    return f"torch{dot}{rest}" if first in ("rushlight", "torch") else ""


def _shortest(module: str, name: str) -> str:
    """The outermost package that has a name of a module."""
    parts = module.split(".")
    packages = (".".join(parts[: count + 1]) for count in range(len(parts)))
    value = getattr(sys.modules[module], name, None)
    return next((package for package in packages if vars(sys.modules[package]).get(name) is value), module)


# Programs ------------------------------------------------------------------------------------------------------------


def run(words: list[str], module: bool = False) -> None:
    """Run a script, the code cells of a notebook, or a module on rushlight. `words` are its name and its arguments."""
    install()
    try:
        execute(words, module)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def execute(words: list[str], module: bool = False) -> None:
    """Run a program as `python WORDS` does, with its own `__main__`. The file `-` is standard input."""
    path = words[0]
    try:
        codes = [(__file__, f"import runpy; runpy._run_module_as_main({path!r})")] if module else _read(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"rushlight: can't run {path}: {getattr(error, 'strerror', None) or error!r}", file=sys.stderr)
        sys.exit(2)
    sys.argv = [*words]
    sys.path[0] = str(Path.cwd() if module else Path(path).resolve().parent)
    main = sys.modules["__main__"] = ModuleType("__main__")
    if not module and path != "-":
        main.__file__ = os.path.abspath(path)
    if path.endswith(".ipynb"):
        _execute(_cells(codes, main), vars(main))
    else:
        _execute(((*code, "exec") for code in codes), vars(main))


def _execute(codes: Iterable[tuple[str, Any, str]], space: dict[str, Any]) -> None:
    for file, source, mode in codes:
        exec(compile(source, file, mode, dont_inherit=True), space)


def _read(path: str) -> list[tuple[str, Any]]:
    """The file and the source of a program, or of each code cell of a notebook."""
    if path == "-":
        return [("<stdin>", sys.stdin.read())]
    if not path.endswith(".ipynb"):
        return [(os.path.abspath(path), Path(path).read_bytes())]
    notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    cells = notebook.get("cells") or [cell for sheet in notebook.get("worksheets", ()) for cell in sheet["cells"]]
    sources = ["".join(cell.get("source", cell.get("input"))) for cell in cells if cell["cell_type"] == "code"]
    return [(f"{Path(path).name}, cell {number}", source) for number, source in enumerate(sources, 1)]


def _cells(cells: Iterable[tuple[str, str]], main: ModuleType) -> Iterator[tuple[str, Any, str]]:
    """The code of a notebook's cells, with IPython's magics. A cell that ends with an expression shows its value."""
    from IPython.core.interactiveshell import InteractiveShell  # slow to import
    from IPython.display import display
    from traitlets.config import Config

    settings = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(user_module=main, user_ns=vars(main), config=settings)
    vars(main).update(get_ipython=lambda: shell, display=display)
    for file, cell in cells:
        source = shell.transform_cell(cell)
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # what tracebacks show
        body = ast.parse(source, file).body
        shown = body[-1:] if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else []
        yield file, ast.Module(body[: len(body) - len(shown)], []), "exec"
        yield file, ast.Interactive(shown), "single"


# The output on PyTorch and on rushlight ------------------------------------------------------------------------------

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
DIGITS = 7  # of a float32, which a program may print with more


def difference(theirs: str, ours: str) -> tuple[str, int]:
    """How two outputs differ, `equal`, `last digit` or `differs`, and in which line first, from 1."""
    first = 0
    pairs = list(zip_longest(theirs.splitlines(), ours.splitlines()))
    for number, (left, right) in enumerate(pairs, 1):
        if left == right:
            continue
        if left is None or right is None or not _rounded_alike(left, right):
            return "differs", number
        first = first or number
    return ("last digit", first) if first else ("equal", len(pairs))


def _rounded_alike(left: str, right: str) -> bool:
    """Whether two lines differ at most by 1 in the last digit of numbers with a point, or in the seventh of longer numbers."""
    if NUMBER.split(left) != NUMBER.split(right):
        return False
    for one, other in zip(NUMBER.findall(left), NUMBER.findall(right)):
        a, b = Decimal(one), Decimal(other)
        if a != b:
            last = min(a.as_tuple().exponent, b.as_tuple().exponent)
            if (
                last >= 0
                and "e" not in (one + other).lower()
                or abs(a - b) > Decimal(10) ** max(last, a.adjusted() - DIGITS + 1)
            ):
                return False
    return True
