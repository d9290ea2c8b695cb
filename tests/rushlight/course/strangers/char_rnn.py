"""Names of different lengths by an LSTM: padding, packing, and sampling letter by letter."""
import string

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(3)
letters = "." + string.ascii_lowercase
names = ["emma", "olivia", "ava", "isabella", "mia", "amelia", "evelyn", "abigail"]
encode = {c: i for i, c in enumerate(letters)}


class CharRNN(nn.Module):
    def __init__(self, vocab, emb=8, hidden=16, layers=1):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=0)
        self.rnn = nn.LSTM(emb, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, lengths=None, state=None):
        x = self.embed(x)
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, state = self.rnn(x, state)
        if lengths is not None:
            out, _ = pad_packed_sequence(out, batch_first=True)
        return self.head(out), state


sequences = [torch.tensor([encode[c] for c in name]) for name in names]
lengths = torch.tensor([len(s) for s in sequences])
inputs = pad_sequence(sequences, batch_first=True)
targets = torch.cat([inputs[:, 1:], torch.zeros(len(names), 1, dtype=torch.long)], dim=1)
mask = torch.arange(inputs.size(1)).expand_as(inputs) < lengths[:, None]
targets = targets.masked_fill(~mask, -100)

model = CharRNN(len(letters))
print(model, sum(p.numel() for p in model.parameters()))
criterion = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(15):
    logits, _ = model(inputs, lengths)
    loss = criterion(logits.transpose(1, 2), targets)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if (epoch + 1) % 5 == 0:
        print(f"{epoch + 1:3d} loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    for start in "aei":
        text, state = start, None
        while len(text) < 8:
            logits, state = model(torch.tensor([[encode[text[-1]]]]), state=state)
            letter = letters[logits[0, -1].softmax(-1).argmax().item()]
            if letter == ".":
                break
            text += letter
        print(text)
