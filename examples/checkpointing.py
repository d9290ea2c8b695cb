"""A deep network that keeps few activations: each block's are computed again in the backward pass.

Counted are the tensors that autograd saves, with checkpoints and without.
"""

from digits import digits
from framework import DataLoader, F, TensorDataset, batches, checkpoint, finish, nn, torch


class Block(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Network(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.stem, self.head = nn.Linear(100, 64), nn.Linear(64, 10)
        self.blocks = nn.ModuleList(Block() for _ in range(depth))

    def forward(self, images, again=True):
        x = self.stem(images.flatten(1))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if again else block(x)
        return self.head(x)


loader = DataLoader(TensorDataset(*digits(1500)), batch_size=64, shuffle=True)
model = Network()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

losses = []
for images, labels in batches(loader):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())


def saved(again):
    """The elements that a forward pass saves."""
    sizes = []

    def pack(tensor):
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(images, again)
    return sum(sizes)


def draw(axes):
    axes.bar(["without", "with checkpoints"], [saved(False), saved(True)], color=["tab:gray", "tab:blue"])
    axes.set_ylabel("elements saved by a forward pass")


finish(losses, draw, "what is kept")
