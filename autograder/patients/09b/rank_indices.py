"""Wrong bodies of `rank_indices`, for lab 09b: what cases of a student must catch."""

import math

AT = "utils.data.distributed.rank_indices"
MOST = 5
CASE = {
    "length": "int",
    "ranks": "int",
    "rank": "int",
    "shuffle": "bool",
    "seed": "int",
    "epoch": "int",
    "drop_last": "bool",
}


def rank_indices(length, ranks, rank, permute=None, seed=0, epoch=0, drop_last=False):
    order = range(length) if permute is None else permute(length, seed + epoch)
    count = length // ranks if drop_last else math.ceil(length / ranks)
    return [order[i % length] for i in range(rank, count * ranks, ranks)]


WRONG = {
    "which positions of the order belong to one rank": [
        ("range(rank, count * ranks, ranks)", "range(rank * count, (rank + 1) * count)")
    ],
    "how often the order is repeated": [
        (
            "[order[i % length] for i in range(rank, count * ranks, ranks)]",
            "[*order, *order][rank : count * ranks : ranks]",
        )
    ],
    "which samples come twice": [("order[i % length]", "order[min(i, length - 1)]")],
    "how many samples each rank gets": [
        ("range(rank, count * ranks, ranks)", "range(rank, count * ranks if drop_last else length, ranks)")
    ],
    "the epochs": [("seed + epoch", "seed")],
    "the order on the other ranks": [("seed + epoch", "seed + epoch + rank")],
    "lengths that are a multiple of the ranks, without drop_last": [
        ("math.ceil(length / ranks)", "length // ranks + 1")
    ],
    "lengths that are a multiple of the ranks, with drop_last": [("length // ranks if", "(length - 1) // ranks if")],
    "which samples drop_last leaves out": [
        ("order[i % length]", "order[i - count * ranks if drop_last else i % length]")
    ],
    "drop_last with few samples": [("length // ranks if", "max(1, length // ranks) if")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"length": 8, "ranks": 2, "rank": 0, "shuffle": False, "seed": 0, "epoch": 0, "drop_last": False},
    {"length": 8, "ranks": 2, "rank": 0, "shuffle": True, "seed": 0, "epoch": 0, "drop_last": True},
    {"length": 9, "ranks": 2, "rank": 0, "shuffle": True, "seed": 0, "epoch": 0, "drop_last": False},
]
