"""The cost of a step of the MiniGPT, by formula: operations, bytes of memory, and bytes that ranks exchange.

The formulas agree with what PyTorch counts: `torch/utils/flop_counter.py`, the tensors that `saved_tensors_hooks` sees, and the
memory that is allocated at two moments of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import ModuleType
from typing import Any, NamedTuple

from rushlight.course.anatomy import fused_operators

FLOAT = 4
"""Bytes of a number of dtype float32."""
INT = 8
"""Bytes of a number of dtype int64."""


class Config(NamedTuple):
    """The sizes of a MiniGPT, in the order of the parameters of `gpt`."""

    vocabulary: int = 600
    width: int = 64
    heads: int = 4
    layers: int = 4
    length: int = 64


def parameter_sizes(config: Config) -> dict[str, list[tuple[int, ...]]]:
    """The shapes of the parameters: of the embeddings, of one block, and of the rest. The head's weight is the token embedding."""
    vocabulary, width, _, _, length = config
    norm = [(width,), (width,)]
    return {
        "embeddings": [(vocabulary, width), (length, width)],
        "block": [*norm, *norm, (3 * width, width), (3 * width,), (width, width), (width,)]
        + [(4 * width, width), (4 * width,), (width, 4 * width), (width,)],
        "rest": [*norm, (vocabulary,)],
    }


def gpt_flops(config: Config, batch: int, n: int, fused: bool = True) -> dict[str, tuple[int, int]]:
    """The floating-point operations of a training step of a MiniGPT, part by part, as `FlopCounterMode` counts them.

    Only matrix products count: 2 operations for each multiplication with its addition. The backward pass of a `Linear` has
    two products, for the gradients of its input and of its weight, and each costs as much as the forward product. Attention
    has two products in the forward pass, the scores and the mixed values, and computes them for all pairs of positions, also
    for those that the mask hides. Each of the two has two products in the backward pass. Fused attention does not keep the
    scores, so its backward pass computes them once more.

    Args:
        config: a `Config`.
        batch, n: the tokens are (batch, n).
        fused: whether attention is one fused operator.

    Returns:
        a dict with a pair (forward, backward) of ints for each part: "embedding", which looks up rows and has no product;
        "projections", the two `Linear`s around attention; "attention"; "mlp"; and "head". Each is the sum over all blocks.

    >>> gpt_flops(Config(), batch=1, n=1)["head"]
    (76800, 153600)

    Source: `torch/utils/flop_counter.py`, `mm_flop`, `sdpa_flop_count` and `sdpa_backward_flop_count`.
    """
    vocabulary, width, _, layers, _ = config
    rows = 2 * batch * n
    projections, mlp = layers * rows * 4 * width * width, layers * rows * 8 * width * width
    product, head = layers * rows * n * width, rows * width * vocabulary
    return {
        "embedding": (0, 0),
        "projections": (projections, 2 * projections),
        "attention": (2 * product, (5 if fused else 4) * product),
        "mlp": (mlp, 2 * mlp),
        "head": (head, 2 * head),
    }


