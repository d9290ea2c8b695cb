"""Arguments of torch's Python functions: numpy's names for arguments, Python's types, devices by index; and named results."""

import pytest
import torch
from both import agree, written
from sweep import in_one_test

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.torchgen import gen

TEXTS = """
xp.sum(input=m, axis=0)
m.sum(axis=(0, 1))
m.sum(0, keepdims=True)
m.sum(dim=0, axis=0)
m.sum(axis=None)
m.sum(foo=0)
xp.sum(x=m, axis=0)
xp.sum(a=m, dim=0)
xp.mean(m, axis=1, keepdims=True)
xp.max(m, axis=0)
xp.max(x=m)
m.std(axis=0, keepdims=True)
m.all(axis=0)
xp.add(x1=y, x2=y)
xp.add(x1=y, x2=y, alpha=2, out=xp.empty(2))
xp.add(input=y, x1=y, other=y)
xp.add(y)
xp.maximum(x1=y, x2=y)
xp.remainder(x1=y, x2=2)
xp.cat([m, m], axis=1)
xp.cat(axis=1, tensors=[m, m])
xp.stack([m, m], axis=-1)
xp.argmax(m, axis=0, keepdims=True)
xp.softmax(m, axis=0)
m.cumsum(axis=0)
m.cumsum()
m.unsqueeze(axis=0)
m.unsqueeze(0, axis=0)
m.unsqueeze()
xp.unsqueeze(m)
m[None].squeeze(axis=0)
m.chunk(2, axis=0)
m.unbind(axis=1)
m.amax(axis=0)
m.amin(axis=(0,), keepdims=True)
m.amax(None)
m.logsumexp(axis=0)
m.narrow(axis=0, start=0, length=1)
m.select(axis=0, index=0)
m.select(0)
m.index_select(axis=0, index=i - 1)
m.gather(axis=0, index=(i - 1)[None])
xp.sqrt(x=y)
xp.sqrt(a=y, out=xp.empty(2))
xp.sqrt()
xp.clamp(x=y, min=1.5)
xp.matmul(x1=m, x2=m)
xp.dot(x1=y, x2=y)
m.flip(axis=0)
m.transpose(axis0=0, axis1=1)
y.pow(x2=2)
xp.roll(m, 1, axis=0)
xp.nn.functional.linear(x=m, weight=m)
xp.nn.functional.softmax(m, axis=0)
xp.roll(m, 1, dims=None)
m.roll(1, None)
m.roll(shifts=1, dims=0)
xp.zeros(2, dtype=float)
xp.zeros(2, dtype=int)
xp.ones(2, dtype=bool)
xp.zeros(2, dtype="float32")
xp.zeros(2, dtype=np.float32)
xp.zeros(2, out=xp.empty(0, dtype=xp.float64), dtype=float)
xp.arange(3, dtype=float)
xp.rand(2, dtype=float).dtype
xp.full((2,), 1, dtype=float)
xp.tensor([1, 2], dtype=bool)
xp.as_tensor([1, 2], dtype=float)
y.new_tensor([1], dtype=float)
y.new_zeros(2, dtype=int)
xp.zeros_like(y, dtype=int)
y.sum(dtype=float)
xp.cumsum(y, 0, dtype=float)
y.to(int)
y.to("cpu", float)
y.to(dtype=bool)
y.to(dtype="a")
xp.nn.Linear(2, 2).to(float).weight.dtype
xp.nn.Linear(2, 2).to(int)
xp.nn.Linear(2, 2, dtype=float).weight.dtype
xp.zeros(2, device="cpu:0").device
xp.zeros(2, device=xp.device("meta", 0)).device
xp.zeros(2, out=xp.empty(2), device="cpu:0")
xp.device("cpu", 0)
xp.device("cpu:1")
xp.device(type="cpu", index=0)
xp.device("cpu:0").index
xp.device("cpu").index
str(xp.device("cpu:0"))
xp.device("cpu", 0) == xp.device("cpu")
xp.device("cpu", 0) == xp.device("cpu:0")
hash(xp.device("cpu", 0)) == hash(xp.device("cpu:0"))
xp.device(xp.device("cpu:0"))
xp.device("cpu:0", 0)
xp.device("cpu", -1)
xp.device("cpu:-1")
xp.device("cpu:00")
xp.device("cpu:")
pickle.loads(pickle.dumps(xp.device("cpu:0")))
y.to("cpu:0") is y
y.to("cpu") is y
repr(xp.max(m, 0))
repr(m.min(1, keepdim=True))
xp.max(m, 0).values
v, k = m.max(0); k
y.__rtruediv__("a")
"a" / y
m.sort().values
m.sort(0, stable=True).indices
m.topk(1).indices
m.topk(k=1, axis=0).values
xp.topk(m, 1).values
xp.randn(xp.tensor(3)).shape
xp.randn(True)
xp.randn(xp.tensor(2.0))
m.sum(xp.tensor(1))
m.sum(np.int64(1))
m.amax(np.int64(1))
m.amax(xp.tensor(1))
m.amax(xp.tensor(1.0))
m.amax(True)
m.roll(xp.tensor(1), np.int64(0))
xp.full((2,), xp.tensor(3))
xp.full((2,), xp.tensor([3]))
xp.full((2,), x[0])
xp.full_like(y, x[0])
y.new_full((2,), x[0])
y.new_full((2,), y[1])
xp.arange(x[1])
xp.arange(y[1])
xp.eye(xp.tensor(2))
xp.linspace(0, 1, xp.tensor(3))
xp.linspace(x[0], 3, 2)
xp.linspace(x[0], x[1], 2)
xp.linspace(0, x[1], 2)
xp.linspace(0, 1, 3, out=xp.zeros(1).expand(3))
xp.arange(3, out=xp.zeros(1, dtype=xp.long).expand(3))
y.new_tensor([1.0], requires_grad=True)
xp.asarray(np.float32(3), copy=False)
xp.tensor([y, y])
xp.tensor([i, i])
xp.tensor([y[:1], y[1:]])
xp.tensor([y[0], 2])
xp.tensor([i[0], True])
xp.tensor([np.ones(2), np.zeros(2)])
xp.tensor(b"ab")
xp.tensor({1: 2})
xp.tensor(type("Pair", (), {"__len__": lambda self: 2, "__getitem__": lambda self, k: [3.0, 4.0][k]})())
xp.add(2, 3)
xp.mul(2.0, 3)
xp.div(3, 2), xp.div(7, 2)
xp.floor_divide(7, 2)
xp.sub(True, True)
xp.eq(1, 2)
xp.where(y > 1, 1, 2)
y.clip(1.5), y.clip(max=y[:1]), x.clip(0.0, 1.5), xp.clip(m, 2), y.clone().clip_(y[1:])
xp.concat([y, y]), xp.concatenate((m, m), axis=1), xp.concat([y], out=xp.empty(0))
m.swapaxes(0, 1), xp.swapaxes(m[None], -1, 0), xp.moveaxis(m[None], 0, -1), m.moveaxis((0, 1), (1, 0))
y.is_floating_point(), xp.is_floating_point(i), y.is_complex(), m.ndimension(), m.nelement()
xp.nonzero(y, as_tuple=True, out=y)
xp.meshgrid(y, xp.zeros(2, device="meta"), indexing="ij")
xp.asarray(np.float32(3))
xp.empty(2, 4, 2**29, 2**29)
xp.float32.is_complex
xp.pi, xp.e, xp.inf, xp.nan, y[xp.newaxis].shape
repr(type(m.max(0)))
type(m.max(0)) is xp.return_types.max
type(xp.max(m, 0, out=(xp.empty(0), xp.empty(0, dtype=xp.long)))) is xp.return_types.max_out
isinstance(m.max(0), tuple)
m.max(0).n_fields
m.max(0) + (1,)
xp.return_types.max((m, m, m))
repr(copy.deepcopy(m.max(0)))
repr(pickle.loads(pickle.dumps(m.max(0))))
type(xp.ops.aten.max.dim(m, 0)).__name__
f"{xp.tensor(1.234):.2f}"
f"{x.sum():.2f}"
f"{xp.tensor(3):d}"
f"{xp.tensor(True)}"
f"{y:.2f}"
f"{y}"
f"{xp.zeros((), device='meta')}"
f"{xp.nn.Parameter(xp.tensor(1.0)):.2f}"
reversed(m)
reversed(xp.tensor(1.0))
y in m
1.0 in x
5 in y
xp.tensor(1.0) in xp.tensor(1.0)
xp.ones(3) in y
"a" in y
[1.0] in y
None in y
i << 1
i >> i
2 << i
16 >> i
i <<= 1; i
i >>= 1; i
i << 1.5
y >> 1
xp.tensor([True]) << 1
xp.tensor([True]) << xp.tensor([True])
i << 63
i << 64
i << -1
-i >> 1
-i >> 70
-i >> -1
xp.tensor([200], dtype=xp.uint8) << 1
xp.tensor([200], dtype=xp.uint8) >> 9
xp.tensor([1], dtype=xp.int32) << 31
xp.tensor(1) << xp.tensor([3], dtype=xp.int32)
xp.bitwise_left_shift(i, i, out=xp.empty(2))
xp.bitwise_right_shift(8, i)
i.bitwise_left_shift_(2)
i.__lshift__([1])
xp.broadcast_shapes((2, 1), (1, 3))
xp.broadcast_shapes((-1,))
xp.broadcast_shapes((1, -1), (1, 1))
xp.broadcast_shapes((2,), (-1,))
xp.broadcast_shapes((2,), None, 1)
xp.broadcast_shapes((2.0,))
xp.index_select(y, 0, i - 1, out=y)
xp.index_select(m, 0, (i - 1)[:1], out=m[1:])
xp.index_select(y, 0, i - 1, out=xp.zeros(1).expand(2))
k = i - 1; xp.index_select(xp.tensor([5, 6]), 0, k, out=k)
xp.gather(y, 0, i - 1, out=y)
xp.gather(y, 0, i - 1, out=xp.zeros(1).expand(2))
k = i - 1; xp.gather(xp.tensor([5, 6]), 0, k, out=k)
k = xp.tensor([0, 1, 2]); xp.gather(xp.tensor([7, 8, 9]), 0, k[:2], out=k[1:])
z = xp.zeros(4); xp.cat([z[:2], y], out=z)
z = xp.zeros(2, 2); xp.cat([z.t()], out=z)
xp.cat([y, y], out=xp.zeros(1).expand(4))
xp.max(m, 0, out=(m[0], xp.empty(2, dtype=xp.long)))
xp.max(m, 0, out=(xp.zeros(1).expand(2), xp.empty(2, dtype=xp.long)))
xp.broadcast_shapes((3, 5), (2, 4, 1))
xp.tensor(1.0).index_put([], y, True)
xp.ops.aten.index(y, [])
xp.empty((), dtype=xp.float64).resize_([2, 4, 2**29, 2**29])
xp.empty([2, 4, 2**29, 2**29], device="meta")
xp.tensor(1.0).tensor_split(2)
xp.tensor(1.0).tensor_split((2,))
xp.tensor(1.0).hsplit(2)
xp.ones(5).hsplit(2)
xp.ones(5).hsplit([2])
xp.ones(5).vsplit([2])
xp.ones(4, 2).vsplit(2)
xp.ones(4, 2).vsplit(0)
xp.ones(4, 2).dsplit(2)
xp.ones(1, 1, 4).dsplit([1, 3])
m.view(xp.int32)
m.view(xp.uint8)
m.view(xp.float64)
m.t().view(xp.float64)
m[:, :1].view(xp.float64)
xp.arange(5.0)[1:].view(xp.float64)
xp.tensor(1.0).view(xp.uint8)
xp.tensor(1.0).view(xp.int32)
xp.zeros(2, 3, device="meta").view(dtype=xp.bool).shape
m.view(float)
w = y.view(xp.int32).fill_(1); (y, w._base, w._version, y._version)
x.view(xp.int32).fill_(1)
w = x.view(xp.float32); (w is x, w.grad_fn)
x.view(2).grad_fn.name()
xp.Size([1]) + [1]
xp.Size([1]) + 3
xp.Size([1]) + type("Wild", (), {"__radd__": lambda self, other: 42})()
w = xp.tensor([0.0, 1.0], requires_grad=True); z = w.detach() * 0; xp.atan2(z, w).sum().backward(); w.grad
y.diff(prepend=m)
type("F", (xp.FloatTensor,), {})
xp.scalar_tensor(3)
xp.scalar_tensor(3, dtype=xp.int16, device="meta")
xp.set_warn_always(True); k = xp.is_warn_always_enabled(); xp.set_warn_always(False); k
xp.utils.checkpoint.create_selective_checkpoint_contexts([2])
xp.utils.checkpoint.create_selective_checkpoint_contexts([xp.ops.aten.sin])
xp.utils.checkpoint.create_selective_checkpoint_contexts(2)
xp.max(y, 0, keepdim=True, out=None)
xp.sum(y, 0, out=None)
xp.mode(y, 0, out=None)
xp.zeros(1, 0).mode()
xp.zeros(2, 0).mode(0, keepdim=True)
i.nanmean()
(y > 1).nanmean()
y.nanmean(dtype=xp.float64)
y.histc(0)
y.histc(4, 5, 1)
y.histc(4, 0, float("inf"))
xp.tensor([1.0, float("nan"), 3.0]).histc(4, 0, 3)
xp.tensor([1.0, 2, 2, 3], dtype=xp.bfloat16).histc(4)
xp.full((3,), -3.4028234663852886e38).histc(4)
y.bincount()
y.new(xp.Size([])).shape
xp.Tensor(xp.Size([])).shape
y.new(xp.Size([2, 3])).shape
y.new(()).shape
xp.nn.Bilinear(0, 0, 0)
z = xp.tensor([-4.0, -3, 0, 3, 4], requires_grad=True); xp.nn.functional.hardswish(z).sum().backward(); z.grad
xp.nn.functional.interpolate((xp.arange(16) * 16).view(1, 1, 4, 4).to(xp.uint8), size=6, mode="bilinear")
xp.nn.functional.interpolate((xp.arange(16) * 16).view(1, 1, 4, 4).to(xp.uint8), size=6, mode="bicubic")
xp.nn.functional.interpolate(xp.arange(16).view(1, 1, 4, 4), size=6, mode="bilinear")
xp.nn.functional.interpolate(xp.arange(16).view(1, 4, 4).to(xp.uint8), size=6, mode="linear")
xp.nn.functional.interpolate(xp.arange(16).view(1, 4, 4).to(xp.uint8), size=6)
xp.nn.functional.interpolate(xp.arange(16).view(1, 4, 4), size=6)
xp.nn.functional.cosine_embedding_loss(m, y, i)
xp.nn.functional.cosine_embedding_loss(m, m, i[:, None])
xp.nn.functional.cosine_embedding_loss(m, m, xp.tensor(1))
xp.nn.functional.cosine_embedding_loss(y, y, xp.tensor(1))
xp.nn.functional.cosine_similarity(y, y, dim=0, eps=-1.0)
xp.nn.functional.interpolate(m[None, None], size=(4.5, 3))
xp.nn.functional.interpolate(m[None, None], size=(xp.tensor(4), 3)).shape
i.bincount(xp.ones(3))
i.bincount(minlength=-1)
k = xp.autograd.graph.saved_tensors_hooks(abs, abs); k.__exit__()
""".strip().splitlines()


