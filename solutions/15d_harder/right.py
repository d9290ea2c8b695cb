"""Correct answers to lab 15d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from autograder.engine.changes import diff, find_case


def _right(number, index):
    """The patch of another right mend of a case."""
    case = find_case(number)
    return diff(case.patient, case.with_mend([*case.right.values()][index]))


# Memory that is saved, and a curve that is another one


def reproduce_1__the_next_number(torch):
    x = torch.ones(3, requires_grad=True)
    f = torch.nn.functional.dropout
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    before = [torch.rand(1), torch.get_rng_state()][1]
    y.sum().backward()
    return torch.equal(before, torch.get_rng_state())


def reproduce_1__a_draw(torch):
    x = torch.ones(3, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    (y.sum() + torch.rand(1)).backward()
    return torch.rand(1)


def locate_1__a_text():
    return "torch/utils/checkpoint.py: _checkpoint_without_reentrant_generator"


def locate_1__with_a_second():
    return [
        "torch/utils/checkpoint.py: _checkpoint_without_reentrant_generator",
        "torch/utils/checkpoint.py: set_device_states",
    ]


def mend_1__second():
    return _right("15d.1", 1)


def mend_1__third():
    return _right("15d.1", 2)


def test_1__the_next_number_is_the_same(self, torch):
    for early_stop in (True, False):
        for recomputed in (lambda x: torch.nn.functional.dropout(x), lambda x: torch.nn.functional.dropout(x).sin()):
            found = []
            for checkpointed in (True, False):
                torch.manual_seed(3)
                x = torch.ones(20, requires_grad=True)
                with torch.utils.checkpoint.set_checkpoint_early_stop(early_stop):
                    call = torch.utils.checkpoint.checkpoint
                    y = call(recomputed, x, use_reentrant=False) if checkpointed else recomputed(x)
                torch.rand(2)
                y.sum().backward()
                found.append((x.grad, torch.rand(3)))
            self.assertEqual(found[0], found[1])


def test_1__states(self, torch):
    for f in (torch.nn.functional.dropout, lambda x: (torch.nn.functional.dropout(x, 0.1) * 2).sin()):
        x = torch.ones(9, requires_grad=True)
        with torch.utils.checkpoint.set_checkpoint_early_stop(False):
            y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
        torch.randn(7)
        states = [torch.get_rng_state()]
        y.backward(torch.ones(9))
        states.append(torch.get_rng_state())
        self.assertTrue(torch.equal(states[0], states[1]))
    x = torch.ones(30, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    torch.randn(7)
    y.sum().backward()
    self.assertEqual(x.grad, y.detach())


# Two calls that are taken for one


def reproduce_2__division(torch):
    class Half(torch.nn.Module):
        def forward(self, x, how):
            return torch.div(x, 2, rounding_mode=how)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.inner(x, "floor"), self.inner(x, "trunc")

    net = Net()
    net.inner = Half()
    x = torch.tensor([-3.0])
    return torch.export.unflatten(torch.export.export(net, (x,)))(x)


def reproduce_2__how_many(torch):
    class Mix(torch.nn.Module):
        def forward(self, x, weight):
            return torch.add(x, x, alpha=weight)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.mix(x, 1) + self.mix(x, 2)

    net = Net()
    net.add_module("mix", Mix())
    return len(list(torch.export.unflatten(torch.export.export(net, (torch.ones(1),))).modules()))


def locate_2__a_text():
    return "torch/export/unflatten.py:_check_graph_equivalence"


def locate_2__with_a_second():
    return ["torch/export/unflatten.py: _check_graph_equivalence", "torch/export/unflatten.py: _deduplicate_modules"]


def mend_2__second():
    return _right("15d.2", 1)


def mend_2__third():
    return _right("15d.2", 2)


def test_2__rounding(self, torch):
    class Round(torch.nn.Module):
        def forward(self, x, digits):
            return torch.round(x, decimals=digits)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.inner(x, 1), self.inner(x, 2), self.inner(x * 2, 1), self.inner(x, 2)

    net = Net()
    net.inner = Round()
    x = torch.tensor([0.123, 4.567])
    again = torch.export.unflatten(torch.export.export(net, (x,)))
    self.assertEqual(again(x), net(x))
    self.assertEqual(len(list(again.children())), 2)


def test_2__equal_calls_share(self, torch):
    class Mix(torch.nn.Module):
        def forward(self, x, weight):
            return torch.add(x, x, alpha=weight)

    class Net(torch.nn.Module):
        def __init__(self, weights):
            super().__init__()
            self.weights, self.mix = weights, Mix()

        def forward(self, x):
            return sum(self.mix(x, weight) for weight in self.weights)

    x = torch.ones(2)
    for weights, count in (([3, 3, 3], 1), ([1, 2, 3], 3), ([4, 2, 4], 2)):
        again = torch.export.unflatten(torch.export.export(Net(weights), (x,)))
        self.assertEqual(again(x), Net(weights)(x))
        self.assertEqual(len(dict(again.named_children())), count)


# A picture that wraps around


def reproduce_3__a_sum(torch):
    p = torch.ones(1, requires_grad=True)
    return torch.compile(lambda p, x: p * (x * 4 + x * 4.0))(p, torch.tensor([200], dtype=torch.uint8))


def reproduce_3__two_results(torch):
    p = torch.ones(1, requires_grad=True)
    f = torch.compile(lambda p, x: (p * (x * 2.0), p * (x * 2)))
    return [y.detach() for y in f(p, torch.tensor([200], dtype=torch.uint8))]


def locate_3__a_text():
    return "torch/_functorch/compile_utils.py:fx_graph_cse"


def locate_3__with_a_second():
    return [
        "torch/_functorch/compile_utils.py: fx_graph_cse",
        "torch/_functorch/partitioners.py: min_cut_rematerialization_partition",
    ]


def mend_3__second():
    return _right("15d.3", 1)


def mend_3__third():
    return _right("15d.3", 2)


def test_3__with_gradients(self, torch):
    def check(f, x):
        got, want = [], []
        for g, out in ((torch.compile(f, backend="aot_eager"), got), (f, want)):
            p = torch.ones(x.shape, requires_grad=True)
            y = g(p, x)
            y.sum().backward()
            out += [y.detach(), p.grad]
        self.assertEqual(got, want)

    u = torch.tensor([10, 100, 200], dtype=torch.uint8)
    b = torch.tensor([True, False, True])
    check(lambda p, x: p * (x * 4 // 8) + p * (x * 4.0), u)
    check(lambda p, x: p * (x + True) + p * (x + 1) * 2 + p * ((x + 1.0) / 3), b)
    check(lambda p, x: p * torch.clamp(x, max=100) + p * (torch.clamp(x, max=100.0) * 3), u)


def test_3__by_dtype(self, torch):
    def f(w, i, mask):
        same = [w * (i * 2), w * (i * 2.0), w * (mask + 1), w * (mask + True), w * (mask * 1.0 / 2)]
        return torch.stack(same), torch.full_like(mask, 3) * 1

    w, i, mask = torch.ones(1, requires_grad=True), torch.tensor([200], dtype=torch.uint8), torch.tensor([True])
    found = torch.compile(f, backend="aot_eager")(w, i, mask)
    self.assertEqual(found, f(w, i, mask))


# Recordings that lose their end


def reproduce_4__a_size(torch):
    f = torch.compile(lambda x: x * 2 if -x.shape[0] % 8 > 0 else x, dynamic=True, backend="eager")
    return f(torch.ones(5))


def reproduce_4__two_calls(torch):
    f = torch.compile(lambda x: x.sum() if -x.size(0) % 3 >= 1 else x.mean())
    return [f(torch.ones(n)) for n in (3, 4, 6, 7)]


def locate_4__a_text():
    return "torch/utils/_sympy/value_ranges.py: python_mod"


def locate_4__with_a_second():
    return [
        "torch/utils/_sympy/value_ranges.py: SymPyValueRangeAnalysis.python_mod",
        "torch/utils/_sympy/value_ranges.py: SymPyValueRangeAnalysis.mod",
    ]


def mend_4__second():
    return _right("15d.4", 1)


def mend_4__third():
    return _right("15d.4", 2)


def test_4__every_length(self, torch):
    for branch in (lambda n: -n % 4 > 0, lambda n: (3 - n) % 8 > 1, lambda n: n <= 3 and -n % 4 > 1):

        def f(x, branch=branch):
            return x + 1 if branch(x.shape[0]) else x - 1

        torch.compiler.reset()
        compiled = torch.compile(f, dynamic=True, backend="eager")
        self.assertEqual([compiled(torch.zeros(n)) for n in range(3, 13)], [f(torch.zeros(n)) for n in range(3, 13)])
        self.assertEqual(compiled(torch.zeros(2)), f(torch.zeros(2)))


def test_4__padding(self, torch):
    def padded(x):
        missing = (3 - len(x)) % 8
        return torch.cat([x, torch.zeros(missing)]) if missing > 1 else x

    def few(x):
        if len(x) > 3:
            return x
        return torch.cat([x, x]) if -len(x) % 4 > 1 else x

    for f in (padded, few):
        compiled = torch.compile(f, backend="eager", dynamic=True)
        for n in (3, 2, 9, 5, 8, 10):
            self.assertEqual(compiled(torch.ones(n)), f(torch.ones(n)))


# Pages that are all one slot


def reproduce_5__one_tensor(torch):
    i = torch.tensor([3, 8])
    return torch.compile(lambda i: (i / (i + 1)).to(torch.int64), dynamic=True)(i)


def reproduce_5__a_dtype(torch):
    f = torch.compile(lambda a, b: torch.true_divide(a, b).int(), dynamic=True)
    return f(torch.ones(2, dtype=torch.int32), torch.full((2,), 2, dtype=torch.int32))


def locate_5__a_text():
    return "torch/_subclasses/fake_impls.py: fast_binary_impl"


def locate_5__with_a_second():
    return [
        "torch/_subclasses/fake_impls.py: make_fast_binary_impl.fast_binary_impl",
        "torch/_refs/__init__.py: div",
    ]


def mend_5__second():
    return _right("15d.5", 1)


def mend_5__third():
    return _right("15d.5", 2)


def test_5__each_dtype(self, torch):
    def f(a, b):
        return torch.div(a, b).float(), (a / b).long(), a.div(b).to(a.dtype), torch.true_divide(a, b).double()

    for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool, torch.float64, torch.float16, torch.bfloat16):
        torch.compiler.reset()
        compiled = torch.compile(f, dynamic=True, backend="aot_eager")
        pair = torch.tensor([1, 7, 9]).to(dtype), torch.tensor([2, 2, 4]).to(dtype)
        for actual, wanted in zip(compiled(*pair), f(*pair)):
            self.assertEqual(actual, wanted)
            self.assertEqual(actual.dtype, wanted.dtype)


def test_5__few_dtypes(self, torch):
    compiled = torch.compile(lambda a, b: ((a / b).float(), (a / b).to(a.dtype)), dynamic=True, backend="aot_eager")
    for dtype in (torch.int64, torch.bool, torch.float64):
        a, b = torch.tensor([1, 5, 7]).to(dtype), torch.tensor([2, 2, 3]).to(dtype)
        q = a / b
        self.assertEqual(compiled(a, b), (q.float(), q.to(dtype)))
        self.assertEqual([y.dtype for y in compiled(a, b)], [torch.float32, dtype])
