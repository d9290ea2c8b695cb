"""A compiled model is trained: Dynamo captures it, AOT autograd makes two graphs of it, Inductor generates C++ for both."""

import time

from digits import digits
from framework import DataLoader, F, TensorDataset, batches, finish, nn, torch

loader = DataLoader(TensorDataset(*digits(2000)), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10))
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

losses, times = [], []
for images, labels in batches(loader):
    begin = time.perf_counter()
    loss = F.cross_entropy(compiled(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    times.append(time.perf_counter() - begin)


def draw(axes):
    axes.semilogy([1000 * each for each in times], color="tab:green")
    axes.set(xlabel="step", ylabel="milliseconds")


finish(losses, draw, "the first step compiles")
