import io
import math

import numpy as np
import pytest
from sweep import in_one_test

from autograder.engine.observe import (
    MAX_BYTES,
    MAX_FRAMES,
    MAX_LINE,
    MAX_RESULT,
    Malformed,
    accept,
    agreement,
    clean,
    difference,
    differences,
    encode,
    error_tree,
    is_error,
    layouts,
    observe,
    observe_result,
    receive,
    show,
    show_marked,
    tensor_tree,
    told_first,
    values,
    with_raised,
)
from autograder.engine.subject import RushlightSide
from autograder.engine.torch_side import OtherRounding, TorchSide


class NoTensors:
    xp = dtype = None

    def take(self, value):
        return None


def tensor(values, stride=None, offset=0):
    array = np.array(values)
    stride = stride or [s // array.itemsize for s in array.strides]
    return tensor_tree(str(array.dtype), array.shape, stride, offset, array.tobytes())


@pytest.mark.parametrize(
    "message",
    [
        None,
        True,
        3,
        -1.5,
        "text",
        [1, [2, []]],
        {"a": {"b": None}},
        tensor([[1, 2], [3, 4]]),
        {"x": [b"raw", b"", b"\x00"]},
    ],
)
def test_what_is_sent_is_received(message):
    assert receive(io.BytesIO(encode(message))) == message


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x00\x00\x02\x00\x00\x00\x00{]",
        b"\xff\xff\xff\xff\x00\x00\x00\x00",
        (len(deep := b"[" * 100_000)).to_bytes(4, "big") + bytes(4) + deep,
        b"\x00\x00\x00\x0f\x00\x00\x00\x00" + b'{"bytes":"what"',
    ],
)
def test_what_is_no_message_is_malformed(data):
    with pytest.raises(Malformed):
        receive(io.BytesIO(data))


def test_a_message_that_announces_too_much_is_refused_before_it_is_read():
    class Endless:
        def read(self, count):
            assert count < MAX_BYTES
            return b"\xff" * count

    with pytest.raises(Malformed):
        receive(Endless())


def test_sequences_of_every_kind_and_numpy_numbers_are_one():
    assert observe((np.int64(3), [np.float32(0.5), np.bool_(True)]), NoTensors()) == [3, [0.5, True]]


@pytest.mark.parametrize("side", [TorchSide(), RushlightSide()], ids=["torch", "rushlight"])
def test_a_bfloat16_tensor_is_observed_in_its_own_tolerance(side):
    trees = [observe(side.xp.tensor([1.0, x], dtype=side.xp.bfloat16), side) for x in (256.0, 258.0, 264.0)]
    assert accept(trees[0]) is None and "bfloat16" in show(trees[0])
    assert difference(trees[1], trees[0]) is None and "element [1]: yours 264.0" in difference(trees[2], trees[0])
    assert "dtype" in difference(trees[0], observe(side.xp.tensor([1.0, 256.0]), side))


@pytest.mark.parametrize("side", [TorchSide(), RushlightSide()], ids=["torch", "rushlight"])
def test_an_argument_or_a_key_that_is_called_dtype_is_no_dtype(side):
    case = {"dtype": "float32", "of": {"dtype": "float64"}, "options": {"dtype": {"dtype": "int64"}, "device": "cpu"}}
    seen = observe_result(lambda xp, **case: [case["dtype"], case["of"], case["options"]["dtype"]], side, case)
    assert seen == ["float32", {"dtype": "float64"}, {"dtype": "int64"}]


