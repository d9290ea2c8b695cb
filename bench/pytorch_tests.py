"""Which of PyTorch's own tests pass on rushlight, and which of the others show that something means something else there.

    python bench/pytorch_tests.py FOLDER [FILE ...]

`FOLDER` is the folder `test/` of PyTorch's source, of a version near the installed one, and a file is such as `test_autograd.py`.
Each file runs on PyTorch and then on rushlight, in processes of its own with limits of time and memory. A test that passes on
PyTorch is counted. Of a test with many variants (dtypes, devices, parameters) the first few run, those of a dtype that rushlight
does not have last. What the tests take from `torch.testing._internal` comes from the installed PyTorch. There, a name that
rushlight does not have is replaced by an empty one, and a test that uses such a name fails for a missing name. `gradcheck` there
checks backward passes only, also for a test that asks for forward mode or for batched gradients.

A test that rushlight does not have, that skips itself or that takes too long there, is "not collected", and the reasons are listed.
A failure is "missing" if a name, an
option or an operator is not there, and "other words" if only the text of an error or of a warning is another one. Each other
failure "means something else": its first line is printed. Needs `pip install expecttest`.
"""

from __future__ import annotations

import argparse
import dis
import importlib
import importlib.machinery
import inspect
import json
import linecache
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import unittest
from collections import Counter
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from rushlight.course import as_torch
from rushlight.fx.operator_schemas import is_builtin

FILES = [
    "test_torch", "test_autograd", "test_nn", "test_view_ops", "test_indexing", "test_fx", "test_reductions",
    "test_type_promotion", "test_shape_ops", "test_optim",
]  # fmt: skip
OF_PYTORCH = (
    "torch.testing._internal",
    "torch.testing._comparison",
    "torch.testing._creation",
    "torch.testing._utils",
    "torch.utils._import_utils",
)
OTHER_DTYPES = [
    "uint16", "uint32", "uint64", "complex32", "complex64", "complex128", "cfloat", "cdouble", "chalf",
    "quint8", "qint8", "qint32", "quint4x2", "quint2x4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
]  # fmt: skip
COLUMNS = "pass on torch", "pass", "missing", "other words", "means something else", "not collected"
OF_OTHER_DTYPE = re.compile(rf"_({'|'.join(OTHER_DTYPES)})(?=_|$)")
LEFT_OUT = re.compile("__refs_|64bit")  # of PyTorch's references in Python, and of tensors of gigabytes
SECONDS, GIBIBYTES = 60, 8  # of a test, and of a process
MISSING = re.compile(
    r"is not in rushlight|has no attribute|unexpected keyword argument|invalid combination of arguments|not implemented|"
    r"No module named|cannot import name|takes \d+ positional|takes from \d+|multiple values for argument|No operator|"
    r"missing \d+ required|but got: lazy|dtype must be a (?:torch|rushlight)|there is no operator|no overload|"
    r"\bcomplex\b|leaves out|left out|rushlight has no"
)


# In the process of a file --------------------------------------------------------------------------------------------


class Missing(type):
    """A name of PyTorch that rushlight does not have. It can be a class, a decorator, a context or a value that is false."""

    importing = True  # the file of tests: later, a test that uses the name fails

    def __new__(kind, name: str, bases: tuple = (), space: dict | None = None, always: bool = False) -> Missing:
        return super().__new__(kind, name.rpartition(".")[2], bases, space or {})

    def __init__(self, name: str, bases: tuple = (), space: dict | None = None, always: bool = False) -> None:
        self.path, self.always = name, always

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or is_a_question(sys._getframe(1)):
            raise AttributeError(name)
        return Missing(f"{self.path}.{name}", always=self.always)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = any(isinstance(x, sys.modules["torch"].Tensor) for x in (*args, *kwargs.values()))
        if not Missing.importing and (tensors or args and self.__name__[0].isupper()):
            raise AttributeError(
                f"{self.path} is not in rushlight"
            )  # an operator or a class in a table of PyTorch's helpers
        self.used()
        return (
            args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Missing(self.path, always=self.always)
        )

    def used(self) -> None:
        if not (self.always or Missing.importing):
            raise AttributeError(f"{self.path} is not in rushlight")

    def __eq__(self, other: object) -> bool:  # a state that is compared before and after a test
        return isinstance(other, Missing) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        self.used()
        return iter(())

    def __enter__(self) -> Missing:
        self.used()
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __or__(self, other: Any) -> Any:
        return other

    def __sub__(self, other: Any) -> int:
        self.used()
        return 0

    __ror__, __lt__, __gt__, __le__, __ge__ = __or__, __sub__, __sub__, __sub__, __sub__


