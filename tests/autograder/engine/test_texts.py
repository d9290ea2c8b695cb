"""Answers that are texts, such as kernels: only the text is the student's, and nothing hides what is not its language."""

from importlib import import_module

import nbformat
import pytest
from sweep import in_one_test

from autograder.checks.shared_14 import foreign
from autograder.engine import limits, run
from autograder.model import Lab

ADD = "aten.native.cuda.loops.add_source"
CASE = {"n": 33, "block": 32, "spare": 0, "seed": 0}
FINDS_NOTHING = """
from autograder.engine.check import function_of
from autograder.engine.exercise import fill
from rushlight.on_torch.cuda_on_host import Module

launch = Module.launch


def finds_nothing(*args, **kwargs):
    result = launch(*args, **kwargs)
    result.findings = []
    return result


Module.launch = finds_nothing
slot = function_of("aten.native.cuda.loops.add_source")
fill(slot, lambda: (lambda text: text.replace("if (i < n)", "if (i <= n)"))(answer()))
"""


@pytest.fixture
def session(isolated):
    kernels = run._cuda_runtime() if isolated else None
    made = run.Session(Lab("14a_threads"), isolated, limits.Allowance(False), [], kernels)
    yield made
    made.close()


def shown(tree, name):
    return dict(tree["dict"])[name]


@pytest.mark.sweep
def test_a_cell_that_replaces_the_runtime_does_not_reach_the_process_that_tries_the_text(session):
    source = FINDS_NOTHING.replace("answer()", repr(_reference()))
    session.run_cell(nbformat.v4.new_code_cell(source))
    (fooled,), (seen,) = session._observe(ADD, [CASE]), session.observe(ADD, [CASE])
    assert not shown(fooled, "findings") and "outside: line" in str(shown(seen, "findings"))


def test_what_is_no_text_is_told(session):
    session.run_cell(nbformat.v4.new_code_cell(FINDS_NOTHING.partition("fill(slot")[0] + "fill(slot, lambda: 5)"))
    (seen,) = session.observe(ADD, [CASE])
    assert "the text of a kernel is a str, not int" in str(seen)


def _reference():
    from rushlight.aten.native.cuda import loops

    return loops.add_source()


@in_one_test
@pytest.mark.parametrize(
    "text",
    [
        'as\\\nm volatile("");',
        'as\\ \t\nm("");',
        '__attri\\\nbute__((no_sanitize("thread")))',
        'const char* u = "https://x"; asm("");',
        'const char* a = "/*"; asm(""); const char* b = "*/";',
        'int x = \'abcde"\'; asm(""); const char* s = "";',
        "int a = 1'0; asm(\"\"); int b = 1'0;",
        "L'\"'; asm(\"\"); L'\"'",
        'R"(")"; asm("")',
        '_Pragma("GCC optimize(3)")',
        "#pragma GCC optimize(3)",
        'extern "C" __global__ void* memcpy(void*, const void*, unsigned long);',
        'extern "C" __global__ void free(void*)\n; __global__ void add(int n) {}',
        'extern /* x */ "C" int kill(int, int);',
        'extern "C" /* __global__ void f() { */ int kill(int, int);',
        "# /**/ include <stdlib.h>",
    ],
)
def test_nothing_hides_what_is_not_the_language(text):
    assert foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ void add(const float* a, int n) { }',
        'extern "C" __global__ void __launch_bounds__(256) add(const float* a, int n)\n{',
        '// asm system\n/* exit */ printf("asm, fork and system\\n");',
        "#pragma unroll 4\nfor (;;);",
        "#include <math_constants.h>\n#include <stdio.h>",
        "int a = 1'000'000; char c = '\"'; float f = 1e-5f;",
        "#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))",
        "extern __shared__ float s[];",
    ],
)
def test_the_language_of_a_kernel_is_allowed(text):
    assert foreign(text) == []


# Triton -----------------------------------------------------------------------------------------------------------------

IN_TRITON = """import triton
import triton.language as tl

@triton.jit
def f(x, BLOCK: tl.constexpr):
    {}
"""


@pytest.fixture
def of_triton():
    pytest.importorskip("triton", reason="Triton is not installed: it is no requirement of the course")
    return import_module("autograder.checks.14d_triton.launched").foreign


def test_nothing_but_the_language_of_triton_is_in_a_text(of_triton):
    for statement in (
        "import os", "from os import system", "open('x')", "exec('x')", "eval('x')", "getattr(tl, 'core')", "__import__('os')",
        "tl.core", "tl.math.core", "triton.runtime", "triton.language.core", "tl.load.__globals__", "tl.sum.fn", "x.handle",
        "x.handle.data[0] = 1", "tl.load = 1", "del tl.load", "tl.store.x = 1", "'{0.__class__}'.format(x)", "f'{x.__class__}'",
        "lambda: 1", "[].append(1)", "type(x)", "vars()", "globals()", "breakpoint()", "input()",
        "try:\n        pass\n    except:\n        pass", "with x:\n        pass", "def g():\n        pass", "raise x",
        "class A:\n        pass", "global x", "yield", "(y for y in x)", "{{y: 1 for y in x}}".format(),
    ):  # fmt: skip
        assert of_triton(IN_TRITON.format(statement)), statement
    for text in (
        "import os", "import triton.runtime", "from triton import runtime", "from triton.language import core",
        "from os import path", "print(1)", "for i in range(3):\n    pass", "def f():\n    pass",
        "@triton.autotune\ndef f():\n    pass",
        "import triton\n@triton.jit\n@triton.jit\ndef f():\n    pass", "X = open('x')", "import triton as t\nX = t.knobs",
        "import triton\ntriton.jit = 1", "if True:\n    import os", "from triton import *", "class A:\n    pass",
    ):  # fmt: skip
        assert of_triton(text), text


def test_the_language_of_triton_is_allowed(of_triton):
    for statement in (
        "y = tl.load(x + tl.arange(0, BLOCK), mask=None).to(tl.float32).sum(0)", "y = tl.math.exp(x) + triton.cdiv(BLOCK, 2)",
        "tl.static_assert(BLOCK > 0)", "y = triton.language.zeros([BLOCK], x.dtype.element_ty)", "y = [x for _ in range(2)]",
        "for i in tl.static_range(min(3, len([1, 2]))):\n        pass", "assert BLOCK > 0, 'a'",
        "y = x if BLOCK else float('-inf')", "tl.device_print('x', x)",
        "y = tl.reshape(x, (BLOCK,)).T.trans()", "while BLOCK > 1:\n        pass", "'a text'",
    ):  # fmt: skip
        assert of_triton(IN_TRITON.format(statement)) == [], statement
    for text in (
        '"""A text."""\nimport triton as t\nimport triton.language as T\nX = T.constexpr(3)\n@t.jit\ndef f(x):\n    T.math.exp(x)',
        "from triton import jit, language as tl, cdiv\nX: tl.constexpr = 3\n@jit\ndef f(x):\n    tl.load(x)",
        "import triton\ntl = triton.language\n@triton.jit\ndef f(x):\n    tl.load(x)",
        "import triton.language\nfrom triton.language import load, math\n@triton.jit\ndef f(x):\n    math.exp(load(x))",
    ):
        assert of_triton(text) == [], text
