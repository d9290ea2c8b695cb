import argparse
import os
import random

import torch
import torch.nn as nn
import torch.nn.parallel
import torch.backends.cudnn as cudnn
import torch.optim as optim
import torch.utils.data

parser = argparse.ArgumentParser()
parser.add_argument("--batchSize", type=int, default=8, help="input batch size")
parser.add_argument("--nz", type=int, default=6, help="size of the latent z vector")
parser.add_argument("--ngf", type=int, default=4)
parser.add_argument("--niter", type=int, default=2, help="number of epochs to train for")
parser.add_argument("--lr", type=float, default=0.0002, help="learning rate, default=0.0002")
parser.add_argument("--cuda", action="store_true", help="enables cuda")
parser.add_argument("--manualSeed", type=int, default=7, help="manual seed")
opt = parser.parse_args()
print(opt)

random.seed(opt.manualSeed)
torch.manual_seed(opt.manualSeed)
cudnn.benchmark = True
if torch.cuda.is_available() and not opt.cuda:
    print("WARNING: You have a CUDA device, so you should probably run with --cuda")
device = torch.device("cuda:0" if opt.cuda else "cpu")


def squares(n):
    images = -torch.ones(n, 1, 8, 8)
    for i in range(n):
        r, c = random.randrange(4), random.randrange(4)
        images[i, :, r : r + 4, c : c + 4] = 1
    return images


dataset = torch.utils.data.TensorDataset(squares(24))
dataloader = torch.utils.data.DataLoader(dataset, batch_size=opt.batchSize, shuffle=True, num_workers=0)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


netG = nn.Sequential(
    nn.ConvTranspose2d(opt.nz, opt.ngf * 2, 2, 1, 0, bias=False),
    nn.BatchNorm2d(opt.ngf * 2),
    nn.ReLU(True),
    nn.ConvTranspose2d(opt.ngf * 2, opt.ngf, 4, 2, 1, bias=False),
    nn.BatchNorm2d(opt.ngf),
    nn.ReLU(True),
    nn.ConvTranspose2d(opt.ngf, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
).to(device)
netG.apply(weights_init)
print(netG)
netD = nn.Sequential(
    nn.Conv2d(1, opt.ngf, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(opt.ngf, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
    nn.Flatten(0),
).to(device)
netD.apply(weights_init)
print(netD)

criterion = nn.BCELoss()
fixed_noise = torch.randn(2, opt.nz, 1, 1, device=device)
optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
for epoch in range(opt.niter):
    for i, (real,) in enumerate(dataloader, 0):
        netD.zero_grad()
        real = real.to(device)
        label = torch.full((real.size(0),), 1.0, dtype=real.dtype, device=device)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(torch.randn(real.size(0), opt.nz, 1, 1, device=device))
        label.fill_(0.0)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
        print("[%d/%d][%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f" % (
            epoch, opt.niter, i, len(dataloader), (errD_real + errD_fake).item(), errG.item(), D_x))
netG.eval()
print(netG(fixed_noise).shape, os.path.basename(__file__))
