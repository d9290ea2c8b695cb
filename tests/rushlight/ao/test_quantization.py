"""Quantised numbers, observers and fake quantisation are torch's, bit for bit, also at the boundaries of the rounding."""

import itertools
import warnings

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers torch.ops.quantized_decomposed
from sweep import sweep, swept
from torch.ao.quantization.fx import qconfig_mapping_utils

import rushlight as rl
from rushlight.c10 import small_floats

pytestmark = pytest.mark.filterwarnings("ignore")
SCHEMES = ["per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric"]
RANGES = [(None, None), (0, 127), (-8, 7), (0, 15), (-127, 127)]
rng = np.random.default_rng(1)


def boundary_numbers(scale, count=40):
    """Numbers next to the middle between two steps, where x / s and x * (1 / s) may round differently."""
    middles = ((rng.integers(-120, 120, count) + 0.5) * scale).astype(np.float32)
    return np.concatenate([np.nextafter(middles, np.float32(-1e9)), middles, np.nextafter(middles, np.float32(1e9))])


def same(mine, theirs):
    assert list(mine.shape) == list(theirs.shape)
    assert str(mine.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2]
    np.testing.assert_array_equal(mine.detach().numpy(), theirs.detach().numpy())


def both(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for xp in (rl, torch):
            try:
                found.append(run(xp))
            except Exception as error:
                found.append(error)
    mine, theirs = found
    if isinstance(theirs, Exception):
        assert type(mine) is type(theirs), (mine, theirs)
        return
    if isinstance(mine, Exception):
        raise mine
    for each, other in zip(mine, theirs, strict=True):
        if hasattr(other, "shape"):
            same(each, other)
        else:
            assert each == other


def op(xp, name):
    return getattr(xp.ops.quantized_decomposed, name)


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 0.00732421875, 0.25, 3.7])
def test_values_are_quantised_as_torch_does_at_the_boundaries_too(scale):
    rl.ao.quantization  # noqa: B018 (it defines the operators)
    x = np.concatenate([boundary_numbers(scale), np.array([np.inf, -np.inf, 0.0, -0.0, 1e-40, 1e30], np.float32)])
    for dtype, low, high, zero_point in (
        ("int8", -128, 127, 3),
        ("uint8", 0, 255, 117),
        ("int8", -8, 7, -1),
        ("int32", 0, 9, 0),
    ):

        def run(xp):
            kind, parts = getattr(xp, dtype), xp.from_numpy(x)
            q = op(xp, "quantize_per_tensor")(parts, scale, zero_point, low, high, kind)
            tensors = xp.tensor(scale), xp.tensor(zero_point)
            again = op(xp, "quantize_per_tensor").tensor(parts, *tensors, low, high, kind)
            back = op(xp, "dequantize_per_tensor")(q, scale, zero_point, low, high, kind)
            half = op(xp, "quantize_per_tensor")(parts[:-1].half(), scale, zero_point, low, high, kind)
            return q, again, back, half, op(xp, "dequantize_per_tensor").tensor(q, *tensors, low, high, kind)

        both(run)


@pytest.mark.parametrize("axis", [0, 1, -1, 3])
def test_channels_are_quantised_as_torch_does(axis):
    x = boundary_numbers(0.1).reshape(6, 20)

    def run(xp):
        count = 20 if axis % 2 else 6
        scales = xp.tensor([0.05 * (i % 7 + 1) for i in range(count)])
        zero_points = xp.tensor([i % 5 - 2 for i in range(count)])
        q = op(xp, "quantize_per_channel")(xp.from_numpy(x), scales, zero_points, axis, -128, 127, xp.int8)
        back = op(xp, "dequantize_per_channel")(q, scales, zero_points, axis, -128, 127, xp.int8)
        return q, back, op(xp, "dequantize_per_channel")(q, scales, None, axis, -128, 127, xp.int8)

    both(run)


def test_dynamic_parameters_are_torchs():
    x = rng.normal(size=50).astype(np.float32)
    both(lambda xp: op(xp, "choose_qparams").tensor(xp.from_numpy(x), 0, 255, 1e-5, xp.uint8))
    both(lambda xp: op(xp, "choose_qparams_symmetric").tensor(xp.from_numpy(x), -128, 127, 1e-5, xp.int8))
    both(lambda xp: op(xp, "choose_qparams").tensor(xp.from_numpy(x), 1, 255, 1e-5, xp.uint8))


def test_bad_arguments_are_refused_as_torch_refuses_them():
    def quantize(dtype="float32", low=0, high=255, kind="uint8"):
        return lambda xp: (
            op(xp, "quantize_per_tensor")(xp.ones(2, dtype=getattr(xp, dtype)), 0.1, 0, low, high, getattr(xp, kind)),
        )

    for each in quantize("float64"), quantize("int64"), quantize(low=-1), quantize(high=256), quantize(kind="int64"):
        both(each)


