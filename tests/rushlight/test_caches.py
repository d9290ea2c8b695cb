"""What a cache forgets: after a setting changes, results are those of caches that are filled after the change.

Each program runs with caches that were filled before the setting changed, and then with empty caches. What torch gives is compared
where both have the same metadata without the setting. A cache that a module adds later is found by a walk of all objects.
"""

import contextlib
import functools
import gc
import sys
from importlib import import_module
from types import CellType, FunctionType, MethodType

import pytest
import torch
from both import observe
from sweep import sweep

import rushlight as rl
import rushlight.ao
import rushlight.dynamo
import rushlight.inductor
from rushlight.c10 import fast_paths

# Programs: `x`, `m` are floats, `i` ints, `b` bools, `w` requires grad -------------------------------------------------

PROGRAMS = """
xp.tensor(1.5); xp.as_tensor([1.5]); xp.ones(2); xp.full((2,), 1.5); xp.full((2,), 1); xp.arange(3.0); xp.linspace(0, 1, 3)
xp.eye(2); xp.rand(2); xp.randn(2); xp.randperm(3); xp.zeros_like(i); x.new_zeros(2); xp.empty(2).isnan()
xp.empty_like(m).isnan(); x.new_empty(2).isnan(); xp.empty_strided((2,), (2,)).isnan(); x.clone().resize_(4)[2:].isnan()
i + 1.5; 1.5 - i; i * 2; i / 2; i / i; i // 2; i % 2.5; i ** 2; i ** 0.5; 2.5 ** i; i.sqrt(); i.exp(); i.sum(); b * 1.5; b + 1
x + i; x * 1.5; x.clone().mul_(1.5); x.mean(); x.mean(0); x.sum(0, keepdim=True); x.prod(); x.std(); x.amax(); x.argmax()
x.norm(); x.cumsum(0); x.softmax(0); F.softmax(x, 0); F.log_softmax(m, 1); xp.where(i > 1, 1.5, 2.5); xp.where(i > 1, i, 2.5)
xp.clamp(i, min=1.5); xp.clamp(x, 0, 1); xp.sigmoid(i); xp.true_divide(i, 3); xp.atan2(i, i); xp.cat([x, i]); xp.stack([x, x])
xp.result_type(i, 1.5); m @ m; x @ x; xp.mm(m, m); xp.addmm(x, m, m); xp.bmm(m[None], m[None]); F.linear(m, m, x); F.gelu(m)
F.dropout(m, 0.5); F.layer_norm(m, (2,)); F.mse_loss(x, x + 1); F.cross_entropy(m, i - 1); F.pad(m, (1, 1), value=1.5)
F.scaled_dot_product_attention(m[None], m[None], m[None]); xp.nn.Linear(2, 2).weight; xp.nn.Embedding(3, 2).weight
xp.nn.BatchNorm1d(2).running_mean; xp.nn.LSTM(2, 2).weight_ih_l0; xp.nn.init.xavier_uniform_(xp.empty(2, 2)); x[i - 1]; x[0]
m[:, 1]; m[..., None]; m[[0, 1], [1, 0]]; m.view(4); m.reshape(4); m.t(); m.split(1); m.expand(2, 2, 2); m.flatten(); m.chunk(2)
str(x); repr(m / 3); repr(x.double()); repr(xp.tensor([1e-8, 1e8])); x.double(); x.to(xp.float16); xp.finfo().dtype
gradient((w * x * 2).sum()); gradient((w @ m).sum()); gradient(F.linear(m, m, w).pow(2).sum()); gradient((w.exp() + w.sum()).prod())
gradient(F.cross_entropy(m * w, i - 1)); gradient((w[0] + w[1:] * 2).sum()); w * x; w.view(2); (w * 2).requires_grad
step(xp.optim.SGD, 0.1); step(xp.optim.Adam, 0.1); xp.utils.data.default_collate([1.5, 2.5])
"""
COMPILED = """
i * 1.5; xp.ones(2) + x; xp.rand(2) + x; i / 2; xp.zeros(2); x + xp.is_grad_enabled(); x.sum() / i; (w * x).sum()
"""


def texts_of(lines):
    return [text.strip() for text in lines.replace("\n", ";").split(";") if text.strip()]


log = []


def gradient_of(leaf):
    def gradient(y):
        y.backward()
        return y, leaf.grad

    return gradient


def state_after_steps(xp, x):
    def step(cls, lr):
        param = xp.nn.Parameter(x.clone())
        optimizer = cls([param], lr=lr)
        for _ in range(2):
            optimizer.zero_grad()
            (param * param).sum().backward()
            optimizer.step()
        return [param, optimizer.state[param].get("step")]

    return step


