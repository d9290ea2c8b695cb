"""A generator and a critic, with the gradient penalty of WGAN-GP: a gradient of a gradient."""

import math

from framework import finish, nn, steps, torch


def ring(count):
    """Points of eight clusters on a circle."""
    angle = torch.randint(0, 8, (count,)) * (math.pi / 4)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


def network(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, outputs)
    )


generator, critic = network(4, 2), network(2, 1)
of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))


def penalty(real, made):
    """How far the critic's slope is from 1 between real points and made ones."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * made).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


losses = []
for _ in steps():
    for _ in range(4):
        real = ring(64)
        made = generator(torch.randn(64, 4)).detach()
        loss = critic(made).mean() - critic(real).mean() + penalty(real, made)
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
    losses.append(loss.item())
    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    of_generator.zero_grad()
    (-critic(generator(torch.randn(64, 4))).mean()).backward()
    of_generator.step()
    for parameter in critic.parameters():
        parameter.requires_grad_(True)


def draw(axes):
    with torch.no_grad():
        made = generator(torch.randn(400, 4))
    axes.scatter(*ring(400).T.tolist(), s=4, color="lightgray", label="real")
    axes.scatter(*made.T.tolist(), s=4, color="tab:red", label="made")
    axes.set_aspect("equal")
    axes.legend()


finish(losses, draw, "points")