@pytest.mark.parametrize(("dtype", "integer"), [("float32", np.int32), ("float64", np.int64)])
def test_another_rounding_moves_rounded_numbers_by_one_unit_in_the_last_place_and_no_other(dtype, integer):
    def program(xp):
        x = xp.tensor([1.0, 7.0, -5.5], dtype=getattr(xp, dtype))
        third = x / 3
        drawn = xp.rand(3, dtype=x.dtype, generator=xp.Generator().manual_seed(0))
        again = [x * 0.375, third.clone(), third.max().reshape(1), third.to(xp.float64), drawn]
        return [third.clone(), *again, again[1] == third]

    def bits(seed):
        with OtherRounding(seed):
            third, *others = observe_result(program, TorchSide(), {})
        return values(third).view(integer), others

    usual, moved, other = bits(0), bits(1), bits(2)
    assert usual[0].tolist() == values(observe_result(program, TorchSide(), {})[0]).view(integer).tolist()
    assert {1, -1} >= {*(moved[0] - usual[0]).tolist(), *(other[0] - usual[0]).tolist()}
    assert moved[0].tolist() != other[0].tolist()
    assert encode(moved[1][0]) == encode(usual[1][0]) and encode(moved[1][4:]) == encode(usual[1][4:])
    for third, (_, copy, largest, wider, *_) in (moved, other):
        assert values(copy).view(integer).tolist() == third.tolist()
        assert values(copy).max() == values(largest)[0] and (values(copy) == values(wider)).all()


def test_a_result_of_the_checks_own_side_that_cannot_be_read_is_no_answer():
    class Unreadable(NoTensors):
        def take(self, value):
            raise TypeError("no such numbers")

    with pytest.raises(TypeError, match="no such numbers"):
        observe_result(lambda xp: object(), Unreadable(), {})
    assert is_error(observe_result(lambda xp: 1 / 0, NoTensors(), {}))


def test_a_loop_in_a_result_is_observed_and_ends():
    loop = []
    loop.append(loop)
    assert "nested too deeply" in str(observe(loop, NoTensors()))


def test_an_error_of_the_students_own_counts_as_its_built_in_base():
    class Mine(IndexError):
        pass

    assert difference(error_tree(Mine("m")), error_tree(IndexError("t"))) is None
    assert difference(error_tree(Mine("m")), error_tree(LookupError("t"))) is None


def test_an_error_cannot_be_every_error_at_once():
    class Any(IndexError, ValueError, TypeError):
        pass

    assert difference(error_tree(Any("m")), error_tree(TypeError("t")))


@pytest.mark.parametrize("error", [NotImplementedError(), RecursionError(), ValueError()])
def test_another_error_than_torchs_is_a_difference(error):
    assert difference(error_tree(error), error_tree(RuntimeError("torch")))


def test_what_a_check_does_not_accept_is_not_what_the_students_code_raised():
    said = error_tree(AssertionError("a list or a tuple is expected, not a generator"))
    assert (
        difference(said, [1])
        == "the check does not accept what yours returned: a list or a tuple is expected, not a generator"
    )
    assert "yours raises AssertionError" in difference(
        with_raised(said, said | {"frames": [["f", 1, "assert x"]]}), [1]
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ([1, 3], [1, 2], "[1]: yours 3, torch's 2"),
        ([1], [1, 2], "1 item"),
        (True, 1, "a bool"),
        (tensor([1, 2], [2]), tensor([1, 2], [1]), "stride: yours (2,), torch's (1,)"),
        (tensor([1, 2], None, 1), tensor([1, 2]), "offset: yours 1, torch's 0"),
        (tensor([1, 2]), tensor([1.0, 2.0]), "dtype: yours int64, torch's float64"),
        (tensor([[1, 2], [3, 9]]), tensor([[1, 2], [3, 4]]), "element [1, 1]: yours 9, torch's 4"),
        (tensor([math.nan, 1.0]), tensor([math.nan, 2.0]), "element [1]"),
        (None, [1], "None"),
        ([[1.5], 2], None, "yours ((1.5,), 2), torch's None"),
        (None, "ValueError", "yours None, torch's 'ValueError'"),
    ],
)
def test_the_first_difference_is_named(mine, theirs, words):
    assert words in difference(mine, theirs)


