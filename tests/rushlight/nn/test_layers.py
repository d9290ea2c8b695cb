"""Layers compute, show and hold what torch's do: with the same parameters they give the same numbers and gradients."""

import inspect
import math

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test

import rushlight as rl

LAYERS = {
    "Linear(3, 2)": (2, 3),
    "Linear(3, 2, bias=False)": (4, 2, 3),
    "Linear(in_features=3, out_features=0)": (2, 3),
    "LayerNorm(3)": (4, 3),
    "LayerNorm((2, 3), eps=0.1)": (4, 2, 3),
    "LayerNorm([3], bias=False)": (4, 3),
    "LayerNorm(3, elementwise_affine=False)": (3,),
    "RMSNorm(3)": (4, 3),
    "RMSNorm((2, 3), eps=0.1, elementwise_affine=False)": (2, 3),
    "BatchNorm1d(3)": (4, 3),
    "BatchNorm1d(3, momentum=None, affine=False)": (4, 3, 2),
    "BatchNorm1d(3, track_running_stats=False, bias=False)": (4, 3),
    "BatchNorm2d(3)": (2, 3, 2, 2),
    "GroupNorm(2, 4)": (2, 4, 3),
    "GroupNorm(2, 4, affine=False)": (1, 4),
    "Conv1d(3, 2, 2)": (2, 3, 5),
    "Conv1d(4, 2, 3, 2, 1, 2, 2, False)": (4, 9),
    "Conv1d(2, 3, 3, padding=2, padding_mode='replicate')": (2, 2, 5),
    "Conv2d(2, 4, 3, padding=1)": (2, 2, 5, 5),
    "Conv2d(2, 2, (3, 2), padding='same', groups=2)": (2, 2, 4, 5),
    "Conv2d(2, 3, 3, padding=(1, 2), padding_mode='reflect')": (2, 2, 4, 5),
    "Conv2d(2, 3, 3, padding='same', padding_mode='circular')": (2, 4, 5),
    "Conv3d(2, 3, 2, padding='same', padding_mode='circular')": (1, 2, 3, 4, 2),
    "ConvTranspose1d(4, 2, 3, 2, 1, 1, 2)": (2, 4, 5),
    "ConvTranspose2d(2, 3, (3, 2), stride=2, dilation=(1, 2), bias=False)": (2, 4, 5),
    "ConvTranspose3d(2, 2, 2, 2)": (1, 2, 2, 3, 2),
    "MaxPool2d(2)": (2, 3, 4, 5),
    "MaxPool2d(3, 2, 1, ceil_mode=True)": (2, 6, 5),
    "AvgPool2d(3, 2, 1, count_include_pad=False)": (2, 3, 5, 5),
    "AdaptiveAvgPool2d((2, None))": (2, 3, 5, 4),
    "AdaptiveAvgPool2d(1)": (2, 3, 5, 4),
    "MaxPool3d(2)": (2, 3, 4, 5, 6),
    "MaxPool3d((2, 1, 3), 2, (1, 0, 1), ceil_mode=True)": (3, 5, 5, 7),
    "AdaptiveMaxPool2d((None, 2))": (2, 3, 7, 5),
    "Upsample(scale_factor=2)": (1, 2, 3, 3),
    "Unfold((3, 2), dilation=(1, 2), padding=1, stride=2)": (2, 3, 7, 6),
    "Unfold(2)": (2, 4, 3),
    "Fold((7, 6), (3, 2), dilation=(1, 2), padding=1, stride=2)": (2, 18, 12),
    "Fold(3, 2)": (8, 4),
    "Upsample((5, 4), mode='bilinear')": (1, 2, 3, 3),
    "UpsamplingBilinear2d(scale_factor=2)": (1, 2, 3, 3),
    "UpsamplingNearest2d((5, 4))": (1, 2, 3, 3),
    "Dropout(0.0)": (2, 3),
    "Dropout(1.0)": (2, 3),
    "Dropout(1.0, inplace=True)": (2, 3),
    "Flatten()": (2, 3, 4),
    "Flatten(0, 1)": (2, 3, 4),
    "Unflatten(1, (3, 2))": (2, 6),
    "Identity(3, x=4)": (2,),
    "ReLU()": (2, 3),
    "ReLU(inplace=True)": (2, 3),
    "ReLU6()": (2, 3),
    "ReLU6(True)": (2, 3),
    "GELU()": (2, 3),
    "GELU('tanh')": (2, 3),
    "SiLU()": (2, 3),
    "SiLU(inplace=True)": (2, 3),
    "Tanh()": (2, 3),
    "Sigmoid()": (2, 3),
    "Softmax(dim=1)": (2, 3),
    "Softmax()": (2, 3),
    "LogSoftmax(-1)": (2, 3),
    "Softmin(0)": (2, 3),
    "LeakyReLU()": (2, 3),
    "LeakyReLU(0.2, True)": (2, 3),
    "ELU(0.5)": (2, 3),
    "Softplus(2.0, 1.0)": (2, 3),
    "Hardtanh()": (2, 3),
    "Hardtanh(-0.5, 2.0, True)": (2, 3),
    "AlphaDropout(0.0, inplace=True)": (2, 3),
    "BatchNorm3d(3)": (2, 3, 2, 2, 2),
    "ChannelShuffle(3)": (2, 6, 2, 2),
    "Dropout1d(1.0)": (2, 3, 4),
    "Dropout2d(1.0, True)": (2, 3, 4, 4),
    "Hardsigmoid(True)": (2, 3),
    "InstanceNorm2d(3)": (3, 2, 2),
    "InstanceNorm1d(3, affine=True, track_running_stats=True)": (2, 3, 4),
    "PixelShuffle(2)": (1, 8, 2, 3),
    "PixelUnshuffle(2)": (1, 2, 4, 6),
    "Softmax2d()": (2, 3, 2, 2),
    "SyncBatchNorm(3)": (4, 3),
    "Sequential(Linear(3, 4), GELU(), LayerNorm(4), Linear(4, 1))": (5, 3),
}


