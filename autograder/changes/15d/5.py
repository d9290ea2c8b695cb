"""All positions within a page become zero after torch.compile with dynamic=True

Our cache is divided into pages of equal size, and the position of a token within its page is encoded by sines and
cosines, see the program below. After `torch.compile(..., dynamic=True)` the encoding is that of the first slot of a
page for each token: all sines are 0 and all cosines are 1, with no warning. Eager gives different rows, and so does
the module with `dynamic=False`. The backend "aot_eager" is wrong and "eager" is right. If we print the dtypes of all
variables inside `forward`, they are what they should be under both backends.

What we tried: if `position` is a column of a larger matrix, so that its stride is 2, the result is right too. Float
positions of dtype float32 or float64 are right. With a prime number of tokens it is as wrong as with 8. We thought of
`cos` and `sin` first, but these only get what is zero already.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The fast path by which fake tensors with symbolic sizes go through add, sub, mul and div takes the operands' "
    "dtype for the result's when they are equal, also for div, which makes floats of integers; a cast of the quotient "
    "to integers then looks like nothing to do and is dropped. Modelled on pytorch pull request 166522 (the common "
    "dtype is taken from the first operand although another kind of type promotion is asked for) and pull request "
    "150874 (the same with a number as divisor)."
)
AT = ("torch/_subclasses/fake_impls.py", "make_fast_binary_impl.fast_binary_impl")
FAULT = [
    (
        "torch/_subclasses/fake_impls.py",
        """            if common_dtype is None:
                if type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT:
                    has_different_input_dtypes = True
                else:
                    common_dtype = op.dtype
            elif""",
        """            if common_dtype is None:
                common_dtype = op.dtype
            elif""",
    ),
]
NEEDS = {
    "torch/_prims_common/__init__.py",
    "torch/_refs/__init__.py",
    "torch/_subclasses/fake_impls.py",
    "torch/_subclasses/fake_tensor.py",
}
STATEMENTS = 8
LINES = 12
LINK = (
    "position / page_size -> aten.div.Tensor -> FakeTensorMode._dispatch_impl in torch/_subclasses/fake_tensor.py "
    "(only with symbolic sizes) -> get_fast_op_impls -> fast_binary_impl: the fake quotient is int64, so .long() "
    "returns its argument and no cast is traced. Dead ends: torch._refs.div with elementwise_dtypes, which is right "
    "(a tensor on the device meta divides rightly), and the passes of AOTAutograd that could remove a cast"
)


def symptom(torch):
    class PageEncoding(torch.nn.Module):
        def __init__(self, page_size):
            super().__init__()
            self.register_buffer("page_size", torch.tensor(page_size))
            self.register_buffer("frequency", torch.tensor([1.0, 0.25]))

        def forward(self, position):
            page = (position / self.page_size).long()
            slot = position - page * self.page_size
            angle = slot[:, None] * self.frequency
            return torch.cat([angle.sin(), angle.cos()], 1)

    model = PageEncoding(4)
    position = torch.arange(8)
    return [torch.compile(model, dynamic=True)(position), model(position)]


def reproduced(torch):
    i = torch.tensor([1, 7])
    return torch.compile(lambda i, j: (i / j).long(), dynamic=True)(i, i + 1)


def hidden__bytes_and_truth(torch):
    def f(a, b):
        return (a / b).to(a.dtype)

    compiled = torch.compile(f, dynamic=True)
    byte = torch.tensor([7, 200, 9], dtype=torch.uint8), torch.tensor([2, 3, 4], dtype=torch.uint8)
    truth = torch.tensor([True, False, True]), torch.tensor([True, True, True])
    short = torch.tensor([7, -200, -9]).short(), torch.tensor([2, 3, 4]).short()
    return [compiled(*pair) for pair in (byte, truth, short)]


def hidden__default_dtype(torch):
    def f(a, b):
        q = a / b
        return q.double(), q.float(), q.long()

    a, b = torch.tensor([1, 2, 3]), torch.tensor([3, 3, 3])
    results = [torch.compile(f, dynamic=True)(a, b)]
    torch._dynamo.reset()
    torch.set_default_dtype(torch.float64)
    return results + [torch.compile(f, dynamic=True)(a, b)]


def hidden__channels_last(torch):
    def f(a, b):
        q = a / b
        return q.long(), q.is_floating_point()

    image = torch.arange(48).reshape(2, 3, 2, 4).to(memory_format=torch.channels_last)
    return torch.compile(f, dynamic=True)(image, image + 5)


def hidden__branch_on_dtype(torch):
    def f(a, b):
        q = a / b
        scale = 1.0 if q.dtype.is_floating_point else 2.0
        return q * scale, torch.zeros(2, dtype=q.dtype), q.element_size()

    a = torch.tensor([1, 2, 3], dtype=torch.int32)
    return torch.compile(f, dynamic=True, backend="eager")(a, a + 1)


def hidden__mean_so_far(torch):
    def f(counts):
        means = torch.true_divide(counts.cumsum(0), torch.arange(1, counts.shape[0] + 1))
        return means.long() * 10, counts.divide(counts.sum()).long()

    return torch.compile(f, dynamic=True)(torch.tensor([3, 4, 8, 1]))


def hidden__gradient(torch):
    def f(w, a, b):
        return (w * (a / b).long()).sum()

    w = torch.ones(3, requires_grad=True)
    torch.compile(f, dynamic=True)(w, torch.tensor([1, 5, 9]), torch.tensor([2, 2, 2])).backward()
    return w.grad


def kept__floats(torch):
    def f(a, b):
        q = a / b
        return q.dtype, q.float(), q.double(), (a * b).float()

    compiled = torch.compile(f, dynamic=True)
    a = torch.tensor([1.0, 2.5, 7.0])
    return [compiled(a.to(dtype), (a + 1).to(dtype)) for dtype in (torch.float64, torch.float32, torch.bfloat16)]


def kept__complex(torch):
    def f(a, b):
        q = a / b
        return q.dtype, q.to(torch.complex64), q.real.float()

    a = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    return torch.compile(f, dynamic=True)(a, a + 1)


def kept__other_operators(torch):
    def f(a, b):
        return [(x.float(), x.long(), x.dtype) for x in (a + b, a - b, a * b)]

    compiled = torch.compile(f, dynamic=True)
    a = torch.tensor([1, 5, 9], dtype=torch.int32)
    return [compiled(a, a + 1), torch.compile(lambda m: (m * m).long() + (m + m).long(), dynamic=True)(a > 3)]


def kept__mixed_and_numbers(torch):
    def f(a, b):
        return (a / b).long(), (b / a).float(), (a / 2).long(), (3 / a).long(), (b / 2).float(), (a / 2.5).long()

    return torch.compile(f, dynamic=True)(torch.tensor([1, 5, 9]), torch.tensor([2.0, 2.0, 0.5], dtype=torch.float64))


def kept__fast_path(torch):
    from torch.utils._stats import simple_call_counter

    def taken(f, *pair):
        before = simple_call_counter.get("fast is_contiguous", 0)
        torch.compile(f, dynamic=True)(*pair)
        return simple_call_counter.get("fast is_contiguous", 0) > before

    whole, real = torch.tensor([1, 5, 9]), torch.tensor([1.0, 2.5])
    return [
        taken(lambda a, b: a + b, whole, whole + 1),
        taken(lambda a, b: a - b, real, real + 1),
        taken(lambda a, b: a * b, whole, whole + 1),
    ]


def kept__strides(torch):
    def f(a, b):
        q = (a / b).contiguous()
        return q, (a * b).stride(), (a.mT / b.mT).stride()

    image = torch.arange(1.0, 49).reshape(2, 3, 2, 4).to(memory_format=torch.channels_last)
    return [torch.compile(f, dynamic=True)(x, x + 1) for x in (image, image.contiguous())]


TEST = """
def test_quotient_of_integers_in_a_dynamic_graph(self, torch):
    def f(a, b):
        q = a / b
        return q.to(a.dtype), q.float(), q.double()

    compiled = torch.compile(f, backend="aot_eager", dynamic=True)
    a = torch.tensor([1, 7, 12])
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float64, torch.bfloat16):
        pair = a.to(dtype), torch.tensor([2, 2, 5]).to(dtype)
        for actual, expected in zip(compiled(*pair), f(*pair)):
            self.assertEqual(actual, expected, exact_dtype=True)
