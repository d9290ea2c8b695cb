"""The items of an exam: from a student's own code, each with an answer, none with a trivial one, and marked by running."""

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sweep import in_one_test, sweep

from autograder.classroom import walk
from autograder.cli import exam as cli_exam
from autograder.engine.check import find
from autograder.engine.observe import difference, is_error, result_of
from autograder.exam import class_exams, desk, draw, marking, paper
from autograder.exam.draw import FIND, PREDICT, REASON, RESULTS, Drawing, Exam, Key, Material, exam_of, program_of
from autograder.exam.marking import mark
from autograder.exam.paper import Field, Item, Paper
from autograder.exam.trials import (
    LEAST,
    MOST,
    Cases,
    Changed,
    Function,
    checks_of,
    is_seen_at_once,
    not_plain,
    reference_cell,
    shown,
)
from autograder.exam.values import as_text, plain
from autograder.model import Course, Lab, lab_names

LAB = "01a_views"
OWN = {
    "aten.strided.contiguous_strides": (
        "def contiguous_strides(sizes):\n    # from the last one on\n    steps = [1]\n"
        "    for i in range(len(sizes) - 1, 0, -1):\n        steps.append(steps[-1] * (sizes[i] or 1))\n"
        "    if not sizes:\n        return ()\n    return tuple(steps[::-1])"
    ),
    "aten.strided.element_offset": "def element_offset(index, strides, storage_offset):\n    return 7",  # it is wrong
}


def cell(exercise, source):
    """The lab's cell with another body."""
    return walk.with_body_of(reference_cell(Lab(LAB), exercise), exercise.rpartition(".")[2], source)


@pytest.fixture(scope="module")
def material():
    return Material([Lab(LAB), Lab("04a_history")], 11)


@pytest.fixture(scope="module")
def own():
    return {LAB: {exercise: cell(exercise, source) for exercise, source in OWN.items()}}


@pytest.fixture(scope="module")
def exam(material, own):
    return exam_of("exam_01a_04a", "ada", material, own, True, 11)


def right_answers(exam):
    """What the keys say is right."""
    answers = {}
    for item in exam.paper.items:
        key = exam.keys[item.key]
        if key.kind == FIND:
            example = next(part for part in key.right[2:] if part.startswith(" "))
            answers |= {
                f"{item.key}.{line.split(' = ')[0].strip()}": line.split(" = ", 1)[1] for line in example.splitlines()
            }
            answers[f"{item.key}.line"] = str(key.line)
        elif key.kind == REASON:
            answers[item.fields[0].key] = "because of the empty ones"
        else:
            texts = [one["type"] if is_error(one) else as_text(plain(one)) for one in key.expected]
            answers |= {field.key: text for field, text in zip(item.fields, texts, strict=True)}
    return answers


@pytest.mark.sweep
def test_the_items_and_what_is_right(exam, material):
    assert [key.kind for key in exam.keys.values()] == [FIND, FIND, RESULTS, PREDICT, REASON] == material.kinds
    marks = mark(exam, right_answers(exam))
    points = {field.key: field.points for field in exam.paper.fields.values()}
    assert marks.earned == {name: None if name == "5.why" else worth for name, worth in points.items()}
    assert exam.paper.points == 14 and all(marks.right.values())
    assert exam.keys["5"].rubric.count("- 1 point: ") == 3


def test_without_an_answer_there_is_no_point(exam):
    assert {*mark(exam, {}).earned.values()} == {0.0}
    forms = {field.key: field.given for field in exam.paper.fields.values()}
    lines = {f"{name}.line": str(key.line) for name, key in exam.keys.items() if key.kind == FIND}
    assert sum(mark(exam, forms | lines).earned.values()) == 2, (
        "a line counts, and a form on which nothing differs does not"
    )