def step_memory(config: Config, batch: int, n: int) -> dict[str, int]:
    """The bytes that a training step of a MiniGPT needs, by formula.

    The step is the second one or a later one, after `zero_grad()`: `scores = model(tokens)`, then `loss =
    cross_entropy(scores.flatten(0, 1), targets.flatten())`, `loss.backward()`, and the step of AdamW. `scores` and `loss` are
    alive until its end. Parameters are float32, and tokens and targets are int64. AdamW keeps for each parameter two tensors
    of its size, and one number, its count of steps. Attention is fused.

    An activation is memory that the forward pass makes and autograd keeps for the backward pass. A view and its base are one.
    These are kept:

    - the positions, n numbers of dtype int64, for their embedding;
    - of each norm its input, and for each row the mean and the reciprocal of the standard deviation;
    - of attention the queries, keys and values, which are views of one tensor, its result, and for each head and row one
      number;
    - of each of the four `Linear`s of a block, and of the head, its input. That of `projection` is a view of attention's
      result;
    - of gelu its input;
    - of the loss the logarithms of the probabilities, one tensor of the size of the scores, and the sum of the weights, one
      number.

    The peak is the larger one of two moments. In both, the parameters, the optimiser's state, tokens, targets, scores and the
    loss are alive.

    - The backward pass has just computed the gradient of the scores: all activations are alive, and two gradients of the size
      of the scores, before and behind the logarithm of softmax.
    - AdamW updates the largest parameter: all gradients are alive, and two temporary tensors of the size of this parameter.

    Args:
        config: a `Config`. The token embedding is the largest parameter: the vocabulary is more than 4 · `width`, and more
            than 2 · `length`.
        batch, n: the tokens are (batch, n).

    Returns:
        a dict of ints: "parameters", "gradients", "optimizer", "activations" and "peak".

    >>> step_memory(Config(), batch=32, n=32)["parameters"]
    972640

    Source: `torch/distributed/_tools/mem_tracker.py` measures the same; `torch/optim/adam.py`, `_single_tensor_adam`.
    """
    vocabulary, width, heads, layers, length = config
    sizes = parameter_sizes(config)
    shapes = sizes["embeddings"] + layers * sizes["block"] + sizes["rest"]
    numbers = [prod(shape) for shape in shapes]
    parameters = FLOAT * sum(numbers)
    optimizer = 2 * parameters + FLOAT * len(numbers)
    rows = batch * n
    norm, scores = rows * width + 2 * rows, FLOAT * rows * vocabulary
    attention = (
        rows * width + 3 * rows * width + rows * width + heads * rows
    )  # the input, then q, k and v, then the result
    mlp = rows * width + 4 * rows * width + 4 * rows * width
    activations = FLOAT * (layers * (2 * norm + attention + mlp) + norm + rows * width + 1) + scores + INT * n
    always = parameters + optimizer + 2 * INT * rows + scores + FLOAT
    peak = always + max(activations + 2 * scores, parameters + 2 * FLOAT * max(numbers))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer": optimizer,
        "activations": activations,
        "peak": peak,
    }


def step_traffic(config: Config, strategy: str, batch: int, n: int) -> dict[str, int]:
    """The bytes of the tensors that go through each kind of collective in a training step of a MiniGPT.

    A tensor counts with its whole size, whatever the number of ranks is: what each rank has before an all-reduce or a
    reduce-scatter, and after an all-gather. All numbers are float32. The clipping and the loss are not counted.

    - "ddp": the gradients are all-reduced.
    - "fsdp": each block is a unit, and so is the rest of the model. A unit's parameters are all-gathered before its forward
      pass, and its gradients are reduce-scattered after its backward pass. A block is freed after its forward pass, so it is
      gathered again for its backward pass. The rest of the model is not freed in between.
    - "tp": each rank has some of the heads and some of the MLP of each block. Attention and MLP each begin with a tensor that
      all ranks have, and end with a sum over ranks. The sum is an all-reduce in the forward pass. The gradient of the first
      tensor is an all-reduce in the backward pass. Embeddings, norms and the head are whole on each rank, and need none.

    Args:
        config: a `Config`.
        batch, n: the tokens of one rank, (batch, n). With "tp" all ranks have the same tokens.

    Returns:
        a dict of ints: the bytes by kind, "all_reduce", "all_gather" and "reduce_scatter". It has only the kinds that occur.

    Raises:
        ValueError: any other strategy.

    >>> step_traffic(Config(), "tp", batch=8, n=16)
    {'all_reduce': 524288}

    Source: `torch/nn/parallel/distributed.py`; `torch/distributed/fsdp/_fully_shard/`;
    `torch/distributed/tensor/parallel/style.py`.
    """
    sizes = parameter_sizes(config)
    block = config.layers * FLOAT * sum(map(prod, sizes["block"]))
    rest = FLOAT * sum(map(prod, sizes["embeddings"] + sizes["rest"]))
    if strategy == "ddp":
        return {"all_reduce": block + rest}
    if strategy == "fsdp":
        return {"all_gather": 2 * block + rest, "reduce_scatter": block + rest}
    if strategy == "tp":
        return {"all_reduce": 4 * config.layers * FLOAT * batch * n * config.width}
    raise ValueError(f"no such strategy: {strategy!r}")


# Measuring -----------------------------------------------------------------------------------------------------------


def saved_bytes(xp: ModuleType, model: Any, forward: Callable[[], Any], *inputs: Any) -> int:
    """The bytes that `forward()` keeps for its backward pass. Each storage counts once; those of the parameters and of `inputs` do
    not count. `xp` is rushlight or torch."""
    known = {tensor.untyped_storage().data_ptr() for tensor in (*model.parameters(), *inputs)}
    sizes, kept = {}, []  # a storage that is kept alive has an address of its own

    def pack(x: Any) -> Any:
        sizes[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        kept.append(x)
        return x

    with fused_operators(), xp.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        kept.append(forward())
    return sum(size for address, size in sizes.items() if address not in known)
