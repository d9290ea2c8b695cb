"""The device mesh: the groups along its dimensions."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import drawing, rows


@drawing
def _meshes(draw, st):
    """The sizes of a mesh, its ranks in any order, and a dimension, which sometimes does not exist."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    ranks = draw(st.one_of(st.just(range(math.prod(sizes))), st.permutations(range(math.prod(sizes)))))
    return {"sizes": sizes, "ranks": [*ranks], "dim": draw(st.integers(-len(sizes) - 1, len(sizes)))}


def _about_groups(case, mine, theirs):
    if isinstance(theirs, str):
        return "the mesh has no such dimension: IndexError"
    if not isinstance(mine, list) or not all(isinstance(group, list) for group in mine):
        return None
    if sorted(map(str, mine)) == sorted(map(str, theirs)):
        return "the groups are right; their order is that of their first ranks in the mesh"
    return "in a group only the index along dim differs, and its ranks are in the mesh's order, which may be any"


_MESHES = rows(
    "sizes ranks dim",
    ([4], [0, 1, 2, 3], 0), ([2, 3], [*range(6)], 0), ([2, 3], [*range(6)], 1), ([2, 3], [*range(6)], -1),
    ([2, 3], [*range(6)], -2), ([2, 2], [3, 1, 2, 0], 0), ([2, 2], [3, 1, 2, 0], 1), ([2, 3, 4], [*range(24)], 0),
    ([2, 3, 4], [*range(24)], 1), ([3, 2, 2], [5, 11, 1, 0, 9, 8, 2, 3, 4, 10, 7, 6], 2),
    ([2, 2], [0, 1, 2, 3], 2), ([2, 2], [0, 1, 2, 3], -3), ([1], [0], 0),
)  # fmt: skip


@program("distributed.mesh.mesh_groups", cases=_meshes, edges=_MESHES, hint=_about_groups, draws=30)
def groups(xp, sizes, ranks, dim):
    import torch

    try:
        groups = xp.distributed.mesh.mesh_groups(torch.tensor(ranks).reshape(sizes), dim)
    except IndexError:
        return "IndexError"
    return groups


@groups.oracle
def torch_groups(torch, sizes, ranks, dim):
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    names, groups = [f"d{i}" for i in range(len(sizes))], []
    if not -len(sizes) <= dim < len(sizes):
        return "IndexError"
    for rank in ranks:
        dist.init_process_group("fake", rank=rank, world_size=len(ranks), store=FakeStore())
        try:
            mesh = DeviceMesh("cpu", torch.tensor(ranks).reshape(sizes), mesh_dim_names=tuple(names))
            group = mesh[names[dim]].mesh.tolist()
        finally:
            dist.destroy_process_group()
        groups += [] if group in groups else [group]
    return groups
