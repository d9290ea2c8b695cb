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

import ast
import json
import linecache
import os
import re
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module, metadata
from importlib.machinery import ModuleSpec, PathFinder
from multiprocessing import spawn
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace, TracebackType
from typing import Any

import rushlight

OTHER_NAMES = {"_dynamo": "dynamo", "_inductor": "inductor", "_functorch": "aot", "functional": ""}
NAMED = (
    "Tensor Size dtype device layout memory_format qscheme finfo iinfo OutOfMemoryError"  # classes of `torch` itself
)
DEFINED_IN = {  # classes of which the files do not tell the module
    "aten.native.creation.tensortype": "torch", "aten.native.random.Generator": "torch._C", "linalg.LinAlgError": "torch._C",
    "c10.storage.UntypedStorage": "torch.storage", "c10.storage.TypedStorage": "torch.storage",
    "autograd.function.FunctionCtx": "torch.autograd.function", "autograd.graph.RemovableHandle": "torch.utils.hooks",
    "nn.modules.hooks.BackwardHook": "torch.utils.hooks",
    "optim.rules.Adafactor": "torch.optim", "optim.rules.Muon": "torch.optim",
}  # fmt: skip
BUILT_ON_TORCH = ("torchvision", "torchaudio", "torchtext")  # the best known packages, which may not be installed
INSTALLED = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))
DEFINITION = r"^(?:class |def |(?=\w+ = _add_docstr))(\w+)"
HERE = str(Path(rushlight.__file__).parent)
not_theirs = (*INSTALLED, sysconfig.get_path("stdlib"), HERE, "<frozen ")
left_out: type[ModuleType] = ModuleType  # the class of the modules that rushlight leaves out


# Imports -------------------------------------------------------------------------------------------------------------


def install() -> None:
    """Make `import torch` in this process import rushlight, with PyTorch's version and names in what it prints."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        del sys.modules[name]  # a student's pieces may have imported PyTorch itself
    for path, module in [
        *sys.modules.items()
    ]:  # importing would replace a function of the same name, such as `gradcheck`
        package, _, name = path.rpartition(".")
        if package.startswith("rushlight.") and getattr(sys.modules[package], name, module) is not module:
            sys.modules[torch_name(path)] = module
    sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_torch))
    sys.excepthook = _report
    command, ours = spawn.get_command_line, "from rushlight.course import as_torch; as_torch.install(); from multi"
    spawn.get_command_line = lambda **options: [  # of a process that the program starts
        word.replace("from multi", ours) if isinstance(word, str) else word for word in command(**options)
    ]
    versions = [rushlight.version.__version__, *(torch.version for torch in metadata.distributions(name="torch"))]
    rushlight.trace, rushlight.strided = rushlight.Tensor.trace, rushlight.c10.storage.strided_layout
    rushlight.__version__ = TorchVersion(max(version for version in versions if version.startswith(versions[0])))
    named = [getattr(rushlight, name) for name in NAMED.split()]
    for kind in named:
        kind.__module__ = "torch"
    for kind in named[1:-1]:
        kind.__repr__ = lambda self, plain=kind.__repr__: plain(self).replace("rushlight.", "torch.", 1)
    for kind in rushlight.return_types.all_return_types:
        kind.__module__ = "torch.return_types"
    for kind in rushlight.autograd.graph.Node.__subclasses__():
        kind.__module__ = "builtins"
    for path, module in DEFINED_IN.items():
        package, _, name = path.rpartition(".")
        _name_class(getattr(import_module(f"rushlight.{package}"), name), module)
    _name_all()
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"torch\.")  # as `rushlight/__init__.py` does


class TorchVersion(str):
    """A version that compares with another as numbers: 2.13 is above 2.9. Source: `torch/torch_version.py`."""

    def numbers(self) -> list[int]:
        return [*map(int, re.findall(r"\d+", re.sub(r"(\.0)+$", "", self)))]


for _plain in (list.__lt__, list.__le__, list.__gt__, list.__ge__):
    _compare = lambda self, other, plain=_plain: plain(self.numbers(), TorchVersion(other).numbers())  # noqa: E731
    setattr(TorchVersion, _plain.__name__, _compare)


def _find_torch(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
    """The module of rushlight for `import torch.x`, or an empty module if PyTorch has a module that rushlight leaves out."""
    first, _, rest = name.partition(".")
    if first != "torch":
        return None
    head, dot, tail = rest.partition(".")
    ours = ".".join(filter(None, ("rushlight", OTHER_NAMES.get(head, head) + dot + tail)))
    try:
        module = import_module(ours)
        _name_all()
        return _spec(name, module)
    except ModuleNotFoundError as error:
        if not f"{ours}.".startswith(f"{error.name}."):
            raise
    is_there = _torch_has_module(name)
    return _spec(name, left_out(name)) if is_there or is_there is None and name.count(".") == 1 else None


def _name_all() -> None:
    """Name each module of rushlight that is imported as PyTorch does, if PyTorch has it, and the classes and functions in it."""
    for path in [*sys.modules]:
        if path.partition(".")[0] == "rushlight":
            _name_module(path)


@cache
def _name_module(path: str) -> None:
    module, named = sys.modules[path], torch_name(path)
    files, there = _files_of(named), _torch_has_module(path)
    if there and module.__name__ == path:
        module.__name__ = named
    for name, value in [*vars(module).items()]:
        if isinstance(value, (type, FunctionType)) and value.__module__ == path:
            if name in files:
                _name_class(value, files[name])
            elif there and isinstance(value, FunctionType):
                value.__module__ = named


def _name_class(kind: type | FunctionType, module: str) -> None:
    """Give a class or a function its module in PyTorch. If that is no file of rushlight, a module is made, which has it."""
    for member in vars(kind).values():
        if isinstance(member, FunctionType) and member.__module__ == kind.__module__:
            member.__module__ = module
    kind.__module__ = module
    home = sys.modules.get(f"rushlight{module.removeprefix('torch')}")
    if home is None:
        home = sys.modules.setdefault(module, left_out(module))
        setattr(home, kind.__name__, kind)
        package, _, last = module.rpartition(".")
        if package != "torch" and last not in _defined_in(package, "*.py"):  # there, rushlight's short names come first
            vars(sys.modules[f"rushlight{package.removeprefix('torch')}"]).setdefault(last, home)
    elif module == "torch._C":
        setattr(home, kind.__name__, kind)  # where pickle looks for it


def _files_of(path: str) -> dict[str, str]:
    """The module of each class and function that PyTorch defines near the module `path`. The nearest file comes first."""
    package = path.rpartition(".")[0]
    near = _defined_in(package, "*.py") if package else {}
    return {**near, **_defined_in(path, "*.py"), **_defined_in(path, "__init__.py")}


@cache
def _defined_in(package: str, pattern: str) -> dict[str, str]:
    """The module of each class and function in these files of one of PyTorch's packages, or in the file of a module."""
    place, named = (_torch_folder() or Path(os.devnull)).joinpath(*package.split(".")[1:]), {}
    for file in [*sorted(place.glob(pattern)), place.with_suffix(".py")]:
        if file.exists():
            module = f"{package}.{file.stem}".removesuffix(".__init__") if file.parent == place else package
            names = re.findall(DEFINITION, file.read_text(encoding="utf-8"), re.M)
            named |= dict.fromkeys(names, module)
    return named


