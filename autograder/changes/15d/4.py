"""Compiled pooling loses the end of a recording, depending on which lengths came before

Our module sums a recording in blocks of four samples and fills an incomplete last block up with zeros. In eager, 10
samples give three blocks. After `torch.compile` the first recording is always right, whatever its length. Later ones
are right only if their length is a multiple of four; all others come back one block short, the last samples are lost,
and no warning is given. In the program below the second and the fourth recording are too short. If the recording of 10
samples comes first, that one is right, and another one is short.

What I tried: the backends "eager" and "aot_eager" agree with each other. With `dynamic=False` everything is right. The
graph of the second recording has no padding in it at all. With `TORCH_LOGS=recompiles` I see that recordings of 10 and
of 12 samples share one graph, which I find suspicious. `pad` by a fixed number of zeros and `unfold` are right for all
lengths if I compile a function that has only one of them.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The value range of Python's remainder takes the sign of the dividend when the modulus is positive, as C's does, "
    "so that -s % 4 > 0 is False for all sizes s: the branch is decided without a guard. Modelled on pytorch issue "
    "169602 (the bounds of such a remainder are wrong for a negated size, so a comparison is decided statically and "
    "wrongly) and pull request 169612 (mends them)."
)
AT = ("torch/utils/_sympy/value_ranges.py", "SymPyValueRangeAnalysis.python_mod")
FAULT = [
    (
        "torch/utils/_sympy/value_ranges.py",
        '''        """Python-style modulo: result has same sign as divisor.

        Assumes valid input where y is never 0.
        - When y > 0: result is in [0, y - 1]
        - When y < 0: result is in [y + 1, 0]
        """
''',
        '''        """Python-style modulo. Assumes valid input where y is never 0."""
''',
    ),
    (
        "torch/utils/_sympy/value_ranges.py",
        """        if x.lower >= 0 and y.lower >= 0:
            return SymPyValueRangeAnalysis.mod(x, y)
""",
        """        if y.lower >= 0:
            return SymPyValueRangeAnalysis.mod(x, y)
""",
    ),
]
NEEDS = {
    "torch/fx/experimental/symbolic_shapes.py",
    "torch/utils/_sympy/functions.py",
    "torch/utils/_sympy/value_ranges.py",
}
STATEMENTS = 10
LINES = 14
LINK = (
    "if missing > 0 -> SymNodeVariable.evaluate_expr in torch/_dynamo/variables/tensor.py -> SymNode.guard_bool -> "
    "ShapeEnv.evaluate_expr -> _maybe_evaluate_static -> _maybe_evaluate_static_worker -> bound_sympy -> "
    "SymPyValueRangeAnalysis.python_mod. Dead ends: the guards that Dynamo makes for the size (produce_guards writes "
    "all that it is given), PythonMod.eval in torch/utils/_sympy/functions.py, and mod beside it, which is C's "
    "remainder on purpose"
)


def symptom(torch):
    class BlockSum(torch.nn.Module):
        def __init__(self, length):
            super().__init__()
            self.length = length

        def forward(self, samples):
            missing = -samples.shape[0] % self.length
            if missing > 0:
                samples = torch.nn.functional.pad(samples, (0, missing))
            return samples.unfold(0, self.length, self.length).sum(1)

    model = BlockSum(4)
    compiled = torch.compile(model)
    results = []
    for length in (8, 10, 12, 7):
        samples = torch.arange(1.0, length + 1)
        results.append([length, compiled(samples), model(samples)])
    return results


def reproduced(torch):
    f = torch.compile(lambda x: x + 1 if -len(x) % 4 > 0 else x, dynamic=True)
    return f(torch.zeros(3))


def hidden__aligned_length(torch):
    def f(x):
        n = x.shape[0]
        aligned = n + -n % 8
        return (x * 2, aligned) if aligned > n else (x, aligned)

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.ones(n)) for n in (16, 13, 17, 24)]


def hidden__equal_to_one(torch):
    def f(x):
        n = x.shape[0]
        return x * 2 if -n % 4 == 1 else x * 3 if -n % 4 != 2 else x

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.ones(n)) for n in (8, 7, 11, 6, 5)]


def hidden__both_signs(torch):
    def f(x):
        return x + 1 if (3 - x.shape[0]) % 8 > 1 else x

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.zeros(n))[0] for n in (2, 3, 4, 5, 9, 11)]


def hidden__few_sizes(torch):
    def f(x):
        n = x.shape[0]
        if n <= 3:
            return x + 1 if -n % 4 > 1 else x
        return x + 2

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.zeros(n))[0] for n in (3, 2, 4)]


def hidden__numbers(torch):
    def f(x, k):
        if k < 0:
            return x + 1 if k % 4 == 3 else x
        return x + 2

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.zeros(1), k) for k in (-2, -1, -5, 3, -8)]


def hidden__bounds(torch):
    import sympy
    from torch.utils._sympy.functions import PythonMod
    from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

    s = sympy.Symbol("s", integer=True)
    wrong = []
    for k in (2, 3, 5, 8, -3, -8):
        for lower in range(-9, 10, 2):
            for upper in range(lower, 10, 3):
                found = bound_sympy(PythonMod(s, k), {s: ValueRanges(lower, upper)})
                values = [number % k for number in range(lower, upper + 1)]
                holds = found.lower <= min(values) and max(values) <= found.upper
                useful = min(0, k + 1) <= found.lower and found.upper <= max(0, k - 1)
                if not holds or not useful:
                    wrong.append((k, lower, upper))
    return wrong


def kept__positive(torch):
    from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges, int_oo

    pairs = [(0, 2, 4), (2, 3, 4), (5, 7, 4), (9, 10, 8), (6, 9, 4), (0, int_oo, 16), (3, 100, 5)]
    found = [SymPyValueRangeAnalysis.python_mod(ValueRanges(a, b), ValueRanges.wrap(k)) for a, b, k in pairs]
    return [[int(each.lower), int(each.upper)] for each in found]


def kept__other_signs(torch):
    from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges, int_oo

    found = []
    for a, b in ((0, int_oo), (-int_oo, -2), (-5, 9)):
        for k in (ValueRanges(-4, -4), ValueRanges(-6, -2)):
            each = SymPyValueRangeAnalysis.python_mod(ValueRanges(a, b), k)
            found.append([int(each.lower), int(each.upper)])
    return found


def kept__remainder_of_c(torch):
    from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges, int_oo

    pairs = [(-int_oo, -2, 4), (-3, -2, 4), (-5, 9, 4), (-2, 1, 8), (-int_oo, 5, 16)]
    found = [SymPyValueRangeAnalysis.mod(ValueRanges(a, b), ValueRanges.wrap(k)) for a, b, k in pairs]
    return [[int(each.lower), int(each.upper)] for each in found]


def kept__known_without_a_guard(torch):
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    def f(x):
        n = x.shape[0]
        answers = [statically_known_true(n % 4 < 4), statically_known_true(n % 4 >= 0)]
        return x + 1, answers, statically_known_true(n % 4 < 3), statically_known_true((n + 7) % 16 <= 15)

    compiled = torch.compile(f, dynamic=True)
    return [compiled(torch.zeros(n)) for n in (8, 3)]


TEST = """
def test_remainder_of_negated_size(self, torch):
    def padded(x):
        return x + 1 if -x.shape[0] % 4 > 0 else x

    def behind(x):
        return x + 1 if (3 - x.shape[0]) % 8 > 1 else x

    def few(x):
        if x.shape[0] <= 3:
            return x + 1 if -x.shape[0] % 4 > 1 else x
        return x + 2

    for f in (padded, behind, few):
        compiled = torch.compile(f, dynamic=True, backend="eager")
        for n in (3, 2, 4, 5, 8, 10):
            x = torch.zeros(n)
            self.assertEqual(compiled(x), f(x))
