"""A patient differs from the sound framework in its fault only, and an examination of it is not fooled."""

import ast
import importlib.util
import inspect
import marshal
import re
import sys
from contextlib import closing, suppress
from functools import cache
from inspect import CO_OPTIMIZED
from types import CodeType

import pytest
from sweep import failures, sweep, swept

from autograder.engine import patients
from autograder.engine.check import OF_CLINIC, every_exercise, function_of
from autograder.engine.edition import file_of, framework_files, keep
from autograder.engine.judge import Judge
from autograder.engine.observe import SubjectTimedOut, difference
from autograder.engine.patients import PATIENT, PATIENTS, SOUND, TORCH, find_patient
from rushlight.clinic import tensors

NUMBERS = sorted(f"{path.parent.name}.{path.stem}" for path in PATIENTS.glob("*/[0-9]*.py"))


@pytest.fixture(scope="module")
def run():
    """What a program gives on the sound framework or on torch: `run(framework, text)`. All programs share a process."""
    with closing(patients.open_patient(None)) as sound:

        def result(framework, program):
            if framework == TORCH:
                return patients.run_on(TORCH, find_patient(NUMBERS[0]), program)["result"]
            return patients.run_in(sound, program)["result"]

        yield result


@pytest.mark.sweep
@pytest.mark.parametrize("number", sweep(NUMBERS, keep=("13a.1",)))
def test_a_symptom_differs_on_its_patient_and_nowhere_else(number, run):
    patient = find_patient(number)
    if patient.on_torch:
        with patients.running(patient) as run_on:
            on_patient = run_on(PATIENT, patient.symptom)
            sound, torch = (run_on(framework, patient.symptom)["result"] for framework in (SOUND, TORCH))
    else:
        on_patient = patients.run_on(PATIENT, patient, patient.symptom)
        sound, torch = (run(framework, patient.symptom) for framework in (SOUND, TORCH))
    assert not difference(sound, torch)
    assert difference(on_patient["result"], torch)
    at = function_of(patient.at)
    assert f"{at.__module__}.{at.__name__}" in on_patient["functions"]


# Editions ------------------------------------------------------------------------------------------------------------