def _spec(name: str, module: ModuleType) -> ModuleSpec:
    own = module.__spec__  # which importing under another name replaces
    module.__dict__.setdefault("__path__", [])  # a file of rushlight may be a package of PyTorch, with modules in it
    loader = SimpleNamespace(
        create_module=lambda spec: module, exec_module=lambda module: own and setattr(module, "__spec__", own)
    )
    return ModuleSpec(name, loader, is_package=True)


@cache
def _torch_folder() -> Path | None:
    """The folder of an installed PyTorch."""
    spec = PathFinder.find_spec("torch")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


@cache
def _torch_has_module(name: str) -> bool | None:
    """Whether PyTorch has a module, by its files. None if it is not installed."""
    if not (folder := _torch_folder()):
        return None
    place = folder.joinpath(*name.split(".")[1:])
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@cache
def torch_has(owner: str, name: str) -> bool | None:
    """Whether PyTorch has a name in the module or class `owner`, by the text of its files. None if it is not installed."""
    if not (folder := _torch_folder()) or _torch_has_module(f"{owner}.{name}"):
        return folder and True
    place = folder.joinpath(*owner.split(".")[1:])
    files = {
        "torch": [*folder.glob("*.py"), *folder.glob("_C/*.pyi")],
        "torch.Tensor": [folder / "_tensor.py", folder / "_C" / "__init__.pyi"],
    }.get(owner) or [*place.rglob("*.py"), place.with_suffix(".py")]
    named = re.compile(rf"^\s*(?:def|class) {name}\b|^\s*{name}\b *[:=,]|import .*\b{name}\b|[\"']{name}[\"']", re.M)
    return any(named.search(file.read_text(encoding="utf-8")) for file in files if file.exists())


# Errors --------------------------------------------------------------------------------------------------------------


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error that a program does not handle: one line if a name of PyTorch is missing, otherwise Python's traceback."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    begin = next((number for number, frame in enumerate(frames) if frame.f_code is _execute.__code__), 0)
    for frame in frames:
        if begin <= 0 and (is_theirs(frame.f_code.co_filename) or frame.f_code.co_filename.startswith(INSTALLED)):
            break
        begin, trace = begin - 1, trace and trace.tb_next
    if line := _missing(error, trace):
        print(f"rushlight: {line}", file=sys.stderr)
    else:
        traceback.print_exception(kind, error, trace)


