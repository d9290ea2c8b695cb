"""Training is stopped, saved and taken up again, with workers that load the data: the losses go on as if nothing had been."""

import tempfile
from pathlib import Path

from digits import digits
from framework import DataLoader, F, TensorDataset, arguments, finish, nn, steps, torch

data = TensorDataset(*digits(800))
each = min(arguments.steps, 16)  # steps of an epoch


def start():
    model = nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    return {"model": model, "optimizer": optimizer, "schedule": schedule}


def epoch(parts, number):
    order = torch.Generator().manual_seed(number)
    loader = DataLoader(data, batch_size=50, shuffle=True, generator=order, num_workers=2)
    losses = []
    for _, (images, labels) in zip(steps(each), loader):
        loss = F.cross_entropy(parts["model"](images), labels)
        parts["optimizer"].zero_grad()
        loss.backward()
        parts["optimizer"].step()
        losses.append(loss.item())
    parts["schedule"].step()
    return losses


first = start()
losses = epoch(first, 0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "checkpoint.pt"
    state = {name: part.state_dict() for name, part in first.items()}
    torch.save({"parts": state, "random numbers": torch.get_rng_state(), "epoch": 1}, path)
    without_a_break = epoch(first, 1)

    second = start()
    loaded = torch.load(path)
    for name, part in second.items():
        part.load_state_dict(loaded["parts"][name])
    torch.set_rng_state(loaded["random numbers"])
    losses += epoch(second, loaded["epoch"])


def draw(axes):
    axes.plot(without_a_break, color="tab:gray", linewidth=4, label="without a break")
    axes.plot(losses[each:], color="tab:blue", label="taken up again")
    axes.set(xlabel="step of the second epoch", ylabel="loss")
    axes.legend()


finish(losses, draw, "the second epoch, twice")
