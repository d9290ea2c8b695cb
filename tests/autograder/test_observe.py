import io
import math

import numpy as np
import pytest

from autograder.observe import (
    MAX_BYTES,
    MAX_FRAMES,
    MAX_LINE,
    Malformed,
    accept,
    difference,
    encode,
    error_tree,
    observe,
    receive,
    tensor_tree,
    with_raised,
)


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


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ([1, 3], [1, 2], "[1]: yours 3, torch's 2"),
        ([1], [1, 2], "1 items"),
        (True, 1, "a bool"),
        (tensor([1, 2], [2]), tensor([1, 2], [1]), "stride: yours (2,), torch's (1,)"),
        (tensor([1, 2], None, 1), tensor([1, 2]), "offset: yours 1, torch's 0"),
        (tensor([1, 2]), tensor([1.0, 2.0]), "dtype: yours int64, torch's float64"),
        (tensor([[1, 2], [3, 9]]), tensor([[1, 2], [3, 4]]), "element [1, 1]: yours 9, torch's 4"),
        (tensor([math.nan, 1.0]), tensor([math.nan, 2.0]), "element [1]"),
        (None, [1], "None"),
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
