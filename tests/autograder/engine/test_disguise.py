"""A disguised text of PyTorch means the same, and keeps its comments."""

import ast
import io
import subprocess
import sys
import tokenize

import pytest

from autograder.engine import overlay
from autograder.engine.disguise import disguised

TEXT = """
def first(a, flag):
    # a comment
    total = a + 1
    if flag:
        total = total * 2  # doubled
    else:
        # halved
        total = total / 2
    return total


def second(values):
    found = [value for value in values]
    text = f"{found}"
    return text, {name: locals() for name in found}


def third(items):
    result = 0
    for item in items:
        result += item
    return result
"""


def run(text, *names):
    space = {}
    exec(text, space)
    return [space["first"](4, flag) for flag in (True, False)] + [space["third"]([1, 2])]


def comments(text):
    return sorted(
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    )


def test_a_disguised_text_means_the_same_and_keeps_its_comments():
    seen = {disguised(TEXT, frozenset(), str(seed)) for seed in range(40)}
    assert len(seen) > 5
    for text in seen:
        assert run(text) == run(TEXT) and comments(text) == comments(TEXT)
        assert (
            text.count("locals()") == 1 and "found = [value" in text
        )  # a function that names variables by texts stays


def test_functions_that_are_sound_stay_and_the_same_seed_gives_the_same_text():
    text = disguised(TEXT, frozenset({"first"}), "1")
    assert ast.dump(ast.parse(text).body[0]) == ast.dump(ast.parse(TEXT).body[0]) and text != TEXT
    assert disguised(TEXT, frozenset(), "7") == disguised(TEXT, frozenset(), "7")


USE = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 2))
optimizer, x = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True), torch.randn(4, 8)
for backend in ("eager", "aot_eager"):
    compiled = torch.compile(model, backend=backend)
    for _ in range(2):
        loss = compiled(x).softmax(1).square().sum()
        loss.backward(), optimizer.step(), optimizer.zero_grad()
        print(loss.item())
print(torch.export.export(model, (x,)).run_decompositions().module()(x).sum().item())
print(torch.func.vmap(torch.func.grad(lambda x: (x**2).sum()))(x).sum().item())
print(torch.distributions.Normal(0.0, 1.0).expand([3]).log_prob(torch.ones(3)).tolist())
"""


@pytest.mark.sweep
def test_a_pytorch_all_of_whose_files_are_disguised_computes_the_same():
    files = {}
    for path in sorted((overlay.site() / "torch").rglob("*.py")):
        name, text = path.relative_to(overlay.site()).as_posix(), path.read_text(encoding="utf-8")
        try:
            after = disguised(text, frozenset(), name, 1_000_000)
        except SyntaxError:  # a text of another version of Python
            continue
        ast.parse(after)
        files |= {name: after} if after != text else {}
    assert len(files) > 1000
    printed = []
    for path in ([], [str(overlay.linked(files))]):
        program = f"import sys; sys.path[:0] = {path}\n{USE}"
        printed.append(
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        )
    assert printed[0] == printed[1] and printed[0].count("\n") == 7