@pytest.mark.sweep
def test_an_input_counts_if_the_line_is_right_too(exam):
    answers = right_answers(exam)
    wrong = {name: "1" for name in answers if name.endswith(".line")}
    earned = mark(exam, answers | wrong).earned
    assert sum(earned[name] for name in earned if name.startswith(("1.", "2."))) == 0


CHANGED = """def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step{})
        step = step * max(size, 1)
    return tuple(reversed(strides))
"""


@pytest.mark.parametrize(
    ("line", "is_right"),
    sweep(
        [
            ("4", True),
            ("line 4: strides.append(step)", True),
            ("6: return tuple(n - 1 for n in reversed(strides))", True),
            ("6: return tuple(n + 1 for n in reversed(strides))", False),
            ("6", False),
            ("2: strides, step = [], 1; step = 0", False),  # another statement
            (
                "2: return tuple(math.prod(max(n, 1) for n in sizes[i + 1:]) for i in range(len(sizes)))",
                False,
            ),  # a new function
            (
                "6: return tuple(math.prod(max(n, 1) for n in sizes[i + 1 :]) for i, _ in enumerate(sizes))  "
                + "#" * 80,
                False,
            ),
            ("6: return [math.prod(max(n,1)for n in sizes[i+1:])for i in range(len(sizes))]", False),
            ("6: return rl.empty(sizes).stride()", False),
            ("6: return tuple(__import__('os').listdir())", False),
            ("6: return tuple(n - 1 for n in reversed(strides))\n    step = 1", False),
            ("Line 4.", True),
            ("línea 4", True),
            ("l.4", True),
            ("4, 6", False),
            ("4 or 6", False),
            ("6: return (", False),
            ("40: step = 1", False),
            ("last", False),
        ],
        every=5,
    ),
)
def test_another_line_counts_if_it_mends_the_function(line, is_right):
    exercise, name = "aten.strided.contiguous_strides", "1.sizes"
    before, changed = (cell(exercise, CHANGED.format(text)) for text in ("", " + 1"))
    fields = [Field(name, "", "value", 2.0, "[]"), Field("1.line", "", "value", 1.0)]
    made = Paper("exam_01a", "ada", "K7", 40, "en", [Item("1", "", [], fields)], "s3cret")
    key = Key(FIND, LAB, checks_of(Lab(LAB))[exercise].name, before, changed, 4, parameters={"sizes": []})
    marks = mark(Exam(made, {"1": key}), {name: "[5]", "1.line": line})
    assert marks.earned == {name: 2.0 * is_right, "1.line": 1.0 * is_right}


@pytest.mark.parametrize(
    ("source", "why"),
    sweep(
        [
            ("import os\n    return ()", "it uses os"),
            ("return exec('1')", "it uses exec"),
            ("from builtins import exec as run\n    return run('1')", "it uses exec"),
            ("import builtins\n    return builtins.eval('1')", "it uses eval"),
            ("return contiguous_strides.__code__", "it uses __code__"),
            ("return '{0.__globals__}'.format(sizes)", "it uses __globals__"),
            ("return rl.strided.math.sys", "it uses sys"),
            ("return 7", "it differs from torch in 200 of 200 cases"),
            ("while True:\n        pass", "it takes too long, or does not run"),
            (f"return [{'1 + 1, ' * 1000}]", "it is too long"),
            ("_ = bytearray(1 << 36)\n    return ()", "it differs from torch"),
        ],
        every=3,
    ),
)
def test_a_function_that_is_not_asked_about_has_a_reason(material, source, why):
    lab, exercise = Lab(LAB), "aten.strided.contiguous_strides"
    cells = {LAB: {exercise: cell(exercise, f"def contiguous_strides(sizes):\n    {source}")}}
    drawing = Drawing(material, cells, True, random.Random(1))
    function = drawing.function(lab, exercise)
    function.close()
    assert not function.is_own and drawing.why[exercise].startswith(why)


