"""Which answers of a class are alike, and what the page about them shows."""

import itertools
import random
import re

import nbformat
import pytest

from autograder.classroom import alike, winnowing
from autograder.classroom.winnowing import answer, outlier_bits, pairs
from autograder.cli import app
from autograder.model import Lab, exercise_name
from docs.programs.images import alike as picture

LAB = "01a_views"

LOOP = """
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
"""
RENAMED = (
    re.sub(r"\bstep\b", "jump", LOOP).replace("strides", "found").replace("contiguous_found", "contiguous_strides")
)
PRODUCTS = """
def contiguous_strides(sizes):
    return tuple(math.prod(max(size, 1) for size in sizes[dim + 1 :]) for dim in range(len(sizes)))
"""


def only(found, one, other):
    return next(pair for pair in found if pair.students == (one, other))


def class_of(**sources):
    return [answer(student, "aten.strided.contiguous_strides", source) for student, source in sources.items()]


def test_names_of_variables_do_not_hide_the_same_code():
    found = pairs(class_of(a=LOOP, b=RENAMED, c=PRODUCTS))
    like = only(found, "a", "b").exercises["aten.strided.contiguous_strides"]
    assert (like.code, like.code_bits) == (1.0, pytest.approx(1.585, abs=1e-3))  # one pair of three
    assert like.words < 1
    assert found[0].students == ("a", "b")


def test_what_everybody_wrote_weighs_nothing():
    found = pairs(class_of(a=LOOP, b=LOOP, c=LOOP, d=LOOP))
    assert {pair.bits for pair in found} == {0.0}


def test_the_same_code_counts_less_the_more_pairs_have_it():
    counts = []
    for many in (2, 3, 4):
        others = {f"other{i}": f"def f(x):\n    return x{f'.part{i}' * 15}\n" for i in range(6)}
        found = pairs(class_of(**{f"s{i}": LOOP for i in range(many)}, **others))
        counts.append(only(found, "s0", "s1").exercises["aten.strided.contiguous_strides"].code_bits)
    assert counts == sorted(counts, reverse=True) and len({*counts}) == 3


def test_the_words_of_the_given_text_are_nobodys():
    given = 'def f(rare_name):\n    """Its docstring."""\n    # YOUR CODE HERE\n'
    one = answer("a", "x.f", given + "    own = rare_name  # a remark of my own\n", given)
    assert one.words == {"own", "# a remark of my own"}


BROKEN = [
    "def f(:\n    uncommon\n",
    f"uncommon = {'f(' * 500}",
    "uncommon '''",
    "uncommon\0",
    f"uncommon = {'-' * 7000}1",
]


@pytest.mark.parametrize("source", BROKEN, ids=range(5))
def test_the_words_of_code_that_is_no_python_are_compared(source):
    found = pairs(class_of(a=source, b=source.replace("f(", "f (", 1), c=LOOP, d=PRODUCTS))
    like = only(found, "a", "b").exercises["aten.strided.contiguous_strides"]
    assert like.code == 0 and like.words_bits > 2


def test_commands_of_ipython_do_not_hide_the_code():
    cell = f"%matplotlib inline\n\n{LOOP}\n    !ls\n"
    assert winnowing.tokens(cell) and winnowing.tokens(
        LOOP.replace("step *= max(size, 1)", "step = (step\n    % max(size, 1))")
    )
    lines = [line for text, line in winnowing.tokens(f"\n\n%time x\n{LOOP}") if text.startswith("FunctionDef")]
    assert lines == [5]


@pytest.mark.parametrize("depth", [200, 900, 3000])
def test_deep_code_does_not_end_the_comparison(depth):
    pairs(class_of(a=f"x = {'-' * depth}1", b=f"x = {'(' * depth}1{')' * depth}", c=LOOP))


def test_published_answers_are_compared_with_the_class_only():
    found = pairs(class_of(a=LOOP, b=PRODUCTS, p=LOOP, q=LOOP), published=["p", "q"])
    assert {pair.students for pair in found} == {("a", "b"), ("a", "p"), ("a", "q"), ("b", "p"), ("b", "q")}


