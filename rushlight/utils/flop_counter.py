"""How many floating-point operations a program needs: a formula for each operator that does most of the work.

A multiplication with its addition counts as two. Operators on elements, reductions and normalisations are not counted: their time
is that of their memory.

In PyTorch: `torch/utils/flop_counter.py`. Left out: counts for each module, and groups of a convolution's backward. As in
PyTorch, there is no formula for the fused attention of a CPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from rushlight.c10.dispatch import DispatchMode, Operator

__all__ = ["FlopCounterMode", "operator_flops"]


def operator_flops(
    name: str,
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    transposed: bool = False,
    output_mask: Sequence[bool] = (True, True, True),
) -> int:
    """The floating-point operations of one call, two for each multiplication with its addition.

    `inputs` has the shapes of the tensor arguments, in order, and `outputs` those of the results:

        mm                    (m, k), (k, n)
        addmm                 a tensor that is added, then as for mm
        bmm                   (b, m, k), (b, k, n)
        baddbmm               a tensor that is added, then as for bmm
        convolution           (N, C, *positions), weight (C_out, C, *kernel) -> (N, C_out, *positions)
                              if transposed, weight (C, C_out, *kernel)
        convolution_backward  the gradient of the result, then as for convolution
        _scaled_dot_product_flash_attention
                              query (b, h, s, d), key (b, h_kv, t, d), value (b, h_kv, t, e): the scores, a matrix (s, t) for
                              each of the b · h heads of the query, and then their products with the values

    Sums of whole tensors are not counted: neither the tensor that is added, nor a bias, nor the softmax. A convolution
    multiplies the whole weight at each position of the result, in each of the N samples. If it is transposed, it does so at
    each position of the input. Each of the first two gradients in `output_mask` (of the input, and of the weight) costs as
    much as the convolution. The gradient of the bias, the third one, costs nothing. There are no groups.

    Args:
        name: the operator, without namespace and overload. Any other operator has 0.
        inputs, outputs: lists of shapes. A shape is a list or a tuple of ints, which may be 0. `outputs` may be empty unless the
            operator is convolution.

    Returns:
        an int.

    >>> operator_flops("addmm", [(600,), (32, 64), (64, 600)], [(32, 600)]) == 2 * 32 * 64 * 600
    True

    Source: `torch/utils/flop_counter.py`, `flop_registry`.
    """
    if name in ("addmm", "baddbmm"):
        inputs = inputs[1:]
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        return 2 * prod(inputs[0]) * inputs[1][-1]
    if name == "convolution":
        positions = (inputs[0] if transposed else outputs[0])[2:]
        return 2 * inputs[0][0] * prod(positions) * prod(inputs[1])
    if name == "convolution_backward":
        result, *arguments = inputs
        return sum(output_mask[:2]) * operator_flops("convolution", arguments, [result], transposed)
    if name == "_scaled_dot_product_flash_attention":
        (b, h, s, d), (_, _, t, _), (_, _, _, e) = inputs
        return 2 * b * h * s * t * (d + e)
    return 0


class FlopCounterMode(DispatchMode):
    """While active, count the FLOPs of all calls, also those of the backward pass.
    Source: `torch/utils/flop_counter.py`, `FlopCounterMode`."""

    def __init__(self, display: bool = True) -> None:
        self.display, self.flop_counts = display, Counter()

    def get_total_flops(self) -> int:
        return self.flop_counts.total()

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        return {"Global": dict(self.flop_counts)} if self.flop_counts else {}

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self.display:
            print(self.get_table())

    def get_table(self) -> str:
        whole = self.get_total_flops()
        rows = [("Global", whole), *(("  " + name, count) for name, count in self.flop_counts.most_common())]
        return "\n".join(f"{name:40}{count:>16,}{count / (whole or 1):>9.2%}" for name, count in rows)

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        result = func(*args, **(kwargs or {}))
        name = func.schema.name
        inputs = [arg.shape for arg in args if hasattr(arg, "shape")]
        results = result if isinstance(result, tuple) else (result,)
        outputs = [tensor.shape for tensor in results if hasattr(tensor, "shape")]
        transposed, mask = False, (True, True, True)
        if name == "convolution":
            inputs, transposed = inputs[:2], args[6]
        elif name == "convolution_backward":
            inputs, transposed, mask = inputs[:3], args[7], args[10]
        count = operator_flops(name, inputs, outputs, transposed, mask)
        if count:
            self.flop_counts[func.full_name.replace("::", ".").partition(".default")[0]] += count
        return result