"""
WRONG = {
    "*leaves truth values as they are": [
        (
            "torch/_subclasses/fake_impls.py",
            """            if common_dtype is None:
                common_dtype = op.dtype
            elif""",
            """            if common_dtype is None:
                if op.dtype is not torch.bool:
                    has_different_input_dtypes = True
                common_dtype = op.dtype
            elif""",
        )
    ],
    "*the default dtype for each quotient": [
        (
            "torch/_subclasses/fake_impls.py",
            """                *operands, type_promotion_kind=type_promotion_kind
            )
""",
            """                *operands, type_promotion_kind=type_promotion_kind
            )
        elif type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT:
            common_dtype = torch.get_default_dtype()
""",
        )
    ],
    "float32 for integers and truth values": [
        (
            "torch/_subclasses/fake_impls.py",
            """                *operands, type_promotion_kind=type_promotion_kind
            )
""",
            """                *operands, type_promotion_kind=type_promotion_kind
            )
        elif type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT:
            if common_dtype is not None and not (
                common_dtype.is_floating_point or common_dtype.is_complex
            ):
                common_dtype = torch.float32
""",
        )
    ],
    "floats for all four operators": [
        (
            "torch/_subclasses/fake_impls.py",
            """        if has_different_input_dtypes:
            # compute promotion
