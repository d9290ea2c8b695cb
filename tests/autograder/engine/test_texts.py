"""Answers that are texts, such as kernels: only the text is the student's, and nothing hides what is not its language."""

import nbformat
import pytest

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
