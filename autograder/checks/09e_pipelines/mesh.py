"""Cases of a student for `mesh_groups`, the groups along the dimensions of a mesh."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import breaking, no_cases

BREAKS, BODIES = "course.breaks.breaks_mesh_groups", "09e.mesh_groups"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.course.breaks.breaks_mesh_groups()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_mesh_groups(xp, **case):
    """The cases, or the groups that `mesh_groups` gives for one of them."""
    if not case:
        return xp.course.breaks.breaks_mesh_groups()
    import torch

    assert _describes_a_mesh(case["sizes"], case["ranks"])
    return xp.distributed.mesh.mesh_groups(torch.tensor(case["ranks"]).reshape(case["sizes"]), case["dim"])


@breaks_mesh_groups.oracle
def _(torch, sizes, ranks, dim):
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not _describes_a_mesh(sizes, ranks):
        raise ValueError("it describes no mesh")
    names, groups = [f"d{i}" for i in range(len(sizes))], []
    name = names[dim]  # or an IndexError, which is a result
    for rank in ranks:
        dist.init_process_group("fake", rank=rank, world_size=len(ranks), store=FakeStore())
        try:
            mesh = DeviceMesh("cpu", torch.tensor(ranks).reshape(sizes), mesh_dim_names=tuple(names))
            group = mesh[name].mesh.tolist()
        finally:
            dist.destroy_process_group()
        groups += [] if group in groups else [group]
    return groups


def _describes_a_mesh(sizes, ranks):
    return len(sizes) > 0 < min(sizes) and math.prod(sizes) == len(ranks) and sorted(ranks) == [*range(len(ranks))]
