"""Wrong bodies of `can_fuse`, for lab 08b: what cases of a student must catch."""

from rushlight.inductor.dependencies import extract_read_writes

AT = "inductor.scheduler.can_fuse"
MOST = 6
CASE = {
    "first_reads": {
        "some of": [
            "a[i, j]", "a[j, i]", "a[i, j + 1]", "a[i]", "b[i, j]", "b[j, i]", "b[i, j + 1]", "b[i]",
            "c[i, j]", "c[j, i]", "c[i, j + 1]", "c[i]",
        ]
    },
    "first_writes": {
        "one of": [
            "a[i, j]", "a[j, i]", "a[i, j + 1]", "a[i]", "b[i, j]", "b[j, i]", "b[i, j + 1]", "b[i]",
            "c[i, j]", "c[j, i]", "c[i, j + 1]", "c[i]",
        ]
    },
    "second_reads": {
        "some of": [
            "a[i, j]", "a[j, i]", "a[i, j + 1]", "a[i]", "b[i, j]", "b[j, i]", "b[i, j + 1]", "b[i]",
            "c[i, j]", "c[j, i]", "c[i, j + 1]", "c[i]",
        ]
    },
    "second_writes": {
        "one of": [
            "a[i, j]", "a[j, i]", "a[i, j + 1]", "a[i]", "b[i, j]", "b[j, i]", "b[i, j + 1]", "b[i]",
            "c[i, j]", "c[j, i]", "c[i, j + 1]", "c[i]",
        ]
    },
}  # fmt: skip


def can_fuse(first, second):
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    if first_write.buffer == second_write.buffer:
        return False
    forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
    back = all(read == second_write for read in first_reads if read.buffer == second_write.buffer)
    return forth and back


WRONG = {
    "nests that write different elements of one buffer": [
        ("if first_write.buffer == second_write.buffer:", "if first_write == second_write:")
    ],
    "nests that write the same element": [
        (
            "if first_write.buffer == second_write.buffer:",
            "if first_write.buffer == second_write.buffer and first_write != second_write:",
        )
    ],
    "several reads of one result": [
        ("forth = all(read == first_write for", "forth = [True, *(read == first_write for"),
        ("read.buffer == first_write.buffer)", "read.buffer == first_write.buffer)][-1]"),
    ],
    "the offset of a read": [("all(read == first_write", "all(read.index.terms == first_write.index.terms")],
    "the strides of a read": [
        (
            "all(read == second_write",
            "all((len(read.index.terms), read.index.offset) == (len(second_write.index.terms), second_write.index.offset)",
        )
    ],
    "elements that are overwritten": [("return forth and back", "return forth")],
    "nests that depend on each other in both ways": [
        ("return forth and back", "return back if second_write.buffer in {r.buffer for r in first_reads} else forth")
    ],
    "buffers that neither nest writes": [
        (
            "return forth and back",
            "same = all(a == b for a in first_reads for b in second_reads if a.buffer == b.buffer)\n"
            "    return forth and back and same",
        )
    ],
    "a nest that reads what it writes itself": [
        ("for read in first_reads if", "for read in [*first_reads, *second_reads] if")
    ],
    "results of a reduction": [
        ("return forth and back", "return forth and back and not (first.reduced and first_write in second_reads)")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"first_reads": ["c[i, j]"], "first_writes": "a[i, j]", "second_reads": ["a[i, j]"], "second_writes": "b[i, j]"},
    {"first_reads": ["c[i, j]"], "first_writes": "a[i, j]", "second_reads": ["a[j, i]"], "second_writes": "b[i, j]"},
    {"first_reads": ["c[i, j]"], "first_writes": "a[i, j]", "second_reads": ["c[i, j]"], "second_writes": "b[i, j]"},
    {"first_reads": ["c[i, j]"], "first_writes": "a[i]", "second_reads": ["c[i, j]"], "second_writes": "b[i]"},
]