def details(value):
    """What can be seen of a result, and of the tensors in it."""
    if isinstance(value, (list, tuple)):
        return [details(item) for item in value]
    if not isinstance(value, (rl.Tensor, torch.Tensor)):
        return observe(value)
    node = value.grad_fn and value.grad_fn.name().rpartition("::")[2]
    seen = [
        str(value.dtype).rpartition(".")[2],
        str(value.device),
        [*value.shape],
        value.stride(),
        value.requires_grad,
        node,
    ]
    return [*seen, value.is_inference(), None if value.is_meta else repr(value.detach().tolist())]


def run(xp, text, compiled=None):
    """The result of a program, whose inputs do not depend on a setting, and what modes, hooks and kernels have seen."""
    xp.manual_seed(3)
    with xp.inference_mode(False), xp.enable_grad(), xp.device("cpu"):
        numbers = {"x": [1.0, 2.0], "m": [[1.0, 2.0], [3.0, 4.0]], "w": [1.0, 3.0]}
        names = {name: xp.tensor(value, dtype=xp.float32) for name, value in numbers.items()}
        names |= {"xp": xp, "F": xp.nn.functional, "i": xp.tensor([1, 2]), "b": xp.tensor([True, False])}
        names["w"].requires_grad_()
    names |= {"gradient": gradient_of(names["w"]), "step": state_after_steps(xp, names["x"])}
    log.clear()
    try:
        result = eval(text, names) if compiled is None else compiled(names["x"], names["i"], names["w"])
    except Exception as error:
        result = type(error).__name__
    seen = [*log]
    return details(result), seen


# Settings ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def setting(set_value, value, before):
    set_value(value)
    try:
        yield
    finally:
        set_value(before)


def noted(name, result):
    def kernel(*args, **kwargs):
        log.append(name)
        return result(*args)

    return kernel


@contextlib.contextmanager
def kernel(xp, name, function, key="CPU"):
    library = xp.library.Library("aten", "IMPL")
    library.impl(name, noted(name, function), key)
    try:
        yield
    finally:
        library._destroy()


@contextlib.contextmanager
def printing(xp):
    xp.set_printoptions(precision=2, sci_mode=True)
    try:
        yield
    finally:
        xp.set_printoptions(profile="default")


@contextlib.contextmanager
def mode(xp):
    name = "rushlight.c10.dispatch" if xp is rl else "torch.utils._python_dispatch"
    base = getattr(import_module(name), "DispatchMode" if xp is rl else "TorchDispatchMode")

    class Mode(base):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(func.name().partition(".")[0])
            return func(*args, **(kwargs or {}))

    with Mode():
        yield


@contextlib.contextmanager
def profiling(xp):
    with import_module(f"{xp.__name__}.profiler").profile():
        yield


SETTINGS = {
    "float64": lambda xp: setting(xp.set_default_dtype, xp.float64, xp.float32),
    "float16": lambda xp: setting(xp.set_default_dtype, xp.float16, xp.float32),
    "device": lambda xp: xp.device("meta"),
    "default device": lambda xp: setting(xp.set_default_device, "meta", None),
    "no_grad": lambda xp: xp.no_grad(),
    "inference": lambda xp: xp.inference_mode(),
    "deterministic": lambda xp: setting(xp.use_deterministic_algorithms, True, False),
    "threads": lambda xp: setting(xp.set_num_threads, 1, xp.get_num_threads()),
    "autocast to bfloat16": lambda xp: xp.autocast("cpu", dtype=xp.bfloat16),
    "matmul precision": lambda xp: setting(xp.set_float32_matmul_precision, "medium", "highest"),
    "anomaly mode": lambda xp: xp.autograd.set_detect_anomaly(True),
    "hooks": lambda xp: xp.autograd.graph.saved_tensors_hooks(noted("pack", lambda t: t), noted("unpack", lambda t: t)),
    "printing": printing,
    "mode": mode,
    "profiler": profiling,
    "kernel of mul": lambda xp: kernel(xp, "mul.Tensor", lambda a, b: a.clone()),
    "kernel of mm": lambda xp: kernel(xp, "mm", lambda a, b: a.clone()),
    "kernel of softmax": lambda xp: kernel(xp, "_softmax", lambda a, *_: a.clone()),
    "autograd kernel of exp": lambda xp: kernel(xp, "exp", lambda a: a.detach() * 2, "AutogradCPU"),
}
SEES_OTHER_CALLS = ("mode", "profiler", "hooks")  # rushlight's operators are not always torch's


def clear():
    """Clear every cache that an object of this process is."""
    fast_paths.clear_caches()
    for cache in memoized():
        if name_of(cache) not in OF_THE_MACHINE:
            cache.cache_clear()
    rl.dynamo.reset()


def name_of(cache):
    return f"{cache.__module__.rpartition('.')[2]}.{cache.__qualname__}"


