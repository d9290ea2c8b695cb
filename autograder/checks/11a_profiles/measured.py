"""Lab 11a, numbers beside a profile: digits of a timing, and FLOPs."""

from __future__ import annotations

import math
from importlib import import_module
from statistics import median, pstdev

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import defaults, drawn, rows, several, when

# The digits of a median ----------------------------------------------------------------------------------------------


def _clear(case):
    """Whether rounding does not decide. (torch computes in float32.)"""
    times = sorted(case["times"])
    middle = times[len(times) // 4 : math.ceil(3 * len(times) / 4)]
    digits = math.log10(median(times) / max(1.645 * pstdev(middle) / math.sqrt(len(middle)), 25e-9))
    return abs(digits - round(digits)) > 0.002 and all(time > 0 for time in times)


def _times(st):
    near = st.integers(9000, 11000).map(lambda n: n * 1e-7)
    close = st.integers(9990, 10010).map(lambda n: n * 1e-7)
    far = st.sampled_from([1.1e-3, 2e-3, 5.3e-2, 1.7e-6, 3.1e-7])
    quick = st.integers(9990, 10010).map(lambda n: n * 1e-9)  # nearer to each other than any clock can tell
    return st.one_of(st.lists(st.one_of(times, times, far), min_size=1, max_size=12) for times in (near, close, quick))


@program(
    "utils.benchmark.utils.common.significant_figures",
    cases=lambda st: st.fixed_dictionaries({"times": _times(st)}).filter(_clear),
    edges=rows("times", *((times,) for times in (
        [1.1e-3], [1.1e-8], [1.1e-6], [1.3e-3, 1.4e-3], [1e-3, 5e-3], [1.0, 1.02, 1.01, 1.01, 9.0], [9.0, 1.01, 1.02, 1.01, 1.0],
        [1.0, 1.03, 1.2], [3.0, 1.0, 7.0, 2.0, 20.0, 1.5], [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7], [2e-7, 2.1e-7, 2.3e-7],
        [5.0, 1.0, 1.0, 1.0, 1.1, 1.3, 4.0, 4.5, 1.2], [1.0, 1.0, 1.8, 10.0], [2.6, 1.0, 1.1, 1.4, 1.9, 2.2, 2.9],
        [1.0012753, 1.0038048, 1.0006516], [1.1417374, 1.4327671], [1.0094162, 1.030466, 1.0064796],
        [1.003457, 1.0076095, 1.0463253, 1.0083758, 1.0018591, 1.0012089, 1.0447788, 1.0050772, 1.0151684],
        [1.000003, 1.0000015, 1.0000012, 1.0000016, 1.0000014, 1.0000024, 1.0000017, 1.0000026, 1.0000001, 1.0000002],
        [1.0039117, 1.0177175, 1.1443302, 1.0051455, 1.0113391, 1.0148538, 1.0887114, 1.0156636, 1.0444109, 1.00258],
        [1.0004509, 1.0001589, 1.0021755], [1.0037602, 1.0767549, 1.0819882, 1.3772989, 1.0550387],
        [1.0037237, 1.0000698, 1.0006568, 1.0001641, 1.0034522, 1.000636, 1.000605, 1.0005281, 1.000886],
        [1.0, 1.01726], [1.0, 1.01742], [4e-6, 4.001e-6, 4.002e-6], [3.5e-6, 3.54e-6], [1.04, 1.006, 1.021, 1.064, 1.04],
        [3e-6], [2e-6] * 7, [1.0029, 1.0, 1.002, 1.0], [3.2e-6, 3.22e-6], [1.0001, 1.0002, 1.002, 1.0, 1.0028, 1.0, 1.4437],
        [2.45e-6] * 4 + [2.51e-6] * 4, [2.49e-6] * 4 + [2.55e-6] * 4,
    ))),
    hint=when(
        lambda case, mine, theirs: not is_error(mine) and max(case["times"]) > 1.5 * median(case["times"]),
        "a few very slow runs are not in the middle half",
    ),
)  # fmt: skip
def figures(rl, times):
    given = [*times]
    digits = rl.utils.benchmark.utils.common.significant_figures(given)
    assert given == [*times], "the times have changed"
    return digits


@figures.oracle
def _(torch, times):
    benchmark = import_module("torch.utils.benchmark")
    measured = benchmark.Measurement(1, times, benchmark.utils.common.TaskSpec("work()", "pass"))
    return measured.significant_figures


# FLOPs ---------------------------------------------------------------------------------------------------------------

ATTENTION = "_scaled_dot_product_flash_attention"
OPERATORS = [
    "mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", ATTENTION, "relu", "linear", "__and__", "_int_mm",
    f"{ATTENTION}_for_cpu",
]  # fmt: skip

_counted = defaults(
    name="mm", sizes=[2, 3, 4, 5], positions=[3], kernel=[1, 1], transposed=False, mask=[True] * 3, padding=0, stride=1
)  # the last two are those of a convolution


COUNTED = {"mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", ATTENTION}


def _about_flops(case, mine, theirs):
    if not isinstance(mine, (int, float)):
        return None
    name, count, right = case["name"], mine, theirs
    if count == right:
        return "the count is an int" if isinstance(count, float) else None
    if name not in COUNTED:
        return "an operator with another name has 0, also if its name is similar"
    if right == 0 and not name.endswith("backward"):
        return "where a size is 0, nothing is multiplied"
    if 2 * count == right and name != "convolution_backward":
        return "each multiplication with its addition is two operations"
    wanted = sum(case["mask"][:2])  # the gradients that cost something
    if name == "convolution_backward" and wanted < 2 and any(count * wanted == right * n for n in range(4)):
        return (
            "of the gradients in `output_mask`, the first two cost as much as the convolution each, the third nothing"
        )
    if case["transposed"] and name.startswith("convolution"):
        return "a transposed convolution multiplies the weight at each position of its input"
    if name == "convolution_backward" and 2 * count == right:
        return "the gradient of the input and that of the weight cost as much as the convolution each"
    if name.startswith("convolution"):
        return "a convolution multiplies the whole weight at each position of the result, in each sample"
    if name == ATTENTION:
        return "each of the b · h heads has a product (s, d) · (d, t), the scores, and then a product (s, t) · (t, e)"
    return "the products of (m, k) and (k, n) are m · k · n, for each of a batch; a tensor that is added costs nothing"


@program(
    "utils.flop_counter.operator_flops",
    cases=drawn(
        name=OPERATORS, sizes=several((1, 5), 4, 4), positions=several((3, 6), 1, 3), kernel=several((1, 3), 3, 3), transposed=bool,
        mask=several(bool, 3, 3), padding=(0, 2), stride=(1, 2),
    ),
    edges=[_counted(*row) for row in (
        ("mm", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3), ("addmm", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3),
        ("bmm", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3), ("baddbmm", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3),
        ("__and__", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3), ("convolution", [3, 1, 4, 2], [5], [2, 1], False, [True] * 3),
        ("relu", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3), ("linear", [2, 3, 4, 5], [3], [1, 1], False, [True] * 3),
        ("mm", [2, 0, 4, 5], [3], [1, 1], False, [True] * 3), ("bmm", [0, 3, 4, 5], [3], [1, 1], False, [True] * 3),
        *(("convolution", [2, 3, 4, 5], positions, [2, 3], transposed, [True] * 3)
          for positions in ([5], [5, 6]) for transposed in (False, True)),
        *(("convolution_backward", [2, 3, 4, 5], [5, 6], [2, 3], transposed, mask) for transposed in (False, True)
          for mask in ([True, True, True], [True, False, True], [False, True, False], [False, False, True])),
        *((name, [2, 3, 4, 5], [6], [1, 3], False, [True] * 3) for name in (ATTENTION, f"{ATTENTION}_for_cpu", "_int_mm")),
        (ATTENTION, [1, 2, 5, 3], [3], [2, 1], True, [True] * 3), (ATTENTION, [1, 2, 5, 3], [0], [2, 1], False, [True] * 3),
        *((name, [0, 3, 4, 5], [5], [2], False, [True] * 3) for name in ("convolution", "mkldnn_convolution")),
        ("convolution", [2, 3, 4, 5], [3, 4, 5], [2, 1, 3], False, [True] * 3),
        *(("convolution", [2, 3, 4, 5], [5, 4], [2, 3], transposed, [True] * 3, padding, stride)
          for transposed in (False, True) for padding, stride in ((2, 1), (0, 2), (2, 2))),
        *(("convolution_backward", [2, 3, 4, 5], [5, 4], [2, 3], transposed, mask, padding, stride)
          for transposed in (False, True) for padding, stride in ((2, 1), (0, 2))
          for mask in ([True, True, True], [True, False, True], [False, True, False])),
    )],
    show=lambda torch, **case: _as_call(**case),
    hint=_about_flops,
)  # fmt: skip
def flops(rl, name, transposed, mask, **sizes):
    inputs, outputs = _shapes(name, transposed=transposed, **sizes)
    outputs = outputs if name == "convolution" else []
    count = rl.utils.flop_counter.operator_flops
    if name == "convolution_backward":
        flops = count(name, inputs, outputs, transposed, mask)
        assert not all(mask) or flops == count(name, inputs, outputs, transposed), "output_mask is all True by default"
    else:
        flops = count(name, inputs, outputs, transposed) if transposed else count(name, inputs, outputs)
        as_lists = [[list(shape) for shape in shapes] for shapes in (inputs, outputs)]
        assert flops == count(name, *as_lists, transposed), "a shape may be a list"
    return flops


def _as_call(name, transposed, mask, **sizes):
    inputs, outputs = _shapes(name, transposed=transposed, **sizes)
    more = (
        {"transposed": transposed, "output_mask": mask}
        if name == "convolution_backward"
        else {"transposed": transposed}
    )
    named = ", ".join(f"{key}={value}" for key, value in more.items()) if name.startswith("convolution") else ""
    return f"operator_flops({name!r}, {inputs}, {outputs if name == 'convolution' else []}{', ' * bool(named)}{named})"


@flops.oracle
def _(torch, name, transposed, mask, **sizes):
    counter, aten = import_module("torch.utils.flop_counter"), torch.ops.aten
    inputs, outputs = _shapes(name, transposed=transposed, **sizes)
    formula = counter.flop_registry.get(getattr(aten, name))
    if formula is None:
        return 0
    tensors, results = ([torch.empty(shape, device="meta") for shape in shapes] for shapes in (inputs, outputs))
    ones = [1] * (len(inputs[0]) - 2)
    if name == "convolution":
        return formula(*tensors, None, ones, ones, ones, transposed, ones, 1, out_val=results[0])
    if name == "convolution_backward":
        return formula(*tensors, None, ones, ones, ones, transposed, ones, 1, mask, out_val=results)
    return formula(*tensors, out_val=results[0])


def _shapes(name, sizes, positions, kernel, transposed, padding, stride):
    """The shapes of the tensor arguments and of the results."""
    b, m, k, n = sizes
    products = {
        "mm": [(m, k), (k, n)],
        "bmm": [(b, m, k), (b, k, n)],
        "linear": [(m, k), (n, k), (n,)],
        "relu": [(m, k)],
    }
    products |= {"__and__": products["relu"] * 2, "_int_mm": products["mm"]}
    products |= {"addmm": [(n,), *products["mm"]], "baddbmm": [(b, m, n), *products["bmm"]]}
    if name in products:
        return products[name], [(m, k)] if name in ("relu", "__and__") else [(b, m, n)] if "bmm" in name else [(m, n)]
    if name.startswith(ATTENTION):
        t, d, e = positions[0], k, kernel[0]
        few = 1 if transposed else m  # a head of the keys serves several of the query
        return [(b, m, n, d), (b, few, t, d), (b, few, t, e)], [(b, m, n, e)]
    kernel = kernel[: len(positions)]
    ends = [
        max(0, (size - 1) * stride + length - 2 * padding)
        if transposed
        else (size + 2 * padding - length) // stride + 1
        for size, length in zip(positions, kernel)
    ]
    given, weight, result = (b, m, *positions), (m, k, *kernel) if transposed else (k, m, *kernel), (b, k, *ends)
    if name == "convolution":
        return [given, weight], [result]
    return [result, given, weight], [given, weight]
