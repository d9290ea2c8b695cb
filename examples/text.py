"""A short text, written for these examples, and its characters as numbers."""

from framework import torch

TEXT = """
a tensor is a view of a storage. the storage is a row of numbers, and the tensor says where to begin, how many steps to take,
and how long each step is. a transpose moves no number; it swaps two steps. a slice begins later. an expanded dimension has a
step of zero, so that many places share one number.
a call of an operator goes through a table. each key has a column, and each operator has a row. autograd stands before the
kernel: it records a node, and then it looks away and calls the same operator again, below itself. the kernel computes, and
knows nothing of gradients.
backward is a walk through the graph, newest node first. a node runs when all of its gradients have arrived. a leaf adds what
it gets to what it has, which is why we set the gradients to none before each step.
"""
CHARACTERS = sorted(set(TEXT))
DATA = torch.tensor([CHARACTERS.index(c) for c in TEXT])


def sample(count: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pieces of the text (count, length), and the same pieces one character later."""
    starts = torch.randint(0, len(TEXT) - length, (count, 1))
    places = starts + torch.arange(length)
    return DATA[places], DATA[places + 1]


def spoken(codes: list[int], width: int = 44) -> str:
    """The text of these numbers, in lines of `width` characters."""
    text = "".join(CHARACTERS[code] for code in codes).replace("\n", " ")
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))
