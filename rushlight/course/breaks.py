"""Cases that break wrong bodies of a function: for exercises that grade what a student tests, and not what a student writes.

PyTorch tests its operators on sample inputs too. A case is data, a dict with a value for each parameter of the function.
"""

from __future__ import annotations


def breaks_is_contiguous() -> list[dict[str, list[int]]]:
    """Cases on which wrong bodies of `strided.is_contiguous` give another result than torch.

    A case counts if torch makes a tensor of it and the right body agrees with torch. It catches each body that does not agree.
    Sizes and strides are less than 2**31, and a tensor has at most 8 dimensions.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [2, 3], "strides": [3, 1]}`.

    Source: `test/test_torch.py`, `test_contiguous`.
    """
    return [
        {"sizes": [], "strides": []},
        {"sizes": [2, 0], "strides": [7, 9]},
        {"sizes": [2, 3], "strides": [4, 1]},
        {"sizes": [2, 2, 3], "strides": [0, 3, 1]},
        {"sizes": [2, 1, 2, 3], "strides": [6, 0, 3, 1]},
    ]


def breaks_has_internal_overlap() -> list[dict[str, list[int]]]:
    """Cases on which wrong bodies of `strided.has_internal_overlap` give another result than torch.

    A case counts if torch makes a tensor of it and the right body agrees with torch. It catches each body that does not agree.
    Sizes and strides are less than 2**31, and a tensor has at most 8 dimensions.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [2, 3], "strides": [0, 1]}`.

    Source: `test/test_torch.py`, `check_internal_mem_overlap`.
    """
    return [
        {"sizes": [0, 2], "strides": [1, 0]},
        {"sizes": [1, 3], "strides": [0, 2]},
        {"sizes": [3], "strides": [2]},
        {"sizes": [1, 2, 2], "strides": [3, 0, 0]},
        {"sizes": [2, 2, 3], "strides": [0, 3, 1]},
    ]
