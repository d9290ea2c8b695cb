# Two spirals, the way tutorials wrote it in 2017
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

np.random.seed(1)
torch.manual_seed(1)
use_cuda = torch.cuda.is_available()


def spirals(n):
    t = np.sqrt(np.random.rand(n, 1)) * 3 * np.pi
    d = np.hstack([-np.cos(t) * t, np.sin(t) * t])
    return np.vstack([d, -d]) / 10, np.hstack([np.zeros(n), np.ones(n)])


class Net(nn.Module):
    def __init__(self, n_feature, n_hidden, n_output):
        super(Net, self).__init__()
        self.hidden = nn.Linear(n_feature, n_hidden)
        self.bn = nn.BatchNorm1d(n_hidden)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(n_hidden, n_output)

    def forward(self, x):
        x = F.relu(self.bn(self.hidden(x)))
        return F.log_softmax(self.out(self.drop(x)), dim=1)


data, labels = spirals(60)
x = Variable(torch.FloatTensor(data))
y = Variable(torch.LongTensor(labels.astype(np.int64)))
net = Net(n_feature=2, n_hidden=16, n_output=2)
if use_cuda:
    x, y, net = x.cuda(), y.cuda(), net.cuda()
print(net)
print(x.data.type(), y.data.type(), x.size())

optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
for epoch in range(20):
    optimizer.zero_grad()
    loss = F.nll_loss(net(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    if epoch % 5 == 4:
        net.eval()
        pred = torch.max(net(x), 1)[1].data.squeeze()
        net.train()
        accuracy = float((pred.numpy() == y.data.numpy()).sum()) / y.size(0)
        print("Epoch %d | loss %.3f | accuracy %.2f | lr %g" % (epoch, loss.item(), accuracy, scheduler.get_last_lr()[0]))
confusion = torch.zeros(2, 2).long()
for t, p in zip(y.data.view(-1), pred.view(-1)):
    confusion[t.long(), p.long()] += 1
print(confusion, confusion.sum().item())
