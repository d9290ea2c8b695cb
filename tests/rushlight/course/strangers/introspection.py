"""What is inside a model: hooks, names, shapes, a traced graph and gradients by hand."""
import pickle
from collections import OrderedDict

import torch
import torch.fx
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(OrderedDict(up=nn.Linear(dim, 2 * dim), act=nn.GELU(), down=nn.Linear(2 * dim, dim)))
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x):
        return x + self.scale * self.mlp(self.norm(x))


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low):
        ctx.save_for_backward(x)
        ctx.low = low
        return x.clamp(min=low)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_variables
        return grad_output * (x >= ctx.low), None


model = nn.Sequential(Block(4), Block(4), nn.Linear(4, 3))
shapes, grads = {}, {}


def remember(name):
    def hook(module, inputs, output):
        shapes[name] = tuple(inputs[0].shape), tuple(output.shape)

    return hook


handles = [m.register_forward_hook(remember(n)) for n, m in model.named_modules() if n and not list(m.children())]
x = torch.randn(2, 5, 4, requires_grad=True)
x.register_hook(lambda grad: grads.update(x=tuple(grad.shape)))
out = Clamp.apply(model(x), -0.2)
out.sum().backward()
for handle in handles:
    handle.remove()
for name, (before, after) in shapes.items():
    print(f"{name:14} {str(before):12} -> {after}")
print(grads, out.grad_fn is not None, x.is_leaf, x.dtype, type(x), type(model[2].bias), type(out.shape), torch.is_tensor(out))
for name, p in model.named_parameters():
    print(name, p.shape, f"{p.grad.norm():.3f}")
print(list(model.state_dict())[:3], model[0].scale, [n for n, _ in model.named_buffers()])

traced = torch.fx.symbolic_trace(model[0])
for node in traced.graph.nodes:
    print(node.op, node.name, [str(a) for a in node.args])
assert torch.allclose(traced(x), model[0](x))

jacobian = torch.autograd.functional.jacobian(lambda v: (v**2).cumsum(0), torch.arange(3.0))
print(jacobian)
(second,) = torch.autograd.grad(torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum(), x)
print(torch.allclose(second, 6 * x), torch.finfo(x.dtype).eps, torch.tensor([1, 2]).dtype, repr(torch.device("cpu")))

for layer in (nn.BatchNorm1d(2), nn.ReLU(), nn.ModuleList(), nn.CrossEntropyLoss(), nn.LSTM(2, 2), nn.Dropout(), model[2]):
    print(type(layer), type(pickle.loads(pickle.dumps(layer))) is type(layer), isinstance(layer, _BatchNorm))
print(type(out.grad_fn), type(model(x).grad_fn), torch.optim.SGD, torch.nn.modules.linear.Linear is nn.Linear)
print(torch.distributions.categorical.Categorical is torch.distributions.Categorical, torch.optim.Adam)
