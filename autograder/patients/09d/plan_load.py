"""Wrong bodies of `plan_load`, for lab 09d: what cases of a student must catch."""

from rushlight.distributed.checkpoint import Read

AT = "distributed.checkpoint.plan_load"
MOST = 3
CASE = {"pieces": "list[list[int]]", "region": "list[int]"}


def plan_load(pieces, offsets, sizes):
    reads = []
    for number, piece in enumerate(pieces):
        box = []
        for first, length, mine, wanted in zip(piece.offsets, piece.sizes, offsets, sizes):
            start = max(first, mine)
            box.append((start - first, start - mine, min(first + length, mine + wanted) - start))
        if all(extent[2] > 0 for extent in box):
            source, target, lengths = (tuple(extent[i] for extent in box) for i in range(3))
            reads.append(Read(number, source, target, lengths))
    return reads


WRONG = {
    "pieces that only touch the region": [("extent[2] > 0", "extent[2] >= 0")],
    "pieces that are far from the region": [("extent[2] > 0", "extent[2] != 0")],
    "dimensions after the first one": [("for extent in box):\n", "for extent in box[:1]):\n")],
    "tensors without dimensions": [("if all(", "if box and all(")],
    "the end of a piece that begins within the region": [
        ("min(first + length, mine + wanted) - start", "min(first + length - start, wanted)")
    ],
    "the end of a piece that begins before the region": [
        ("min(first + length, mine + wanted) - start", "min(length, mine + wanted - start)")
    ],
    "the numbers of the pieces": [("Read(number,", "Read(len(reads),")],
    "pieces that are in no order": [
        (
            "        box = []\n",
            "        if offsets and piece.offsets[0] >= offsets[0] + sizes[0]:\n            break\n        box = []\n",
        )
    ],
    "pieces that several ranks have saved": [("if all(", "if piece not in pieces[:number] and all(")],
    "pieces that overlap one another": [
        (
            "        box = []\n",
            "        if sum(torch.Size(read.lengths).numel() for read in reads) >= torch.Size(sizes).numel():\n"
            "            break\n        box = []\n",
        )
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"pieces": [[0, 0, 4, 6], [4, 0, 4, 6], [8, 0, 2, 6]], "region": [0, 3, 10, 3]},
    {"pieces": [[0, 4], [4, 4], [8, 2]], "region": [0, 5]},
]