@pytest.mark.sweep
def test_a_function_that_counts_its_calls_is_not_asked_about(material):
    lab, exercise = Lab(LAB), "aten.strided.contiguous_strides"
    right = "strides, step = [], 1\n    for n in reversed(sizes):\n        strides.append(step)\n        step *= max(n, 1)\n"
    counts = "count = rl.strided.count = getattr(rl.strided, 'count', 0) + 1\n"
    body = f"{counts}    {right}    return tuple(reversed(strides)) if count < 450 else tuple(strides)"
    cells = {LAB: {exercise: cell(exercise, f"def contiguous_strides(sizes):\n    {body}")}}
    drawing = Drawing(material, cells, True, random.Random(1))
    function = drawing.function(lab, exercise)
    assert function.is_own
    later = [function.run(function.cell) for _ in range(3)][-1]
    assert any(map(difference, later, function.theirs))
    # a new process has other results, and the function itself is right there
    assert not drawing.is_steady(function, Changed(walk.Change(9, "", "", function.cell), 9, "", later, [0]))
    function.close()


@pytest.mark.sweep
def test_a_change_that_raises_gives_the_same_in_a_new_process(material):
    exercise = "aten.strided.select"
    check, given = material.checks[LAB][exercise], reference_cell(Lab(LAB), exercise)
    with closing(Function(Lab(LAB), exercise, check, given, True, material.known, True)) as function:
        raised = next(
            changed
            for changed in function.changed(function.replaced(lambda places: places))
            if any(is_error(result_of(tree)) for tree in changed.results)
        )
        assert function.gives_again(raised)


def test_bare_texts_are_remarks():
    text = "def f(x):\n    'Dear marker'\n    'full marks'\n    if x:\n        'more'\n    return x"
    assert shown(text, "f") == "def f(x):\n    if x:\n        pass\n    return x"
    assert shown("@exercise(m)\n@other\ndef f(x):\n    return x", "f").startswith("@other\ndef")


@pytest.mark.sweep
def test_code_that_spoils_the_drawing_is_replaced_by_the_courses_own(monkeypatch, tmp_path, material):
    def drawn(name, student, material, cells, isolated, seed):
        if cells["01a_views"]:
            raise LookupError("more than 300 s")
        return real(name, student, material, {}, isolated, seed)

    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "seed").write_text("1")
    real, labs = class_exams.exam_in_limits, [Course().find_released("01a")]
    monkeypatch.setattr(class_exams, "students_of", lambda labs: ["ada", "bob"])
    monkeypatch.setattr(class_exams, "cells_of", lambda one: {"x": "y"} if one.student == "ada" else {})
    monkeypatch.setattr(class_exams, "Material", lambda *_: material)
    monkeypatch.setattr(class_exams, "exam_in_limits", lambda *given: drawn(*given) if given[3] else real(*given))
    done = class_exams.draw(labs, 2)
    assert done.new == ["ada", "bob"] and not done.failed
    assert "more than 300 s" in done.borrowed["ada"] and "not handed in" in done.borrowed["bob"]


def test_the_program_is_shown_with_what_it_uses():
    checks = checks_of(Lab("03a_loops"))
    assert "def _operands_of(" in program_of(checks["c10.dtypes.result_type"])
    assert "def dense(" in program_of(checks["c10.memory_formats.reorder_dimensions"])
    assert all(map(program_of, checks_of(Lab("07a_graphs")).values())), "one of them uses a lambda"


@pytest.mark.parametrize(
    "text",
    sweep(
        ["", "__import__('os')._exit(3)", "tensor([4000, 4000])", "[99999999]", "[[[]]]", "None", "x" * 5000], every=3
    ),
)
def test_an_input_that_is_none_costs_nobody_anything(exam, text):
    answers = right_answers(exam)
    first = next(field for field in exam.paper.items[0].fields)
    marks = mark(exam, answers | {first.key: text})
    assert marks.earned["1.line"] == 1 and marks.earned[first.key] == 0 and marks.earned["3.a"] == 1


