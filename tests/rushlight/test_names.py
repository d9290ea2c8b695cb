"""The names of devices, of old tensor types and of settings, which scripts use on every machine, are as in torch without a GPU."""

import pytest
from both import agree, written
from sweep import in_one_test

import rushlight as rl

LINES = """
xp.backends.mps.is_available(), xp.backends.mps.is_built(), xp.backends.cudnn.is_available(), xp.backends.cudnn.version()
import importlib; c = importlib.import_module(f"{xp.__name__}.backends.cudnn"); c is xp.backends.cudnn
xp.backends.cudnn.enabled, xp.backends.cudnn.benchmark, xp.backends.cudnn.deterministic, xp.backends.cuda.matmul.allow_tf32
xp.version.cuda, xp.version.hip, xp.version.debug, xp.version.__version__.split("+")[0]
xp.accelerator.is_available(), xp.accelerator.device_count(), xp.accelerator.current_accelerator()
xp.accelerator.current_device_index()
xp.mps.is_available(), xp.xpu.is_available(), xp.cpu.is_available(), xp.xpu.device_count(), xp.cpu.current_device()
xp.mps.synchronize()
xp.cuda.is_bf16_supported(), xp.cuda.empty_cache(), xp.cuda.memory_allocated(), xp.cuda.get_rng_state_all()
xp.cuda.current_device()
xp.cuda.get_device_name(0)
xp.cuda.set_device(0)
xp.cuda.set_device("cpu")
xp.cuda.set_device("cuda")
xp.cuda.set_device(-1), xp.cuda.set_rng_state(xp.zeros(16, dtype=xp.uint8)), xp.cuda.device(-1).__enter__()
xp.cuda.device(0).idx, xp.cuda.device("cuda:1").idx
xp.cuda.device(0).__enter__()
xp.cuda.device("cuda").__enter__()
xp.cuda.device("cpu")
xp.cuda.stream(None).__enter__()
xp.cuda.default_stream()
xp.cuda.is_current_stream_capturing()
xp.set_default_device("cuda"), xp.set_default_device(None)
xp.autograd.backward(x * 2, (y, y)); x.grad
xp.autograd.backward((x * 2, x * 3), (y,))
xp.cuda.synchronize()
xp.cuda.reset_peak_memory_stats()
issubclass(xp.OutOfMemoryError, RuntimeError), xp.cuda.OutOfMemoryError is xp.OutOfMemoryError
xp.cuda.amp.GradScaler().is_enabled(), xp.cuda.amp.autocast()._enabled, xp.autocast("cuda", enabled=False)._enabled
a = xp.autocast("cuda", dtype=xp.float16); a.__enter__(); z = m @ m; a.__exit__(None, None, None); z
y.cuda()
y.cuda(0)
y.to("cuda:0")
y.to("xpu")
y.to("mps")
xp.ones(2, device="cuda")
xp.tensor([1], device="cuda")
xp.nn.Linear(2, 2).cuda()
xp.nn.ReLU().cuda()
xp.device("cuda"), xp.device("cuda", 1), xp.device("mps").type, xp.device("cuda:1").index
xp.device("gpu")
xp.device("cuda:x")
xp.device(0)
y.is_cuda, y.is_sparse, y.is_quantized, y.is_cpu, y.get_device(), y.is_pinned()
y.pin_memory()
xp.autograd.Variable(y), xp.autograd.Variable(y, requires_grad=True), xp.autograd.Variable(y, volatile=True)
v = xp.autograd.Variable(x * 2); v.is_leaf, v.requires_grad, isinstance(v, xp.autograd.Variable)
v = xp.autograd.Variable(y); v.add_(1); y
xp.autograd.Variable([1.0])
xp.LongTensor(2, 3).shape, xp.LongTensor([1, 2]), xp.LongTensor(), xp.LongTensor(xp.Size([2])).shape, xp.LongTensor(range(3))
xp.LongTensor(np.array([1.5, 2.0])), xp.LongTensor([1.5, 2.0]), xp.LongTensor(np.int64(3)).shape, xp.LongTensor(size=(2,)).shape
xp.LongTensor(y)
xp.LongTensor(1.5)
xp.FloatTensor([1, 2]), xp.ByteTensor([1, 0]), xp.BoolTensor([1, 0]), xp.HalfTensor([1]), xp.DoubleTensor([[1], [2]])
a = np.ones(2, np.float32); t = xp.FloatTensor(a); a[0] = 5; t
xp.cuda.FloatTensor(2)
[isinstance(y, kind) for kind in (xp.FloatTensor, xp.LongTensor, xp.cuda.FloatTensor)], isinstance(i, xp.LongTensor)
y.type(), i.type(), y.bool().type(), xp.ones(1, device="meta").type()
y.type(xp.int64), y.type("torch.DoubleTensor"), y.type(xp.ByteTensor), y.type(y.type()) is y, y.type(xp.Tensor)
y.type(int)
y.type("torch.cuda.FloatTensor")
x.type(xp.DoubleTensor).requires_grad
xp.nn.Linear(2, 2).type(xp.DoubleTensor).weight.dtype
y.new(3).shape, i.new([1, 2]), y.new(), y.new(y), y.new(xp.Size([3])).shape
y.new(i)
xp.set_default_dtype(xp.float64); r = xp.ones(1), xp.tensor(1.5), xp.Tensor([1]), i / 2; xp.set_default_dtype(xp.float32); r
xp.set_default_tensor_type("torch.DoubleTensor"); r = xp.rand(1).dtype, xp.rand(1); xp.set_default_tensor_type(xp.FloatTensor); r[0]
xp.set_default_dtype(xp.int64)
xp.set_default_tensor_type("torch.cuda.FloatTensor")
y.storage(), len(y.storage()), list(y.storage()), m[1].storage()[0], y.storage().dtype, y.storage().device
s = m.storage(); s[3] = 7; m, s.tolist(), s.data_ptr() == m.data_ptr()
xp.set_num_threads(0)
xp.set_float32_matmul_precision("high"); p = xp.get_float32_matmul_precision(); xp.set_float32_matmul_precision("highest"); p
d = xp.nn.DataParallel(xp.nn.Linear(2, 2)); d, list(d.state_dict()), d(m).shape, d.device_ids
t = xp.utils._pytree; v, s = t.tree_flatten({"a": [1, (2, y)], "b": 4}); v, t.tree_unflatten([5] * 4, s), t.tree_map(str, [1])
xp.jit.is_scripting(), xp.jit.is_tracing(), xp._C._get_tracing_state()
xp.numel(m), xp.get_default_device(), xp.set_default_device("cpu")
g = xp.Generator().manual_seed(3); r = xp.randn(3, generator=g); h = pickle.loads(pickle.dumps(g)); xp.randn(3, generator=h)
g = xp.Generator().manual_seed(3); h = copy.deepcopy(g); r = xp.rand(1, generator=g); h is g, xp.rand(1, generator=h)
xp.tensor(y.storage()), xp.tensor(y.storage()).data_ptr() == y.data_ptr(), xp.as_tensor(y.storage()), xp.Tensor(y.storage())
xp.tensor(i.storage())
xp.tensor(i.storage(), dtype=xp.int64), xp.tensor(i.untyped_storage()), xp.LongTensor(i.storage()), i.new(i.storage())
xp.Tensor(y.untyped_storage()), xp.tensor(y.untyped_storage(), dtype=xp.float32), y.new_tensor(y.storage())
y.new_tensor(i.storage())
xp.FloatTensor(i.storage())
f = xp.from_dlpack(y, copy=True); f[0] = 7; y, xp.from_dlpack(ext_tensor=y).data_ptr() == y.data_ptr()
xp.autograd.backward(x * 2, grad_variables=y); x.grad
xp.autograd.backward(x * 2, y, grad_variables=y)
xp.nn.parameter.is_lazy(param=y), xp.autograd.gradcheck(func=xp.sin, inputs=x.detach().double().requires_grad_())
xp.no_grad(orig_func=lambda: xp.is_grad_enabled())()
issubclass(xp.nn.ZeroPad2d, xp.nn.ConstantPad2d), xp.nn.ZeroPad2d(1), xp.nn.ZeroPad2d(1)(m[None])
xp.searchsorted(m, xp.ones(3, 2))
hasattr(xp, "index"), hasattr(xp, "alias"), hasattr(xp, "atan2_"), hasattr(xp, "renorm_"), hasattr(xp, "atan_")
y.is_cuda = True
xp.nn.utils.fusion.fuse_linear_bn_eval(linear=xp.nn.Linear(2, 2).eval(), bn=xp.nn.BatchNorm1d(2).eval())
"""


