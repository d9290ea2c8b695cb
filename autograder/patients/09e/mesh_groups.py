"""Wrong bodies of `mesh_groups`, for lab 09e: what cases of a student must catch."""

AT = "distributed.mesh.mesh_groups"
MOST = 4
CASE = {"sizes": "list[int]", "ranks": "list[int]", "dim": "int"}


def mesh_groups(mesh, dim):
    return mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()


WRONG = {
    "the order of the ranks in a group": [(".tolist()", ".sort(-1).values.tolist()")],
    "the order of the groups": [("mesh.movedim", "sorted(mesh.movedim"), (".tolist()", ".tolist())")],
    "a mesh whose ranks do not ascend": [
        ("    return mesh", "    ranks = torch.arange(mesh.numel()).view(mesh.shape)\n    return ranks")
    ],
    "meshes of three dimensions": [("mesh.movedim(dim, -1)", "mesh.transpose(dim, -1)")],
    "the sizes of the dimensions": [("mesh.shape[dim]", "mesh.shape[-1]")],
    "the dimensions before the last one": [(".movedim(dim, -1)", ".movedim(dim, dim)")],
    "dimensions that are counted from the end": [
        ("    return", "    if dim < 0:\n        raise IndexError(dim)\n    return")
    ],
    "dimensions that do not exist": [("    return", "    dim %= mesh.dim()\n    return")],
    "groups of one rank": [
        ("    return", "    if mesh.shape[dim] == 1:\n        return []\n    return"),
    ],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"sizes": [2, 4], "ranks": [0, 1, 2, 3, 4, 5, 6, 7], "dim": 1},
    {"sizes": [2, 4], "ranks": [0, 1, 2, 3, 4, 5, 6, 7], "dim": 0},
]