def is_theirs(file: str) -> bool:
    """Whether a file is the program's own: not Python's, not of an installed package, and not rushlight's."""
    return not file.startswith(not_theirs)


def place(file: str, line: int) -> str:
    """A file and a line, as messages show them."""
    return f"{Path(file).name}, line {line}"


def _missing(error: BaseException, trace: TracebackType | None) -> str:
    """The line that names what is missing and where, or an empty string if the error is the program's own."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
    where = next((place(*at) for at in reversed(frames) if is_theirs(at[0])), "")
    asking = next((file for file, _ in reversed(frames) if is_theirs(file) or file.startswith(INSTALLED)), "")
    name = str(getattr(error, "name", None))
    stated = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    wanted = ""
    if isinstance(error, AttributeError):
        wanted = _wanted(public_name(error.obj), name)
        if not wanted and isinstance(error.obj, rushlight.Tensor):  # of a subclass
            wanted = _wanted("torch.Tensor", name)
    elif isinstance(error, ImportError) and stated:
        wanted = _wanted(torch_name(stated[2]), stated[1])
    elif isinstance(error, ModuleNotFoundError) and name.partition(".")[0] in BUILT_ON_TORCH:
        return f"{where}: {name} is built on PyTorch itself and does not run on rushlight"
    elif isinstance(error, ModuleNotFoundError):
        wanted = _wanted(*torch_name(name).rpartition(".")[::2])
    if wanted and asking.startswith(INSTALLED):
        package = re.split(r"[/\\]", asking.removeprefix(INSTALLED[0]).removeprefix(INSTALLED[1]))[1]
        return f"{where}: {package} is built on PyTorch itself and does not run on rushlight (it uses {wanted})"
    return wanted and f"{where}: {wanted} is not in rushlight"


def _wanted(owner: str, name: str) -> str:
    return f"{owner}.{name}" if owner and torch_has(owner, name) is not False else ""


def public_name(owner: Any) -> str:
    """The name in PyTorch of a module, or of the class of a value: `torch.nn`, `torch.Tensor`. Empty if it is not PyTorch's."""
    if isinstance(owner, ModuleType):
        return torch_name(owner.__name__)
    for kind in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if torch_name(kind.__module__):
            parts = kind.__module__.split(".")
            packages = (".".join(parts[: count + 1]) for count in range(len(parts)))
            outer = (package for package in packages if vars(import_module(package)).get(kind.__name__) is kind)
            return f"{torch_name(next(outer, kind.__module__))}.{kind.__name__}"
    return ""


def torch_name(module: str) -> str:
    """PyTorch's name of a module of rushlight. Another module has none, and gives an empty text."""
    first, dot, rest = module.partition(".")
    return f"torch{dot}{rest}" if first in ("rushlight", "torch") else ""


# Programs ------------------------------------------------------------------------------------------------------------


def run(words: list[str], module: bool = False, seed: int | None = None) -> None:
    """Run a script, the code cells of a notebook, or a module on rushlight. `words` are its name and its arguments."""
    install()
    try:
        execute(words, module, seed)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def execute(words: list[str], module: bool = False, seed: int | None = None) -> None:
    """Run a program as `python WORDS` does, with its own `__main__`. The file `-` is standard input.

    Args:
        seed: of the random numbers of Python, numpy and torch when the program begins. Torch is rushlight after `install`.
    """
    if seed is not None:
        for module_of_numbers, set_seed in (("random", "seed"), ("numpy.random", "seed"), ("torch", "manual_seed")):
            getattr(import_module(module_of_numbers), set_seed)(seed)
    path = words[0]
    try:
        codes = [] if module else _read(path)
    except OSError as error:
        sys.exit(f"rushlight: {path} does not run: {error.strerror}")
    except (ValueError, LookupError, TypeError, AttributeError):
        sys.exit(f"rushlight: {path} does not run: it is not a notebook")
    sys.argv = [*words]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd() if module else Path(path).resolve().parent)
    main = sys.modules["__main__"] = ModuleType("__main__")
    if path.endswith(".ipynb") and not module:
        _execute(_cells(codes, main), vars(main))
        return
    if module:
        codes = [(__file__, f"import runpy; runpy._run_module_as_main({path!r})")]
    elif path != "-":
        main.__file__ = os.path.abspath(path)
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
    shell.enable_gui = lambda gui=None: None  # of `%matplotlib`: there is no window
    vars(main).update(get_ipython=lambda: shell, display=display)
    for file, cell in cells:
        source = shell.transform_cell(cell)
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # what tracebacks show
        body = ast.parse(source, file).body
        shown = body[-1:] if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else []
        yield file, ast.Module(body[: len(body) - len(shown)], []), "exec"
        yield file, ast.Interactive(shown), "single"
