"""A mixture of experts: a gate sends each point to the two best of six small networks."""

from framework import F, finish, nn, steps, torch

EXPERTS, BEST = 6, 2


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2, EXPERTS)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)) for _ in range(EXPERTS)
        )

    def forward(self, points):
        scores = self.gate(points)
        best, chosen = torch.topk(scores, BEST, dim=1)
        weights = F.softmax(best, dim=1)
        result = torch.zeros(len(points), 1)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == number)
            result = result.index_add(0, rows, weights[rows, place].unsqueeze(1) * expert(points[rows]))
        used = F.one_hot(chosen, EXPERTS).float().mean((0, 1))  # how much each expert is used; the loss evens it out
        return result, EXPERTS * (used * F.softmax(scores, dim=1).mean(0)).sum(), chosen


def pieces(points):
    """A function with another rule in each quarter of the plane."""
    x, y = points.unbind(1)
    upper = torch.where(x > 0, torch.sin(4 * x), y * y)
    return torch.where(y > 0, upper, torch.where(x > 0, -x, x * y)).unsqueeze(1)


model = Mixture()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

losses = []
for _ in steps():
    points = torch.rand(128, 2) * 2 - 1
    found, balance, _ = model(points)
    loss = F.mse_loss(found, pieces(points)) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())


def draw(axes):
    points = torch.rand(3000, 2) * 2 - 1
    with torch.no_grad():
        _, _, chosen = model(points)
    axes.scatter(*points.T.tolist(), c=chosen[:, 0].tolist(), s=4, cmap="tab10")
    axes.set_aspect("equal")


finish(losses, draw, "which expert is the best where")
