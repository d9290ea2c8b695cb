"""A class of attackers gains nothing, and each defence holds alone."""

import copy
import json
import os
import sys
from pathlib import Path

import attacks
import nbformat
import pytest
from sweep import in_one_test, swept

from autograder import model
from autograder.classroom import grade as grading
from autograder.classroom.join import LONGEST
from autograder.classroom.restore import MAX_ADDED, StudentNotebook, deactivate_markup, restore
from autograder.engine import sandbox
from autograder.engine.edition import edition
from autograder.engine.observe import MAX_LENGTH, Malformed, SubjectDied, accept, error_tree, show, tensor_tree
from autograder.engine.run import run
from autograder.engine.sandbox import Sandbox
from autograder.engine.verdict import PASSED
from autograder.model import Lab, exercise_name, lab_names, read_submission, rejection_reason

LAB = attacks.LAB


CHOSEN = {  # against different defences; `make test-all` tries all attacks
    *("forge_verdict", "html_in_outputs", "write_everywhere", "daemon"),
}
CLASSES = [(LAB, True), *((lab, False) for lab in attacks.LABS if lab in lab_names())]


def test_the_chosen_attacks_exist():
    assert attacks.corpus().keys() >= CHOSEN


@pytest.fixture(scope="module", params=[each if each[1] else swept(each) for each in CLASSES], ids=str)
def figures(request, tmp_path_factory, isolated, drawn_once, feedback):
    lab, chosen = request.param
    hostile = {name: each for name, each in attacks.corpus(lab).items() if (name in CHOSEN) == chosen}
    if (
        request.config.option.markexpr
    ):  # `make test` tries an answer on one exercise: each failure starts a sandbox or two
        for attack in hostile.values():
            vars(attack).setdefault("EXERCISES", Lab(lab).exercises[:1])
        if chosen:
            hostile["forge_verdict"].cell = hostile.pop("daemon").cell  # one student does both
    place = tmp_path_factory.mktemp("attacked")
    (place / "class").mkdir()
    (place / "class" / "seed").write_text("1")  # whose cases are drawn once
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place / "class"))
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("RUSHLIGHT_CANARY", "")  # which measuring sets
        how = {"jobs": 1, "method": "fork"} if chosen else {"jobs": 2}
        if chosen:
            patch.setattr(grading, "markers", lambda jobs: feedback)
        yield attacks.measure(place / "class", hostile, lab, **how)


def test_no_attack_earns_a_point(figures):
    assert figures.undeserved == {}


def test_no_attack_costs_anybody_a_grade(figures):
    assert figures.lost == {}


def test_no_attack_changes_a_file_outside_the_classroom(figures):
    assert figures.changed == []


def test_no_attack_leaves_a_process(figures):
    assert figures.left == []


def test_no_attack_gets_active_markup_into_a_page(figures):
    assert figures.active == {}


def test_every_attack_says_what_it_tries():
    for name, attack in attacks.corpus().items():
        assert attack.__doc__, name


# One by one ----------------------------------------------------------------------------------------------------------


def cell(notebook, exercise):
    return next(c for c in notebook.cells if exercise_name(c) == exercise)


def write(notebook, exercise, body):
    source = cell(notebook, exercise).source
    cell(notebook, exercise).source = source[: source.index("    # YOUR CODE HERE")] + body


@pytest.mark.sweep
def test_of_two_answers_that_call_each_other_one_fails(judge, isolated, released):
    write(released, "aten.strided.transpose", TRANSPOSE_BY_PERMUTE)
    write(released, "aten.strided.permute", PERMUTE_BY_TRANSPOSE)
    verdicts = run(released, Lab(LAB), judge)
    passed = [name for name in ("aten.strided.transpose", "aten.strided.permute") if verdicts[name].passed]
    assert passed == ["aten.strided.permute"]


TRANSPOSE_BY_PERMUTE = """
    from rushlight.aten.strided import wrap_dim

    dim0, dim1 = wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    dims = list(range(self.dim()))
    if dims:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return rl.strided.permute(self, dims)
"""

PERMUTE_BY_TRANSPOSE = """
    from rushlight.aten.strided import wrap_dim

    if len(dims) != self.dim():
        raise RuntimeError("as many dims as dimensions")
    order = []
    for dim in dims:
        order.append(wrap_dim(dim, self.dim()))
        if order.count(order[-1]) > 1:
            raise RuntimeError("twice")
    now, out = list(range(self.dim())), rl.strided.alias(self, self.shape, self.stride(), self.storage_offset())
    for place, dim in enumerate(order):
        other = now.index(dim)
        out = rl.strided.transpose(out, place, other)
        now[place], now[other] = now[other], now[place]
    return out
"""