@in_one_test
@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_a_name_does_what_it_does_in_torch(line):
    agree(written(line))


def test_a_program_for_several_processes_runs_as_one():
    dist, parallel = rl.distributed, rl.nn.parallel
    for use in (dist.get_rank, dist.barrier, lambda: parallel.DistributedDataParallel(rl.nn.Linear(2, 2))):
        with pytest.raises(ValueError, match="has not been initialized"):
            use()
    with pytest.raises(RuntimeError, match="process groups of several ranks, such as 2"):
        dist.init_process_group("gloo", rank=0, world_size=2)
    dist.init_process_group("gloo", rank=0, world_size=1)
    try:
        assert [dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend()] == [
            True,
            0,
            1,
            "gloo",
        ]
        x, gathered, objects = rl.tensor([1.0, 2.0]), [rl.zeros(2)], [None]
        assert dist.all_reduce(x, op=dist.ReduceOp.AVG, async_op=True).wait()
        assert [dist.broadcast(x, src=0), dist.barrier(), dist.all_gather(gathered, x)] == [None] * 3
        dist.all_gather_object(objects, "a")
        assert (x.tolist(), gathered[0].tolist(), objects) == ([1, 2], [1, 2], ["a"])
        model = parallel.DistributedDataParallel(rl.nn.Linear(2, 2))
        with model.no_sync():
            model(rl.ones(1, 2)).sum().backward()
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
        assert model.module.weight.grad.tolist() == [[1, 1], [1, 1]]
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


@in_one_test
@pytest.mark.parametrize("options", [
    {"precision": 2}, {"sci_mode": True}, {"sci_mode": False}, {"linewidth": 30}, {"threshold": 5, "edgeitems": 1},
    {"profile": "short"}, {"profile": "full"}, {"precision": 8, "sci_mode": False},
])  # fmt: skip
def test_print_options_change_the_text(options):
    def program(xp):
        xp.set_printoptions(**options)
        texts = [
            str(x)
            for x in (xp.arange(40.0).view(4, 10) / 7, xp.tensor([1e-5, 1e5]), xp.arange(1200), xp.tensor([1.0, 2]))
        ]
        xp.set_printoptions(profile="default")
        return texts

    agree(program)
