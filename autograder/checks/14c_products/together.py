"""The check that runs the pieces of lab 14c together: layers one after the other, on views."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, numbers, rows, several
from ..shared_14 import SECONDS, error_of
from .needed import about_products

VIEWS = {
    "": lambda x: x,
    "turned twice": lambda x: x.t().contiguous().t(),
    "without the first row": lambda x: x[1:],
    "each second row": lambda x: x[::2],
    "each second column": lambda x: x[:, ::2],
    "the last columns": lambda x: x[:, 1:],
}


@program(
    "together.layers",
    cases=drawn(height=(2, 9), widths=several(lambda st: st.integers(2, 9), 2, 4), views=several([*VIEWS], 3, 3)),
    edges=rows(
        "height widths views",
        (9, [8, 7, 5], ["", "", ""]),
        (6, [5, 9, 4, 3], ["turned twice", "each second column", "the last columns"]),
        (70, [3, 66, 2], ["without the first row", "each second row", "turned twice"]),
    ),
    hint=about_products,
    draws=3,
)
def small_networks(rl, height, widths, views):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.aten.native.cuda import blas, loops
    from rushlight.utils.child import run_in_child

    error_of(blas.product_blocked_source())  # it is compiled before the child's time begins
    return run_in_child(_layers, loops, blas, *layers_of(rl, height, widths), views, seconds=3 * SECONDS)


def layers_of(xp, height, widths):
    """Whole numbers, so that no order of additions matters. A weight is as wide as its input may be, and is cut to its width."""
    x = (numbers(xp, [height, widths[0]], 0, "float32") * 4).contiguous()
    shapes = [[width, 10 * number] for number, width in enumerate(widths[1:], 1)]
    weights = [numbers(xp, [width, 80], number, "float32") * 4 for width, number in shapes]
    return x, weights, [numbers(xp, [width], number, "float32") * 4 for width, number in shapes]


def run(linear, x, weights, biases, views):
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        x = VIEWS[views[number % len(views)]](x)
        x = linear(x, weight[:, : x.shape[1]], bias, number < len(weights) - 1)
    return x


def _layers(loops, blas, x, weights, biases, views):
    loops.launches.clear()
    result = run(blas.linear, x, weights, biases, views)
    findings = [finding.kind for launch in loops.launches for finding in launch.result.findings]
    return {"findings": findings, "launches": len(loops.launches), "result": result}


@small_networks.oracle
def _(torch, height, widths, views):
    def linear(x, weight, bias, relu):
        result = torch.nn.functional.linear(x, weight, bias)
        return result.relu() if relu else result

    x, weights, biases = layers_of(torch, height, widths)
    return {"findings": [], "launches": len(weights), "result": run(linear, x, weights, biases, views)}
