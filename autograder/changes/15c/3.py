"""A bfloat16 convolution comes back as float32 when it is fused with its batch norm

Our models keep the weights of convolutions in bfloat16 and batch norm in float32, as mixed precision recommends. The
two work together in eval mode: a bfloat16 image goes in and a bfloat16 image comes out. Before deployment we fuse each
pair with `torch.nn.utils.fuse_conv_bn_eval`. I expected a convolution like the one that I gave, with other numbers.
Instead its weight and its bias are float32, so the file is twice as big, and the next call with a bfloat16 image
raises that the input and the bias should have one dtype. The program below prints the dtypes before and after: the
last two should be bfloat16.

Fusing after `.to(torch.bfloat16)` for the whole model gives bfloat16, but then the statistics have lost their digits,
and accuracy suffers. Models that are float32 throughout are fused correctly.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The fused weight and bias are computed in the dtype to which convolution and batch norm promote, and are not "
    "converted back to those of the convolution. Modelled on pytorch pull request 99696 (folding of mixed dtypes keeps "
    "the dtypes of the convolution) and 134105 (the same for linear layers). The proposed patch converts the "
    "statistics before they are used, so that they overflow or lose digits."
)
AT = ("torch/nn/utils/fusion.py", "fuse_conv_bn_weights")
FAULT = [
    (
        "torch/nn/utils/fusion.py",
        """    conv_weight_dtype = conv_w.dtype
    conv_bias_dtype = conv_b.dtype if conv_b is not None else conv_weight_dtype
