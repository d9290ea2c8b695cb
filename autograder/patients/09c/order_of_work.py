"""Wrong bodies of `order_of_work`, for lab 09c: what cases of a student must catch."""

AT = "distributed.fsdp.order_of_work"
MOST = 4
CASE = {"reshard": "list[bool]", "forward_prefetch": "int", "backward_prefetch": "int"}


def order_of_work(reshard, forward_prefetch=0, backward_prefetch=1):
    work, units, whole = [], range(len(reshard)), set()

    def gather(numbers):
        for i in numbers:
            if i in units and i not in whole:
                work.append(("gather", i))
                whole.add(i)

    for i in units:
        gather(range(i, i + forward_prefetch + 1))
        work.append(("forward", i))
        if reshard[i]:
            work.append(("free", i))
            whole.remove(i)
    for i in reversed(units):
        gather(range(i, i - backward_prefetch - 1, -1))
        work += [("backward", i), ("free", i), ("reduce", i)]
    return work


WRONG = {
    "the last unit": [("if reshard[i]:", "if reshard[i] and i != units[-1]:")],
    "units that are not freed after forward": [
        ("    for i in reversed(units):\n", "    whole.clear()\n    for i in reversed(units):\n")
    ],
    "what a prefetched unit prefetches": [
        (
            "gather(range(i, i + forward_prefetch + 1))",
            "gather(range(i, i + forward_prefetch + 1) if i not in whole else [])",
        )
    ],
    "the end of the chain": [
        (
            "gather(range(i, i + forward_prefetch + 1))",
            "gather(range(i, i + forward_prefetch + 1) if i + forward_prefetch in units else [i])",
        )
    ],
    "the beginning of the chain": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "gather([i, *reversed(units[i - backward_prefetch : i])])",
        )
    ],
    "the order of prefetches": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "gather([i, *range(i - backward_prefetch, i)])",
        )
    ],
    "how far a prefetch reaches": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "missing = [j for j in reversed(units[:i]) if j not in whole]\n"
            "        gather([i, *missing[:backward_prefetch]])",
        )
    ],
    "prefetches beyond a unit that is whole": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "gather([i])\n"
            "        for j in range(i - 1, i - backward_prefetch - 1, -1):\n"
            "            if j in whole:\n"
            "                break\n"
            "            gather([j])",
        )
    ],
    "two settings that differ": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "gather(range(i, i - max(forward_prefetch, backward_prefetch) - 1, -1))",
        )
    ],
    "the default of a setting": [
        (
            "gather(range(i, i - backward_prefetch - 1, -1))",
            "gather(range(i, i - (backward_prefetch or 1) - 1, -1))",
        )
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"reshard": [True, True, True], "forward_prefetch": 0, "backward_prefetch": 1},
    {"reshard": [False, False, False], "forward_prefetch": 0, "backward_prefetch": 1},
    {"reshard": [True, True, True], "forward_prefetch": 1, "backward_prefetch": 1},
]