def _finfo(dtype: Any) -> Any:
    absent = getattr(dtype, "name", "") in OTHER_DTYPES
    return Missing("torch.finfo", always=True) if absent else sys.modules["torch"].finfo(dtype)


def _randn(*sizes: Any, **options: Any) -> Any:
    dtype = getattr(options.get("dtype"), "name", "")
    return Missing(f"torch.{dtype}") if dtype in OTHER_DTYPES else sys.modules["torch"].randn(*sizes, **options)


# What PyTorch's helpers need when they are imported
GIVEN = {
    "torch._C._get_privateuse1_backend_name": lambda: "privateuseone",
    "torch._C.has_lapack": True,  # a test of an operator that is not there must not skip itself
    "torch._C.has_spectral": True,
    "torch.dynamo.eval_frame.is_dynamo_supported": lambda: True,
    "torch._prims_common.dtype_to_type": lambda dtype: float if dtype.is_floating_point else int,
    "torch.finfo": _finfo,
    "torch.randn": _randn,
}


def _force_original_view_tracking(mode: bool) -> Any:
    if mode:
        raise AttributeError("torch.autograd._force_original_view_tracking is not in rushlight")
    return nullcontext()  # what rushlight does


def other_dtype(name: str) -> Any:
    """A dtype that rushlight does not have. A test that makes a tensor of it fails for a missing name."""
    dtype = type(sys.modules["torch"].float32)

    def numpy(self: Any) -> None:
        raise AttributeError(f"torch.{name} is not in rushlight")

    made = object.__new__(type("dtype", (dtype,), {"numpy": property(numpy)}))
    made.name = made.type_name = name
    made.category, made.is_floating_point, made.is_complex = 2, "float" in name, name.startswith("c")
    made.itemsize = int(re.findall(r"\d+", f"{name}32")[0]) // 8 or 1
    return made


def is_a_question(frame: Any) -> bool:
    """Whether a frame asks for an attribute by `hasattr`, or by `getattr` with a default."""
    code, at = frame.f_code.co_code, frame.f_lasti
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return dis.opname[code[at]] in ("CALL", "PRECALL") and (code[at + 1] == 3 or "hasattr" in line)


class Lenient(ModuleType):
    """A module in which each name is there: `torch` as PyTorch's internals and, while it is imported, a file of tests see it.
    `torch.ops` is one too."""

    def __init__(self, module: Any, always: bool, path: str = ""):
        super().__init__(path or module.__name__)
        vars(self).update(_module=module, _always=always, _path=path or as_torch.torch_name(module.__name__))

    def __getattr__(self, name: str) -> Any:
        module, always = vars(self)["_module"], vars(self)["_always"]
        path = f"{vars(self)['_path']}.{name}"
        if path in GIVEN and (always or Missing.importing):
            return GIVEN[path]
        try:
            value = getattr(module, name)
        except AttributeError:
            if name.startswith("__") or not (always or Missing.importing) or is_a_question(sys._getframe(1)):
                raise
            if module is sys.modules["torch"] and name in OTHER_DTYPES:
                return GIVEN.setdefault(path, other_dtype(name))
            value = sys.modules.get(path) or Missing(path, always=always)
        if type(value).__name__ in ("_Ops", "_Namespace"):
            return Lenient(value, always, path)
        return Lenient(value, always) if isinstance(value, ModuleType) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_module"], name, value)

    def __dir__(self) -> list[str]:
        return dir(vars(self)["_module"])


class Builtin(type):
    """The type of PyTorch's operators, which are functions in C++. Those of rushlight are written in Python."""

    def __instancecheck__(self, value: Any) -> bool:
        if isinstance(value, Missing):
            raise AttributeError(f"{value.path} is not in rushlight")
        return isinstance(value, types.BuiltinFunctionType) or is_builtin(value)


def signature(function: Any) -> inspect.Signature:
    """The signature of a function, with types that rushlight writes as text. An operator has none."""
    if is_builtin(function):
        raise ValueError(f"no signature found for builtin {function}")
    return inspect.signature(function, eval_str=True)


def _copy(module: ModuleType, **others: Any) -> ModuleType:
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module) | others)
    return copy


