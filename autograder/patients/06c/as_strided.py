"""Wrong bodies of `as_strided`, for lab 06c: what cases of a student must catch."""

import torch

AT = "on_torch.backend.as_strided"
MOST = 5
CASE = {
    "elements": "int",
    "dtype": {"one of": ["uint8", "float32", "int64"]},
    "begin": "int",
    "size": "list[int]",
    "stride": "list[int]",
    "storage_offset": "list[int]",
}


def as_strided(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if offset < 0 or any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: strides {list(stride)} and offset {offset} must not be negative")
    reach = sum(((n - 1) * step for n, step in zip(size, stride)), offset + 1)
    if 0 not in size and reach * self.dtype.itemsize > self.untyped_storage().memory.nbytes:
        raise RuntimeError(f"as_strided: {reach} elements are more than there is memory for")
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, offset - self.storage_offset())


WRONG = {
    "an offset that is not given": [
        ("self.storage_offset() if storage_offset is None else storage_offset", "storage_offset or 0")
    ],
    "the element from which an offset counts": [
        ("(self, size, stride, offset - self.storage_offset())", "(self, size, stride, offset)")
    ],
    "offsets before the beginning of a view": [("if offset < 0 or", "if offset < self.storage_offset() or")],
    "the memory that a view of a view may use": [
        ("self.untyped_storage().memory.nbytes", "self.numel() * self.dtype.itemsize")
    ],
    "elements and bytes": [("reach * self.dtype.itemsize", "reach")],
    "the last element": [("offset + 1)", "offset)")],
    "several dimensions": [
        (
            "sum(((n - 1) * step for n, step in zip(size, stride)), offset + 1)",
            "max(((n - 1) * step for n, step in zip(size, stride)), default=0) + offset + 1",
        )
    ],
    "results without elements": [("if 0 not in size and reach", "if reach")],
    "results without dimensions": [("if 0 not in size and reach", "if size and 0 not in size and reach")],
    "negative strides": [
        ("any(step < 0 for step in stride)", "any(step < 0 for n, step in zip(size, stride) if n > 1)")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"elements": 6, "dtype": "float32", "begin": 0, "size": [3, 2], "stride": [1, 3], "storage_offset": []},
    {"elements": 6, "dtype": "float32", "begin": 0, "size": [2, 2], "stride": [3, 1], "storage_offset": [1]},
    {"elements": 6, "dtype": "float32", "begin": 0, "size": [2, 3], "stride": [4, 1], "storage_offset": []},
]