"""
WRONG = {
    "*looks at the upper end of the dividend": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if x.upper >= 0 and y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
        )
    ],
    "*takes the dividend without its sign": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(cls.abs(x), y)\n",
        )
    ],
    "knows nothing about a negative dividend": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if x.lower < 0:\n"
            "            return ValueRanges.unknown_int()\n"
            "        if y.lower >= 0:\n"
            "            return SymPyValueRangeAnalysis.mod(x, y)\n",
        )
    ],
    "the whole interval of the modulus for each dividend": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "",
        )
    ],
    "changes the remainder of C": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "                # Negative case\n                return ValueRanges(-y_val + 1, 0)\n",
            "                # Negative case\n                return ValueRanges(0, y_val - 1)\n",
        ),
        (
            "torch/utils/_sympy/value_ranges.py",
            "                lower = max(-y_val + 1, x.lower)\n"
            "                upper = min(y_val - 1, x.upper)\n"
            "                return ValueRanges(lower, upper)\n",
            "                return ValueRanges(0, y_val - 1)\n",
        ),
        (
            "torch/utils/_sympy/value_ranges.py",
            "            ret = abs(a) % abs(b)\n            if a < 0:\n                ret *= -1\n            return ret\n",
            "            return a % b\n",
        ),
        (
            "torch/utils/_sympy/value_ranges.py",
            "            x = a / b\n            return sympy.Integer(x)",
            "            x = a / b\n            return sympy.floor(x)",
        ),
    ],
    "decides nothing that has a remainder": [
        (
            "torch/fx/experimental/symbolic_shapes.py",
            "    out = bound_sympy(new_expr, new_range_env)\n    if out.is_singleton():\n        return out.lower\n",
            "    out = bound_sympy(new_expr, new_range_env)\n"
            "    if out.is_singleton() and not new_expr.has(PythonMod):\n"
            "        return out.lower\n",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if x.lower >= 0 and y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
        )
    ],
    "negative dividends by themselves": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if y.lower >= 0:\n"
            "            if x.lower < 0:\n"
            "                return ValueRanges(0, max(y.upper - 1, 0))\n"
            "            return SymPyValueRangeAnalysis.mod(x, y)\n",
        )
    ],
    "moved by a multiple of the modulus": [
        (
            "torch/utils/_sympy/value_ranges.py",
            "        if y.lower >= 0:\n            return SymPyValueRangeAnalysis.mod(x, y)\n",
            "        if y.is_singleton() and y.lower > 0 and x.lower != -int_oo:\n"
            "            x = cls.add(x, -(x.lower // y.lower) * y.lower)\n"
            "        if x.lower >= 0 and y.lower >= 0:\n"
            "            return SymPyValueRangeAnalysis.mod(x, y)\n",
        )
    ],
}
