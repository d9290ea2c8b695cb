"""A case about PyTorch holds what it says, a patch changes only what it may, and an examination is not fooled."""

import ast
import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sweep import in_one_test, sweep

from autograder.engine import changes
from autograder.engine.changes import NotApplicable, diff, find_case, patched
from autograder.engine.patients import plain_program, statements_of
from autograder.engine.verdict import DISAGREED, PASSED

NUMBERS = changes.numbers()
TEXT = "".join(f"line_{number} = {number}\n" for number in range(30))
FILES = {"torch/a.py": TEXT, "torch/b.py": "x = 1\n"}


def verdict(examine, answer):
    return examine(None, answer, None)


# Patches -------------------------------------------------------------------------------------------------------------

lines = st.lists(st.sampled_from(["a = 1", "", "b = 2", "-1", "+2", "# c"]), max_size=8)


@given(lines, lines, st.booleans())
@example(["a = 1"], [], False)
def test_a_patch_that_was_made_from_two_texts_leads_from_one_to_the_other(before, after, both):
    old = {name: "\n".join([*before, ""]) for name in FILES}
    new = old | {name: "\n".join([*after, ""]) for name in [*FILES][: 1 + both]}
    if old == new:
        assert diff(old, new) == ""
        return
    assert patched(old, diff(old, new)) == new
    assert (
        patched(old, "\n".join(line.rstrip() for line in diff(old, new).splitlines())) == new
    )  # as an editor may save it


PATCH = diff(FILES, FILES | {"torch/a.py": TEXT.replace("line_5 = 5", "line_5 = 50").replace("line_20 = 20\n", "")})


def test_the_hunks_of_a_patch_are_applied_where_they_belong():
    assert patched(FILES, PATCH)["torch/a.py"].count("line_5 = 50") == 1
    assert (
        "line_20 ="
        not in patched(FILES, f"diff --git a/torch/a.py b/torch/a.py\nindex 1..2 100644\n{PATCH}")["torch/a.py"]
    )


@in_one_test
@pytest.mark.parametrize(
    "patch, why",
    {
        "": "changes nothing",
        "Here it is:\n" + PATCH: "belongs to no hunk",
        PATCH.replace("torch/a.py", "torch/c.py"): "torch/c.py, which is no Python file of PyTorch",
        PATCH.replace("b/torch/a.py", "b/../../a.py"): "names ../../a.py",
        PATCH.replace("b/torch/a.py", "/etc/passwd"): "names /etc/passwd",
        PATCH.replace("--- a/torch/a.py\n+++ b/torch/a.py\n", ""): "no file is named before it",
        PATCH.replace(" line_4 = 4", " line_4 = 5"): "has other lines there",
        PATCH.replace("@@ -3,7 +3,7 @@", "@@ -4,7 +4,7 @@"): "has other lines there",
        PATCH.replace("@@ -3,7 +3,7 @@", "@@ -3,9 +3,9 @@"): "fewer or more lines than it says",
        PATCH.replace("+line_5 = 50", "+line_5 = ("): "is no Python",
        PATCH.replace("+line_5 = 50", f"+line_5 = '{'x' * 30_000}'"): "at most 20000 are allowed",
        "--- a/torch/a.py": "names nothing",
        "deleted file mode 100644\n" + PATCH: "belongs to no hunk",
        PATCH + "rename to torch/d.py\n": "belongs to no hunk",
    }.items(),
)
def test_a_patch_that_may_not_be_applied_is_refused_with_its_line(patch, why):
    with pytest.raises(NotApplicable) as refused:
        patched(FILES, patch)
    assert why in str(refused.value)


def test_a_patch_is_no_longer_than_it_may_be():
    assert patched(FILES, PATCH, 3) == patched(FILES, PATCH)
    with pytest.raises(NotApplicable, match="adds and removes 3 lines; at most 2 are needed"):
        patched(FILES, PATCH, 2)


# Cases ---------------------------------------------------------------------------------------------------------------


@in_one_test
@pytest.mark.parametrize("number", NUMBERS)
def test_the_texts_of_a_case_say_what_a_student_needs_and_no_more(number):
    case = find_case(number)
    file, function = case.at
    told = f"{case.title}\n{case.report}\n{case.symptom}"
    assert case.title and 60 <= len(case.report.split()) <= 200
    assert function.rpartition(".")[2] not in told.replace("torch.", "") or len(function) < 5
    assert file in case.needs and all(name.startswith("torch/") for name in case.needs)
    assert statements_of(plain_program(case.programs["reproduced"], ("torch",), known=changes.KNOWN)) <= case.statements
    kinds = [name.partition("__")[0] for name in case.programs]
    more = not case.proposed  # a review needs fewer
    assert kinds.count("hidden") >= 2 + more and kinds.count("kept") >= 2 and kinds.count("symptom") == 1
    assert len(case.wrong) >= 3 + more and len(case.right) >= 2 + more
    assert sum(name.startswith("*") for name in case.wrong) == 2
    assert bool(case.pull) == bool(case.proposed) and case.proposed in {*case.wrong, *case.right, ""}


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=["15a.4", "15d.1"]))
def test_a_patient_differs_from_pytorch_in_ten_innocent_places_too(number):
    case = find_case(number)
    sound, found = case.sound, 0
    for name, text in sound.items():
        before, after = (ast.parse(each).body for each in (changes.installed(name), text))
        found += sum(
            ast.dump(a) != ast.dump(b) for one, two in zip(before, after) for a, b in zip(_parts(one), _parts(two))
        )
    assert found >= 10 and diff(sound, case.patient)
    assert case.patient == find_case(number).with_mend([])