@pytest.mark.sweep
def test_tried_alone_an_answer_finds_earlier_bodies_only(judge, isolated, solved, monkeypatch):
    editions = []
    monkeypatch.setattr("autograder.engine.run.edition", lambda *missing: editions.append(missing) or edition(*missing))
    wrong = cell(solved, "aten.strided.permute")
    wrong.source = wrong.source[: wrong.source.index('    """')] + "    return self\n"
    run(solved, Lab(LAB), judge)
    first, (lab, missing), (_, for_milestone) = editions
    assert (first[0].name, {*first[1]}) == (LAB, {*Lab(LAB).exercises}) and {
        "aten.strided.permute",
        "aten.strided.as_strided",
    } < set(missing)
    assert "aten.strided.contiguous_strides" not in missing
    assert set(Lab(LAB).exercises) - set(for_milestone) == {"aten.strided.permute"}  # its check is decided


def test_a_lab_solved_from_the_last_exercise_to_the_first_is_right_as_well(judge, isolated, solved):
    places = [i for i, c in enumerate(solved.cells) if exercise_name(c)]
    for i in places[:-1]:  # every piece is written again at the very end, as somebody would who came back to it
        solved.cells.append(copy.deepcopy(solved.cells[i]))
    verdicts = run(solved, Lab(LAB), judge)
    assert {verdict.outcome for verdict in verdicts.values()} == {PASSED}


@in_one_test
@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"error": "IndexError", "type": "", "message": ""},
        {"error": [], "type": "", "message": ""},
        {"error": ["IndexError", "RuntimeError"], "type": "", "message": ""},
        {"error": ["print"], "type": "", "message": ""},
        error_tree(IndexError()) | {"message": ["list"]},
        error_tree(IndexError()) | {"tensor": {}},
        {"dict": [["key"]]},
        {"dict": [[["key"], 1]]},
        {"dict": [["key", 1], ["other", 1], ["key", 2]]},
        {"dtype": 3},
        {"other": None},
        2**63,
        b"bytes",
        tensor_tree("O", [1], [1], 0, bytes(8)),
        tensor_tree("U1000000", [1], [1], 0, bytes(4_000_000)),
        tensor_tree("int64", [-1], [1], 0, bytes(8)),
        tensor_tree("int64", [True], [1], 0, bytes(8)),
        tensor_tree("int64", [10**9], [1], 0, bytes(8)),
        tensor_tree("int64", [1.0], [1], 0, bytes(8)),
        tensor_tree("int64", [1], [1], None, bytes(8)),
        tensor_tree("int64", [1], [1], False, bytes(8)),
        tensor_tree("int64", [1], [True], 0, bytes(8)),
        tensor_tree("int64", [0, 2**62], [1, 1], 0, b""),
        tensor_tree("int64", [1], [[]], 0, bytes(8)),
        tensor_tree("int64", [1] * 100, [1], 0, bytes(8)),
    ],
)
def test_what_observing_cannot_make_is_not_accepted(forged):
    with pytest.raises(Malformed):
        accept([[forged]])


def test_one_exception_is_not_every_error():
    class Every(IndexError, RuntimeError, ValueError):
        pass

    assert error_tree(Every()) | {"type": "IndexError"} == error_tree(IndexError())


def test_a_large_tensor_of_short_dimensions_is_shown_in_a_line_or_two():
    assert len(show(tensor_tree("bool", [2] * 20, [1] * 20, 0, bytes(2**20)))) < 1000


def test_what_a_subject_sends_is_cut_and_cleaned(judge, isolated, released):
    attacks.put(released, f"print('\\x1b[31mred\\x00' + 'x' * {2 * MAX_LENGTH})\nraise ValueError('\\ud800' * 10**6)")
    run(released, Lab(LAB), judge)
    printed, error = next(cell.outputs for cell in released.cells if len(cell.get("outputs", [])) == 2)
    assert printed.text.startswith("redxxx") and len(printed.text) < MAX_LENGTH + 20
    assert error.ename == "ValueError" and "\ud800" not in str(error)


@pytest.mark.sweep
def test_a_cell_that_displays_too_much_still_counts(judge, isolated, solved):
    attacks.put(solved, "for i in range(50_000):\n    display('\\u1234' * 100)\n")
    verdicts = run(solved, Lab(LAB), judge)
    assert all(v.passed for v in verdicts.values())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a < b, `x[1:2]`, 3 > 2 & 1", "a < b, `x[1:2]`, 3 > 2 & 1"),
        ("[PyTorch](https://pytorch.org/?a=1&b=2)", "[PyTorch](https://pytorch.org/?a=1&b=2)"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("<b>x</b>", "<\u2060b>x<\u2060/b>"),
        ("[x](java&#115;cript:y)", "[x](java&\u2060#115;cript:y)"),
        ("[x](JavaScript\\:y)", "[x](JavaScript\u2060\\:y)"),
        ("![x](attachment:y)", "![x](attachment\u2060:y)"),
        ("```make\nx\n```", "```\u2060make\nx\n```"),
    ],
)
def test_markdown_of_a_student_says_what_it_said_and_does_nothing(written, shown):
    assert deactivate_markup(written) == shown