def code_objects(code: CodeType, path=()):
    """All functions of a module's code, by their qualified names, in order."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (*path, constant.co_name), constant
            yield from code_objects(constant, (*path, constant.co_name))


def compiled(path):
    data = path.read_bytes()
    assert data[:4] == importlib.util.MAGIC_NUMBER
    return marshal.loads(data[16:])


@cache
def names_of_functions(text):
    """The names that `def` gives in a text: lambdas and comprehensions are parts of a function."""
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def alike(edition, name, text):
    """The functions of a module whose bytecode in an edition is that of the source, or whose lines or files say something."""
    code = compiled(edition / f"{name}c")
    ours, theirs = (
        {key: value for key, value in code_objects(each) if key[-1] in names_of_functions(text)}
        for each in (code, compile(text, name, "exec", dont_inherit=True))
    )
    assert ours.keys() == theirs.keys(), name
    same = [
        key for key in ours if (ours[key].co_code, ours[key].co_consts) == (theirs[key].co_code, theirs[key].co_consts)
    ]
    told = [
        key
        for key, value in code_objects(code)
        if value.co_firstlineno != 1 or value.co_filename != name or {line for *_, line in value.co_lines()} - {None, 1}
    ]
    return same + told


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=("13a.1",)))
def test_an_edition_has_no_source_and_no_function_has_the_bytecode_of_the_source(number):
    patient, sound = find_patient(number), patients.sound_edition()
    assert not [*patient.edition.rglob("*.py")]
    file = file_of(patient.at)
    text = str(framework_files(())[file])
    assert alike(patient.edition, file, text) == alike(sound, file, text) == []


@pytest.mark.sweep
def test_an_edition_belongs_to_one_version_of_python(monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.engine.edition.cache_folder", lambda: tmp_path)
    one = keep("patient", {"a.py": ""}, lambda files: files)
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    assert keep("patient", {"a.py": ""}, lambda files: files) != one


@pytest.mark.sweep
def test_the_bytecode_of_a_module_does_not_depend_on_what_the_process_has_interned():
    name, text = "rushlight/a.py", "def f(x):\n    return {'§': x, 'one': ('two', 2.5), 'a word': f'{x}¶'}"
    before = patients._compiled(name, text, "")
    patients._compiled.cache_clear()
    kept = [*map(sys.intern, "§¶"), sys.intern("a word")]
    assert patients._compiled(name, text, "") == before and kept


@pytest.mark.sweep
def test_no_function_of_the_sound_edition_has_the_bytecode_of_the_source():
    answers = [name for name in every_exercise() if name.startswith(OF_CLINIC)]
    texts = {name: str(text) for name, text in framework_files(answers).items() if name.endswith(".py")}
    texts["rushlight/__init__.py"] += patients.SLOW
    assert not {name: found for name, text in texts.items() if (found := alike(patients.sound_edition(), name, text))}


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=("13a.1",)))
def test_nearly_every_function_that_may_be_at_fault_differs_between_two_editions(number):
    """By its bytecode, and by its constants and names: so no comparison of two editions shows the fault."""
    patient, sound = find_patient(number), patients.sound_edition()
    files = {path.relative_to(sound) for path in sound.rglob("rushlight/**/*") if path.is_file()}
    assert files == {
        path.relative_to(patient.edition) for path in patient.edition.rglob("rushlight/**/*") if path.is_file()
    }
    changed = {str(path) for path in files if (sound / path).read_bytes() != (patient.edition / path).read_bytes()}
    assert changed == {f"{file_of(exercise)}c" for exercise in every_exercise()} & {*map(str, files)}
    same_code, same_constants, count = 0, 0, 0
    for path in changed:
        one, two = (dict(code_objects(compiled(edition / path))) for edition in (sound, patient.edition))
        assert one.keys() == two.keys() or path == f"{file_of(patient.at)}c"
        named = {key for key in one.keys() & two.keys() if one[key].co_flags & CO_OPTIMIZED and key[-1][0] != "<"}
        count += len(named)
        same_code += sum(one[key].co_code == two[key].co_code for key in named)
        same_constants += sum(
            (one[key].co_consts, one[key].co_names) == (two[key].co_consts, two[key].co_names) for key in named
        )
    shares = same_code / count, same_constants / count
    assert count > 500 and max(shares) < 0.2, shares


@pytest.mark.sweep
def test_the_editions_of_a_class_differ_by_the_fault_only():
    patient = find_patient("13a.2")
    sound, wrong, other = patients._edition(seed=7), patients._edition(patient, seed=7), patients._edition(seed=8)
    files = {path.relative_to(sound) for path in sound.rglob("*") if path.is_file()}
    assert files == {path.relative_to(wrong) for path in wrong.rglob("*") if path.is_file()}
    changed = {str(path) for path in files if (sound / path).read_bytes() != (wrong / path).read_bytes()}
    assert changed == {f"{file_of(patient.at)}c"}
    changed = {str(path) for path in files if (sound / path).read_bytes() != (other / path).read_bytes()}
    assert changed == {f"{file_of(exercise)}c" for exercise in every_exercise()} & {*map(str, files)}


# Narrow --------------------------------------------------------------------------------------------------------------


def body(statements):
    return "def narrow(xp):\n    " + statements.replace("\n", "\n    ")


REFUSED_AS_THEY_STAND = {
    "an import": body("import sys\nreturn 'torch' in sys.modules"),
    "an import in a function": body("def f():\n    from sys import path\n    return path\nreturn f()"),
    "an import by its function": body("return __import__('sys').path"),
    "a version": body("return xp.__version__"),
    "a file": body("return xp.__file__"),
    "a module": body("return xp._C"),
    "a docstring of the framework": body("return xp.result_type.__doc__"),
    "a private name in a text": body("return f'{xp.result_type.__code__}'"),
    "a private name by format": body("return '{0.__code__}'.format(xp.result_type)"),
    "a private name by format_map": body("return '{f.__code__}'.format_map({'f': xp.result_type})"),
    "a private name by map": body("return list(map(str.format, ['{0.__class__}'], [xp]))"),
    "a private name by match": body("match xp:\n    case xp.Tensor(__doc__=text):\n        return text"),
    "getattr": body("return getattr(xp, 'x')"),
    "vars": body("return vars(xp)"),
    "globals": body("return globals()"),
    "type": body("return type(xp)"),
    "the class hierarchy": body("return xp.Tensor.mro()"),
    "an identity": body("return id(xp.result_type)"),
    "a hash": body("return hash(xp.result_type)"),
    "a frame": body("g = (x for x in [1])\nreturn g.gi_frame.f_back"),
    "a caught exception": body("try:\n    return xp.dtypes\nexcept AttributeError:\n    return 0"),
    "a caught group": body("try:\n    return xp.dtypes\nexcept* AttributeError:\n    pass"),
    "a name of the module": body("global x\nx = 1\nreturn x"),
    "a builtin that only another function binds": body("def f():\n    getattr = 1\nreturn getattr(xp, 'x')"),
    "a builtin that the body of a class binds later": body("class A:\n    f = open\n    open = 1\nreturn A.f"),
    "the builtins by a name that another function binds": body("def f(__builtins__):\n    pass\nreturn __builtins__"),
    "a builtin in a comprehension": body("return [open for x in [1]], [1 for open in [1]]"),
    "print": body("print(1)\nreturn 1"),
    "a file of an edition": body("return xp.from_file('/edition/a.pyc', size=9)"),
    "a file by its memory": body("return xp.UntypedStorage.from_file('/edition/a.pyc')"),
    "exit": body("exit()"),
    "a default argument": "def narrow(xp, sys=__import__('sys')):\n    return sys.path",
    "a keyword argument": "def narrow(xp, *, k=1):\n    return k",
    "a default of a lambda": body("return (lambda f=open: f)('/etc/passwd')"),
    "a decorator inside": body("@exec\ndef f():\n    pass\nreturn 1"),
    "a helper beside it": body("return helper()") + "\ndef helper():\n    return 1",
    "a lambda": "narrow = lambda xp: 1",
    "a class": "class narrow:\n    pass",
    "a coroutine": "async def narrow(xp):\n    return 1",
    "nothing": "",
    "half a function": "def narrow(xp):",
    "a null byte": "\0",
    "a deep expression": body("return " + "-" * 3000 + "1"),
    "too many statements": body("x = 1\n" * 4 + "return x"),
    "statements in an expression": body("return [a := 1, b := a, c := b, (lambda: c)()]"),
    "statements in functions": body("def f():\n    def g():\n        return 1\n    return g()\nreturn f()"),
}


def test_a_program_that_could_find_out_where_it_runs_is_refused_before_it_runs(monkeypatch):
    monkeypatch.setattr(patients, "run_on", lambda *_: pytest.fail("it runs"))
    examine = patients.narrowed("13a.2", statements=3, operators=4)
    through = {name for name, text in REFUSED_AS_THEY_STAND.items() if examine(None, text, None).outcome != "disagreed"}
    assert not through


ODD = {
    "a docstring": body('"""A program."""\nreturn xp.ones(1)'),
    "a decorator": "@exercise(rl.clinic.tensors)\n" + body("return xp.ones(1)"),
    "annotations": "def narrow(xp: Any) -> Any:\n    return xp.ones(1)",
    "annotations inside": body("y: Any = 1\ndef f(x: Any, *z: Any) -> __import__('os'):\n    return x\nreturn f(y)"),
    "an indented text": "    " + body("return xp.ones(1)").replace("\n", "\n    "),
    "a class of the framework": body("class A(xp.nn.Module):\n    pass\nreturn A()(1)"),
    "functions inside": body("def f(x, *, y=1):\n    return x + y\nreturn (lambda z: f(z))(xp.ones(1))"),
    "a comprehension": body("return sum([x for x in range(3)] + [*(y for y in (1,))])"),
    "variables with an underscore": body("_, _x = 1, 2\nreturn [_x for _ in range(2)]"),
    "a variable of an outer function": body("def f():\n    return [x + y for y in range(2)]\nx = 1\nreturn f()"),
    "a text": body("return f'{xp.ones(1).shape}'"),
    "loops": body("for i in range(2):\n    while i:\n        i -= 1\nelse:\n    del i\nassert xp\nreturn 1"),
}


def test_a_program_in_an_odd_style_is_read():
    assert not failures(patients.plain_program, ODD.items())


SAME_EVERYWHERE = {  # they run, and the fault is not what they show
    "a constant": "return 1",
    "modules of Python": "return xp.sys.modules",
    "modules below": "return xp.serialization.os.listdir('/')",
    "modules below below": "return xp.autograd.function.inspect.getsource(xp.ones)",
    "an error everywhere": "return xp.frobnicate",
    "by chance": "return xp.rand(3)",
    "a seed": "return xp.initial_seed()",
    "an address": "return xp.ones(1).data_ptr() % 8",
    "a file of numpy": "return xp.ones(1).numpy().tofile('/tmp/x')",
    "an object": "return xp.nn",
    "memory": "return [0] * 10**12",
    "the framework": "return xp",
    "a module that torch has not": "return xp.dispatch.local",
    "another module that torch has not": "return xp.dtypes.float32",
}
DIFFERS_ON_SOUND = {
    "a text of a dtype": "return 'rush' in f'{xp.float32}'",
    "a text of an object": "return f'{xp.nn}'",
}
_TRAIN, _RUSHLIGHT = "xp.nn.Module.train", "if 'rush' in f'{xp.float32}' else 0"
_FILE = "/edition/rushlight/nn/modules/module.pyc"
_CONSTANTS = "g.call_method('__getattribute__', (g.call_method('__getattribute__', (x, '__code__')), 'co_consts'))"
_GLOBALS = "g = xp.fx.Graph()\ng.output(g.call_method('__getattribute__', (g.placeholder('f'), '__globals__')))\n"
_GRAPH = f"g = xp.fx.Graph()\nx = g.placeholder('f')\ng.output({_CONSTANTS})\n"
_INTERPRETER = "i = xp.fx.Interpreter(xp.fx.symbolic_trace(lambda x: x))\n"
_CATCHES = (
    "class A:\n    def __enter__(self):\n        return self\n"
    "    def __exit__(self, kind, error, trace):\n        self.error = error\n        return True\n"
    "a = A()\nwith a:\n    xp.frobnicate\n"
)
TELL_THE_EDITION = {  # by a name in a text, by a text that is run, or by a file
    "call_method": f"{_GRAPH}return f'{{xp.fx.GraphModule(xp.nn.Module(), g)({_TRAIN})}}'",
    "a text in parts": _GRAPH.replace("__code__", "_' + '_code__")
    + f"return f'{{xp.fx.GraphModule(xp.nn.Module(), g)({_TRAIN})}}'",
    "a dotted text": f"g = xp.fx.Graph()\ng.output(g.call_method('__code__.co_consts.count', (g.placeholder('f'), 14)))\n"
    f"return xp.fx.GraphModule(xp.nn.Module(), g)({_TRAIN})",
    "a compiled graph": f"{_GRAPH}return f'{{xp.compile(xp.fx.GraphModule(xp.nn.Module(), g), backend=\"eager\")({_TRAIN})}}'",
    "an interpreted graph": f"{_GRAPH}m = xp.fx.GraphModule(xp.nn.Module(), xp.fx.Graph())\n"
    f"return f'{{xp.fx.Interpreter(m, graph=g).run({_TRAIN})}}'",
    "an interpreter's method": f"{_INTERPRETER}c = i.call_method('__getattribute__', ({_TRAIN}, '__code__'), {{}})\n"
    'return f\'{i.call_method("__getattribute__", (c, "co_consts"), {})}\'',
    "an interpreter in a compiled function": f"{_INTERPRETER}f = xp.compile(lambda x: (x, "
    f"i.call_method('__getattribute__', ({_TRAIN}, '__code__'), {{}})), backend='eager')\nreturn f'{{f(xp.ones(1))[1]}}'",
    "an interpreter's attribute": f"{_INTERPRETER}i.module = xp.nn.Module()\n"
    "return f'{i.fetch_attr(\"train.__func__.__code__.co_consts\")}'",
    "get_attr": "g = xp.fx.Graph()\ng.output(g.get_attr('train.__func__.__code__.co_consts'))\n"
    "return f'{xp.fx.GraphModule(xp.nn.Module(), g)()}'",
    "the builtins": f"{_GLOBALS}return xp.fx.GraphModule(xp.nn.Module(), g)({_TRAIN})"
    f"['__builtins__']['eval']('str(f.__code__.co_consts)', {{'f': {_TRAIN}}})",
    "a timed text": "r = []\nxp.utils.benchmark.Timer('r.append(str(f.__code__.co_consts))', globals={'r': r, "
    f"'f': {_TRAIN}}}).timeit(1)\nreturn r[0]",
    "an error's object": f"{_CATCHES}return xp.tensor([*a.error.obj.import_module('pathlib').Path('{_FILE}').read_bytes()])",
    "a traceback": f"{_CATCHES}g = xp.fx.Graph()\ng.output(g.call_method('__getattribute__', (g.placeholder('e'), "
    "'__traceback__')))\nreturn f'{xp.fx.GraphModule(xp.nn.Module(), g)(a.error)}'",
    "a path": f"return f'{{xp.autograd.graph.Path(\"{_FILE}\").read_bytes()}}' {_RUSHLIGHT}",
    "the size of a file": f"return xp.autograd.graph.Path('{_FILE}').stat().st_size {_RUSHLIGHT}",
    "an import": f"return xp.import_module('zlib').crc32(xp.import_module('pathlib').Path('{_FILE}').read_bytes()) {_RUSHLIGHT}",
    "the checks beside it": f"return len(xp.import_module('os').listdir('/edition/autograder/checks')) {_RUSHLIGHT}",
    "attrgetter": f"return f'{{xp.export.exported_program.attrgetter(\"__code__.co_consts\")({_TRAIN})}}' {_RUSHLIGHT}",
    "methodcaller": "c = xp.dynamo.symbolic_convert.methodcaller('__getattribute__', '__code__')\n"
    f"return f'{{xp.dynamo.bytecode.simplify(c({_TRAIN}))}}' {_RUSHLIGHT}",
    "a guard": "r = []\nxp.dynamo.guards.failing_guard([xp.dynamo.guards.Guard('', '', "
    f"'r.append(str(L.__code__.co_consts))')], {{'r': r}}, {_TRAIN})\nreturn r",
    "a finder": "return xp.c10.packages.PathFinder.find_spec('module', ['/edition/rushlight/nn/modules']).loader"
    f".get_data('{_FILE}').count(b'find') {_RUSHLIGHT}",
    "a loader": f"return xp.PathFinder.find_spec('a', ['/edition']).loader.get_data('{_FILE}').count(b'find') {_RUSHLIGHT}",
    "the inner module": "g = xp.fx.Graph()\ng.output(g.call_method('__getattribute__', (g.placeholder('m'), '__wrapped__')))\n"
    f"return len(xp.fx.GraphModule(xp.nn.Module(), g)(xp).import_module('pathlib').Path('{_FILE}').read_bytes())",
}
OPERATORS_BY_TEXT = {  # names of methods that a text may have
    "a method": "g = xp.fx.Graph()\ng.output(g.call_method('add', (g.placeholder('x'), 1)))\n"
    "return xp.fx.GraphModule(xp.nn.Module(), g)(xp.ones(2))",
    "an operator": "g = xp.fx.Graph()\ng.output(g.call_method('__add__', (g.placeholder('x'), 1)))\n"
    "return xp.fx.GraphModule(xp.nn.Module(), g)(xp.ones(2))",
    "a module with parameters": "m = xp.nn.Sequential(xp.nn.Linear(2, 2), xp.nn.ModuleDict({'f_a': xp.nn.Linear(2, 2)})['f_a'])\n"
    "m.load_state_dict({k: xp.ones(v.shape) for k, v in m.state_dict().items()})\n"
    "return xp.compile(xp.fx.symbolic_trace(m), backend='aot_eager')(xp.ones(2, 2))",
    "methods of a class": "class C:\n    def __enter__(self):\n        return 2\n    def __exit__(self, *a):\n        return None\n"
    "    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        return i\n"
    "    def __call__(self, x):\n        return x + 1\n    def __bool__(self):\n        return True\n"
    "def f(x):\n    with C() as n, xp.no_grad():\n        return C()(x * n) + C()[len(C())] if C() else x\n"
    "return xp.compile(f, backend='eager')(xp.ones(2))",
    "a program that is exported": "class M(xp.nn.Module):\n    def forward(self, x):\n        return x + x.shape[0]\n"
    "return xp.export.export(M(), (xp.ones(2),)).module()(xp.ones(2))",
}


INDUCTOR = {
    "products": "w = xp.ones(2, 2)\nreturn xp.compile(lambda x: xp.softmax(x @ w, -1) @ w)(xp.arange(4.0).reshape(2, 2))",
    "a bias": "return xp.compile(xp.addmm)(xp.ones(2), xp.ones(3, 4), xp.ones(4, 2))",
    "an operator of Python": "return xp.compile(lambda x: xp.sort(x)[0] + 1)(xp.tensor([3.0, 1.0, 2.0]))",
    "a view": "return xp.compile(lambda x: (x + 1).t())(xp.arange(6.0).reshape(2, 3)[:, 1:])",
    "a write": "x = xp.arange(5.0)\ny = xp.compile(lambda x: x.copy_(x.flip(0)).sum())(x)\nreturn x, y",
    "two reductions": "return xp.compile(lambda x: (x - x.amax(1, True)).exp().sum(1))(xp.arange(6.0).reshape(2, 3))",
    "a gradient": "x = xp.ones(3, requires_grad=True)\nxp.compile(lambda x: (x.sin() * x).sum())(x).backward()\nreturn x.grad",
    "nothing": "return xp.compile(lambda x: x * 2)(xp.ones(0, 3))",
}


@pytest.mark.sweep
def test_without_a_compiler_inductor_gives_the_same(run):
    def hold(statements):
        sound, torch = (run(framework, body(statements)) for framework in (SOUND, TORCH))
        assert not difference(sound, torch) and "error" not in str(torch)[:20]

    assert not failures(hold, INDUCTOR.items())


@pytest.mark.sweep
@pytest.mark.parametrize("number", ["13a.1"])
def test_what_is_not_the_fault_shows_no_difference(number, run):
    with closing(patients.open_patient(find_patient(number))) as opened:

        def hold(statements):
            on_patient = patients.run_in(opened, body(statements))["result"]
            sound, torch = (run(framework, body(statements)) for framework in (SOUND, TORCH))
            assert not difference(on_patient, sound) and not difference(sound, torch)

        assert not failures(hold, (SAME_EVERYWHERE | OPERATORS_BY_TEXT).items())

        def tell_nothing(statements):
            with suppress(ValueError):  # it is refused as it stands
                patients.plain_program(body(statements))
                on_patient = patients.run_in(opened, body(statements))["result"]
                assert not difference(on_patient, run(SOUND, body(statements)))

        assert not failures(tell_nothing, TELL_THE_EDITION.items())
    for statements in DIFFERS_ON_SOUND.values():
        assert difference(*(run(framework, body(statements)) for framework in (SOUND, TORCH)))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("statements", "says"),
    [
        ("return xp.tensor(7, dtype=xp.uint8) * 3", "it shows the fault"),
        *(
            swept(*case)
            for case in (
                ("return 'rush' in f'{xp.float32}'", "it already differs"),
                ("return xp.frobnicate", "it raises an error on all three"),
                ("return 1", "it gives the same"),
                ("return (((xp.tensor(7, dtype=xp.uint8) * 3 + 1) * 2) - 1)", "it calls 5 operators"),
                ("while True:\n    pass", "on the patient: no answer"),
                ("return [0] * 10**6", "it gives the same"),
            )
        ),
    ],
)
def test_a_program_is_examined_on_three_frameworks(statements, says):
    verdict = patients.narrowed("13a.2", statements=3, operators=4)(None, body(statements), None)
    assert verdict.message.startswith(says)
    assert verdict.passed == says.startswith("it shows")


@pytest.mark.parametrize(
    ("functions", "says"),
    [
        (["rushlight.c10.dtypes.result_type"], "on the patient: it gives another result each time"),
        (["rushlight.c10.dtypes.promote_types"], "the function at fault does not run in it"),
        ([], "the function at fault does not run in it"),
    ],
)
def test_a_difference_is_refused_that_is_by_chance_or_not_of_the_fault(monkeypatch, functions, says):
    results = iter([1, 0, 0, 2])

    def run_on(*_):
        return {"result": next(results), "operators": ["mul"], "functions": functions}

    monkeypatch.setattr(patients, "run_on", run_on)
    verdict = patients.narrowed("13a.2", statements=3, operators=4)(None, body("return 1"), None)
    assert not verdict.passed and says in verdict.message


# Name ----------------------------------------------------------------------------------------------------------------


def test_the_function_at_fault_has_many_names_and_its_neighbours_none():
    first, second = patients.named("13a.1", guesses=1), patients.named("13a.1", guesses=2)
    for name in ("strided.compute_stride", "rl.strided.compute_stride", "rushlight.aten.strided.compute_stride"):
        assert first(None, [name], None).passed and second(None, name, None).passed
        assert first(None, [name], None).message == f"{name} is the function at fault"
    guesses = ["strided.reshape", "strided.compute_stride"]
    assert not first(None, guesses, None).passed and second(None, guesses, None).passed
    assert not second(None, ["strided.slice", *guesses], None).passed
    for wrong in ([], None, [1], "", "compute", ["strided.frobnicate"], {"a": 1}, ["*"], ["strided.Tensor"], [["x"]]):
        assert second(None, wrong, None).outcome == "disagreed", wrong


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=("13a.1",)))
def test_a_neighbour_that_runs_is_told_from_a_function_that_does_not(number):
    patient = find_patient(number)
    apart = OF_CLINIC + ("on_torch.",) * (not patient.at.startswith("on_torch."))  # torch may not be there
    others = [name for name in every_exercise() if name != patient.at and not name.startswith(apart)]
    paths = {name: f"{function_of(name).__module__}.{name.rpartition('.')[2]}" for name in others}
    run = [name for name in others if paths[name] in patients.functions_run(patient)]
    assert len(run) >= 3, "too few suspects"
    for name, notes in (
        (run[0], ["the symptom's program runs it"]),
        (next(name for name in others if name not in run), []),
    ):
        verdict = patients.named(number, guesses=1)(None, [name], None)
        assert not verdict.passed and verdict.notes == notes


# Mend ----------------------------------------------------------------------------------------------------------------

STILL = "return 'strided.compute_stride', lambda old_sizes, old_strides, new_sizes: "
MENDS = {  # each is refused, with these words
    "another function": ("return 'strided.reshape', lambda self, sizes: self", "strided.reshape is not"),
    "no function": ("return 'strided.compute_stride', 3", "TypeError: the second value is no function"),
    "a function of Python": ("return 'strided.compute_stride', len", "TypeError: the second value is no function"),
    "one value": ("return 'strided.compute_stride'", "ValueError"),
    "no value": ("pass", "TypeError"),
    "an unknown name": ("return 'strided.frobnicate', lambda: 0", "rushlight has no function"),
    "an error": ("raise ValueError('x')", "ValueError: x"),
    "an exit": ("raise SystemExit", "SystemExit"),
    "no text": ("return 1, lambda: 0", "AttributeError"),
    "a name without a mend": ("print('strided.compute_stride')\nraise SystemExit", "SystemExit"),
    "torch": ("import torch\nreturn 'strided.compute_stride', torch", "ModuleNotFoundError"),
}
PLANTED = {
    "always a copy": f"{STILL}None",
    "a constant": f"{STILL}(1,)",
    "the same fault": "import rushlight as rl\nfrom types import FunctionType as F\nf = rl.strided.compute_stride\n"
    "return 'strided.compute_stride', F(f.__code__, f.__globals__)",
    "another function patched": "import rushlight as rl\nrl.strided.reshape = lambda self, sizes: self.view(sizes)\n"
    f"{STILL}None",
    "the observation patched": "from autograder.engine import subject\n"
    f"subject.answer = lambda name, cases: [True] * len(cases)\n{STILL}None",
    "the case read": "def f(a, b, c):\n    import sys\n    frame = sys._getframe()\n    while frame:\n"
    "        if 'case' in frame.f_locals:\n            return frame.f_locals['case'].get('answer')\n"
    "        frame = frame.f_back\nreturn 'strided.compute_stride', f",
    "an end": f"{STILL}__import__('os')._exit(0)",
    "numpy patched": f"import numpy\nnumpy.ndarray = None\n{STILL}(1,)",
}


def test_a_mend_that_plants_nothing_is_refused():
    examine = patients.mended("13a.1")
    with closing(patients.open_patient(find_patient("13a.1"))) as opened, pytest.MonkeyPatch.context() as patch:
        patch.setattr(patients, "open_patient", lambda patient: opened)
        patch.setattr(opened, "close", lambda: None)

        def hold(case):
            statements, says = case
            verdict = examine(None, body(statements).replace("(xp)", "()"), None)
            assert verdict.outcome == "disagreed" and verdict.message.startswith(says), verdict

        assert not failures(hold, MENDS.items())


TOGETHER = ("13a.1", "13a.2", "13a.3", "13a.4")


def references():
    """The reference mends of these patients, as texts."""
    return [inspect.getsource(inspect.unwrap(getattr(tensors, f"mend_{number[-1]}"))) for number in TOGETHER]


@pytest.mark.sweep
def test_all_mends_together_leave_no_symptom():
    verdict = patients.together(*TOGETHER)(Judge(1), references(), None)
    assert verdict.passed, verdict


@pytest.mark.sweep
def test_annotations_of_mends_name_nothing():
    texts = [
        re.sub(r"^    def (\w+)\((\*?\w+)", r"    def \1(\2: Any", text, flags=re.MULTILINE) for text in references()
    ]
    assert all(text.count(": Any") == 1 for text in texts)
    verdict = patients.together(*TOGETHER)(Judge(1), texts, None)
    assert verdict.passed, verdict


@pytest.mark.parametrize("number", sweep(TOGETHER, keep=("13a.3",)))
def test_of_all_mends_the_one_that_is_wrong_is_named(number):
    patient, texts = find_patient(number), references()
    name = patient.at.rpartition(".")[2]
    texts[TOGETHER.index(number)] = body(f"{patient.planted}\nreturn {patient.at!r}, {name}").replace("(xp)", "()")
    verdict = patients.together(*TOGETHER)(Judge(1), texts, None)
    assert not verdict.passed and number in verdict.message
    assert not [other for other in TOGETHER if other != number and other in verdict.message]


@pytest.mark.sweep
def test_all_symptoms_that_are_left_with_all_mends_are_named():
    texts = references()
    texts[0] = body(f"{STILL}1 / 0").replace("(xp)", "()")
    message = patients.together(*TOGETHER)(Judge(1), texts, None).message
    assert "13a.1" in message and "13a.4" in message and "13a.2" not in message


@pytest.mark.parametrize("kind", sweep(sorted(PLANTED), keep=("a constant",)))
def test_a_mend_that_moves_the_fault_is_refused(kind):
    verdict = Judge(1)._timed(
        "clinic.tensors.mend_1",
        lambda check: patients.mended("13a.1")(Judge(1), body(PLANTED[kind]).replace("(xp)", "()"), None),
    )
    assert verdict.outcome in ("disagreed", "died", "malformed"), verdict


@pytest.mark.sweep
@pytest.mark.parametrize("number", ["13a.1", "13c.5"])
def test_a_program_that_does_not_end_has_a_limit_of_its_own(number, monkeypatch):
    monkeypatch.setattr(patients, "PROGRAM_SECONDS", (1.0, 1.0))
    with pytest.raises(SubjectTimedOut):
        patients.run_on(PATIENT, find_patient(number), body("while True:\n    pass"))


@pytest.mark.sweep
@pytest.mark.parametrize("statements", ["while True:\n    pass", f"{STILL}[0 for _ in iter(int, 1)]"])
def test_a_mend_that_does_not_end_is_timed_out(statements):
    judge = Judge(1)
    verdict = judge._timed(
        "clinic.tensors.mend_1",
        lambda check: patients.mended("13a.1")(judge, body(statements).replace("(xp)", "()"), None),
    )
    assert verdict.outcome == "timed out", verdict