BATCHES = [
    np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -0.25]], np.float32),
    np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], np.float32),
    np.array([[5.0, 6.0, 7.0], [5.0, 5.0, 5.0]], np.float32),
    np.zeros((0, 3), np.float32),
    np.array([[-1e-40, -3.0, -8.0], [-1.0, -2.0, -1e-30]], np.float32),
    rng.normal(size=(2, 3)).astype(np.float32),
]
OBSERVERS = {
    "MinMaxObserver": {},
    "MovingAverageMinMaxObserver": {"averaging_constant": 0.3},
    "PerChannelMinMaxObserver": {"ch_axis": 1},
    "MovingAveragePerChannelMinMaxObserver": {"averaging_constant": 0.3, "ch_axis": 0},
    "HistogramObserver": {"bins": 32},
}


@pytest.mark.parametrize(
    ("scheme", "dtype", "name"),
    sweep(
        [
            each if each[2] == "MinMaxObserver" or each[:2] == ("per_tensor_affine", "uint8") else swept(*each)
            for each in itertools.product(SCHEMES, ["uint8", "int8"], OBSERVERS)
        ],
        every=12,
    ),
)
def test_an_observer_has_torchs_buffers_and_parameters(name, dtype, scheme):
    for (low, high), reduce_range in itertools.product(RANGES, [False, True]):
        if low is not None and low < 0 and dtype == "uint8":
            continue

        def run(xp):
            kwargs = dict(
                OBSERVERS[name], dtype=getattr(xp, dtype), qscheme=getattr(xp, scheme), reduce_range=reduce_range
            )
            observer = getattr(xp.ao.quantization, name)(**kwargs, quant_min=low, quant_max=high)
            shown = [*observer.calculate_qparams()]
            for batch in BATCHES:
                x = xp.from_numpy(batch)
                assert observer(x) is x
                shown += [*observer.state_dict(), *observer.state_dict().values(), *observer.calculate_qparams()]
            shown = [each.clone() if hasattr(each, "clone") else each for each in shown]
            other = getattr(xp.ao.quantization, name)(**kwargs)
            other.load_state_dict(observer.state_dict())
            shown += [*other.calculate_qparams(), observer.quant_min, observer.quant_max]
            if name != "HistogramObserver":
                observer.reset_min_max_vals()
                shown += [observer.min_val, observer.max_val]
            return shown

        both(run)


@pytest.mark.parametrize("bins", [7, 64, 2048])
def test_the_histogram_and_the_range_chosen_from_it_are_torchs(bins):
    """Up to parts of a bin that lie on the edge of two bins: torch's `linspace` depends on the CPU."""
    for seed in range(3):
        made = np.random.default_rng(seed)
        batches = [made.normal(size=300).astype(np.float32) * scale for scale in (1.0, 0.5, 3.0)]
        batches[1][5], batches[2][7] = 30.0, np.inf
        mine, theirs = (
            rl.ao.quantization.HistogramObserver(bins=bins),
            torch.ao.quantization.HistogramObserver(bins=bins),
        )
        for batch in batches:
            mine(rl.from_numpy(batch))
            theirs(torch.from_numpy(batch))
            np.testing.assert_allclose(mine.histogram.cumsum(0).numpy(), theirs.histogram.cumsum(0).numpy(), atol=2)
            same(mine.min_val, theirs.min_val)
        (scale, zero_point), (their_scale, their_zero_point) = mine.calculate_qparams(), theirs.calculate_qparams()
        assert scale.item() == pytest.approx(their_scale.item(), rel=0.02)
        assert abs(zero_point.item() - their_zero_point.item()) <= 1
        mine.histogram.copy_(rl.from_numpy(theirs.histogram.numpy()))
        start, end = mine._non_linear_param_search()
        their_start, their_end = theirs._non_linear_param_search()
        assert (start.item(), end.item()) == pytest.approx((their_start.item(), their_end.item()), rel=1e-3)


def test_the_error_of_a_histogram_is_torchs_up_to_the_order_of_the_sum():
    counts = rng.integers(0, 50, 40).astype(np.float32)
    observer = torch.ao.quantization.HistogramObserver(bins=40)
    observer(torch.linspace(-1, 3, 100))
    observer.histogram.copy_(torch.from_numpy(counts))
    for start, end in (0, 39), (3, 20), (5, 5), (0, 0), (39, 39):
        theirs = observer._compute_quantization_error(start, end)
        error = rl.ao.quantization.observer.quantization_error
        assert error(rl.from_numpy(counts), 0.1, start, end, 256) == pytest.approx(theirs, rel=1e-4)