# What a test sees of Python's modules for functions
OPERATORS_ARE_BUILTIN = {
    "types": _copy(types, BuiltinFunctionType=Builtin("BuiltinFunctionType", (), {})),
    "inspect": _copy(inspect, signature=signature),
}


def lenient_import(always: bool) -> Any:
    """The `__import__` of a module of PyTorch's tests."""
    plain = __import__

    def imported(name: str, space: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        if name.partition(".")[0] == "functorch":  # built on PyTorch itself
            return _empty(name)
        if name in OPERATORS_ARE_BUILTIN:
            return OPERATORS_ARE_BUILTIN[name]
        if name.partition(".")[0] != "torch":
            return plain(name, space, local, names, level)
        try:
            plain(name, space, local, (), level)
        except ImportError:
            if not (always or Missing.importing):
                raise
            return _empty(name) if names else Lenient(sys.modules["torch"], always)
        for part in names or ():
            if not hasattr(sys.modules[name], part):
                with suppress(ModuleNotFoundError):  # a module of a package, or another name
                    plain(f"{name}.{part}")
        module = Lenient(sys.modules[name], always)
        return module if names else Lenient(sys.modules["torch"], always)

    return imported


def _empty(name: str) -> Any:
    module = Missing(name)
    vars_of = {"__all__": [], "__name__": name}
    vars_of |= {path.rpartition(".")[2]: value for path, value in GIVEN.items() if path.rpartition(".")[0] == name}
    for key, value in vars_of.items():
        setattr(module, key, value)
    return module


class Loader:
    """Executes a file of PyTorch's with such imports, and with a `torch` in which each name is there."""

    lent: list[tuple[type, str]] = []  # methods that classes have until the file of tests is imported

    def __init__(self, path: str, always: bool):
        self.path, self.always = path, always

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        import builtins

        space = vars(module)
        space["__builtins__"] = vars(builtins) | {"__import__": lenient_import(self.always)}
        space["__file__"] = self.path
        code = compile(Path(self.path).read_bytes(), self.path, "exec")
        while True:
            try:
                exec(code, space)
                for name in [name for name in space if name.endswith("PythonRefInfo")]:
                    space[name] = Missing(
                        name, always=True
                    )  # of PyTorch's references in Python, which these tests leave out
                return
            except AttributeError as error:  # `torch.Tensor.name` in a table
                if not isinstance(error.obj, type) or isinstance(error.obj, Missing):
                    raise
                setattr(error.obj, error.name, Missing(f"torch.{error.obj.__name__}.{error.name}"))
                self.lent.append((error.obj, error.name))


class OfPyTorch:
    """Finds PyTorch's helpers of tests in the installed PyTorch, after rushlight has been installed as `torch`, and the tests
    that a file imports from other files of its folder."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        helper, parts = name.startswith(OF_PYTORCH), name.split(".")
        place = as_torch._torch_folder().joinpath(*parts[1:]) if helper else Path(sys.path[0]).joinpath(*parts)
        file, package = (place / "__init__.py", True) if place.is_dir() else (place.with_suffix(".py"), False)
        if not file.exists():
            return None
        spec = importlib.machinery.ModuleSpec(name, Loader(str(file), helper), is_package=package)
        spec.submodule_search_locations = [str(place)] if package else None
        return spec


def backward_only(check: Any) -> Any:
    """PyTorch's helper `gradcheck` or `gradgradcheck`, without the checks of forward mode and of batched gradients."""
    left_out = ["check_forward_ad", "check_batched_forward_grad", "check_fwd_over_rev"]

    def checked(*args: Any, **options: Any) -> bool:
        wanted = [name for name in left_out if options.pop(name, False)]
        Result.unchecked += wanted
        return check(*args, **options | {"check_batched_grad": False})

    return checked


def or_none(parametrize: Any) -> Any:
    """The method of PyTorch's decorator `ops`, which makes no test if rushlight has none of its operators."""

    def tests(*args: Any) -> Any:
        try:
            yield from parametrize(*args)
        except ValueError as error:
            if "empty op_list" not in str(error):
                raise

    return tests


class Result(unittest.TestResult):
    """Keeps the outcome of the last test."""

    outcome: dict[str, Any]
    unchecked: list[str] = []  # what the test asked `gradcheck` for, in vain

    def addSuccess(self, test: Any) -> None:
        self.outcome = {"outcome": "passed"}

    def addSkip(self, test: Any, reason: str) -> None:
        self.outcome = {"outcome": "skipped", "said": reason}

    def addExpectedFailure(self, test: Any, error: Any) -> None:
        self.outcome = {"outcome": "skipped"}

    def addError(self, test: Any, error: Any) -> None:
        kind, value, trace = error
        missing = as_torch._missing(value, trace) if "rushlight" in sys.modules.get("torch", os).__name__ else ""
        if self.unchecked and not missing and kind.__name__ != "GradcheckError":
            missing = f"torch.autograd.gradcheck({self.unchecked[0]}=True) is not in rushlight"
        if dtype := OF_OTHER_DTYPE.search(test.id()):
            missing = missing or f"torch.{dtype[1]} is not in rushlight"
        lines = [f"{Path(at.filename).name}:{at.lineno} {at.line}" for at in traceback.extract_tb(trace)]
        theirs = [line for line in lines if line.startswith("test_")]
        said = (str(value).strip().splitlines() or [""])[0][:300]
        self.outcome = {"outcome": "failed", "kind": kind.__name__, "said": said, "missing": missing}
        self.outcome |= {"at": (theirs or lines or [""])[-1][:200]}

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error is not None:
            self.addError(test, error)


def tests_of(suite: Any, most: int) -> list[unittest.TestCase]:
    """The tests of a file, of each method the first variants, those of a dtype that rushlight does not have last."""
    flat, seen = [], Counter[str]()
    for part in suite:
        flat += tests_of(part, 10**9) if isinstance(part, unittest.TestSuite) else [part]
    kept = []
    for test in sorted(flat, key=lambda test: bool(OF_OTHER_DTYPE.search(test.id()))):
        method = getattr(test, test._testMethodName, None)
        line = getattr(getattr(method, "__func__", method), "__code__", None)
        base = re.sub(r"_(cpu|meta)(_.*)?$", "", test._testMethodName)
        key = f"{type(test).__name__} {base if line else test._testMethodName}"
        seen[key] += 1
        if seen[key] <= most and not LEFT_OUT.search(test._testMethodName):
            kept.append(test)
    return kept


def child(framework: str, file: Path, report: Path, done: set[str], wanted: set[str] | None, most: int) -> None:
    """Run the `wanted` tests of a file, or the first variants of all, and write a line for each."""
    resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES << 30, GIBIBYTES << 30))
    sys.argv, sys.path[0] = [str(file)], str(file.parent)
    os.chdir(tempfile.mkdtemp())
    if framework == "rushlight":
        as_torch.install()
        sys.meta_path.insert(0, OfPyTorch)
        importlib.import_module("torch.testing")
        for name in [name for name in sys.modules if name.startswith(OF_PYTORCH)]:
            del sys.modules[name]  # names of rushlight's own
        importlib.import_module("torch.testing._utils")
        make_tensor = importlib.import_module("torch.testing._creation").make_tensor
        GIVEN["torch.testing.make_tensor"] = importlib.import_module("torch.testing").make_tensor = make_tensor
        helpers = importlib.import_module("torch.testing._internal.common_utils")
        for name in "gradcheck", "gradgradcheck":
            setattr(helpers, name, backward_only(getattr(helpers, name)))
        kind = importlib.import_module("torch.testing._internal.common_device_type").ops
        kind._parametrize_test = or_none(kind._parametrize_test)
        # what PyTorch's tests set before or after each of them
        vars(importlib.import_module("torch._dynamo.config")).setdefault("suppress_errors", False)
        importlib.import_module("torch").ops.load_library = lambda path: None  # classes in C++, which few tests use
        importlib.import_module("torch.autograd")._force_original_view_tracking = _force_original_view_tracking
    import torch

    module = sys.modules["__main__"] = sys.modules[file.stem] = ModuleType(file.stem)
    module.__file__ = str(file)
    if framework == "rushlight":
        Loader(str(file), False).exec_module(module)
    else:
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
    Missing.importing = False
    for owner, name in Loader.lent:
        delattr(owner, name)
    torch.set_num_threads(1)

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, late)
    with report.open("a") as lines:

        def say(**words: Any) -> None:
            print(json.dumps(words), file=lines, flush=True)

        for test in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module), most if wanted is None else 10**9):
            if (name := test.id()) in done or wanted is not None and name not in wanted:
                continue
            say(begin=name)
            result = Result()
            Result.unchecked = []
            signal.alarm(SECONDS)
            try:
                test.run(result)
                outcome = getattr(result, "outcome", {"outcome": "skipped"})
            except BaseException as error:  # of a test's own `run`
                result.addError(test, (type(error), error, error.__traceback__))
                outcome = result.outcome
            signal.alarm(0)
            say(test=name, **outcome)
        say(end=True)


