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
import subprocess
import sys
import sysconfig
import threading
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from itertools import zip_longest
from multiprocessing import spawn
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace, TracebackType
from typing import Any

import rushlight

OTHER_NAMES = {"_dynamo": "dynamo", "_inductor": "inductor", "_functorch": "aot"}
NAMED = ("Tensor", "Size", "dtype", "device", "layout", "memory_format", "qscheme")  # classes of `torch` itself
BUILT_ON_TORCH = ("torchvision", "torchaudio", "torchtext")  # the best known packages, which may not be installed
INSTALLED = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))
_answers: Answers | None = None
_HERE = str(Path(rushlight.__file__).parent)
_NOT_THEIRS = (*INSTALLED, sysconfig.get_path("stdlib"), _HERE, "<frozen ")


# The finder ----------------------------------------------------------------------------------------------------------


def install() -> None:
    """Make `import torch` in this process import rushlight, with PyTorch's version and names in what it prints."""
    sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_torch))
    sys.meta_path.append(SimpleNamespace(find_spec=_find_left_out))
    sys.excepthook = _report
    command = spawn.get_command_line  # of a process that the program starts
    ours = "from rushlight.course import as_torch; as_torch.install(); "
    spawn.get_command_line = lambda **arguments: [
        ours + word if str(word).startswith("from multiprocessing") else word for word in command(**arguments)
    ]
    rushlight.__version__ = TorchVersion("2.13.0")
    for kind in (getattr(rushlight, name) for name in NAMED):
        kind.__module__ = "torch"
        if kind is not rushlight.Tensor:
            kind.__repr__ = lambda self, plain=kind.__repr__: plain(self).replace("rushlight.", "torch.", 1)
    for kind in rushlight.return_types.all_return_types:
        kind.__module__ = "torch.return_types"


class TorchVersion(str):
    """A version that compares with another as numbers: 2.13 is above 2.9. Source: `torch/torch_version.py`."""

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)


def _numbers(version: Any) -> list[int]:
    return [*map(int, re.findall(r"\d+", version) if isinstance(version, str) else version)]


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
    module = _Module(name.replace("rushlight", "torch", 1))
    module.__path__ = []  # so that `import torch.onnx.utils` finds its package
    return _spec(name, module)


class _Module(ModuleType):
    """A module that notes the names that it does not have."""

    def __getattr__(self, name: str) -> Any:
        return _getattr(self, name)


def _getattr(owner: Any, name: str) -> Any:
    if _answers:
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__ and frame.f_back:
            frame = frame.f_back
        _answers.note(_public_name(owner), name, frame)
    kind = f"module {owner.__name__!r}" if isinstance(owner, ModuleType) else f"{type(owner).__name__!r} object"
    raise AttributeError(f"{kind} has no attribute {name!r}", name=name, obj=owner)


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
    where = _place(*theirs[-1])
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


def _place(file: str, line: int) -> str:
    return f"{Path(file).name}, line {line}"


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
        if kind.__module__.partition(".")[0] in ("rushlight", "torch"):
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


# What answered ------------------------------------------------------------------------------------------------------