def make(xp, layer):
    return eval(layer, {name: getattr(xp.nn, name) for name in rl.nn.__all__})


def numbers(xp, *sizes, seed=0):
    return xp.tensor(np.random.default_rng(seed).standard_normal(sizes).tolist(), dtype=xp.float64).reshape(sizes)


def filled(xp, module):
    """With the same parameters in both frameworks."""
    for i, parameter in enumerate(module.double().parameters()):
        parameter.data = numbers(xp, *parameter.shape, seed=i + 1)
    return module


def near(x):
    return (
        x if x is None else [tuple(x.shape), str(x.dtype).rpartition(".")[2], np.round(x.detach().numpy(), 9).tolist()]
    )


def compare(program, *args):
    ours, theirs = (program(xp, *args) for xp in FRAMEWORKS)
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a[:2] == b[:2]
            np.testing.assert_allclose(a[2], b[2], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("sizes", [(5, 3), (4, 3, 7), (2, 3, 4, 4)], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_a_batch_norm_is_one_node_with_torchs_gradients(sizes, training):
    numbers, names = [], []
    for xp in FRAMEWORKS:
        norm = xp.nn.BatchNorm1d(3) if len(sizes) < 4 else xp.nn.BatchNorm2d(3)
        x = (xp.arange(math.prod(sizes)).reshape(sizes) * 0.7).sin().requires_grad_()
        norm(x + 1)
        result = norm.train(training)(x)
        inputs, slope = [x, norm.weight, norm.bias], xp.arange(x.numel()).reshape(sizes).cos()
        first = xp.autograd.grad(result, inputs, slope, retain_graph=True)
        recorded = xp.autograd.grad(result, inputs, slope, create_graph=True)
        second = xp.autograd.grad(sum(grad.square().sum() for grad in recorded), inputs[:2])
        every = [result, *first, *recorded, *second, norm.running_mean, norm.running_var]
        numbers.append(np.concatenate([each.detach().numpy().ravel() for each in every]))
        names.append([result.grad_fn.name(), norm.running_mean._version, norm.running_var._version])
    np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-4)
    assert names[0] == names[1]


def test_a_batch_norm_in_evaluation_notices_a_write_to_its_estimates():
    def program(xp):
        norm = xp.nn.BatchNorm1d(2).eval()
        result = norm(xp.ones(2, 2))
        norm.running_mean.add_(1)
        result.sum().backward()

    agree(program)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        program(rl)


@in_one_test
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_gives_torchs_numbers_and_gradients(layer, training):
    def program(xp):
        module = filled(xp, make(xp, layer)).train(training)
        x = numbers(xp, *LAYERS[layer]).requires_grad_()
        result = module(x * 2)
        result.square().sum().backward()
        state = module.state_dict()
        return [repr(module), list(state)], *map(
            near, (result, x.grad, *(p.grad for p in module.parameters()), *state.values())
        )

    compare(program)


CLASSES = [name for name in rl.nn.__all__ if inspect.isclass(getattr(rl.nn, name))]


@in_one_test
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_takes_what_torchs_takes(name):
    parameters = []
    for xp in FRAMEWORKS:
        found = inspect.signature(getattr(xp.nn, name)).parameters.values()
        parameters.append([(each.name, getattr(each.default, "__name__", each.default), each.kind) for each in found])
    if name == "Hardtanh":
        parameters[1] = parameters[1][:3]  # then two older names
    if not parameters[0]:  # torch's takes *args and **kwargs for `Module`, which refuses all
        assert [each[0] for each in parameters.pop()] in ([], ["args", "kwargs"])
    if name not in ("Module", "UninitializedBuffer", "UninitializedParameter"):
        assert parameters[0] == parameters[-1]


LOSSES = {
    "MSELoss()": "numbers",
    "MSELoss(reduction='sum')": "numbers",
    "MSELoss(size_average=False)": "numbers",
    "MSELoss(reduce=False)": "numbers",
    "L1Loss(reduction='none')": "numbers",
    "SmoothL1Loss(beta=0.5)": "numbers",
    "HuberLoss(delta=0.5)": "numbers",
    "BCEWithLogitsLoss()": "numbers",
    "BCEWithLogitsLoss(pos_weight=weight, reduction='none')": "numbers",
    "CosineSimilarity()": "numbers",
    "CosineSimilarity(dim=0, eps=3.0)": "numbers",
    "HingeEmbeddingLoss()": "numbers",
    "PairwiseDistance(3.0, keepdim=True)": "numbers",
    "PoissonNLLLoss(False, True)": "numbers",
    "BCELoss()": "probabilities",
    "BCELoss(weight, reduction='none')": "probabilities",
    "BCELoss(reduction='sum')": "probabilities",
    "KLDivLoss()": "probabilities",
    "KLDivLoss(reduction='batchmean')": "probabilities",
    "KLDivLoss(reduction='none', log_target=True)": "numbers",
    "KLDivLoss(size_average=False)": "probabilities",
    "NLLLoss(weight)": "classes",
    "CrossEntropyLoss()": "classes",
    "CrossEntropyLoss(weight, ignore_index=1, reduction='sum')": "classes",
    "CrossEntropyLoss(weight, label_smoothing=0.2)": "classes",
    "CrossEntropyLoss(label_smoothing=0.2)": "numbers",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_gives_torchs_numbers_and_gradients(loss):
    def program(xp):
        weight = xp.tensor([0.5, 1.0, 2.0], dtype=xp.float64)
        module = eval(loss, {**{name: getattr(xp.nn, name) for name in rl.nn.__all__}, "weight": weight})
        x = numbers(xp, 4, 3).requires_grad_()
        target = (
            xp.tensor([0, 1, 2, 1]) if LOSSES[loss] == "classes" else numbers(xp, 4, 3, seed=1).abs().clamp(max=1.0)
        )
        result = module(x.sigmoid() if LOSSES[loss] == "probabilities" else x, target)
        result.sum().backward()
        return [repr(module), list(module.state_dict())], near(result), near(x.grad)

    compare(program)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, nn: [nn.Embedding(5, 2, padding_idx=1).weight[1], nn.Embedding(5, 2, padding_idx=-1)],
        lambda xp, nn: nn.Embedding(5, 2, padding_idx=5),
        lambda xp, nn: nn.Embedding(5, 2, padding_idx=-6),
        lambda xp, nn: nn.Embedding(5, 2, max_norm=1.5, norm_type=1.0, scale_grad_by_freq=True),
        lambda xp, nn: nn.Embedding.from_pretrained(xp.ones(3, 2))(xp.tensor([2, 0])),
        lambda xp, nn: [e := nn.Embedding.from_pretrained(xp.ones(3, 2), False, 1), e, e.weight.requires_grad][1:],
        lambda xp, nn: nn.Embedding.from_pretrained(xp.ones(3)),
        lambda xp, nn: nn.Embedding(3, 2, _weight=xp.ones(2, 2)),
        lambda xp, nn: [
            e := nn.Embedding(3, 2, padding_idx=0),
            e(xp.tensor([0, 1, 1])).sum().backward(),
            e.weight.grad,
        ][2],
        lambda xp, nn: [
            e := nn.Embedding.from_pretrained(xp.ones(3, 2) * 3, max_norm=2.0),
            e(xp.tensor([1])).shape,
            e.weight[0],
        ],
        lambda xp, nn: nn.Linear(2, 3)(xp.ones(2, 3)),
        lambda xp, nn: nn.Linear(2, 3)(xp.ones(2, 2, dtype=xp.float64)),
        lambda xp, nn: [nn.Linear(2, 3, dtype=xp.float64).weight.dtype, nn.Linear(2, 3, device="meta").bias.is_meta],
        lambda xp, nn: nn.LayerNorm(3)(xp.ones(2)),
        lambda xp, nn: nn.LayerNorm(3)(xp.ones(3, dtype=xp.float64)),
        lambda xp, nn: nn.LayerNorm(3)(xp.ones(2, 3, dtype=xp.float16)),
        lambda xp, nn: nn.LayerNorm(3)(xp.ones(3, dtype=xp.int64)),
        lambda xp, nn: nn.LayerNorm(3)(xp.ones(0, 3)),
        lambda xp, nn: nn.LayerNorm(())(xp.ones(3)),
        lambda xp, nn: nn.LayerNorm(2)(xp.ones(2, 2).t()),
        lambda xp, nn: nn.RMSNorm(2)(xp.ones(2, dtype=xp.float16)).dtype,
        lambda xp, nn: nn.RMSNorm(3)(xp.ones(2)),
        lambda xp, nn: nn.BatchNorm1d(3)(xp.ones(3)),
        lambda xp, nn: nn.BatchNorm1d(3)(xp.ones(1, 3)),
        lambda xp, nn: nn.BatchNorm1d(3)(xp.ones(2, 4)),
        lambda xp, nn: nn.BatchNorm1d(3).load_state_dict({"weight": xp.ones(3)}, strict=False),
        lambda xp, nn: [
            b := nn.BatchNorm1d(2),
            s := dict(b.state_dict()),
            s.pop("num_batches_tracked"),
            b.load_state_dict(s),
        ][3],
        lambda xp, nn: xp.batch_norm(xp.ones(2, 3), None, None, None, xp.ones(3), False, 0.1, 1e-5, False),
        lambda xp, nn: xp.batch_norm(xp.ones(2, 3), None, None, xp.ones(2), None, True, 0.1, 1e-5, False),
        lambda xp, nn: nn.Dropout(1.5),
        lambda xp, nn: [x := xp.ones(2), nn.Dropout(0.5).eval()(x) is x, nn.Dropout(0.0)(x) is x],
        lambda xp, nn: sorted({*nn.Dropout(0.75)(xp.ones(100)).tolist()}),
        lambda xp, nn: nn.Hardtanh(2.0, 1.0),
        lambda xp, nn: nn.AdaptiveMaxPool2d((2, 3), True)(xp.arange(35.0).view(1, 5, 7).sin()),
        lambda xp, nn: nn.ConvTranspose2d(2, 2, 3, padding_mode="reflect"),
        lambda xp, nn: nn.ConvTranspose2d(2, 2, 3, 2)(xp.ones(1, 2, 3, 3), output_size=(1, 2, 8, 7)).shape,
        lambda xp, nn: nn.ConvTranspose2d(2, 2, 3, 2)(xp.ones(2, 3, 3), output_size=(8, 8)).shape,
        lambda xp, nn: nn.ConvTranspose2d(2, 2, 3, 2)(xp.ones(1, 2, 3, 3), output_size=(9, 7)),
        lambda xp, nn: nn.ConvTranspose2d(2, 2, 3, 2)(xp.ones(1, 2, 3, 3), output_size=(2, 8, 7)),
        lambda xp, nn: nn.InstanceNorm1d(4, affine=True)(xp.ones(2, 3, 4)),
        lambda xp, nn: nn.RReLU(0.3, 0.3).eval()(xp.tensor([-1.0, 2.0])),
        lambda xp, nn: nn.Unflatten(1, 3),
        lambda xp, nn: nn.Unflatten(1, (3, "a")),
        lambda xp, nn: nn.MSELoss(reduction="most")(xp.ones(1), xp.ones(1)),
        lambda xp, nn: [m := nn.CrossEntropyLoss(xp.ones(2)).double(), m.weight.dtype, m.weight][1:],
    ],
)
def test_what_layers_do_otherwise_is_torchs(program):
    agree(lambda xp: program(xp, xp.nn))


