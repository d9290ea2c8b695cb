"""Four small batches make one step; the forward pass is in half precision, and the rate warms up and decays."""

from digits import digits
from framework import DataLoader, F, TensorDataset, batches, finish, nn, torch

PARTS = 4

loader = DataLoader(TensorDataset(*digits(2000)), batch_size=64, shuffle=True, drop_last=True)
# Behind the first layer, the mean over the rows of the norm's gradient would depend on the number of torch's threads.
model = nn.Sequential(nn.Flatten(), nn.LayerNorm(100), nn.Linear(100, 96), nn.GELU(), nn.Linear(96, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=400)

losses, rates = [], []
for images, labels in batches(loader):
    optimizer.zero_grad()
    total = 0.0
    for part, target in zip(images.chunk(PARTS), labels.chunk(PARTS)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(part), target) / PARTS
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    losses.append(total)
    rates.append(schedule.get_last_lr()[0])


def draw(axes):
    axes.plot(rates, color="tab:orange")
    axes.set(xlabel="step", ylabel="learning rate")


finish(losses, draw, "the schedule")
