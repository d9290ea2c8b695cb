"""Values as somebody writes them: every value of a case can be written and read, and nothing in a text runs."""

import pytest

from autograder.engine.observe import error_tree
from autograder.exam.trials import Cases, checks_of
from autograder.exam.values import NotAsked, as_text, is_answer, plain, read_value
from autograder.model import Lab


def test_what_is_written_is_read_as_the_same_value():
    known, count = Cases(5), 0
    for check in checks_of(Lab("01a_views")).values():
        for case in (case for case in [*known.of(check)[0], *check.edges] if "tensor" not in str(case.get("index"))):
            for value in case.values():
                try:
                    text = as_text(value)
                    read = read_value(text)
                except NotAsked:
                    continue
                assert read == value, text
                count += 1
    assert count > 2000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(2, 3)", [2, 3]), ("[]", []), (" -1 ", -1), ("None", None), ("torch.float32", {"dtype": "float32"}),
        ('{"a": (1,)}', {"a": [1]}), ("1e-3", 0.001), ("'x'", "x"), ("True", True),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_value(text, value):
    assert read_value(text) == value


def test_a_tensor_is_its_sizes_and_what_is_unusual():
    spec = {"dtype": "float32", "storage": 6, "sizes": [2, 2], "strides": [1, 2], "offset": 1}
    assert as_text({"tensor": spec}) == 'tensor([2, 2], [1, 2], offset=1, dtype="float32", slack=1)'
    for text in (
        'tensor((2,2), (1,2), 1, "float32", 1)',
        "torch.tensor([2, 2], strides=[1, 2], offset=1, dtype=torch.float32, slack=1)",
    ):
        assert read_value(text) == {"tensor": spec}


@pytest.mark.parametrize(
    "text",
    [
        "", "__import__('os').system('true')", "[0] * 9", "open", "f'{1}'", "tensor([10**6])", "tensor([100000])", "1" * 3000,
        "tensor([2], [1, 1])", "tensor([-1])", "tensor([2], size=3)", "tensor([2], dtype='other')", "[" * 9 + "]" * 9, "1e999",
        "99999999999999", "nan", "lambda: 0", "(" * 500 + ")" * 500, "a\0b", "[1, 2", "x := 1", "tensor([2], [2], sizes=[3])",
        "torch.__doc__()", f"[{'1, ' * 65}]", "tensor(True)", "tensor([True])",
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
        is_answer(text, error) for text in ("IndexError", "raises an IndexError: x", "indexerror", "LookupError")
    )
    assert not any(is_answer(text, error) for text in ("Exception", "ValueError", "an error", "IndexErrors", "[]"))
    tensor = {"dtype": "int64", "sizes": [2], "strides": [1], "offset": 3, "data": b""}
    assert plain(tensor) == [[2], [1], 3] and is_answer("([2], [1], 3)", tensor) and not is_answer("[[2], [1]]", tensor)
