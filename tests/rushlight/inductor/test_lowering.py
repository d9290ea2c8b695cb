"""Lowering: loops instead of operators. What they compute is what eager execution computes, element by element."""

import pytest
import torch
from inductor_run import lowered, run_loops, same
from sweep import sweep

import rushlight as rl
from bench import parity
from rushlight.inductor.graph import lower
from rushlight.inductor.ir import ComputedBuffer, ExternKernel, FallbackKernel

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of overflow and the like

ELEMENTWISE = (
    "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "cos",
    "div", "eq", "erf", "exp", "expm1", "floor", "ge", "gt", "isinf", "isnan", "le", "lerp", "log", "log1p", "log2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "masked_fill", "maximum", "minimum", "mul", "ne", "neg",
    "nn.functional.elu", "nn.functional.gelu", "nn.functional.hardtanh", "nn.functional.leaky_relu", "nn.functional.silu",
    "nn.functional.softplus", "pow", "reciprocal", "round", "rsqrt", "rsub", "sigmoid", "sign", "sin", "sqrt", "square", "sub",
    "tan", "tanh", "trunc", "where",
)  # fmt: skip
VIEWS = (
    "broadcast_to", "diagonal", "expand", "flatten", "flip", "permute", "reshape", "select", "split", "squeeze", "t", "transpose",
    "unbind", "unsqueeze", "view",
)  # fmt: skip
REDUCTIONS = (
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
    "logsumexp",
)
OTHERS = (
    "cat", "gather", "index_select", "nn.functional.layer_norm", "nn.functional.mse_loss",
    "nn.functional.nll_loss", "log_softmax", "softmax", "stack", "tril", "triu", "full_like", "ones_like", "zeros_like",
    "sort", "topk", "median", "isclose", "norm", "var_mean", "index_copy", "index_fill", "masked_scatter",
    "scatter_reduce",
)  # fmt: skip


def on_rushlight(value):
    if isinstance(value, torch.Tensor):
        return rl.from_numpy(value.detach().contiguous().numpy().copy()).as_strided(
            list(value.shape), list(value.contiguous().stride())
        )
    if isinstance(value, torch.dtype):
        return getattr(rl, str(value).removeprefix("torch."))
    if isinstance(value, dict):
        return {key: on_rushlight(each) for key, each in value.items()}
    return type(value)(map(on_rushlight, value)) if type(value) in (list, tuple) else value


def find(name):
    found = rl
    for part in name.split("."):
        found = getattr(found, part, None)
    return found or getattr(rl.Tensor, name)