OF_THE_MACHINE = {  # the compiler, and what it has compiled
    "attention.compiled_kernels", "codecache.compiler_version", "codecache.instructions", "codecache.machine",
    "codecache.matmul_loop", "cpp_extension.build_folder", "externs.has_wide_vectors", "int8_kernel.library",
    "loops._module",
}  # fmt: skip
OF_THE_ARGUMENTS = {  # their results depend on nothing else, and on no function that an exercise replaces
    "bytecode.simplify", "engine.is_expandable_to", "gather_scatter._own_positions", "ir.<lambda>", "ir.IndexExpr", "ir.Load",
    "ir.Op", "library.OpOverloadPacket", "losses._row_starts", "reductions._ones", "strided._in_bytes",
    "triton_helpers._as_interpreted",
}  # fmt: skip
WALKED = (
    dict,
    list,
    tuple,
    set,
    type,
    CellType,
    FunctionType,
    MethodType,
    functools.partial,
    functools._lru_cache_wrapper,
)


@functools.cache
def objects_of_the_framework():
    """All functions, classes and containers that the modules of the framework reach, except what only the course has."""
    rooms = ("course", "on_torch", "clinic", "contribute", "torchgen", "distributed")
    modules = [
        m for name, m in sys.modules.items() if name.startswith("rushlight.") and name.split(".")[1] not in rooms
    ]
    waiting = [vars(module) for module in modules]
    found = {id(x): x for x in waiting}
    while waiting:
        for x in gc.get_referents(waiting.pop()):
            module = x.__module__ if isinstance(x, (type, FunctionType)) else "rushlight"
            if isinstance(x, WALKED) and id(x) not in found and str(module).startswith("rushlight"):
                found[id(x)] = x
                waiting.append(x)
    return [*found.values()]


def memoized():
    """All functions of the framework with a `functools` cache."""
    wrappers = [x for x in objects_of_the_framework() if isinstance(x, functools._lru_cache_wrapper)]
    return [x for x in wrappers if str(x.__module__).startswith("rushlight.")]


def test_every_cache_is_cleared_or_depends_on_its_arguments_alone():
    clearers = fast_paths.cache_clearers
    assert {name_of(x) for x in memoized() if x.cache_clear not in clearers} <= OF_THE_MACHINE | OF_THE_ARGUMENTS
    plans = [x for x in objects_of_the_framework() if isinstance(x, fast_paths.Cache)]
    assert len(plans) > 10
    assert all(x.clear in clearers for x in plans)


def run_all(xp, compiled):
    """The results of all programs. Those that are compiled come first, because a compiler may clear caches."""
    results = {f"compiled: {text}": run(xp, text, function) for text, function in compiled.items()}
    return results | {text: run(xp, text) for text in texts_of(PROGRAMS)}


@pytest.fixture(scope="module")
def compiled():
    """Functions that were compiled before any setting changed."""
    functions = [(text, eval(f"lambda x, i, w: {text}", {"xp": rl})) for text in texts_of(COMPILED)]
    return {text: rl.compile(f, backend=("aot_eager", "inductor")[i % 2]) for i, (text, f) in enumerate(functions)}


@pytest.fixture(scope="module")
def plain():
    """What torch gives without a setting."""
    return run_all(torch, {})


def metadata(seen):
    if isinstance(seen, list) and len(seen) == 8 and isinstance(seen[2], list):
        return seen[:-1]
    return [metadata(item) for item in seen] if isinstance(seen, list) else seen


@pytest.mark.parametrize("name", sweep(SETTINGS, every=6))
def test_caches_forget_what_a_setting_changes(name, compiled, plain):
    clear()
    before = run_all(rl, compiled)
    with SETTINGS[name](rl):
        warm = run_all(rl, compiled)
    after = run_all(rl, compiled)
    clear()
    with SETTINGS[name](rl):
        cold = run_all(rl, compiled)
    clear()
    with SETTINGS[name](torch):
        theirs = run_all(torch, {})
    for text in before:
        assert after[text] == before[text], f"{text}: after the setting {after[text]}, before {before[text]}"
        if text.startswith("compiled") and name == "profiler":
            continue  # a capture is profiled too
        assert warm[text] == cold[text], f"{text}: with full caches {warm[text]}, with empty caches {cold[text]}"
        prints = "kernel" in name and text.startswith(("str", "repr"))  # printing computes by other operators
        if text not in plain or prints or metadata(before[text][0]) != metadata(plain[text][0]):
            continue
        assert metadata(warm[text][0]) == metadata(theirs[text][0]), f"{text} in torch"
        if name not in SEES_OTHER_CALLS:
            assert set(warm[text][1]) == set(theirs[text][1]), f"{text} in torch"