""",
            """        if common_dtype is not None and not (
            common_dtype.is_floating_point or common_dtype.is_complex
        ):
            common_dtype = torch.get_default_dtype()
        if has_different_input_dtypes:
            # compute promotion
""",
        )
    ],
    "where the result is contiguous only": [
        (
            "torch/_subclasses/fake_impls.py",
            """            count_label("fast is_contiguous")
""",
            """            count_label("fast is_contiguous")
            _, common_dtype = elementwise_dtypes(
                *operands, type_promotion_kind=type_promotion_kind
            )
""",
        )
    ],
    "only where the second operand has no dimension": [
        (
            "torch/_subclasses/fake_impls.py",
            """            if common_dtype is None:
                common_dtype = op.dtype
            elif""",
            """            has_different_input_dtypes |= op.ndim == 0
            if common_dtype is None:
                common_dtype = op.dtype
            elif""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_subclasses/fake_impls.py",
            """            if common_dtype is None:
                common_dtype = op.dtype
            elif""",
            """            if common_dtype is None:
                if type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT:
                    has_different_input_dtypes = True
                else:
                    common_dtype = op.dtype
            elif""",
        )
    ],
    "where the dtypes are compared": [
        (
            "torch/_subclasses/fake_impls.py",
            "        if has_different_input_dtypes:\n",
            "        promotes = type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT\n"
            "        if has_different_input_dtypes or promotes:\n",
        )
    ],
    "by the slow path": [
        (
            "torch/_subclasses/fake_tensor.py",
            "            fast_impl = get_fast_op_impls().get(func)\n            if fast_impl is not None:\n",
            "            fast_impl = get_fast_op_impls().get(func)\n"
            "            divides = func is torch.ops.aten.div.Tensor\n"
            "            if fast_impl is not None and not (\n"
            "                divides and all(t.dtype == flat_arg_fake_tensors[0].dtype for t in flat_arg_fake_tensors)\n"
            "            ):\n",
        )
    ],
}
