"""A small transformer learns a text, with causal attention. Drawn is what one of its heads attends to."""

import math

from framework import F, finish, nn, steps, torch
from text import CHARACTERS, sample

WIDTH, HEADS, LENGTH = 48, 4, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.projection = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def heads(self, x):
        """Queries, keys and values: three of (batch, heads, length, width of a head)."""
        parts = self.attention(self.norm_1(x)).split(WIDTH, dim=2)
        return [part.reshape(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts]

    def forward(self, x):
        mixed = F.scaled_dot_product_attention(*self.heads(x), is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(len(CHARACTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(CHARACTERS), bias=False)
        self.apply(self.start)
        self.head.weight = self.token.weight

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, codes):
        x = self.token(codes) + self.position(torch.arange(codes.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


model = GPT()
matrices = [each for each in model.parameters() if each.dim() >= 2]
others = [each for each in model.parameters() if each.dim() < 2]
groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))

losses = []
for _ in steps():
    codes, following = sample(12, LENGTH)
    loss = F.cross_entropy(model(codes).flatten(0, 1), following.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warm_up.step()
    losses.append(loss.item())


def draw(axes):
    with torch.no_grad():
        x = model.token(codes[:1]) + model.position(torch.arange(LENGTH))
        queries, keys, _ = model.blocks[0].heads(x)
        scores = queries @ keys.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        seen = torch.tril(torch.ones(LENGTH, LENGTH)) == 1
        weights = F.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
    axes.imshow(weights[0, 0].sqrt().tolist(), cmap="magma")
    letters = [CHARACTERS[code].replace("\n", " ") for code in codes[0].tolist()]
    axes.set_xticks(range(LENGTH), letters, fontsize=6)
    axes.set_yticks(range(LENGTH), letters, fontsize=6)


finish(losses, draw, "attention of the first head")