def tensors(value):
    if isinstance(value, rl.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [each for one in values for each in tensors(one)]


def samples(name):
    entry = next(entry for entry in parity.database()[name] if entry.name == name)
    for dtype in (torch.float32, torch.int64, torch.bool):
        if dtype not in entry.supported_dtypes("cpu"):
            continue
        here = [each for each in entry.sample_inputs("cpu", dtype) if each.kwargs.get("device", "cpu") == "cpu"]
        for sample in here[:8]:  # some are of the GPU, if there is one
            args, kwargs = on_rushlight([sample.input, *sample.args]), on_rushlight(sample.kwargs)
            known = tensors((args, kwargs))
            if any(isinstance(value, (rl.Tensor, list)) for value in args) and max(x.numel() for x in known) <= 500:
                yield args, kwargs, known


def replaced(value, new):
    """The arguments with other tensors, in order."""
    if isinstance(value, rl.Tensor):
        return next(new)
    if isinstance(value, dict):
        return {key: replaced(each, new) for key, each in value.items()}
    return type(value)(replaced(each, new) for each in value) if isinstance(value, (list, tuple)) else value


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", sweep([*ELEMENTWISE, *VIEWS, *REDUCTIONS, *OTHERS], every=14))
def test_loops_compute_what_the_operator_computes_on_the_samples_of_torch(name):
    tried = 0
    for args, kwargs, known in samples(name):

        def call(*inputs, args=args, kwargs=kwargs):
            new = iter(inputs)
            result = find(name)(*replaced(args, new), **replaced(kwargs, new))
            return list(result) if isinstance(result, (list, tuple)) else result

        try:
            expected = call(*known)
        except (RuntimeError, TypeError, IndexError, NotImplementedError):
            continue  # what eager execution refuses
        for mine, theirs in zip(run_loops(lowered(call, *known), known), tensors([expected])):
            same(mine, theirs)
            tried += 1
    assert tried


def test_a_view_costs_nothing():
    x = rl.randn(4, 6)
    found = lowered(lambda x: x.t().reshape(2, 12)[:, ::3].unsqueeze(1).expand(2, 3, 4), rl.randn(4, 6).t())
    assert found.operations == [] and found.outputs[0].buffer == found.inputs[0]
    (one,) = lowered(lambda x: x.flip(0).t() + x.reshape(6, 4), x).operations
    assert isinstance(one, ComputedBuffer) and one.kind is None


def test_a_chain_of_pointwise_operators_is_one_loop_nest():
    (one,) = lowered(lambda x: ((x * 2).relu() - 1).tanh(), rl.randn(5)).operations
    assert one.origins == ["mul", "relu", "sub", "tanh"]


def test_what_is_expensive_and_used_twice_is_computed_once():
    operations = lowered(lambda x, y: (x.exp() + 1, x.exp() * y), rl.randn(5), rl.randn(5)).operations
    assert len(operations) == 2  # two exp, each used once
    both = lowered(lambda x: (lambda e: (e + 1, e * 2))(x.exp()), rl.randn(5)).operations
    assert len(both) == 3 and both[0].value.name == "exp"


def test_products_are_left_to_blas_and_what_has_no_loop_to_its_kernel():
    a, b = rl.randn(3, 4), rl.randn(4, 5)
    product, summed = lowered(lambda a, b: a.relu() @ b, a, b), lowered(lambda a: (a + 1).cumsum(0), a)
    assert [type(each) for each in product.operations] == [ComputedBuffer, ExternKernel]
    assert [type(each) for each in summed.operations] == [ComputedBuffer, FallbackKernel]


def test_the_bias_of_a_linear_layer_is_added_where_its_result_is_used():
    x, w, b = rl.randn(3, 4), rl.randn(5, 4), rl.randn(5)
    followed = lowered(lambda x, w, b: rl.nn.functional.linear(x, w, b).relu(), x, w, b)
    alone = lowered(lambda x, w, b: rl.nn.functional.linear(x, w, b), x, w, b)
    assert followed.operations[0].op == "mm" and alone.operations[0].op == "addmm"


def test_writes_to_inputs_come_last_and_do_not_disturb_each_other():
    def swap(x, y):
        old = x * 1
        x.copy_(y)
        y.copy_(old)

    x, y = rl.arange(3).float(), -rl.arange(3).float()
    found = lowered(lambda x, y: swap(x, y) or [], x.clone(), y.clone())
    run_loops(found, [x, y])
    assert found.mutated == found.inputs
    assert x.tolist() == [0, -1, -2] and y.tolist() == [0, 1, 2]


def test_a_chain_of_any_length_is_lowered():
    def chain(x):
        for _ in range(300):
            x = (x * 0.99).relu() + 0.01
        return x

    x = rl.rand(4)
    same(run_loops(lowered(chain, x), [x])[0], chain(x))


def test_half_precision_is_left_to_the_eager_kernels():
    found = lowered(lambda x: (x + 1).float() * 2, rl.ones(3, dtype=rl.float16))
    assert [type(each) for each in found.operations] == [FallbackKernel, FallbackKernel, ComputedBuffer]


def test_a_graph_of_symbolic_sizes_is_refused_in_one_line():
    with pytest.raises(RuntimeError, match="is no tensor"):
        graph = rl.aot.make_fx(lambda x: x + 1)(rl.ones(3))
        next(iter(graph.graph.nodes)).meta["val"] = 3
        lower(graph)


def test_the_sizes_of_loops_may_be_lists_and_their_indices_are_lists(monkeypatch):
    from rushlight.inductor import ir, lowerings_pointwise

    seen = []

    def doubled(name, operands, dtype=None):
        def inner(indices):
            seen.append(type(indices))
            return ir.op(name, *(each.load(indices) for each in operands))

        return ir.Pointwise([*operands[0].sizes], operands[0].dtype, inner)

    monkeypatch.setattr(lowerings_pointwise, "pointwise", doubled)
    graph = lower(rl.aot.make_fx(lambda x: (x + x).maximum(x))(rl.zeros(2, 3)))
    assert graph.operations[-1].dtype is rl.float32 and set(seen) == {list}
