"""Wrong bodies of `fused_linear_vmap`, for lab 06b: what cases of a student must catch."""

import torch

from rushlight.on_torch.custom_ops import activate, move_batch_dim_to_front

AT = "on_torch.custom_ops.fused_linear_vmap"
MOST = 5
CASE = {
    "lead": "list[int]",
    "features": "int",
    "outs": "int",
    "batch_size": "int",
    "x": {"one of": ["no batch", "first", "last"]},
    "weight": {"one of": ["no batch", "first", "last"]},
    "bias": {"one of": ["left out", "no batch", "first", "last"]},
    "activation": {"one of": ["none", "relu", "tanh", "gelu"]},
}


def fused_linear_vmap(op, info, in_dims, x, weight, bias=None, activation="none"):
    x_dim, weight_dim, bias_dim, *_ = (*in_dims, None)
    x = move_batch_dim_to_front(x, x_dim, info.batch_size)
    if weight_dim is None and bias_dim is None:
        return op(x, weight, bias, activation), 0
    z = torch.einsum("b...i,boi->b...o", x, move_batch_dim_to_front(weight, weight_dim, info.batch_size))
    if bias is not None:
        bias = move_batch_dim_to_front(bias, bias_dim, info.batch_size)
        z = z + bias.reshape(info.batch_size, *[1] * (z.dim() - 2), -1)
    return activate(z, activation), 0


WRONG = {
    "the batch dimension of the weight": [
        (
            "move_batch_dim_to_front(weight, weight_dim, info.batch_size)",
            "weight.expand(info.batch_size, -1, -1) if weight_dim is None else weight",
        )
    ],
    "the batch dimension of the bias": [
        (
            "move_batch_dim_to_front(bias, bias_dim, info.batch_size)",
            "bias.expand(info.batch_size, -1) if bias_dim is None else bias",
        )
    ],
    "the batch dimension of the result": [
        ("op(x, weight, bias, activation), 0", "op(x, weight, bias, activation), x_dim")
    ],
    "the order of the other dimensions": [
        (
            "x = move_batch_dim_to_front(x, x_dim, info.batch_size)",
            "x = x.expand(info.batch_size, *x.shape) if x_dim is None else x.transpose(x_dim, 0)",
        )
    ],
    "inputs with several leading dimensions": [
        ("bias.reshape(info.batch_size, *[1] * (z.dim() - 2), -1)", "(bias if z.dim() == 2 else bias.unsqueeze(1))")
    ],
    "an input that all examples share": [
        ("x = move_batch_dim_to_front(x, x_dim, info.batch_size)", "x = x if x_dim is None else x.movedim(x_dim, 0)")
    ],
    "a bias that all examples share": [("if bias is not None:", "if bias_dim is not None:")],
    "examples that differ in the bias alone": [
        ("if weight_dim is None and bias_dim is None:", "if weight_dim is None:")
    ],
    "arguments that are left at their defaults": [("(*in_dims, None)", "in_dims")],
    "what the operator computes besides the product": [("op(x, weight, bias, activation)", "op(x, weight, bias)")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {
        "lead": [3],
        "features": 4,
        "outs": 2,
        "batch_size": 5,
        "x": "first",
        "weight": "no batch",
        "bias": "no batch",
        "activation": "none",
    },
    {
        "lead": [3],
        "features": 4,
        "outs": 2,
        "batch_size": 5,
        "x": "first",
        "weight": "first",
        "bias": "first",
        "activation": "relu",
    },
    {
        "lead": [3],
        "features": 4,
        "outs": 2,
        "batch_size": 5,
        "x": "no batch",
        "weight": "first",
        "bias": "no batch",
        "activation": "relu",
    },
]
