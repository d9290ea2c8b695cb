"""A recurrent network with gates reads a text character by character, and then goes on by itself."""

from framework import F, finish, nn, steps, torch
from text import CHARACTERS, sample, spoken


class Reader(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embedding = nn.Embedding(len(CHARACTERS), 24)
        self.gru = nn.GRU(24, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, len(CHARACTERS))

    def forward(self, codes, state=None):
        outputs, state = self.gru(self.embedding(codes), state)
        return self.head(outputs), state


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

losses = []
for _ in steps():
    codes, following = sample(16, 32)
    logits, _ = model(codes)
    loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())

code, state, codes = torch.tensor([[CHARACTERS.index("a")]]), None, []
with torch.no_grad():
    for _ in range(350):
        logits, state = model(code, state)
        code = torch.multinomial(F.softmax(logits[:, -1] / 0.7, 1), 1)
        codes.append(code.item())


def draw(axes):
    axes.text(0, 1, spoken(codes), family="monospace", fontsize=8, va="top")
    axes.axis("off")


finish(losses, draw, "what it says")
