"""A multilayer perceptron learns synthetic digits."""

from digits import digits, tiled
from framework import DataLoader, F, TensorDataset, batches, finish, nn, torch

loader = DataLoader(TensorDataset(*digits(2000)), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, weight_decay=1e-4)

losses = []
for images, labels in batches(loader):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

images, labels = digits(500)
with torch.no_grad():
    right = (model(images).argmax(1) == labels).float().mean().item()


def draw(axes):
    axes.imshow(tiled(images[:40, 0], 8), cmap="gray")
    axes.axis("off")


finish(losses, draw, f"{right:.0%} of new digits are right")