def _parts(node):
    return node.body if isinstance(node, ast.ClassDef) else [node]


def programs_apart(case, edits):
    with changes.processes(case.with_mend(edits)) as (process,):
        return dict(changes.apart(process, case.hidden))


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=["15a.4"]))
def test_the_mend_that_pytorch_has_passes_and_no_other_place_is_right(number):
    case = find_case(number)
    mend = diff(case.patient, case.with_mend(next(iter(case.right.values()))))
    assert verdict(changes.mended(number), mend).outcome == PASSED
    assert verdict(changes.located(number, 1), [": ".join(case.at)]).outcome == PASSED


@pytest.mark.sweep
@pytest.mark.parametrize("number", NUMBERS)
def test_a_fault_shows_where_it_should_and_nowhere_else(number):
    case = find_case(number)
    apart = programs_apart(case, [])
    assert apart.keys() == {name for name in case.hidden if not name.startswith("kept")}
    for examine, answer in ((changes.reproduced, case.programs["reproduced"]), (changes.tested, case.test)):
        decided = verdict(examine(number), answer)
        assert decided.outcome == PASSED, decided.message


@pytest.mark.sweep
@pytest.mark.parametrize("number", NUMBERS)
def test_right_mends_pass_and_wrong_ones_do_not(number):
    case = find_case(number)
    for kinds, outcome in ((case.right, PASSED), (case.wrong, DISAGREED)):
        for name, edits in kinds.items():
            decided = verdict(changes.mended(number), diff(case.patient, case.with_mend(edits)))
            assert decided.outcome == outcome, f"{name}: {decided.message}"
            assert outcome == PASSED or "patch" not in decided.message, f"{name}: {decided.message}"


# Examinations --------------------------------------------------------------------------------------------------------

NUMBER = "15a.1"
PROGRAMS = {
    "def f(torch):\n    return 1": "gives the same",
    "def f(torch):\n    return None": "it returns None",
    "def f(torch):\n    return torch.nothing": "raises an error on both",
    "def f(torch):\n    return torch.rand(1) if torch.rand(1) > 2 else torch.empty(3).data_ptr()": "another result each time",
    "def f(torch):\n    import os\n    return os.getpid()": "no imports",
    "def f(torch):\n    return torch.__file__": "public names",
    "def f(torch):\n    return torch.optim.SGD.step.__code__": "public names",
    "def f(x, y):\n    return 1": "one parameter",
    "print(5)": "it is no function",
    "def f(torch):\n" + "    torch.ones(1)\n" * 40 + "    return 1": "statements",
    "def f(torch):\n    while True:\n        pass": "",
    "def f(torch):\n    return torch.utils.data.dataset.bisect": "raises an error on both",
    "def f(torch):\n    torch.fx.Graph().on_generate_code(lambda old: lambda lines: ['import os'])": "public names",
    "def f(torch):\n    class A:\n        def __repr__(self):\n            return '1'\n    return A()": "says of itself",
}


def test_a_text_that_fx_compiles_leads_to_no_other_module():
    text = """def f(torch):
        class A:
            def __repr__(self):
                return "__import__('os').getpid()"

        graph = torch.fx.Graph()
        graph.output(graph.placeholder("x", default_value=A()))
        return torch.fx.GraphModule(torch.nn.Module(), graph)()"""
    assert "a text names __import__" in str(changes.on_pytorch(text))


@pytest.mark.parametrize("program, why", sweep([*PROGRAMS.items()], keep=[("print(5)", "it is no function")]))
def test_a_program_that_shows_no_fault_is_refused(program, why):
    decided = verdict(changes.reproduced(NUMBER), program)
    assert decided.outcome == DISAGREED and why in decided.message


@pytest.mark.parametrize(
    "places, why",
    [
        ([], "a list of one or two places"),
        ("torch/optim/adam.py", "is no file of PyTorch with a function"),
        (["torch/optim/nothing.py: f"], "is no file of PyTorch"),
        (["/etc/passwd: root"], "is no file of PyTorch"),
        (["torch/optim/adam.py: nothing"], "has no function nothing"),
        (["torch/optim/adam.py: adam"], "not at fault: torch/optim/adam.py: adam"),
        (["torch/optim/adam.py: adam", ": ".join(find_case(NUMBER).at)], "not at fault: torch/optim/adam.py: adam"),
        (["a: b"] * 3, "two guesses are allowed"),
    ],
)
def test_a_wrong_place_is_refused_with_a_reason(places, why):
    decided = verdict(changes.located(NUMBER, 1), places)
    assert decided.outcome == DISAGREED and why in decided.message