def fake(xp, x, per_channel, qparams, low=-8, high=7):
    x = xp.from_numpy(x).requires_grad_()
    if per_channel:
        scale = xp.tensor([0.1, 0.25, 1.0])
        y = xp.fake_quantize_per_channel_affine(x, scale, xp.tensor([0, 3, -2], dtype=xp.int32), 1, low, high)
    elif qparams:
        y = xp.fake_quantize_per_tensor_affine(x, xp.tensor([0.1]), xp.tensor([3], dtype=xp.int32), low, high)
    else:
        y = xp.fake_quantize_per_tensor_affine(x, 0.1, 3, low, high)
    y.backward(xp.arange(y.numel(), dtype=y.dtype).reshape(y.shape) + 1)
    return y, x.grad, type(y.grad_fn).__name__


@pytest.mark.parametrize("per_channel, qparams", [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fake_quantisation_and_its_gradient_are_torchs(per_channel, qparams, dtype):
    x = np.concatenate([boundary_numbers(0.1), [0.0, 1e5, -1e5]]).astype(dtype).reshape(-1, 3)
    both(lambda xp: fake(xp, x, per_channel, qparams))
    both(lambda xp: fake(xp, x.T.copy().T, per_channel, qparams))
    both(lambda xp: fake(xp, x, per_channel, qparams, 5, 2))
    if not per_channel:  # beyond 2**63 torch's kernel for channels overflows
        both(lambda xp: fake(xp, np.array([np.inf, -np.inf, np.nan, 1e30], dtype), per_channel, qparams))


def test_the_module_is_torchs_with_its_switches_and_its_state_dict():
    for name in ("default_fake_quant", "default_weight_fake_quant", "default_per_channel_weight_fake_quant"):

        def run(xp):
            module, shown = getattr(xp.ao.quantization, name)(), []
            for step, batch in enumerate(BATCHES):
                if step == 3:
                    module.apply(xp.ao.quantization.disable_observer)
                if step == 4:
                    module.disable_fake_quant()
                    module.enable_observer()
                x = xp.from_numpy(batch)
                if len(batch):
                    shown += [module(x), *module.state_dict(), *(each.clone() for each in module.state_dict().values())]
            other = getattr(xp.ao.quantization, name)()
            other.load_state_dict(module.state_dict())
            return shown + [*other.state_dict().values()]

        both(run)


def test_a_module_gets_the_setting_that_torchs_order_of_rules_gives_it():
    kinds, names = [rl.nn.Linear, rl.nn.ReLU], ["a", "a.b", "a.b.c", "body.0", "body.10"]
    for _ in range(300):
        mapping, theirs = rl.ao.quantization.QConfigMapping(), torch.ao.quantization.QConfigMapping()
        for rule in range(rng.integers(0, 6)):
            value = None if rng.integers(5) == 0 else f"rule {rule}"
            kind, name = kinds[rng.integers(2)], ["", *names][rng.integers(6)]
            chosen = [
                ("set_global", value),
                ("set_object_type", kind, value),
                ("set_module_name_regex", ["a.*", "b", r".*\.\d", "a.b"][rng.integers(4)], value),
                ("set_module_name", name, value),
                ("set_module_name_object_type_order", name, kind, int(rng.integers(2)), value),
            ][rng.integers(5)]
            for each in mapping, theirs:
                getattr(each, chosen[0])(*chosen[1:])
        for name, kind, index in itertools.product(names, kinds, range(2)):
            found = qconfig_mapping_utils._maybe_adjust_qconfig_for_module_type_or_name(
                theirs, kind, name, theirs.global_qconfig
            )
            parent = name.rpartition(".")[0]
            expected = qconfig_mapping_utils._maybe_adjust_qconfig_for_module_name_object_type_order(
                theirs, parent, kind, index, found
            )
            assert rl.ao.quantization.qconfig_mapping.find_qconfig(mapping, name, kind, index) == expected
        assert repr(mapping).splitlines()[0] == repr(theirs).splitlines()[0]


def test_a_setting_refuses_an_observer_and_takes_a_class():
    both(lambda xp: (xp.ao.quantization.QConfig(xp.ao.quantization.MinMaxObserver(), None),))
    both(lambda xp: (len(xp.ao.quantization.get_default_qconfig("x86")),))
    both(lambda xp: [each.dtype is xp.int8 for each in [xp.ao.quantization.PlaceholderObserver(dtype=xp.int8)]])


def float32_samples():
    bits = np.concatenate(
        [rng.integers(0, 2**32, 4000), (rng.integers(100, 145, 3000) << 23) + (rng.integers(0, 64, 3000) << 17)]
    )
    more = [
        0,
        1 << 31,
        0x7F800000,
        0xFF800000,
        0x7F7FFFFF,
        1,
        0x43E80000,
        0x43E80001,
        0x43F00000,
        0x47700000,
        0x477FFFFF,
    ]
    return np.concatenate([bits, more]).astype(np.uint32)


def test_small_floats_are_cast_as_torch_casts_them():
    bits = float32_samples()
    x = torch.from_numpy(bits.view(np.float32).copy())
    finite = ~np.isnan(bits.view(np.float32))
    found = [small_floats.bfloat16_bits(each) for each in bits[finite].tolist()]
    assert found == [each & 0xFFFF for each in x[torch.from_numpy(finite)].bfloat16().view(torch.int16).tolist()]
    for name in "float8_e4m3fn", "float8_e5m2":
        kind, theirs = getattr(small_floats, name), x.to(getattr(torch, name))
        assert [small_floats.float8_bits(each, kind) for each in bits.tolist()] == theirs.view(torch.uint8).tolist()
        table = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name)).float().numpy()
        np.testing.assert_array_equal([small_floats.float8_value(each, kind) for each in range(256)], table)