def test_no_answer_is_in_the_paper(exam):
    said = [part for item in exam.paper.items for part in [*item.paragraphs, *(field.given for field in item.fields)]]
    for key in exam.keys.values():
        own = key.right[:3] if key.kind == RESULTS else key.right[-1:]
        assert not {*own, key.cell, key.changed, key.rubric} & {*said} - {""}


@pytest.mark.sweep
def test_the_same_seed_gives_the_same_items_and_another_student_others(material, own, exam):
    again = exam_of("exam_01a_04a", "ada", material, own, True, 11)
    assert replace(again.paper, secret="") == replace(exam.paper, secret="") and again.keys == exam.keys
    other = exam_of("exam_01a_04a", "grace", material, own, True, 11)
    assert [item.paragraphs for item in other.paper.items] != [item.paragraphs for item in exam.paper.items]
    # what one paper asks about the code without the change, or about inputs on which it matters, is no answer on another paper
    keys = [*exam.keys.values(), *other.keys.values()]
    searched = [key.check for key in keys if key.kind == FIND]
    assert searched and not {*searched} & {key.check for key in keys if key.kind in (RESULTS, REASON)}


@pytest.mark.sweep
def test_a_paper_shows_a_function_once_if_its_change_is_to_be_found(exam, material):
    for keys in (exam.keys.values(), exam_of("exam", "bob", material, {}, True, 12).keys.values()):
        asked = [key.check for key in keys]
        assert all(asked.count(key.check) == 1 for key in keys if key.kind == FIND)


def test_a_student_s_function_that_another_cell_shows_too_is_not_searched(material):
    drawing = Drawing(material, {}, True, random.Random(1))
    drawing.searched, drawing.shown = {"slice"}, {"permute", "helper"}
    assert drawing.may_show({"permute", "select"}, False) and not drawing.may_show({"select", "slice"}, False)
    assert drawing.may_show({"select"}, True) and not drawing.may_show({"select", "helper"}, True)


@in_one_test
@pytest.mark.parametrize(
    ("line", "is_seen"),
    [
        ("if True:", True), ("x = x", True), ("if x == -1:", True), ("return loops[-0]", True), ("return x - 0", True),
        ("if 1 * size > 3:", True), ("return n // 1", True), ("return f(tuple(b), tuple(b))", True), ("elif f(x, x):", True),
        ("a, b = (wrap(a, self.dim()), wrap(a, self.dim()))", True), ("return {a % n: b, a % n: a}", True),
        ("while x.y < x.y:", True), ("return a if x else a", True), ("for i in zip(s, s):", True), ("return x[0] or x[0]", True),
        ("return (0, 0)", False), ("return f(a, b, 1, 1)", False), ("return x * x", True),
        ("return s.a * s.a", False), ("elif x > 0.5 - 0.5 * y:", False), ("return [1, 1]", False), ("for i in range(1):", False),
        ("except KeyError:", False), ("return x - 1", False), ("return 10 * x", False),
    ],
)  # fmt: skip
def test_a_change_that_is_seen_without_the_contract_is_not_asked_about(line, is_seen):
    assert is_seen_at_once(line) == is_seen


@pytest.mark.sweep
def test_a_change_of_the_same_results_is_no_other_change(material):
    exercise = "aten.strided.contiguous_strides"
    check, given = material.checks[LAB][exercise], cell(exercise, CHANGED.format(""))
    texts = ("max(size, 2)", "max(2, size)")
    one, other = (walk.Change(5, "", text, given.replace("max(size, 1)", text)) for text in texts)
    with closing(Function(Lab(LAB), exercise, check, given, True, material.known, True)) as function:
        assert len([*function.changed(iter([one, other]))]) == 2
        function.asked.add(one.source)
        assert [*function.changed(iter([one, other]))] == []


