"""Volumes come out of the compiled decoder in another memory layout than in eager

We run a 3-D segmentation decoder on channels-last volumes and hand its output buffer to a C library that reads voxels
in NDHWC order. In eager the output keeps the layout of the input, and the library is happy. After `torch.compile` the
numbers of the tensor are all right when one indexes it, `torch.equal` says True, but the buffer is in NCDHW order:
the strides are those of a plain contiguous tensor, so the library reads the voxels shuffled. The program below
returns the strides and the first numbers of the buffer, once compiled and once in eager; we expected both to be the
same. The backend "eager" is right, "aot_eager" is not. Our 2-D network, also channels-last, is not affected, and
volumes without the upsampling step are not either. Calling `.eval()` or `torch.no_grad()` changes nothing.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The decomposition of nearest upsampling gathers with _unsafe_index, whose result has strides of its own "
    "(contiguous as a rule), and restores the memory format of the input only for four-dimensional results. "
    "Modelled on pytorch issue 183771 (compiled nearest interpolation of a 5-D input that is not contiguous has "
    "other strides than eager) and pull request 179830 (same fault for channels_last_3d, mended by dropping the "
    "check for four dimensions)."
)
AT = ("torch/_decomp/decompositions.py", "_upsample_nearest")
FAULT = [
    ("torch/_decomp/decompositions.py", "    if result.ndim in (4, 5):\n", "    if result.ndim == 4:\n"),
    (
        "torch/_decomp/decompositions.py",
        '        if result.ndim == 4 and input.device.type == "cuda" and n_channels < 4:',
        '        if input.device.type == "cuda" and n_channels < 4:',
    ),
]
NEEDS = {"torch/_decomp/decompositions.py"}
STATEMENTS = 5
LINES = 10
LINK = (
    "torch.nn.Upsample -> interpolate -> aten.upsample_nearest3d.vec -> _upsample_nearest_vec -> _upsample_nearest "
    "-> _unsafe_index and the memory format after it. Dead end: utils.suggest_memory_format and "
    "is_channels_last_contiguous_3d in torch/_prims_common, which are right; and the addition after the upsampling "
    "(elementwise output strides)"
)


def symptom(torch):
    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Upsample(scale_factor=2, mode="nearest")

        def forward(self, x, skip):
            return self.up(x) * 2 + skip

    model = Decoder()
    x = torch.arange(24.0).reshape(1, 3, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    skip = torch.ones(1, 3, 4, 4, 4).to(memory_format=torch.channels_last_3d)
    results = []
    for run in (torch.compile(model), model):
        y = run(x, skip)
        buffer = y.as_strided((6,), (1,))
        results.append([y.stride(), buffer.tolist(), torch.equal(y, model(x, skip))])
    return results


def reproduced(torch):
    x = torch.ones(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    return torch.compile(lambda t: torch.nn.functional.interpolate(t, scale_factor=2))(x).stride()


def hidden__exact(torch):
    x = torch.arange(96.0).reshape(2, 3, 2, 2, 4).to(memory_format=torch.channels_last_3d)

    def f(t):
        return torch.nn.functional.interpolate(t, size=(3, 5, 4), mode="nearest-exact")

    return torch.compile(f)(x)


def hidden__stride_inside(torch):
    def f(x):
        y = torch.nn.functional.interpolate(x, size=(3, 3, 3))
        return y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last_3d)

    x = torch.arange(64.0).reshape(2, 4, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    return torch.compile(f)(x)


def hidden__slice_of_channels(torch):
    x = torch.arange(80.0).reshape(2, 5, 2, 2, 2).to(memory_format=torch.channels_last_3d)[:, 1:4]

    def f(t):
        return torch.nn.functional.interpolate(t, scale_factor=2)

    return [x.stride(), torch.compile(f)(x)]


def hidden__grad(torch):
    x = torch.arange(24.0).reshape(1, 3, 2, 2, 2).to(memory_format=torch.channels_last_3d).requires_grad_()
    y = torch.compile(lambda t: torch.nn.functional.interpolate(t, scale_factor=(2, 1, 1)) ** 2)(x)
    y.sum().backward()
    return [y.stride(), y, x.grad]


def hidden__decomposition_itself(torch):
    from torch._decomp import decomposition_table

    x = torch.arange(24.0, dtype=torch.float64).reshape(1, 3, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    aten = torch.ops.aten
    return [
        decomposition_table[aten.upsample_nearest3d.default](x, [4, 3, 2]),
        decomposition_table[aten._upsample_nearest_exact3d.default](x, [4, 3, 2]),
    ]


def hidden__batch_and_channels_swapped(torch):
    x = torch.arange(48.0).reshape(2, 3, 2, 2, 2).transpose(0, 1)

    def f(t):
        return torch.nn.functional.interpolate(t, scale_factor=(1, 2, 1))

    return torch.compile(f)(x)


def kept__other_orders_of_dimensions(torch):
    from torch._decomp import decomposition_table

    def strides(x):
        size = [2 * each for each in x.shape[2:]]
        return decomposition_table[torch.ops.aten.upsample_nearest3d.default](x, size).stride()

    x = torch.arange(720.0)
    return [
        strides(x.reshape(2, 4, 3, 5, 6).transpose(1, 4)),
        strides(x[:6].reshape(2, 3, 1, 1, 1)),
        strides(x.reshape(2, 4, 5, 6, 3).permute(0, 4, 1, 3, 2)),
    ]


def kept__two_dimensions(torch):
    x = torch.arange(24.0).reshape(2, 3, 2, 2)

    def f(t):
        return torch.nn.functional.interpolate(t, scale_factor=2)

    compiled = torch.compile(f)
    return [compiled(x.to(memory_format=torch.channels_last)), compiled(x), compiled(x.transpose(2, 3))]


def kept__contiguous_volume(torch):
    x = torch.arange(96.0).reshape(2, 3, 2, 2, 4)

    def f(t):
        return torch.nn.functional.interpolate(t, scale_factor=2)

    return torch.compile(f)(x)


def kept__transposed_volume(torch):
    x = torch.arange(96.0).reshape(2, 3, 4, 2, 2).transpose(2, 4)

    def f(t):
        return torch.nn.functional.interpolate(t, size=(2, 3, 5))

    return torch.compile(f)(x)


def kept__one_dimension(torch):
    x = torch.arange(12.0).reshape(2, 2, 3)

    def f(t):
        return torch.nn.functional.interpolate(t, scale_factor=2)

    return [torch.compile(f)(x), torch.compile(f)(x.transpose(1, 2))]


TEST = """
def test_nearest_upsampling_keeps_channels_last_3d(self, torch):
    x = torch.arange(48.0).reshape(2, 3, 2, 2, 2)
    for mode in ("nearest", "nearest-exact"):
        def f(t, mode=mode):
            return torch.nn.functional.interpolate(t, scale_factor=2, mode=mode)
        for t in (x, x.to(memory_format=torch.channels_last_3d), x.transpose(2, 4), x.transpose(0, 1)):
            expected = f(t)
            actual = torch.compile(f, backend="aot_eager")(t)
            self.assertEqual(actual, expected)
            self.assertEqual(actual.stride(), expected.stride())