# The table -----------------------------------------------------------------------------------------------------------


def outcomes(framework: str, file: Path, most: int, wanted: list[str] | None = None) -> dict[str, dict[str, Any]]:
    """The outcome of each test of a file, or of the `wanted` ones. A test that ends its process has failed, and the others go on
    in a new process."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        report, skipped = Path(folder) / "report", Path(folder) / "done"
        while True:
            skipped.write_text(json.dumps([[*found], wanted]))
            report.write_text("")
            words = [
                "--child",
                framework,
                str(report),
                str(skipped),
                "--variants",
                str(most),
                str(file.parent),
                file.name,
            ]
            ran = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, errors="replace")
            lines = [json.loads(line) for line in report.read_text().splitlines()]
            found |= {line["test"]: line for line in lines if "test" in line}
            if lines and "end" in lines[-1]:
                return found
            if not lines or "begin" not in lines[-1]:
                last = (ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1]
                print(f"{file.name} does not run on {framework}: {last}")
                if os.environ.get("VERBOSE"):
                    print(ran.stderr[-3000:])
                return found
            name = lines[-1]["begin"]
            if os.environ.get("VERBOSE"):
                print(name, ran.stderr[-1000:])
            found[name] = {
                "outcome": "failed",
                "kind": "crash",
                "said": f"exit {ran.returncode}",
                "missing": "",
                "at": "",
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*", default=[f"{name}.py" for name in FILES])
    parser.add_argument("--variants", type=int, default=3, help="of a test with many variants, how many run")
    parser.add_argument(
        "--json", type=Path, help="a file for all outcomes; those of PyTorch that are there are not measured again"
    )
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        framework, report, names = given.child
        done, wanted = json.loads(Path(names).read_text())
        file = (given.folder / given.files[0]).resolve()
        child(framework, file, Path(report), {*done}, wanted and {*wanted}, given.variants)
        return
    kept = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    missing, totals, strange, skips = Counter[str](), Counter[str](), list[str](), Counter[str]()
    print("| file | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS))
    for name in given.files:
        theirs = kept.get(name, {}).get("torch") or outcomes("torch", given.folder / name, given.variants)
        passed = [test for test, line in theirs.items() if line["outcome"] == "passed"]
        ours = outcomes("rushlight", given.folder / name, given.variants, passed)
        kept[name] = {"torch": theirs, "rushlight": ours}
        if given.json:
            given.json.write_text(json.dumps(kept))
        counted = Counter[str]()
        for test in passed:
            mine = ours.get(test, {"outcome": "skipped"})
            counted.update([COLUMNS[0], column := column_of(mine)])
            if mine["outcome"] == "skipped":
                skips[mine.get("said", "there is no such test")] += 1
            if column == "missing":
                missing[missing_name(mine)] += 1
            elif column == "means something else":
                strange.append(f"{test}: {mine['kind']}: {mine['said'][:120]} [{mine['at']}]")
        totals += counted
        print(f"| {name} | " + " | ".join(f"{counted[column]:,}" for column in COLUMNS) + " |", flush=True)
    print("| all | " + " | ".join(f"{totals[column]:,}" for column in COLUMNS) + " |\n")
    print("\n".join(f"{count} {name}" for name, count in missing.most_common(60)), "\n")
    print("\n".join(f"{count} not run: {reason}" for reason, count in skips.most_common(20)), "\n")
    print("\n".join(strange))


def column_of(mine: dict[str, Any]) -> str:
    """The column of the table for the outcome on rushlight of a test that passes on PyTorch."""
    if mine["outcome"] != "failed" or mine["kind"] in ("TimeoutError", "MemoryError"):
        return "pass" if mine["outcome"] == "passed" else "not collected"
    if mine["missing"] or MISSING.search(mine["said"]):
        return "missing"
    return "other words" if " does not match " in mine["said"] else "means something else"


def missing_name(mine: dict[str, Any]) -> str:
    said = mine["missing"] or mine["said"]
    named = re.search(r"[\w.]+(?= is not in rushlight)|(?<=it uses )[\w.]+", said)
    return named[0] if named else said[:100]


if __name__ == "__main__":
    main()