def test_four_bits_are_packed_as_in_torchs_quint4x2():
    for count in (0, 1, 2, 7, 12):
        values = rng.integers(0, 16, count)
        if count:
            theirs = (
                torch.quantize_per_tensor(torch.from_numpy(values).float(), 1.0, 0, torch.quint4x2).int_repr().tolist()
            )
        else:
            theirs = []
        packed = rl.ao.quantization.affine.pack_int4(rl.from_numpy(values).to(rl.uint8))
        assert packed.tolist() == theirs
        assert rl.ao.quantization.affine.unpack_int4(packed, (count,)).tolist() == values.tolist()


def test_groups_are_quantised_as_torch_does():
    weight = rng.normal(size=(4, 12)).astype(np.float32)
    scales, zeros = rng.uniform(0.1, 0.5, (4, 3)).astype(np.float32), rng.integers(0, 16, (4, 3))
    given = rl.from_numpy(weight), rl.from_numpy(scales), rl.from_numpy(zeros)
    mine = rl.ao.quantization.affine.quantize_per_channel_group(*given, 0, 15, rl.uint8, 4)
    given = torch.from_numpy(weight), torch.from_numpy(scales), torch.from_numpy(zeros)
    same(mine, torch.ops.quantized_decomposed.quantize_per_channel_group(*given, 0, 15, torch.uint8, 4))


def test_a_head_is_trained_with_fake_quantisation_in_lockstep_with_torchs():
    x, target = rng.normal(size=(8, 5)).astype(np.float32), rng.integers(0, 3, 8)
    weight = rng.normal(size=(3, 5)).astype(np.float32)

    def run(xp):
        head, shown = xp.nn.Linear(5, 3), []
        with xp.no_grad():
            head.weight.copy_(xp.from_numpy(weight))
            head.bias.fill_(0.25)
        config = xp.ao.quantization.default_qat_qconfig if xp is rl else torch.ao.quantization.default_qat_qconfig
        on_input, on_weight = config.activation(), config.weight()
        optimizer = xp.optim.SGD(head.parameters(), lr=0.5)
        for _ in range(5):
            optimizer.zero_grad()
            logits = xp.nn.functional.linear(on_input(xp.from_numpy(x)), on_weight(head.weight), head.bias)
            loss = xp.nn.functional.cross_entropy(logits, xp.from_numpy(target))
            loss.backward()
            optimizer.step()
            shown.append(loss.item())
        return shown

    np.testing.assert_allclose(run(rl), run(torch), rtol=1e-5)


def test_int8_is_a_dtype_like_the_others():
    both(
        lambda xp: (xp.tensor([200, -1, 3]).to(xp.int8), xp.ones(2, dtype=xp.int8) + 1, xp.ones(2, dtype=xp.int8) + 1.5)
    )
    both(
        lambda xp: (
            xp.ones(2, dtype=xp.int8).sum(),
            xp.tensor([100, 100], dtype=xp.int8) + xp.tensor([100], dtype=xp.int32),
        )
    )
    both(
        lambda xp: (
            xp.from_numpy(np.array([-3, 2], np.int8)),
            xp.tensor([1, -2]).char(),
            xp.tensor([-5], dtype=xp.int8) // 2,
        )
    )
    both(lambda xp: xp.ones(2, dtype=xp.int8) + xp.ones(2, dtype=xp.uint8))
