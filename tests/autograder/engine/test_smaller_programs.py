"""A program that a student made smaller earns its point only by the failure of the long program."""

import inspect
import re

import pytest
from sweep import sweep

from autograder.engine import smaller_programs
from autograder.engine.check import function_of
from autograder.engine.smaller_programs import ALLOWED, count_tokens, examined, failure_of_long
from rushlight.course import predictions

FAILS = "torch.ones(1, requires_grad=True).exp().add_(1).backward()"  # as "attention" does
REFUSED = {  # programs that are no answer to "attention", and a part of what the verdict says
    "torch.sys": "AttributeError",
    "torch.builtins.exec('x')": "AttributeError",
    "torch.exp.__globals__": "it uses __globals__",
    "torch._C.Graph()": "it uses _C",
    "torch.hub.load('x')": "it uses ",
    "torch.ops.load_library('x')": "it uses load_library",
    "torch.jit.CompilationUnit('def f(x):return x')": "more than a short word",
    "x = 'one of the variables needed'": "more than a short word",
    "x = b'one'": "more than a short word",
    "x = f'{torch} is'": "more than a short word",
    "exec('x')": "it uses exec",
    "class A:\n    exec = exec": "it uses exec",
    "class A:\n    x = eval": "it uses eval",
    "getattr(torch, 'x')": "it uses getattr",
    "__builtins__": "it uses __builtins__",
    "__builtins__ = 1": "it uses __builtins__",
    "class A:\n    def __del__(self): print(1)": "it uses __del__",
    "class A:\n    __del__ = print": "it uses __del__",
    "_torch.ones(1)": "it uses _torch",
    "import os": "it imports os",
    "import torch.os as os": "AttributeError",
    "from torch import os": "AttributeError",
    "from torch._C import Graph": "it imports torch._C",
    "from torch import _C": "it imports torch._C",
    "from torch import *": "it imports *: a program says which names it imports",
    "from . import torch": "it imports ",
    "from torch.hub import load": "it imports torch.hub.load",
    "import torchgen": "it imports torchgen",
    "try:\n    x\nexcept: 1": "no try",
    "global x": "no names of the module",
    "torch.set_grad_enabled(False)\ntorch.ones(1).backward()": "the message is another one",
    "torch.ones(1, requires_grad=True).exp().register_hook(print).x": "AttributeError",
    "y = torch.ones(1).requires_grad_().exp()\nf = y.grad_fn\ny += 1\nf(y)": "the function that raises it is another one",
    "with torch.autograd.set_detect_anomaly(False):\n    " + FAILS: "the node that fails is another one: none",
    "print('x' * 10 ** 6)": "it does not fail",
    "raise SystemExit": "it uses SystemExit",
    "raise": "the message is another one",
    "x = (" * 300: "it is no program",
    "x = " + "-" * 4900 + "1": "tokens",
    "\x00": "null bytes",
    "x = " + "1" * 4400: "integer",
}
ACCEPTED = [  # other ways to say it
    "torch.ones(2, 3, dtype=torch.float64, requires_grad=True).exp().add_(1).sum().backward()",
    "from torch.nn import Parameter as P\nx = P(torch.ones(()))\ny = x.exp()\ny *= 2\ny.backward()",
    "f = lambda x: x.exp().add_(1)\nf(torch.ones(1, requires_grad=True)).backward()",
    "y = (z := torch.ones(1, requires_grad=True).exp()).mul_(2)\nprint(y)\ny.backward()",
    "class A:\n    f = torch.exp\n    g = f\nA.g(torch.ones(1, requires_grad=True)).add_(1).backward()",
    "w = torch.ones(1, requires_grad=True).exp()\nw /= w.sum(-1, keepdim=True)\nw.backward()",
    "def f():\n    import torch as t\n    " + FAILS.replace("torch", "t") + "\nf()",
    "torch.ones(1, requires_grad=True).exp().zero_().backward()",
]


@pytest.mark.sweep
def test_what_is_no_answer_is_refused_with_a_reason(isolated):
    told = {text: examined("attention", f"import torch\n{text}") for text in REFUSED}
    wrong = {text[:60]: words for text, words in told.items() if words[0] or REFUSED[text] not in words[1]}
    assert not wrong


@pytest.mark.sweep
def test_other_ways_to_say_it_are_accepted(isolated):
    assert not [told for text in ACCEPTED if not (told := examined("attention", f"import torch\n{text}"))[0]]


def test_what_a_program_prints_is_no_report(isolated):
    assert examined("attention", f"import torch\nprint('eJzz')\n{FAILS}") == (
        True,
        "it fails as before, and has 29 tokens",
    )


@pytest.mark.sweep
def test_a_program_that_does_not_end_costs_its_time_only(isolated, monkeypatch):
    monkeypatch.setattr("autograder.engine.patients.PROGRAM_SECONDS", (2.0, 2.0))
    passes, words = examined("attention", "import torch\nwhile True: torch")
    assert not passes and words.startswith("on torch: no answer within")
    assert examined("attention", f"import torch;{FAILS}")[0]


def test_layout_and_names_count_nothing():
    assert count_tokens("x = f(1)\n") == 6
    assert count_tokens("# why\n\nfor a_long_name in [\n  1,\n]:\n        pass  # here\n") == count_tokens(
        "for x in [1,]: pass\n"
    )


@pytest.mark.parametrize("name", sweep([*predictions.FAILING], every=3))
def test_a_long_program_fails_in_the_backward_pass(isolated, name):
    failure = failure_of_long(name)
    assert failure.type == "RuntimeError" and failure.place == "torch/autograd/graph.py, _engine_run_backward"
    assert failure.node and count_tokens(predictions.FAILING[name]) > 4 * predictions.TOKENS[name]


def test_the_docstring_says_what_is_small_and_which_functions_a_program_may_use():
    text = " ".join((inspect.getdoc(function_of("course.predictions.shrink")) or "").split())
    (listed,) = re.findall(r"Of Python's functions it may use (.+?)\. So", text)
    assert {*re.findall(r"`(\w+)`", listed)} == ALLOWED
    assert {name: int(number) for number, name in re.findall(r'(\d+) for "(\w+)"', text)} == predictions.TOKENS
    assert "at most 20 characters" in text and smaller_programs.WORD.endswith("{0,20}")