def test_a_notebook_without_end_is_cut(released):
    submitted = copy.deepcopy(released)
    added = nbformat.v4.new_code_cell("x")  # to make and validate 5000 takes a second and a half
    submitted.cells += [nbformat.from_dict({**added, "id": f"added-{number}"}) for number in range(5000)]
    cell(submitted, "aten.strided.permute").source = "x" * (LONGEST + 1)
    result = restore(submitted, released)
    assert len(result.cells) == len(released.cells) + MAX_ADDED
    assert cell(result, "aten.strided.permute").source.startswith("# left out")


def test_cells_that_share_a_place_have_ids_of_their_own(released):
    submitted = copy.deepcopy(released)
    for c in submitted.cells[::2]:
        c.metadata = {}
    for c in submitted.cells[1::2]:
        c.id = "other"
    submitted.cells = [c for pair in zip(submitted.cells, map(copy.deepcopy, submitted.cells)) for c in pair]
    for c in submitted.cells[::3]:
        c.update(id="mine", metadata={})
    result = restore(submitted, released)
    assert len({c.id for c in result.cells}) == len(result.cells)


@pytest.fixture
def submission(tmp_path, released):
    folder = tmp_path / "student" / LAB
    folder.mkdir(parents=True)
    nbformat.write(released, folder / f"{LAB}.ipynb")
    return folder


def link(folder):
    (folder / "page.html").symlink_to("/etc/passwd")


def linked_folder(folder):
    (folder / "more").symlink_to("/etc")


def pipe(folder):
    os.mkfifo(folder / "pipe")


def too_large(folder):
    with (folder / "data").open("wb") as file:
        file.truncate(model.MAX_FOLDER + 1)


def too_many(folder):
    for number in range(model.MAX_FILES + 1):
        (folder / str(number)).touch()


def no_time(folder):
    (folder / "timestamp.txt").write_text("KeyboardInterrupt")


def far_time(folder):
    (folder / "timestamp.txt").write_text("9999-12-31 23:59:59 UTC")


def no_time_to_read(folder):
    (folder / "timestamp.txt").write_text("1" * (model.MAX_TIMESTAMP + 1))


def long_path(folder):
    Path(folder, "x" * 250, "y" * 250).mkdir(parents=True)


def name_with_escape_codes(folder):
    (folder / "\x1b[2J").touch()


def name_that_is_no_utf8(folder):
    (folder / "\udce9").touch()


def folder_that_is_a_pattern(folder):
    (folder / "[x]").mkdir()


CHANGES = [
    folder_that_is_a_pattern,
    link,
    linked_folder,
    pipe,
    too_large,
    too_many,
    no_time,
    far_time,
    no_time_to_read,
    long_path,
]
CHANGES += [name_with_escape_codes, name_that_is_no_utf8]


@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_that_is_not_to_be_opened_is_refused_with_a_reason(submission, change):
    assert rejection_reason(submission) == ""
    change(submission)
    assert rejection_reason(submission).isprintable() and rejection_reason(submission)


OUTPUT = {
    "output_type": "stream",
    "name": "stdout",
    "text": ['"outputs": [', "\\\\", '\\\\"[', {"outputs": [[], ["]"]]}],
}