class Answers:
    """Counts, while a program runs, the functions that its own files call, and the names that it looks for in vain.

    `yours` has the code of a student's pieces and their names. These count, wherever they are called.
    """

    def __init__(self, yours: dict[CodeType, str]) -> None:
        self.yours = yours
        self.calls: dict[str, Counter[str]] = {"yours": Counter(), "rushlight's": Counter()}
        self.missing: dict[str, tuple[int, str]] = {}  # by its name, how often, and where first
        self.names = _public_names()

    def start(self) -> None:
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] == "rushlight":
                module.__class__ = _Module
        rushlight.Tensor.__getattr__ = _getattr  # slow, and so only here
        threading.setprofile(self.count)
        sys.setprofile(self.count)

    def note(self, owner: str, name: str, frame: FrameType) -> None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if _is_theirs(file) and not name.startswith("__") and _torch_has(owner, name) is not False:
            count, where = self.missing.get(f"{owner}.{name}", (0, _place(file, line)))
            self.missing[f"{owner}.{name}"] = count + 1, where

    def count(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call":
            return
        if code in self.yours:
            self.calls["yours"][self.yours[code]] += 1
        elif code in self.names and frame.f_back and _is_theirs(frame.f_back.f_code.co_filename):
            owner, name = self.names[code]
            if not owner:  # a method, perhaps an inherited one
                first = frame.f_locals[code.co_varnames[0]]
                owner = _public_name(first if code.co_argcount else first[0])
            self.calls["rushlight's"][f"{owner}.{name}".removesuffix(".__init__")] += 1

    def print(self) -> None:
        sys.setprofile(None)
        for whose, calls in self.calls.items():
            print(f"{whose}: {len(calls)} functions, {calls.total():,} calls", file=sys.stderr)
            for name, count in calls.most_common():
                print(f"{count:10,}  {name}", file=sys.stderr)
        print(f"not there: {len(self.missing)} names", file=sys.stderr)
        for name, (count, where) in self.missing.items():
            print(f"{count:10,}  {name}, first in {where}", file=sys.stderr)


def _public_names() -> dict[CodeType, tuple[str, str]]:
    """By its code, the module and the name of each function that PyTorch has, too. A method has no module, but its class."""
    names: dict[CodeType, tuple[str, str]] = {}
    for path, module in sorted(sys.modules.items(), key=lambda item: item[0].count(".")):
        first, _, rest = path.partition(".")
        if first != "rushlight" or rest.partition(".")[0] in ("aten", "c10", "course", "torchgen"):
            continue
        for name, value in vars(module).items():
            _add_names(names, _torch_name(path), {name: value})
            if isinstance(value, type) and value.__module__.partition(".")[0] in ("rushlight", "torch"):
                _add_names(names, "", vars(value))
    return names


def _add_names(names: dict[CodeType, tuple[str, str]], owner: str, members: Mapping[str, Any]) -> None:
    for name, value in members.items():
        function = getattr(value, "fget", None) or getattr(value, "func", value)  # of a property, of a partial
        if isinstance(function, FunctionType) and name not in ("__getattr__", "__setattr__"):
            names.setdefault(function.__code__, (owner, name))


def run(
    words: list[str], module: bool = False, answers: bool = False, yours: dict[CodeType, str] | None = None
) -> None:
    """Run a script, the code cells of a notebook, or a module on rushlight.

    `words` are its name and its arguments. With `answers`, it prints at the end which functions the program called. `yours` has
    the names of the student's pieces.
    """
    install()
    global _answers
    if answers:
        _answers = Answers(yours or {})
        _answers.start()
    try:
        execute(words, module)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
    finally:
        if _answers:
            _answers.print()


def execute(words: list[str], module: bool = False) -> None:
    """Run a program as `python WORDS` does, with its own `__main__`. The file `-` is standard input."""
    path = words[0]
    try:
        codes = [(__file__, f"import runpy; runpy._run_module_as_main({path!r})")] if module else _read(path)
    except OSError as error:
        sys.exit(_refuse(path, error.strerror))
    except (ValueError, LookupError, TypeError, AttributeError):
        sys.exit(_refuse(path, "it is not a notebook"))
    sys.argv = [*words]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd() if module else Path(path).resolve().parent)
    main = sys.modules["__main__"] = ModuleType("__main__")
    if not module and path != "-" and not path.endswith(".ipynb"):
        main.__file__ = os.path.abspath(path)
    if path.endswith(".ipynb"):
        _execute(_cells(codes, main), vars(main))
    else:
        _execute(((*code, "exec") for code in codes), vars(main))


def _refuse(path: str, why: str | None) -> int:
    print(f"rushlight: {path} does not run: {why}", file=sys.stderr)
    return 2  # Python's exit code for a file that it cannot open


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
    shell.enable_gui = lambda gui=None: None  # of `%matplotlib`: there is no window
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
ON_TORCH = "import sys; from rushlight.course import as_torch; as_torch.execute(sys.argv[1:])"  # a notebook
DIGITS = 6  # of a float32, which a program may print with more


def compare(words: list[str], module: bool, ours: list[str]) -> int:
    """Run a program on PyTorch and then on rushlight, by the command `ours`, and print how its output differs.

    The program runs twice, in the same folder. Returns the exit code: 0 if both runs end alike and print the same.
    """
    if not _torch_folder():
        print("rushlight: a comparison needs PyTorch, which is not installed here", file=sys.stderr)
        return 1
    program = ["-m", *words] if module else words
    on_torch = [sys.executable, *(["-c", ON_TORCH] if words[0].endswith(".ipynb") else []), *program]
    given = sys.stdin.read() if words[0] == "-" else None
    runs = [
        subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, errors="replace")
        for command in (on_torch, [*ours, *program])
    ]
    if runs[0].returncode != runs[1].returncode:
        print(f"exit codes: PyTorch {runs[0].returncode}, rushlight {runs[1].returncode}")
    left, right = (run.stdout.splitlines() for run in runs)
    how, line = difference(runs[0].stdout, runs[1].stdout)
    if how == "equal":
        print(f"equal: {line} lines of output")
        return int(runs[0].returncode != runs[1].returncode)
    if how == "differs":
        print(f"the output differs, first in line {line}:")
    else:
        print(
            f"{len(left)} lines differ by at most 1 in the last digit of numbers (the sixth of longer ones), first in line {line}:"
        )
    for name, lines in (("PyTorch", left), ("rushlight", right)):
        print(f"  {name + ':':11}{lines[line - 1] if line <= len(lines) else '(no such line)'}")
    return 1


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
    """Whether two lines differ at most by 1 in the last digit of numbers with a point, or in the sixth of longer numbers."""
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
