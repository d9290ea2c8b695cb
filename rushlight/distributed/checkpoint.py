"""Checkpoints of sharded tensors: each rank saves its own shards, and any number of ranks, with any sharding, can load them.

A shard records its offsets in the whole tensor. To load a region, a rank finds the saved shards that overlap it and reads
only the overlapping parts. Ranks do not communicate, and no rank ever holds the whole tensor.

In PyTorch: `torch/distributed/checkpoint/` (`planner_helpers.py`, `filesystem.py`). Left out here: planning by one rank for
all ranks, objects that are not tensors, and deduplication of shards that several ranks hold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor


@dataclass
class Shard:
    """A part of a tensor of size `size`: `data` begins at the indices `offsets` of that tensor."""

    data: Tensor
    offsets: tuple[int, ...]
    size: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """A saved shard of shape `sizes` at `offsets` in the whole tensor, and the file that holds it."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    file: str = ""


@dataclass(frozen=True)
class Read:
    """A part of a saved shard to read: `lengths` elements in each dimension, beginning at `source` in `pieces[piece]`, go to
    `target` in the requested region. `source` and `target` are indices within the piece and within the region."""

    piece: int
    source: tuple[int, ...]
    target: tuple[int, ...]
    lengths: tuple[int, ...]


class Store:
    """A folder with a checkpoint: for each rank that has saved, one file with its shards and one with their offsets and
    sizes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def save(self, state: dict[str, Shard], rank: int) -> None:
        """Write the shards of one rank. Every rank calls this, including a rank without shards."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = f"shards-{rank}.pt"
        torch.save({name: shard.data.detach().clone() for name, shard in state.items()}, self.folder / file)
        index = {name: [*map(list, (shard.size, shard.offsets, shard.data.shape))] for name, shard in state.items()}
        (self.folder / f"shards-{rank}.json").write_text(json.dumps(index))

    def index(self) -> dict[str, tuple[tuple[int, ...], list[Piece]]]:
        """For each name the size of the whole tensor, and its pieces."""
        index: dict[str, tuple[tuple[int, ...], list[Piece]]] = {}
        for path in sorted(self.folder.glob("shards-*.json")):
            for name, (size, offsets, sizes) in json.loads(path.read_text()).items():
                piece = Piece(tuple(offsets), tuple(sizes), path.with_suffix(".pt").name)
                index.setdefault(name, (tuple(size), []))[1].append(piece)
        return index

    def read(self, file: str, name: str, source: Sequence[int], lengths: Sequence[int]) -> Tensor:
        """A part of a saved shard. Only this part of the file is read."""
        saved = torch.load(self.folder / file, mmap=True)[name]
        return saved[tuple(slice(start, start + length) for start, length in zip(source, lengths))]


def plan_load(pieces: Sequence[Piece], offsets: Sequence[int], sizes: Sequence[int]) -> list[Read]:
    """The parts of saved shards to read for a region of shape `sizes` at `offsets` in the whole tensor.

    `pieces` is a list. Return a list with one `Read` for each piece that has elements of the region, in the order of the
    pieces: the box in which the piece and the region overlap, in indices of the piece and in indices of the region. A piece
    that only touches the region is not read, and neither is an empty piece. If the region is empty, nothing is read. A tensor
    without dimensions is one element, and every piece of it has that element.

    >>> plan_load([Piece((0,), (4,)), Piece((4,), (4,)), Piece((8,), (2,))], (5,), (5,))
    [Read(piece=1, source=(1,), target=(0,), lengths=(3,)), Read(piece=2, source=(0,), target=(3,), lengths=(2,))]

    Collectives: none.

    Source: `torch/distributed/checkpoint/planner_helpers.py`, `create_read_items_for_chunk_list`;
    `torch/distributed/checkpoint/resharding.py`.
    """
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


def load_shards(store: Store, state: dict[str, Shard]) -> None:
    """Fill shards in place from a checkpoint that any number of ranks has saved, with any sharding.

    `state` has the shards by name. Each shard's `data` (of any strides, perhaps without dimensions; it may be a parameter that
    requires grad, and still does so afterwards) gets its own region of the saved tensor: `store.index()` lists the pieces,
    `plan_load` says what to read, and `store.read` reads it. Call `store.read` once for each `Read`, and for nothing else. The
    saved tensor and the shard may differ in dtype: values are converted. Grad mode does not change. Names that are saved but
    are not in `state` are not read.

    `Shard` is the class of this module, a part of a tensor with its offsets, not the placement.

    Raises, before anything is read: KeyError if a name was not saved; ValueError if a saved tensor has another size than the
    shard says.

    Collectives: none.

    Source: `torch/distributed/checkpoint/default_planner.py`, `create_default_local_load_plan`.
    """
    index = store.index()
    for name, shard in state.items():
        size, _ = index[name]
        if size != tuple(shard.size):
            raise ValueError(f"{name} was saved with size {size}, not {tuple(shard.size)}")
    for name, shard in state.items():
        _, pieces = index[name]
        for read in plan_load(pieces, shard.offsets, shard.data.shape):
            place = tuple(slice(start, start + length) for start, length in zip(read.target, read.lengths))
            shard.data.detach()[place] = store.read(pieces[read.piece].file, name, read.source, read.lengths)