""",
        "",
    ),
    (
        "torch/nn/utils/fusion.py",
        """    fused_conv_w = (conv_w * (bn_w * bn_var_rsqrt).reshape(shape)).to(
        dtype=conv_weight_dtype
    )
    fused_conv_b = ((conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b).to(
        dtype=conv_bias_dtype
    )
""",
        """    fused_conv_w = conv_w * (bn_w * bn_var_rsqrt).reshape(shape)
    fused_conv_b = (conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b
""",
    ),
]
NEEDS = {"torch/fx/experimental/optimization.py", "torch/nn/utils/fusion.py"}
STATEMENTS = 4
LINES = 12
LINK = (
    "fuse_conv_bn_eval -> fuse_conv_bn_weights, in which type promotion decides. Dead end: copy.deepcopy of the "
    "convolution in fuse_conv_bn_eval, and the assignment of the new parameters, which are right."
)


def symptom(torch):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, kernel_size=3).to(torch.bfloat16),
        torch.nn.BatchNorm2d(8),
    )
    model(torch.randn(4, 3, 16, 16, dtype=torch.bfloat16))
    model.eval()
    fused = torch.nn.utils.fuse_conv_bn_eval(model[0], model[1])
    conv = model[0]
    return [str(t.dtype) for t in (conv.weight, conv.bias, fused.weight, fused.bias)]


def reproduced(torch):
    conv = torch.nn.Conv1d(1, 1, 1, dtype=torch.float16).eval()
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, torch.nn.BatchNorm1d(1).eval())
    return str(fused.weight.dtype)


def hidden__fused_in_a_graph(torch):
    from torch.fx.experimental.optimization import fuse

    conv = torch.nn.Conv1d(1, 2, 1, bias=False, dtype=torch.bfloat16)
    model = torch.nn.Sequential(conv, torch.nn.BatchNorm1d(2, eps=0.0)).eval()
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([2.0, -3.0]).reshape(2, 1, 1))
        model[1].running_mean.copy_(torch.tensor([257.0, -1.0]))
        model[1].running_var.copy_(torch.tensor([4.0, 16.0]))
    fused = fuse(model)
    return [fused(torch.ones(1, 1, 4, dtype=torch.bfloat16)), [str(p.dtype) for p in fused.parameters()]]


def hidden__statistics_beyond_half(torch):
    conv = torch.nn.Conv1d(1, 3, 1, dtype=torch.float16).eval()
    norm = torch.nn.BatchNorm1d(3, eps=0.0).eval()
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([512.0, 1.0, 3.0]).reshape(3, 1, 1))
        conv.bias.copy_(torch.tensor([1024.0, 2.0, -8.0]))
        norm.running_var.copy_(torch.tensor([2.0**18, 2.0**-40, 4.0]))
        norm.running_mean.copy_(torch.tensor([-1024.0, 2.0, 2049.0]))
        norm.weight.copy_(torch.tensor([1.0, 2.0**-20, 2.0]))
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    return [fused.weight, fused.bias]


def hidden__without_weight_and_bias(torch):
    conv_w = torch.tensor([4.0, 8.0], dtype=torch.bfloat16).reshape(2, 1)
    mean, var = torch.tensor([1.0, 2.0]), torch.tensor([4.0, 16.0])
    results = []
    for conv_b in (None, torch.tensor([3.0, 2.0], dtype=torch.bfloat16), torch.tensor([3.0, 2.0])):
        results += torch.nn.utils.fuse_conv_bn_weights(conv_w, conv_b, mean, var, 0.0, None, None)
    return results


def hidden__transposed(torch):
    conv = torch.nn.ConvTranspose1d(2, 3, 1, dtype=torch.float16).eval()
    norm = torch.nn.BatchNorm1d(3, eps=0.0, affine=False).eval()
    with torch.no_grad():
        conv.weight.copy_(torch.arange(6.0).reshape(2, 3, 1))
        conv.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
        norm.running_var.copy_(torch.tensor([4.0, 0.25, 1.0]))
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm, transpose=True)
    return [fused.weight, fused.bias]


def hidden__double_statistics(torch):
    conv = torch.nn.Conv1d(1, 1, 1).eval()
    norm = torch.nn.BatchNorm1d(1, eps=0.0, dtype=torch.float64).eval()
    with torch.no_grad():
        conv.weight.fill_(2.0)
        conv.bias.fill_(2.0**24)
        norm.running_mean.fill_(2.0**24 + 1)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    return [fused.weight, fused.bias]


def kept__float32(torch):
    conv = torch.nn.Conv2d(1, 2, 1, bias=False).eval()
    norm = torch.nn.BatchNorm2d(2, eps=0.0).eval()
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([2.0, 3.0]).reshape(2, 1, 1, 1))
        norm.running_var.copy_(torch.tensor([4.0, 16.0]))
        norm.running_mean.copy_(torch.tensor([1.0, -2.0]))
        norm.bias.copy_(torch.tensor([0.5, 0.25]))
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    return [fused.weight, fused.bias, fused(torch.ones(1, 1, 1, 1)), norm(conv(torch.ones(1, 1, 1, 1)))]


def kept__requires_grad(torch):
    results = []
    for frozen in (False, True):
        for bias in (False, True):
            conv = torch.nn.Conv1d(1, 1, 1, bias=bias).eval().requires_grad_(not frozen)
            fused = torch.nn.utils.fuse_conv_bn_eval(conv, torch.nn.BatchNorm1d(1).eval())
            results.append([fused.weight.requires_grad, fused.bias.requires_grad, fused.weight.is_leaf])
    return results


def kept__the_given_tensors_stay(torch):
    weight, bias = torch.full((2, 1, 1), 3.0), torch.ones(2)
    mean, var, scale, shift = torch.ones(2), torch.full((2,), 4.0), torch.full((2,), 2.0), torch.zeros(2)
    fused = torch.nn.utils.fuse_conv_bn_weights(weight, bias, mean, var, 0.0, scale, shift)
    return [*fused, weight, bias, mean, var, scale, shift]


def kept__linear(torch):
    linear = torch.nn.Linear(1, 2, dtype=torch.bfloat16).eval()
    fused = torch.nn.utils.fuse_linear_bn_eval(linear, torch.nn.BatchNorm1d(2).eval())
    return [str(fused.weight.dtype), str(fused.bias.dtype)]


TEST = """
def test_fused_convolution_keeps_its_dtype(self, torch):
    for dtype in (torch.float16, torch.bfloat16):
        weight = torch.tensor([512.0, 1.0], dtype=dtype).reshape(2, 1, 1)
        mean, var = torch.tensor([257.0, 2.0]), torch.tensor([2.0**18, 4.0])
        one, zero = torch.tensor([512.0, 1.0]), torch.zeros(2)
        bias = torch.tensor([256.0, 2.0], dtype=dtype)
        expected = [torch.tensor([512.0, 0.5], dtype=dtype).reshape(2, 1, 1), torch.tensor([-1.0, 0.0], dtype=dtype)]
        fused = torch.nn.utils.fuse_conv_bn_weights(weight, bias, mean, var, 0.0, one, zero)
        for actual, wanted in zip(fused, expected):
            self.assertEqual(actual, wanted, rtol=0, atol=0)
        without = torch.nn.utils.fuse_conv_bn_weights(weight, None, mean, var, 0.0, one, zero)
        self.assertEqual(without[1], torch.tensor([-257.0, -1.0]).to(dtype), rtol=0, atol=0)
"""
PATCH = "*converts the statistics before they are used"
PULL = """Fuse convolution and batch norm in the dtype of the convolution

With a bfloat16 or float16 convolution and float32 batch norm, type promotion makes the fused weight and bias float32.
This patch converts the four tensors of batch norm to the dtype of the convolution's weight, once, after the missing
ones are filled in. Everything below is then computed in a single dtype, and the result has it without a conversion at
the end. Float32 models do not change at all: `.to` returns the same tensors.

Test plan: for float16, bfloat16 and float32, with and without the convolution's bias, both parameters of the fused
convolution have the dtype of the given one. After training for 10 steps, its outputs agree with those of the pair to
1e-2.
"""
WRONG = {
    "*converts the statistics before they are used": [
        (
            "torch/nn/utils/fusion.py",
            """        bn_b = torch.zeros_like(bn_rm)
    bn_var_rsqrt = torch.rsqrt(bn_rv + bn_eps)
""",
            """        bn_b = torch.zeros_like(bn_rm)
    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm, dtype=conv_w.dtype)
    bn_rm, bn_rv, bn_w, bn_b = (t.to(conv_w.dtype) for t in (bn_rm, bn_rv, bn_w, bn_b))
    bn_var_rsqrt = torch.rsqrt(bn_rv + bn_eps)
""",
        ),
        (
            "torch/nn/utils/fusion.py",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    if bn_w is None:
""",
            """    if bn_w is None:
""",
        ),
    ],
    "*converts the parameters of the copied convolution only": [
        (
            "torch/nn/utils/fusion.py",
            """        transpose,
    )

    return fused_conv
""",
            """        transpose,
    )

    return fused_conv.to(dtype=conv.weight.dtype)
""",
        )
    ],
    "makes new parameters, which train": [
        (
            "torch/nn/utils/fusion.py",
            """        torch.nn.Parameter(fused_conv_w, conv_w.requires_grad),
        torch.nn.Parameter(fused_conv_b, conv_b.requires_grad),
""",
            """        torch.nn.Parameter(fused_conv_w.to(conv_w.dtype)),
        torch.nn.Parameter(fused_conv_b.to(conv_w.dtype)),
""",
        )
    ],
    "scales the weight in its place": [
        (
            "torch/nn/utils/fusion.py",
            """    fused_conv_w = conv_w * (bn_w * bn_var_rsqrt).reshape(shape)
    fused_conv_b = (conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b
""",
            """    fused_conv_w = conv_w.detach().mul_((bn_w * bn_var_rsqrt).reshape(shape))
    fused_conv_b = ((conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b).to(conv_w.dtype)
""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/nn/utils/fusion.py",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    if bn_w is None:
""",
            """    conv_weight_dtype = conv_w.dtype
    conv_bias_dtype = conv_b.dtype if conv_b is not None else conv_weight_dtype
    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    if bn_w is None:
""",
        ),
        (
            "torch/nn/utils/fusion.py",
            """    fused_conv_w = conv_w * (bn_w * bn_var_rsqrt).reshape(shape)
    fused_conv_b = (conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b
""",
            """    fused_conv_w = (conv_w * (bn_w * bn_var_rsqrt).reshape(shape)).to(
        dtype=conv_weight_dtype
    )
    fused_conv_b = ((conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b).to(
        dtype=conv_bias_dtype
    )
""",
        ),
    ],
    "converts where the parameters are made": [
        (
            "torch/nn/utils/fusion.py",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    if bn_w is None:
""",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm, dtype=conv_w.dtype)
    if bn_w is None:
""",
        ),
        (
            "torch/nn/utils/fusion.py",
            """        torch.nn.Parameter(fused_conv_w, conv_w.requires_grad),
        torch.nn.Parameter(fused_conv_b, conv_b.requires_grad),
""",
            """        torch.nn.Parameter(fused_conv_w.to(conv_w.dtype), conv_w.requires_grad),
        torch.nn.Parameter(fused_conv_b.to(conv_b.dtype), conv_b.requires_grad),
""",
        ),
    ],
    "fills empty tensors of the right dtype": [
        (
            "torch/nn/utils/fusion.py",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    if bn_w is None:
""",
            """    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm, dtype=conv_w.dtype)
    if bn_w is None:
""",
        ),
        (
            "torch/nn/utils/fusion.py",
            """    fused_conv_w = conv_w * (bn_w * bn_var_rsqrt).reshape(shape)
    fused_conv_b = (conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b
""",
            """    fused_conv_w, fused_conv_b = conv_w.detach().clone(), conv_b.detach().clone()
    fused_conv_w.copy_(conv_w.detach() * (bn_w * bn_var_rsqrt).detach().reshape(shape))
    fused_conv_b.copy_(((conv_b - bn_rm) * bn_var_rsqrt * bn_w + bn_b).detach())
""",
        ),
    ],
}
