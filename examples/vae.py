"""A variational autoencoder learns to draw digits."""

from digits import digits, tiled
from framework import DataLoader, F, TensorDataset, batches, finish, nn, torch


class Autoencoder(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(100, 96), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(96, latent), nn.Linear(96, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 96), nn.ReLU(), nn.Linear(96, 100))

    def forward(self, images):
        x = self.encoder(images)
        mean, log_variance = self.mean(x), self.log_variance(x)
        latent = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decoder(latent), mean, log_variance


images, _ = digits(1500, noise=0.0)
loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True)
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

losses = []
for (images,) in batches(loader):
    logits, mean, log_variance = model(images)
    reconstruction = F.binary_cross_entropy_with_logits(logits, images.flatten(1), reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.square() - log_variance.exp())
    loss = (reconstruction + divergence) / len(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

with torch.no_grad():
    drawn = torch.sigmoid(model.decoder(torch.randn(48, 6)))


def draw(axes):
    axes.imshow(tiled(drawn, 8), cmap="gray")
    axes.axis("off")


finish(losses, draw, "digits that it makes up")