@in_one_test
@pytest.mark.parametrize("text", TEXTS)
def test_a_call_is_accepted_or_refused_as_torch_does(text):
    agree(written(text))


def test_a_missing_argument_is_refused_although_it_has_a_default():
    """Functions that take numpy's names declare None for required arguments."""
    least, tried = {}, 0
    for native in gen.load().values():
        required = [argument for argument in native.schema.positional if not argument.has_default]
        for variant, owner in ("function", functions), ("method", rl.Tensor):
            if native.out is None and variant in native.variants and required[:1] and required[0].type == "Tensor":
                call = owner, native.schema.name
                least[call] = min(len(required), least.get(call, 9))
    for (owner, name), count in least.items():
        if count > 1:
            tried += 1
            with pytest.raises(TypeError):
                print(name, getattr(owner, name)(rl.ones(2, 2)))
    assert tried > 100


def test_every_named_result_of_rushlight_is_torchs():
    for ours in rl.return_types.all_return_types:
        theirs = getattr(torch.return_types, ours.__name__)
        assert ours.__match_args__ == theirs.__match_args__ and ours.n_fields == theirs.n_fields
        assert repr(ours).replace("rushlight", "torch") == repr(theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x, n: xp.nn.functional.layer_norm(x, (3,), eps=n),
        lambda xp, x, n: xp.nn.functional.huber_loss(x, -x, delta=n),
        lambda xp, x, n: x.clone().normal_(0.0, n).shape,
        lambda xp, x, n: x.norm(n),
        lambda xp, x, n: xp.cdist(x, -x, n),
    ],
)
@pytest.mark.parametrize("number", [2.0, [2.0]])
def test_a_tensor_without_dimensions_is_a_number(call, number):
    agree(lambda xp: call(xp, xp.arange(6.0).view(2, 3), xp.tensor(number)))
