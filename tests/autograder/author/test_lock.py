"""Some changes make a line of the lock stale, and others do not."""

import ast
import subprocess
import sys
from pathlib import Path

import guarantees
import pytest
from sweep import sweep

CHECK = '''
"""The checks of a topic."""

SIZES = [[2, 0], [3]]
OTHERS = [[4]]


def cases(st):
    return st.sampled_from(SIZES)


def hint(case, mine, theirs):
    return "rows come first"


@program("strided.first", cases=cases, edges=[{"sizes": sizes} for sizes in SIZES], hint=hint)
def first(xp, sizes):
    """The first strides."""
    return xp.empty(sizes).stride()  # as torch has them


@program("strided.second", cases=lambda st: st.sampled_from(OTHERS))
def second(xp, sizes):
    return xp.zeros(sizes).stride()
'''


@pytest.fixture
def text_of(tmp_path):
    """`text_of(source, name)`: what is hashed of a function and of all that it reaches in a file."""

    def text_of(source, name):
        guarantees.source_of.cache_clear()
        path = tmp_path / "topic.py"
        path.write_text(source)
        roots = [(str(path), each) for each in guarantees.source_of(str(path)).defining[name]]
        return sorted(guarantees.canonical(statement) for _, statement in guarantees.reached(roots))

    yield text_of
    guarantees.source_of.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The first strides.", "Strides of a new tensor."),
        ("  # as torch has them", ""),
        ("[[2, 0], [3]]", "[\n    [2, 0],\n    [3],\n]"),
        ("rows come first", "columns come last"),
        (", hint=hint", ""),
        ("xp.zeros", "xp.ones"),
        ("OTHERS = [[4]]", "OTHERS = [[5]]"),
    ],
)
def test_prose_line_breaks_hints_and_other_programs_leave_a_line_fresh(text_of, old, new):
    assert CHECK.count(old) == 1
    assert text_of(CHECK.replace(old, new), "first") == text_of(CHECK, "first")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("xp.empty", "xp.ones"),
        ("[[2, 0], [3]]", "[[2, 0], [4]]"),
        ("st.sampled_from(SIZES)", "st.just(SIZES[0])"),
        ('"strided.first"', '"strided.third"'),
    ],
)
def test_a_program_its_edges_and_its_cases_make_a_line_stale(text_of, old, new):
    assert text_of(CHECK.replace(old, new), "first") != text_of(CHECK, "first")


def test_a_statement_that_changes_a_table_belongs_to_it(text_of):
    grown = CHECK.replace("\n\ndef cases", "\nSIZES.append([5])\n\n\ndef cases")
    assert text_of(grown, "first") != text_of(CHECK, "first")
    assert text_of(grown, "second") == text_of(CHECK, "second")


LOCALS = """
def first(sizes, step=1):
    total, strides = 0, [step]
    for size in reversed(sizes):
        total = total - size
        strides.append(total * strides[-1])
    return sum(size for size in sizes), [lambda strides=total: strides + total for total in strides]
"""


def test_a_renamed_local_variable_leaves_a_line_fresh(text_of):
    renamed = LOCALS.replace("total =", "count =").replace("= total -", "= count -").replace("(total", "(count")
    renamed = renamed.replace("total, strides =", "count, strides =").replace("for size in sizes", "for item in sizes")
    renamed = (
        renamed.replace("sum(size", "sum(item").replace("for total in", "for each in").replace("=total:", "=each:")
    )
    renamed = renamed.replace("+ total", "+ each")
    assert "total" not in renamed
    assert text_of(renamed, "first") == text_of(LOCALS, "first")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total - size", "total + size"),
        ("total - size", "size - total"),  # a swapped pair
        ("total * strides[-1]", "total * size"),
        ("return sum(size for", "return sum(total for"),
        ("strides + total", "total + strides"),  # of which the first is a parameter of its lambda
        ("def first(sizes, step=1)", "def first(sizes, start=1)"),
        ("    for size in", "    global size\n    for size in"),
        ("return sum(", "locals()\n    return sum("),
    ],
)
def test_another_operator_variable_or_parameter_makes_a_line_stale(text_of, old, new):
    assert text_of(LOCALS.replace(old, new), "first") != text_of(LOCALS, "first")


WRITTEN_OUT = """
def contiguous_strides__of_empty_tensors(sizes: Sequence[int]) -> tuple[int, ...]:
    steps, product = [], 1
    for n in reversed(sizes):
        steps.append(product)
        product *= n
    return tuple(reversed(steps))
"""


def test_an_edit_of_a_reference_has_the_hash_of_the_answer_that_it_makes():
    exercise = "aten.strided.contiguous_strides"
    change = ("max(size, 1)", "size")
    edit = f"contiguous_strides__of_empty_tensors = edited(strided.contiguous_strides, {change})"
    made, written = (guarantees.written_out(ast.parse(source).body[0], exercise) for source in (edit, WRITTEN_OUT))
    assert guarantees.canonical(made) == guarantees.canonical(written)


def test_the_local_variables_of_a_function_that_looks_names_up_keep_their_names(text_of):
    source = "def first():\n    size = 1\n    return locals()\n"
    assert text_of(source.replace("size", "stride"), "first") != text_of(source, "first")


def test_a_rare_rule_makes_stale_only_the_exercises_in_which_it_makes_a_mutant(monkeypatch):
    names = ["aten.strided.permute", "course.training.evaluate", "course.stream.rms_norm"]
    before, basis = [*map(guarantees.digest, names)], guarantees.basis()
    monkeypatch.delitem(guarantees.mutants.RARE, guarantees.mutants.undo)  # as it was before this rule
    changed = [name for name, digest in zip(names, before) if guarantees.digest(name) != digest]
    assert (changed, guarantees.basis.__wrapped__()) == (["course.training.evaluate"], basis)


@pytest.mark.parametrize("exercise", sweep(guarantees.every_exercise(), every=60))
def test_the_hash_of_files_has_each_file_that_the_other_hash_is_made_from(exercise):
    read = {Path(path) for part in guarantees.parts(exercise) for path, _ in part}
    assert read <= {*guarantees.files(exercise)}


def test_the_tests_of_a_group_stay_together(request):
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("they are distributed by files")
    assert request.node.nodeid.endswith("@author-test_lock")


def test_the_process_that_starts_the_workers_does_not_import_torch():
    source = "import sys, conftest; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", source], cwd=guarantees.HERE, check=True)


def test_a_lock_is_read_as_it_was_written(tmp_path):
    names = guarantees.every_exercise()
    lock = guarantees.Lock("torch 2.11.0 mutants 12ab", {names[1]: ("1234", 5, "56"), names[0]: ("abcd", 60, "ef")})
    lock.write(tmp_path / "lock")
    read = guarantees.read(tmp_path / "lock")
    assert read == lock and [*read.lines] == names[:2]
    assert read.missing() == names[2:]
    assert read.stale() == names[:2]  # with another torch every line is
    assert read.seconds(names[:2]) == 65
