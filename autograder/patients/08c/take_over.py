"""Wrong bodies of `take_over`, for lab 08c: what cases of a student must catch."""

AT = "inductor.memory.take_over"
MOST = 4
CASE = {"candidates": "list[list[int]]", "ending": "list[int]", "kept": "list[int]"}


def take_over(candidates, ending, kept):
    reused = {}
    for result, inputs in candidates.items():
        for name in inputs:
            if name in ending and name not in kept and name not in reused.values():
                reused[result] = name
                break
    return reused


WRONG = {
    "buffers that a later step reads": [("name in ending and ", "")],
    "buffers that are kept": [(" and name not in kept", "")],
    "a buffer that is a candidate of two results": [(" and name not in reused.values()", "")],
    "which of several candidates is taken": [("in inputs:", "in reversed(inputs):")],
    "the order in which candidates are tried": [
        ("in inputs:", "in ending:"),
        ("if name in ending", "if name in inputs"),
    ],
    "how many results may take over a buffer": [("                break", "                return reused")],
    "a result after one that takes over nothing": [
        ("                break\n", "                break\n        else:\n            break\n")
    ],
    "a candidate after one that is kept": [
        (
            "            if name in ending",
            "            if name in kept:\n                break\n            if name in ending",
        )
    ],
    "a buffer that an earlier result has taken over": [("reused.values():", "[*reused.values()][-1:]:")],
    "a result whose only candidate another one takes over": [
        ("reused.values():", "reused.values() and (len(inputs) == 1 or [name] not in candidates.values()):")
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"candidates": [[0]], "ending": [0], "kept": []},
    {"candidates": [[0, 1], [1]], "ending": [0, 1], "kept": []},
    {"candidates": [[0, 1]], "ending": [0, 1], "kept": [0]},
]