def test_a_copy_of_half_the_answers_is_far_out_in_a_class_that_writes_for_itself():
    draw = random.Random(0)

    def own(exercise):
        """Code of somebody's own: a chain of calls in an order that others hardly choose."""
        names = draw.sample(
            ["reversed", "sorted", "tuple", "list", "set", "sum", "max", "min", "len", "zip", "map", "any"], 9
        )
        calls = "".join(
            f"    x = {one}({other}(x), key={third})\n"
            for one, other, third in zip(names[::3], names[1::3], names[2::3])
        )
        return f"def {exercise}(x):\n{calls}    return x\n"

    written = {f"student{i:02}": {f"e{j}": own(f"e{j}") for j in range(10)} for i in range(30)}
    for exercise in ("e1", "e3", "e4", "e7", "e9"):
        written["student07"][exercise] = re.sub(r"\bx\b", "value", written["student21"][exercise])
    answers = [answer(student, name, source) for student, given in written.items() for name, source in given.items()]
    found = pairs(answers)
    assert [pair.students for pair in found if pair.bits > outlier_bits(found)] == [("student07", "student21")]


def test_the_picture_of_far_out_is_fresh():
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.drawn()


def test_winnowing_keeps_a_hash_of_every_window():
    tokens = [(str(each), i) for i, each in enumerate(random.Random(1).choices(range(9), k=200))]
    kept = sorted(first for _, (first, _) in winnowing.fingerprints(tokens) if first)
    assert max(b - a for a, b in itertools.pairwise(kept)) <= winnowing.WINDOW
    assert (
        len(kept) < len(tokens) * 2 / (winnowing.WINDOW + 1) * 1.3
    )  # the density that the paper derives, and some more


# The page ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def hand_in(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))

    def hand_in(student, source, exercise="aten.strided.contiguous_strides"):
        notebook = nbformat.read(Lab(LAB).path, as_version=4)
        cell = next(cell for cell in notebook.cells if exercise_name(cell) == exercise)
        cell.source = source
        folder = tmp_path / "submitted" / student / LAB
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{LAB}.ipynb")

    return hand_in


def test_the_page_shows_the_pair_and_runs_nothing_of_a_submission(hand_in, tmp_path):
    hand_in("ada", LOOP + "x = '<script>alert(1)</script>'  # <img src=x onerror=alert(1)>\n")
    hand_in("bob", RENAMED)
    hand_in("cyd", PRODUCTS)
    (tmp_path / "submitted" / "dan" / LAB).mkdir(parents=True)
    path, found, unreadable = alike.write_alike(Lab(LAB))
    page = path.read_text(encoding="utf-8")
    assert found[0].students == ("ada", "bob")
    assert unreadable == [f"dan: no {LAB}.ipynb in the submission"] and _shown(unreadable[0]) in page
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page
    assert "ada and bob: " in page and "<mark>" in page


def test_an_untouched_submission_is_compared_with_nobody(hand_in):
    for student in ("ada", "bob"):
        hand_in(student, LOOP)
    released = nbformat.read(Lab(LAB).path, as_version=4)
    hand_in("eve", next(c.source for c in released.cells if exercise_name(c) == "aten.strided.contiguous_strides"))
    with pytest.raises(LookupError, match="2 of the submissions of 01a_views have an answer"):
        alike.write_alike(Lab(LAB))


def test_three_students_without_a_common_exercise_cannot_be_compared(hand_in):
    released = nbformat.read(Lab(LAB).path, as_version=4)
    sources = {name: cell.source for cell in released.cells if (name := exercise_name(cell))}
    for student, exercise in zip(("ada", "bob", "cyd"), sources):
        hand_in(student, sources[exercise] + "\n    return 1\n", exercise)
    with pytest.raises(LookupError, match="no two submissions of 01a_views have an answer to the same exercise"):
        alike.write_alike(Lab(LAB))


def test_the_command_names_the_pairs_and_the_page(hand_in, tmp_path, capsys):
    for student, source in (("ada", LOOP), ("bob", RENAMED), ("cyd", PRODUCTS)):
        hand_in(student, source)
    published = tmp_path / "found" / "answers.ipynb"
    published.parent.mkdir()
    published.write_bytes((tmp_path / "submitted" / "cyd" / LAB / f"{LAB}.ipynb").read_bytes())
    assert app.main(["alike", "01a", "--published", str(published)], standalone_mode=False) == 0
    said = capsys.readouterr().out
    assert f"bits  cyd  published: {published.as_posix()}" in said and "6 pairs" in said and f"alike-{LAB}.html" in said


def _shown(text):
    return text.replace("'", "&#x27;")
