"""Values as somebody writes them: every value of a case can be written and read, and nothing in a text runs."""

import pytest
from sweep import in_one_test, sweep

from autograder.engine.observe import error_tree
from autograder.exam.trials import Cases, checks_of
from autograder.exam.values import NotAsked, as_text, is_answer, plain, read_value
from autograder.model import Lab


@pytest.mark.parametrize("name", sweep([*checks_of(Lab("01a_views"))], every=6))
def test_what_is_written_is_read_as_the_same_value(name):
    check, count = checks_of(Lab("01a_views"))[name], 0
    for case in (case for case in [*Cases(5).of(check)[0], *check.edges] if "tensor" not in str(case.get("index"))):
        for value in case.values():
            try:
                text = as_text(value)
                read = read_value(text)
            except NotAsked:
                continue
            assert read == value, text
            count += 1
    assert count > 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(2, 3)", [2, 3]), ("[]", []), (" -1 ", -1), ("None", None), ("torch.float32", {"dtype": "float32"}),
        ('{"a": (1,)}', {"a": [1]}), ("1e-3", 0.001), ("'x'", "x"), ("True", True),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_value(text, value):
    assert read_value(text) == value


@in_one_test
@pytest.mark.parametrize(
    ("text", "like", "value"),
    [
        ("+3", 0, 3), ("--3", 0, 3), ("\u22123", 0, -3), ("[\uff12,\u00a0\uff13]", [], [2, 3]), ("\ufeff`[2, 3]`", [], [2, 3]),
        ("2, 3", [], [2, 3]), ("[2, 3].", [], [2, 3]), ("tuple([2, 3])", [], [2, 3]), ("torch.Size((2,))", [], [2]),
        ("list()", [], []),
        ("true", False, True), ("none", None, None), ("3.0", 1, 3), ("[3.0]", [1], [3]), ("\u201cadd\u201d", "mul", "add"),
        ("float32", {"dtype": "int64"}, {"dtype": "float32"}), ("'torch.float32'", {"dtype": "int64"}, {"dtype": "float32"}),
        ("torch.float", {"dtype": "int64"}, {"dtype": "float32"}), ("torch.float32", "int64", "float32"),
        ("sizes=[2], strides=[1]", {}, {"sizes": [2], "strides": [1]}), ("dict(a=1)", {}, {"a": 1}),
    ],
)  # fmt: skip
def test_a_right_value_that_is_written_oddly(text, like, value):
    assert read_value(text, like, bare=isinstance(like, dict)) == value


def test_a_tensor_is_its_sizes_and_what_is_unusual():
    spec = {"dtype": "float32", "storage": 6, "sizes": [2, 2], "strides": [1, 2], "offset": 1}
    assert as_text({"tensor": spec}) == 'tensor([2, 2], [1, 2], offset=1, dtype="float32", slack=1)'
    for text in (
        'tensor((2,2), (1,2), 1, "float32", 1)',
        "torch.tensor([2, 2], strides=[1, 2], offset=1, dtype=torch.float32, slack=1)",
    ):
        assert read_value(text) == {"tensor": spec}


@in_one_test
@pytest.mark.parametrize(
    "text",
    [
        "", "__import__('os').system('true')", "[0] * 9", "open", "f'{1}'", "tensor([10**6])", "tensor([100000])", "1" * 3000,
        "tensor([2], [1, 1])", "tensor([-1])", "tensor([2], size=3)", "tensor([2], dtype='other')", "[" * 9 + "]" * 9, "1e999",
        "99999999999999", "nan", "lambda: 0", "(" * 500 + ")" * 500, "a\0b", "[1, 2", "x := 1", "tensor([2], [2], sizes=[3])",
        "torch.__doc__()", f"[{'1, ' * 65}]", "tensor(True)", "tensor([True])", "~" * 1900 + "1", "a" + ".b" * 900,
        "1" + "**9" * 600, "-True", "torch._C", "torch.float99", "a=__import__('os').system('true')", "a=1) or dict(b=1",
        "{1: 2, 1: 3}",
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused_in_a_line(text):
    with pytest.raises(NotAsked) as refused:
        read_value(text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 120


def test_an_answer_may_be_written_in_several_ways():
    assert is_answer("(2, 3)", [2, 3]) and is_answer("[2,3]", [2, 3]) and not is_answer("[3, 2]", [2, 3])
    assert (
        is_answer("0.33333", 1 / 3)
        and not is_answer("1", True)
        and not is_answer("True", 1)
        and not is_answer("", None)
    )
    assert is_answer("abc", "abc") and is_answer("'abc'", "abc") and not is_answer("ab", "abc")
    error = error_tree(IndexError("out of range"))
    assert all(
        is_answer(text, error)
        for text in (
            "IndexError",
            "raises an IndexError: x",
            "indexerror",
            "LookupError",
            "index error",
            "It raises `IndexError`.",
            "error: IndexError",
            "an exception of class IndexError",
            "builtins.IndexError",
            "IndexError: not in range",
        )
    )
    assert not any(
        is_answer(text, error)
        for text in (
            "Exception",
            "ValueError",
            "an error",
            "IndexErrors",
            "[]",
            "IndexError or ValueError",
            "IndexError|TypeError",
            "no IndexError",
            "not an IndexError",
        )
    )
    tensor = {"dtype": "int64", "sizes": [2], "strides": [1], "offset": 3, "data": b""}
    assert plain(tensor) == [[2], [1], 3] and is_answer("([2], [1], 3)", tensor)
    assert is_answer("tensor([2], [1], 3)", tensor) and is_answer("sizes=[2], strides=[1], offset=3", tensor)
    assert (
        is_answer("{a: 1}", {"dict": [["a", 1]]})
        and is_answer("{2: 1}", {"dict": [[2, 1]]})
        and is_answer("a, b", ["a", "b"])
    )
    assert not is_answer("[[2], [1]]", tensor)