@pytest.mark.sweep
def test_own_code_is_asked_about_and_a_function_that_fails_is_the_courses(material, own):
    exams = [exam_of("exam_01a", student, material, own, True, 11) for student in ("a", "b")]
    keys = [key for exam in exams for key in exam.keys.values()]
    assert all(key.is_own == ("steps" in key.cell) for key in keys if key.kind != PREDICT)
    assert any("steps" in key.cell for key in keys) and not any("return 7" in key.cell for key in keys)
    shown = "".join(part for exam in exams for item in exam.paper.items for part in item.paragraphs)
    assert "# from the last one on" not in shown, "remarks would show where nothing was changed"


def test_a_change_shows_on_some_inputs_and_not_on_most(material):
    lab = Lab(LAB)
    exercise, check = next(iter(checks_of(lab).items()))
    function = Function(lab, exercise, check, reference_cell(lab, exercise), False, material.known, True)
    tried = [*function.changed(function.replaced(lambda places: random.Random(1).sample(places, 10)))]
    function.close()
    assert function.cases and len({str(case) for case in function.cases}) == len(function.cases) == 200
    for changed in tried:
        assert LEAST <= len(changed.differs) / 200 <= MOST
        assert changed.code.splitlines()[changed.line - 1] != function.lines[changed.line - 1]
        assert [*map(difference, changed.results, function.theirs)].count(None) == 200 - len(changed.differs)
    assert tried


def test_variants_of_predictions_are_programs_with_other_answers(material):
    assert len(material.variants) >= 10
    assert len({(variant.check, str(variant.answer)) for variant in material.variants}) == len(material.variants)


def test_an_exam_is_kept_whole(exam, tmp_path):
    exam.write(tmp_path / "ada.json")
    assert Exam.read(tmp_path / "ada.json") == exam


def test_a_module_that_the_course_s_own_function_uses_may_be_imported():
    own = "import inspect\ndef f(g):\n    return inspect.signature(g)"
    assert not_plain(own, "def f(g):\n    return inspect.signature(g).parameters") == ""
    assert not_plain(own, "def f(g):\n    return 1") == "inspect"


@pytest.fixture(scope="module")
def lettered(material):
    """An exam of one item: which of six cases are wrong?"""
    drawing = Drawing(material, {}, True, random.Random(3))
    function = drawing.function(Lab(LAB), "aten.strided.contiguous_strides")
    item, key = drawing._which(function, "1")
    function.close()
    return Exam(Paper("exam", "ada", "ABC-DEF", 40, "en", [item], ""), {"1": key})


@pytest.mark.sweep
def test_cases_are_wrong_in_which_the_changed_function_differs(lettered, material):
    (item,), key = lettered.paper.items, lettered.keys["1"]
    check, cases = find(key.check), item.paragraphs[-11::2]
    known, theirs = material.known.of(check)
    said = ["\n".join(f" {name} = {as_text(v)}" for name, v in check.in_order(case).items()) for case in known]
    where = [said.index(case) for case in cases]
    with closing(Function(Lab(LAB), check.exercise, check, key.changed, True, material.known, True)) as function:
        now = function.run(key.changed, [known[i] for i in where])
    differs = [letter for letter, i, result in zip("abcdef", where, now, strict=True) if difference(result, theirs[i])]
    assert differs == key.expected and 2 <= len(differs) <= 4 and len({*cases}) == 6


def test_one_letter_too_many_or_too_few_leaves_a_third(lettered):
    right, all_of_them = {*lettered.keys["1"].expected}, {*"abcdef"}
    more, less = right | {min(all_of_them - right)}, right - {min(right)}
    for letters, points in [(right, 3), (more, 1), (less, 1), (all_of_them - right, 0), (set(), 0)]:
        assert mark(lettered, {"1.letters": " ".join(letters)}).earned == {"1.letters": points}