def test_outputs_count_nothing_for_the_limit_of_a_notebook_and_all_else_does(submission, released, monkeypatch):
    path = submission / f"{LAB}.ipynb"
    monkeypatch.setattr(model, "MAX_NOTEBOOK", path.stat().st_size + 2_000)
    code = [c for c in released.cells if c.cell_type == "code"]
    code[0].source += '\n# "outputs": [1\\\\'
    nbformat.write(released, path)
    restored = StudentNotebook(Lab(LAB), model.read_submission(path)).restored()
    for c in code:
        c.outputs = [OUTPUT, {**OUTPUT, "text": "x" * 1_000}] * 3
    path.write_text(json.dumps(released, indent=1))
    text = model.read_submission(path)
    assert "x" * 100 not in text and StudentNotebook(Lab(LAB), text).restored().cells == restored.cells
    code[1].source = "x" * model.MAX_NOTEBOOK
    path.write_text(json.dumps(released, indent=1))
    with pytest.raises(model.Unreadable, match="MB without its outputs; the limit is"):
        model.read_submission(path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "[]," * 5_000,
        '"' * 5_001,
        '"' + '\\"' * 5_000,
        '"outputs": [' * 500,
        '"outputs": [' + '"a",' * 5_000,
    ],
    ids=["open", "lists", "quotes", "escapes", "outputs", "strings"],
)
def test_a_file_is_read_as_far_as_a_submission_may_go_and_its_outputs_are_not_parsed(submission, monkeypatch, text):
    path = submission / f"{LAB}.ipynb"
    path.write_text(text)
    for name, value in {"MAX_NOTEBOOK": 1_000, "MAX_TOKENS": 400}.items():
        monkeypatch.setattr(model, name, value)
    with pytest.raises(model.Unreadable):
        model.read_submission(path)
    monkeypatch.setattr(model, "MAX_FOLDER", 100)
    with pytest.raises(model.Unreadable, match="has more than 0 MB"):
        model.read_notebook(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_notebook_may_begin_with_a_byte_order_mark_and_be_in_utf_16(submission, encoding):
    path = submission / f"{LAB}.ipynb"
    text = model.read_submission(path)
    path.write_bytes(text.encode(encoding))
    assert model.read_submission(path) == text
    path.write_bytes("{\xb7}".encode("latin-1"))
    with pytest.raises(model.Unreadable, match="^not a notebook: the file is not text in UTF-8"):
        model.read_submission(path)


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", '"-(alert(1))-"', "&lt;b&gt;", "a\\"])
def test_a_name_that_is_markup_or_ends_a_string_of_a_script_is_refused(submission, name):
    other = submission.parents[1] / name
    submission.parent.rename(other)
    assert "the name of the student's folder" in rejection_reason(other / LAB)


def test_a_folder_of_a_student_that_is_a_link_is_refused(submission):
    other = submission.parents[1] / "other"
    other.symlink_to(submission.parent)
    assert rejection_reason(other / LAB)


def test_code_reads_in_the_order_in_which_it_runs(released):
    submitted = copy.deepcopy(released)
    cell(submitted, "aten.strided.permute").source += "\u202e# \u2066"
    assert cell(restore(submitted, released), "aten.strided.permute").source.endswith("\ufffd# \ufffd")


@pytest.mark.parametrize("name", ["*", "[ab]", "a?", " a", "a\nb", "a ", "\x1b[2J", "a\u202eb", "\udce9"])
def test_a_name_that_nbgrader_takes_for_many_is_refused(submission, name):
    folder = submission.parent.rename(submission.parents[1] / name) / LAB
    assert "name" in rejection_reason(folder)


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "7",
        "null",
        "[]",
        "{}",
        '{"cells": [1], "nbformat": 4, "nbformat_minor": "x"}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_notebook_is_refused_with_a_reason(submission, text):
    (submission / f"{LAB}.ipynb").write_text(text)
    with pytest.raises(ValueError, match=r"^not a notebook.*$"):
        StudentNotebook(Lab(LAB), read_submission(submission / f"{LAB}.ipynb")).restored()


def test_a_notebook_of_nbformat_3_is_refused_with_what_to_do():
    text = '{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}'
    with pytest.raises(model.Unreadable, match="open it in JupyterLab and save it, because it is of nbformat 3$"):
        StudentNotebook(Lab(LAB), text).restored()


@pytest.fixture
def box(isolated):
    box = Sandbox(edition(Lab(LAB)))
    yield box
    box.close()


def test_processes_have_a_limit_whoever_grades(box, said):
    source = "import os, time\nfor n in range(200):\n    if os.fork() == 0:\n        time.sleep(5)\n        os._exit(0)"
    assert said(box, source) == "BlockingIOError"


@pytest.mark.sweep
def test_all_processes_together_have_a_limit_of_memory(box, said):
    child = "if os.fork() == 0:\n        x = b'x' * (500 << 20)\n        time.sleep(60)"
    with pytest.raises(SubjectDied, match="GiB"):
        said(box, f"import os, time\nfor n in range(8):\n    {child}\ntime.sleep(60)")


@pytest.mark.parametrize("place", ["/", "/dev", "/packages", "/root", "/usr/lib/python3/dist-packages", "/edition"])
def test_nothing_but_two_folders_can_be_written(shared_box, place, said):
    assert said(shared_box, f"open({place!r} + '/x', 'w')") in ("OSError", "PermissionError", "FileNotFoundError")


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_the_two_folders_have_a_size(box, place, said):
    source = f"for n in range(9):\n    open(f'{place}/{{n}}', 'wb').write(bytes({sandbox.FILES // 4}))"
    assert said(box, source) == "OSError"


def test_packages_of_the_base_python_are_not_there(shared_box, said):
    places = ("/usr", "/usr/local", sys.base_prefix)
    source = f"import glob; print([glob.glob(p + '/lib*/python3*/*-packages/*') for p in {places}])"
    assert said(shared_box, source) == "[[], [], []]\n"


def test_if_memory_runs_out_the_subject_goes_first(shared_box, said):
    assert said(shared_box, "print(open('/proc/self/oom_score_adj').read().strip())") == "1000\n"