def test_the_second_guess_counts_where_two_are_allowed():
    places = ["torch/optim/adam.py: adam", ": ".join(find_case(NUMBER).at)]
    assert verdict(changes.located(NUMBER, 2), places).outcome == PASSED


TESTS = {
    "passes everywhere": ("def test(self, torch):\n    self.assertEqual(1, 1)", "it passes on the patient"),
    "fails everywhere": ("def test(self, torch):\n    self.assertEqual(1, 2)", "it fails on PyTorch as it is"),
    "is another function": ("def test(torch):\n    return 1", "the parameters self, torch"),
    "imports": ("def test(self, torch):\n    import os", "no imports"),
}


@pytest.mark.parametrize("name", sweep([*TESTS], keep=["is another function", "imports"]))
def test_a_test_that_tells_nothing_is_refused(name):
    text, why = TESTS[name]
    decided = verdict(changes.tested(NUMBER), text)
    assert decided.outcome == DISAGREED and why in decided.message


REVIEWS = {
    "return 1": "it is no test that ends with return",
    "self.assertEqual(1, 1)": "it is no test that ends with return",
    'return "accept"': "it is no test that ends with return",
    'self.assertEqual(1, 1)\n    return "perhaps"': "it is no test that ends with return",
    'self.assertEqual(1, 1)\n    return "accept" if torch.ones(1) else "refuse"': "",
    'if torch.ones(1) > 0:\n        return "accept"\n    return "refuse"': "it passes on the patient",
}


@pytest.mark.parametrize("statements", sweep([*REVIEWS], keep=["return 1", 'return "accept"']))
def test_a_review_without_a_test_or_a_decision_is_refused(statements):
    decided = verdict(changes.reviewed("15c.1"), f"def review(self, torch):\n    {statements}")
    assert decided.outcome == DISAGREED and REVIEWS[statements] in decided.message


@pytest.mark.sweep
@pytest.mark.parametrize("number", [number for number in NUMBERS if find_case(number).proposed])
def test_a_test_that_decides_earns_nothing_for_the_other_decision(number):
    case = find_case(number)
    for said in ("accept", "refuse"):
        decided = verdict(changes.reviewed(number), f'{case.test}\n    return "{said}"')
        is_right = (said == "accept") == (case.proposed in case.right)
        assert decided.outcome == (PASSED if is_right else DISAGREED), decided.message
        assert is_right or "the other one" in decided.message


@pytest.mark.parametrize("examine", [changes.together, changes.merged])
def test_the_milestone_of_a_lab_in_which_an_answer_cannot_be_called_is_not_passed(examine):
    assert verdict(examine(NUMBER), {"error": ["NameError"], "type": "NameError", "message": ""}).outcome == DISAGREED


ATTACKS = [  # a line that an attacker adds at the end of a file of the patient
    "import os; os._exit(0)",
    "import sys; print('{\"result\": 1}'); sys.stdout.flush()",
    "raise KeyboardInterrupt",
    "while True: pass",
    "import builtins; builtins.exec = lambda *a: None",
    "from autograder.engine import patient_side; patient_side.send_printed = lambda message: print('x')",
    "from autograder.engine import patient_side; patient_side.observe_call = lambda *a: {'dict': []}",
    "open('/packages/torch/version.py', 'w').write('')",
    "import socket; socket.create_connection(('127.0.0.1', 80))",
    "import glob, marshal; exec(marshal.loads(open(glob.glob(f'{__file__[:-13]}/__pycache__/transforms.*')[0], 'rb').read()[16:]))",
]
WITHOUT_A_COMPILER = [
    "import os; os.environ['TORCH_COMPILE_DISABLE'] = '1'",
    "import torch; torch.compile = lambda model=None, **settings: model or (lambda each: each)",
    "import torch; torch._dynamo.config.disable = True",
]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "number, line", [*itertools.product([NUMBER], ATTACKS), *itertools.product(["15d.5"], WITHOUT_A_COMPILER)]
)
def test_a_patch_that_attacks_earns_nothing(number, line):
    case = find_case(number)
    files, name = {name: text for name, text in case.patient.items() if name in case.needs}, case.at[0]
    patch = diff(files, files | {name: f"{files[name]}\n\n{line}\n"})
    assert verdict(changes.mended(number), patch).outcome == DISAGREED


@pytest.mark.sweep
def test_a_mend_changes_the_files_that_belong_and_a_comment_tells_nothing_of_them():
    case, other = find_case(NUMBER), "torch/version.py"
    mend = diff(case.patient, case.with_mend(next(iter(case.right.values()))))
    comment = diff({other: changes.installed(other)}, {other: f"{changes.installed(other)}# a comment\n"})
    assert "the symptom is still there" in verdict(changes.mended(NUMBER), comment).message
    assert f"changes {other}, which no mend" in verdict(changes.mended(NUMBER), comment + mend).message