def test_equal_observations_have_no_difference():
    for tree in (None, [1, [2.0]], tensor([[math.nan, 1.0]]), tensor(np.zeros((0, 3))), {"dtype": "float32"}):
        assert difference(tree, tree) is None


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (2**60, 2**60 + 1),
        (-(2**63), -(2**63) + 1),
        (np.uint64(2**64 - 1), np.uint64(2**64 - 2)),
        (False, True),
        (complex(math.nan, 1), complex(math.nan, 2)),
        (complex(1, math.nan), complex(2, math.nan)),
        (complex(math.nan, 1), complex(1, math.nan)),
        (np.complex64(1), np.complex64(1 + 1e-6)),
    ],
)
def test_a_dtype_without_tolerance_is_compared_exactly(mine, theirs):
    assert difference(tensor([mine]), tensor([theirs]))
    assert difference(tensor([mine]), tensor([mine])) is None
    assert difference(tensor(mine), tensor(mine)) is None


def test_zeros_of_either_sign_and_true_of_any_byte_are_equal():
    assert difference(tensor([complex(0, -0.0)]), tensor([0j])) is None
    assert difference(tensor_tree("bool", [1], [1], 0, b"\x02"), tensor([True])) is None


def test_a_dict_whose_keys_read_alike_can_be_sent_and_is_no_dict():
    observed = observe({1: "a", "1": "b"}, NoTensors())
    accept([observed])
    assert difference(observed, {"dict": [["1", "b"]]})


@in_one_test
@pytest.mark.parametrize(
    "forged",
    [
        {"tensor": 3},
        {"tensor": {}},
        {"tensor": {"dtype": "int64", "shape": [2], "stride": [1], "offset": 0, "data": b"x"}},
        {"dict": 5},
        {"error": []},
        {"zzz": 1},
        float("nan"),
    ],
)
@pytest.mark.parametrize("theirs", [tensor([1, 2]), {"dict": [["a", 1]]}, error_tree(ValueError()), 1])
def test_a_forged_observation_is_a_difference_and_not_a_crash(forged, theirs):
    assert difference(forged, theirs)


RAISED = error_tree(ValueError("mine")) | {"frames": [["piece", 2, "raise ValueError('mine')"]]}


@pytest.mark.parametrize("result", [1, [1, 2], tensor([1, 2]), error_tree(ValueError("mine"))])
def test_an_exception_beside_a_result_takes_no_part_in_the_comparison(result):
    accept([with_raised(result, RAISED)])
    assert difference(with_raised(result, RAISED), result) is None
    for other in (2, tensor([1, 3]), error_tree(TypeError())):
        assert difference(with_raised(result, RAISED), other) == difference(result, other)


@in_one_test
@pytest.mark.parametrize(
    "raised",
    [
        1,
        {},
        {"frames": []},
        error_tree(ValueError()),
        RAISED | {"error": ["Nothing"]},
        RAISED | {"error": ["ValueError", "TypeError"]},
        RAISED | {"message": 1},
        RAISED | {"more": 1},
        RAISED | {"frames": 1},
        RAISED | {"frames": RAISED["frames"] * (MAX_FRAMES + 1)},
        RAISED | {"frames": [["piece", "2", "line"]]},
        RAISED | {"frames": [["piece", 2, "x" * (MAX_LINE + 1)]]},
        RAISED | {"frames": [["piece", 2]]},
        RAISED | {"frames": [["piece", True, "line"]]},
    ],
)
def test_an_exception_of_another_form_is_malformed(raised):
    with pytest.raises(Malformed):
        accept([with_raised(1, raised)])


def test_an_exception_stands_beside_a_whole_result_only():
    for nested in ([with_raised(1, RAISED)], with_raised(with_raised(1, RAISED), RAISED)):
        with pytest.raises(Malformed):
            accept([nested])
        assert difference(nested, 1)


# Where two results differ --------------------------------------------------------------------------------------------