@pytest.mark.parametrize("layer, bound", [("Linear(16, 50)", 0.25), ("Linear(400, 50)", 0.05)])
def test_a_linear_begins_in_torchs_range(layer, bound):
    for xp in FRAMEWORKS:
        module = make(xp, layer)
        for parameter in (module.weight, module.bias):
            assert 0.9 * bound < parameter.abs().max().item() <= bound
        assert abs(module.weight.std().item() - bound / math.sqrt(3)) < 0.1 * bound


@pytest.mark.parametrize("dims", [(4, 3), (4, 3, 2)])
def test_running_estimates_move_in_training_and_are_used_afterwards(dims):
    def program(xp):
        module = filled(xp, xp.nn.BatchNorm1d(3, momentum=0.3))
        results = []
        for seed in range(3):
            results.append(near(module(numbers(xp, *dims, seed=seed))))
        results.append(near(module.eval()(numbers(xp, *dims, seed=9))))
        return repr(module), *results, *map(near, module.state_dict().values())

    compare(program)


# ------------------------------------------------------------------------------------------------------------
# Lazy


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, m: [m, m.weight, m.bias, type(m.weight).__name__],
        lambda xp, m: [
            m(xp.ones(4, 3)).shape,
            m,
            type(m).__name__,
            type(m.weight).__name__,
            m.weight.shape,
            m.bias.requires_grad,
        ],
        lambda xp, m: [
            m(xp.ones(4, 3)).shape,
            sorted(name for name in m.__dict__ if name in ("_initialize_hook", "_load_hook")),
        ],
        lambda xp, m: [
            m(xp.ones(4, 3)).shape,
            len(m._forward_pre_hooks),
            m(xp.ones(1, 3)).sum().backward(),
            m.weight.grad,
        ],
        lambda xp, m: m.weight.shape,
        lambda xp, m: m.weight + 1,
        lambda xp, m: xp.exp(m.weight),
        lambda xp, m: [list(m.state_dict()), [type(x).__name__ for x in m.state_dict().values()]],
        lambda xp, m: [m.double(), m.weight.dtype, m(xp.ones(1, 3, dtype=xp.float64)).dtype, m.weight.dtype],
        lambda xp, m: [
            m.load_state_dict(xp.nn.Linear(5, 2).state_dict()),
            m.weight.shape,
            type(m).__name__,
            m(xp.ones(5)).shape,
            m,
        ],
        lambda xp, m: [m.load_state_dict(xp.nn.Linear(5, 2).state_dict()), m(xp.ones(4))],
        lambda xp, m: m.load_state_dict(xp.nn.LazyLinear(2).state_dict()),
        lambda xp, m: xp.nn.Linear(3, 2).load_state_dict(m.state_dict()),
        lambda xp, m: [m.has_uninitialized_params(), xp.nn.parameter.is_lazy(m.weight), len(list(m.parameters()))],
        lambda xp, m: [m.requires_grad_(False), m(xp.ones(3)).requires_grad][1],
        lambda xp, m: [n := xp.nn.Sequential(m, xp.nn.LazyLinear(4, bias=False)), n(xp.ones(2, 3)).shape, n],
        lambda xp, m: m("text"),
        lambda xp, m: [
            xp.nn.LazyLinear(2, dtype=xp.float64).weight.dtype,
            xp.nn.LazyLinear(2, device="meta").weight.is_meta,
        ],
        lambda xp, m: m.weight.materialize(3) or tuple(m.weight.shape),
        lambda xp, m: m.weight.materialize((2, 2)) or [type(m.weight).__name__, m.weight.shape, m.weight.requires_grad],
    ],
)
def test_a_lazy_layer_takes_its_sizes_from_the_first_call(program):
    agree(lambda xp: program(xp, xp.nn.LazyLinear(2)))


@pytest.mark.filterwarnings("ignore")
def test_a_lazy_class_that_leaves_something_without_sizes_is_refused():
    def program(xp):
        class Half(xp.nn.LazyLinear):
            def initialize_parameters(self, input):
                self.weight.materialize((2, 3))

        return Half(2)(xp.ones(3))

    agree(program)


def test_a_head_is_trained_in_lockstep_with_torch():
    def program(xp):
        module = filled(xp, make(xp, "Sequential(Linear(3, 8), ReLU(), LayerNorm(8), Linear(8, 3))"))
        x, target, losses = numbers(xp, 16, 3), xp.tensor([0, 1, 2, 1] * 4), []
        for _ in range(50):
            module.zero_grad()
            loss = xp.nn.CrossEntropyLoss()(module(x), target)
            loss.backward()
            xp.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            with xp.no_grad():
                for parameter in module.parameters():
                    parameter -= 0.1 * parameter.grad
            losses.append(loss.item())
        return losses

    ours, theirs = program(rl), program(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)
    assert ours[-1] < ours[0] / 2
