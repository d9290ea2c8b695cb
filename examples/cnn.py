"""A convolutional network learns synthetic digits. Drawn are the filters of its first layer."""

from digits import digits
from framework import DataLoader, F, TensorDataset, batches, finish, nn, torch


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 24, 3, padding=1)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(24 * 9, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.norm(self.first(images))), 2)
        x = F.relu(self.second(x))
        return self.head(self.dropout(F.adaptive_avg_pool2d(x, 3).flatten(1)))


loader = DataLoader(TensorDataset(*digits(1500)), batch_size=50, shuffle=True)
model = Network()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=400)

losses = []
for images, labels in batches(loader):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())

model.eval()
images, labels = digits(500)
with torch.no_grad():
    right = (model(images).argmax(1) == labels).float().mean().item()


def draw(axes):
    filters = F.pad(model.first.weight.detach()[:, 0], (1, 1, 1, 1))  # a border of zeros around each
    axes.imshow(filters.reshape(2, 4, 5, 5).permute(0, 2, 1, 3).reshape(10, 20).tolist(), cmap="PuOr")
    axes.axis("off")


finish(losses, draw, f"filters; {right:.0%} of new digits are right")
