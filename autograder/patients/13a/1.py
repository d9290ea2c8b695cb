"""A view of a slice with steps becomes a copy: the stride of a chunk is forgotten.

Every second column of a table is one chunk of stride 2. Compared with the number of elements alone, its rows never join, so the
framework finds no view where there is one, and `reshape` copies.
"""

from rushlight.aten.strided import contiguous_strides

AT = "aten.strided.compute_stride"


def symptom(xp):
    """Clear every second column of a table, through a flat view of these columns."""
    table = xp.arange(24).reshape(4, 6)
    even = table[:, ::2]
    flat = even.reshape(-1)
    flat.zero_()
    return table.sum(0)


def compute_stride(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        return tuple(old_strides) if list(old_sizes) == list(new_sizes) else contiguous_strides(new_sizes)
    chunks = [] if old_sizes else [(1, 1)]
    for size, stride in zip(reversed(old_sizes), reversed(old_strides)):
        if chunks and (size == 1 or stride == chunks[-1][0]):
            chunks[-1] = (chunks[-1][0] * size, chunks[-1][1])
        else:
            chunks.append((size, stride))
    new_strides, remaining = [], list(new_sizes)
    for numel, stride in chunks:
        filled = 1
        while remaining and (filled < numel or remaining[-1] == 1):
            new_strides.append(filled * stride)
            filled *= remaining.pop()
        if filled != numel:
            return None
    return tuple(reversed(new_strides))