def marked(mine, theirs):
    """The parts of the texts of both results that differ."""
    paths = {each.path for each in differences(mine, theirs)}
    shown = [show_marked(tree, paths) for tree in (mine, theirs)]
    assert [text for text, _ in shown] == [show(mine), show(theirs)]
    return tuple([text[start:end] for start, end in marks] for text, marks in shown)


def test_entries_of_entries_are_below_their_name_and_those_of_a_list_have_numbers():
    inner = {"dict": [["a", 1], ["b", [True, None]]]}
    tree = {"dict": [["one", inner], ["several", [inner, inner]], ["none", {"dict": []}]]}
    entries = ["[0] a: 1", "    b: (True, None)", "[1] a: 1", "    b: (True, None)"]
    lines = ["one:", "  a: 1", "  b: (True, None)", "several:", *(f"  {line}" for line in entries), "none: {}"]
    text, marks = show_marked(tree, [("several", 1, "b", 0)])
    assert text == show(tree) == "\n".join(lines) and [text[a:b] for a, b in marks] == ["True"]
    assert marks[0][0] > text.index("[1]")


def test_the_line_that_differs_is_shown_however_long_the_text_before_it_is():
    line = "float tmp = 0;\n"
    for count in (20, 300, 2000):
        texts = [[{"other": line * 99}, line * count + f"return {name};\n" + line] for name in ("x", "y")]
        path = next(differences(*texts)).path
        text, ((start, end),) = show_marked(texts[0], {path})
        assert "return x" in text[start:end] and len(text) < 2 * MAX_RESULT


def test_a_dtype_is_told_before_the_numbers_that_may_follow_from_it():
    mine, theirs = (entries(result=tensor([n]), dtype={"dtype": name}) for n, name in ((1, "int64"), (2, "float32")))
    assert difference(mine, theirs).startswith("result")
    assert told_first([*differences(mine, theirs)], theirs).words == "dtype: yours int64, torch's float32"


def entries(**items):
    return {"dict": [[key, item] for key, item in items.items()]}


@in_one_test
@pytest.mark.parametrize(
    ("mine", "theirs", "parts"),
    [
        (1, 2, (["1"], ["2"])),
        ([1, 3, [4, 5]], [1, 2, [4, 6]], (["3", "5"], ["2", "6"])),
        ([10, 10], [10, 1], (["10"], ["1"])),
        ([1], [1, 2], ([], ["2"])),
        ([1, 3, 4], [1, 2], (["3", "4"], ["2"])),
        (1, None, (["1"], ["None"])),
        (entries(a=1, b="x"), entries(a=1, b="y"), (["b: 'x'"], ["b: 'y'"])),
        (entries(a=1), entries(a=1, b=2), ([], ["b: 2"])),
        (entries(a="x\n'y'\\n\nz"), entries(a="x\n'y'\\m\nz\n"), (["'y'\\\\n\\n"], ["'y'\\\\m\\n", '"'])),
        (entries(a=entries(b=1, c=2)), entries(a=entries(b=1, c=3)), (["c: 2"], ["c: 3"])),
        (error_tree(ValueError("m")), error_tree(TypeError("m")), (["ValueError"], ["TypeError"])),
        (error_tree(ValueError("m")), 1, (["ValueError: m"], ["1"])),
        (tensor([1, 2], [2]), tensor([1, 2], [1]), (["stride (2,)"], ["stride (1,)"])),
        (tensor([1, 2], [2], 3), tensor([1, 5], [1]), (["stride (2,)", "offset 3", "2"], ["stride (1,)", "offset 0", "5"])),
        (tensor([[1, 2], [3, 9]]), tensor([[1, 2], [3, 4]]), (["9"], ["4"])),
        (tensor(5), tensor(6), (["5"], ["6"])),
        (tensor([1 + 10j, 2.5]), tensor([1 + 10j, 2.5 + 1j]), (["2.5 +0.j"], ["2.5 +1.j"])),
        (tensor(np.arange(100)), tensor([*range(98), 7, 99]), (["98"], ["7"])),
        (tensor(np.zeros((9, 9))), tensor(np.eye(9)), (["0."] * 6, ["1."] * 6)),
        (tensor(np.zeros((50, 50))), tensor(np.diag([0] * 49 + [1])), (["dtype float64"], ["dtype int64"])),
        (tensor(np.zeros((50, 50))), tensor(np.diag([0] * 49 + [1.0])), (["0."], ["1."])),
        (tensor(np.zeros((2, 0)), [0, 1]), tensor(np.zeros((2, 0)), [7, 7]), (["stride (0, 1)"], ["stride (7, 7)"])),
        (entries(a=[7, tensor([1, 2])]), entries(a=[7, tensor([1, 3])]), (["2"], ["3"])),
    ],
)  # fmt: skip
def test_what_differs_is_marked_in_both_results_and_nothing_else(mine, theirs, parts):
    assert marked(mine, theirs) == parts