"""
WRONG = {
    "makes every volume channels-last": [
        (
            "torch/_decomp/decompositions.py",
            "        result = result.contiguous(memory_format=memory_format)\n    return result\n\n\ndef gather_params",
            "        result = result.contiguous(memory_format=memory_format)\n    elif result.ndim == 5:\n"
            "        result = result.contiguous(memory_format=torch.channels_last_3d)\n    return result\n\n\ndef gather_params",
        )
    ],
    "*asks whether the input is dense in channels-last order": [
        (
            "torch/_decomp/decompositions.py",
            "        result = result.contiguous(memory_format=memory_format)\n    return result\n\n\ndef gather_params",
            "        result = result.contiguous(memory_format=memory_format)\n"
            "    elif result.ndim == 5 and input.is_contiguous(memory_format=torch.channels_last_3d):\n"
            "        result = result.contiguous(memory_format=torch.channels_last_3d)\n    return result\n\n\ndef gather_params",
        )
    ],
    "gives the result the order of the strides of the input": [
        (
            "torch/_decomp/decompositions.py",
            "        result = result.contiguous(memory_format=memory_format)\n    return result\n\n\ndef gather_params",
            "        result = result.contiguous(memory_format=memory_format)\n    elif result.ndim == 5:\n"
            "        order = sorted(range(5), key=lambda d: -input.stride(d))\n"
            "        inverse = [order.index(d) for d in range(5)]\n"
            "        result = result.permute(order).contiguous().permute(inverse)\n    return result\n\n\ndef gather_params",
        )
    ],
    "*restores the format only on the way from interpolate with mode nearest": [
        (
            "torch/_decomp/decompositions.py",
            "    return _upsample_nearest(input, osize, scales)\n",
            "    result = _upsample_nearest(input, osize, scales)\n"
            "    return result.contiguous(memory_format=utils.suggest_memory_format(input))\n",
        )
    ],
    "volumes only when the input is channels-last": [
        (
            "torch/_decomp/decompositions.py",
            "        result = result.contiguous(memory_format=memory_format)\n    return result\n\n\ndef gather_params",
            "        result = result.contiguous(memory_format=memory_format)\n    elif result.ndim == 5:\n"
            "        wanted = utils.suggest_memory_format(input)\n"
            "        if wanted == torch.channels_last_3d:\n"
            "            result = result.contiguous(memory_format=wanted)\n    return result\n\n\ndef gather_params",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_decomp/decompositions.py",
            "    if result.ndim == 4:\n        # convert output",
            "    if result.ndim in (4, 5):\n        # convert output",
        ),
        (
            "torch/_decomp/decompositions.py",
            '        if input.device.type == "cuda" and n_channels < 4:',
            '        if result.ndim == 4 and input.device.type == "cuda" and n_channels < 4:',
        ),
    ],
    "without a condition on the number of dimensions": [
        (
            "torch/_decomp/decompositions.py",
            "    if result.ndim == 4:\n        # convert output",
            "    if result.ndim > 2:\n        # convert output",
        ),
        (
            "torch/_decomp/decompositions.py",
            '        if input.device.type == "cuda" and n_channels < 4:',
            '        if input.ndim == 4 and input.device.type == "cuda" and n_channels < 4:',
        ),
    ],
    "a branch of its own for volumes": [
        (
            "torch/_decomp/decompositions.py",
            "        result = result.contiguous(memory_format=memory_format)\n    return result\n\n\ndef gather_params",
            "        result = result.contiguous(memory_format=memory_format)\n    elif result.ndim == 5:\n"
            "        wanted = utils.suggest_memory_format(input)\n"
            "        result = result.contiguous(memory_format=wanted)\n    return result\n\n\ndef gather_params",
        )
    ],
}
