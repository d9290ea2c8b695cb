"""k-means without gradients: distances by broadcasting, means by `index_add_`, and what happens to an empty cluster."""

from framework import arguments, finish, steps, torch

CLUSTERS = 6

middles = torch.rand(CLUSTERS, 2) * 10
points = middles[torch.randint(0, CLUSTERS, (900,))] + 0.6 * torch.randn(900, 2)
centres = points[torch.randperm(len(points))[:CLUSTERS]].clone()

losses = []
for _ in steps(min(arguments.steps, 30)):
    distances = (points.unsqueeze(1) - centres).square().sum(2)
    nearest, owner = distances.min(dim=1)
    losses.append(nearest.mean().item())
    sums = torch.zeros(CLUSTERS, 2).index_add_(0, owner, points)
    counts = torch.zeros(CLUSTERS, 1).index_add_(0, owner, torch.ones(len(points), 1))
    farthest = points[nearest.argmax()]
    centres = torch.where(counts > 0, sums / counts.clamp(min=1), farthest)


def draw(axes):
    axes.scatter(*points.T.tolist(), c=owner.tolist(), s=5, cmap="tab10")
    axes.scatter(*centres.T.tolist(), marker="x", color="black")
    axes.set_aspect("equal")


finish(losses, draw, "clusters and their centres")