def test_equal_results_have_no_marks():
    for tree in (1, [1, 2], tensor([1, 2]), entries(a=1)):
        assert marked(tree, tree) == ([], [])


def test_the_tensors_whose_layouts_differ_are_those_at_the_first_such_difference():
    mine = entries(n=1, view=tensor([1, 2], [2], 1), shape=3)
    theirs = entries(n=2, view=tensor([1, 2], [1]), shape=4)
    assert layouts(mine, theirs, differences(mine, theirs)) == [[[2], [2], 1], [[2], [1], 0]]
    for other in (entries(n=3, view=tensor([1, 3], [1]), shape=5), entries(n=3, view=1, shape=5)):
        assert layouts(other, theirs, differences(other, theirs)) == []


def test_where_a_prediction_is_wrong_is_told_as_its_first_wrong_entry():
    assert agreement(["a", "b", "c"], ["a", "c", "b"]).path == (1,)
    assert agreement(["a"], 5).words and agreement([], ["a"]).words == "entries are missing: yours has none"


# Texts of a subject --------------------------------------------------------------------------------------------------

HOSTILE = "\x1b[31mred\x1b[0m\ud800\u202e"


@pytest.mark.parametrize(
    "mine",
    [
        {"other": HOSTILE},
        {"dtype": HOSTILE},
        {"dict": [[HOSTILE, HOSTILE]]},
        [HOSTILE],
        HOSTILE,
        error_tree(ValueError()) | {"type": HOSTILE, "message": HOSTILE},
        entries(a=[{"other": HOSTILE}]),
    ],
)
def test_a_texts_of_a_subject_is_shown_without_control_sequences_and_half_characters(mine):
    accept(mine)
    for theirs in (1, "a", entries(a=[1]), {"dtype": "int64"}, {"other": "set"}, error_tree(TypeError())):
        for shown in (show(mine), difference(mine, theirs), agreement(mine, theirs).words):
            assert shown.isprintable() or shown.replace("\n", "").isprintable()
            assert shown.encode()


def test_clean_text_stays_as_it_is():
    assert clean(text := "two\nlines\tand ünïcödé 日本") == text


@pytest.mark.parametrize(
    "tree",
    [
        "x" * 10**6,
        {"other": "x" * 10**6},
        [0] * 10**6,
        [[0, [1] * 1000]] * 1000,
        {"dict": [[str(i), "x" * 100] for i in range(10**4)]},
        {"error": ["ValueError"], "type": "x" * 10**6, "message": "x" * 10**6},
    ],
)
def test_a_huge_result_is_cut(tree):
    text, marks = show_marked(tree, {()})
    assert len(text) < MAX_RESULT + 20 and text.endswith("(cut)") or "(cut)" in text
    assert marks == [[0, min(len(text), MAX_RESULT)]]
    assert len(difference(tree, [1])) < 1000


def test_long_texts_that_differ_are_shown_from_where_they_do():
    found = difference("x" * 1000 + "mine", "x" * 1000 + "theirs")
    assert found.startswith("from character 1000: yours 'x") and "mine'" in found and "theirs'" in found
    assert len(found) < 200