@in_one_test
@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("b e", 1), ("be", 1), ("e, b", 1), ("B and E.", 1), ("b y e", 1), ("['b', 'e']", 1), ("(b), (e)", 1), ("b/e", 1),
        ("b", 1 / 3), ("b e f", 1 / 3), ("b f", 0), ("", 0), ("none", 0), ("b e, or b f", 0), ("b e not f", 0), ("b e g", 0),
        ("b e " * 900, 1), ("all but a c d f", 0),
    ],
)  # fmt: skip
def test_letters_may_be_written_in_several_ways(text, share):
    assert marking._share_of_letters(text, {"b", "e"}) == share


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=["08a_dumps"]))
def test_every_lab_has_an_exam_or_says_that_it_has_too_little(lab):
    try:
        exam = exam_of("exam", "ada", Material([Lab(lab)], 3), {}, True, 3)
    except LookupError as error:
        assert "name another lab as well" in str(error)
    else:
        assert len(exam.paper.items) == 5


@pytest.mark.parametrize("labs", [["08a_dumps"], ["04a_history"], ["07c_breaks", "08a_dumps"]], ids="-".join)
def test_labs_with_too_few_functions_say_so_at_once(labs, monkeypatch):
    monkeypatch.setattr(Cases, "of", lambda *_: pytest.fail("cases are drawn"))
    with pytest.raises(LookupError, match="too few functions for an exam: name another lab as well, .* 01a"):
        Material([*map(Lab, labs)], 3)


def test_the_page_names_the_labs_that_have_too_few_functions():
    few = [Lab(name).number for name in lab_names() if len(checks_of(Lab(name))) < draw.FEWEST]
    page = (Path(__file__).parents[3] / "docs" / "marks.md").read_text(encoding="utf-8")
    assert f"so labs {', '.join(few[:-1])} and {few[-1]} have no exam of their own" in page


def test_a_class_is_told_once_that_its_labs_have_too_little(monkeypatch, tmp_path, material):
    def fails(name, student, *_):
        tried.append(student)
        raise LookupError(f"no questions for {student}: too little")

    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "seed").write_text("1")
    labs, tried = [Course().find_released("01a")], []
    monkeypatch.setattr(class_exams, "students_of", lambda labs: ["ada", "bob", "eve"])
    monkeypatch.setattr(class_exams, "cells_of", lambda one: {})
    monkeypatch.setattr(class_exams, "Material", lambda *_: material)
    monkeypatch.setattr(class_exams, "exam_in_limits", fails)
    with pytest.raises(LookupError, match="^too little$"):
        class_exams.draw(labs, 1)
    assert tried == ["ada"]


@pytest.mark.sweep
@pytest.mark.parametrize("is_opened", sweep([True, False], every=2))
def test_practice_ends_with_the_marks(is_opened, exam, tmp_path, monkeypatch, capsys):
    practised = replace(exam, paper=replace(exam.paper, student="practice"))

    def take(path, folder):
        if is_opened:
            student = paper.opened(path, "abcd").student
            with closing(desk.begin_or_resume(folder / f"{student}{desk.SUFFIX}", practised.paper)) as answers:
                for name, text in right_answers(exam).items():
                    answers.append("answer", field=name, value=text)
                answers.append("ended")

    monkeypatch.setattr(cli_exam, "WORK", tmp_path)
    monkeypatch.setattr(draw, "Material", lambda *_: None)
    monkeypatch.setattr(draw, "exam_of", lambda *_: practised)
    monkeypatch.setattr(paper, "new_word", lambda: "abcd")
    monkeypatch.setattr(desk, "serve", take)
    monkeypatch.setattr(cli_exam.webbrowser, "open", lambda address: None)
    for number in (1, 2):
        assert cli_exam._practise([Lab(LAB)]) == 0
        said = capsys.readouterr().out
        assert (
            ("11 of 11 points" in said)
            == is_opened
            == (tmp_path / f"practice/exam_01a-{number}/practice.html").exists()
        )
