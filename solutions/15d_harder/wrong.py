"""Wrong answers to lab 15d that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from autograder.engine.changes import diff, find_case


def _wrong(number):
    """The patch of a wrong mend of a case, with which the program of the report is right."""
    case = find_case(number)
    return diff(case.patient, case.with_mend(next(edits for name, edits in case.wrong.items() if name.startswith("*"))))


# Memory that is saved, and a curve that is another one


def reproduce_1__reentrant(torch):
    x = torch.ones(3, requires_grad=True)
    torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=True).sum().backward()
    return torch.rand(1)


def locate_1__the_hooks():
    return ["torch/utils/checkpoint.py: get_device_states", "torch/utils/checkpoint.py: set_device_states"]


def mend_1__an_early_stop():
    return _wrong("15d.1")


def test_1__gradients(self, torch):
    x = torch.ones(5, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    y.sum().backward()
    self.assertEqual(x.grad, y.detach())


# Two calls that are taken for one


def reproduce_2__one_call(torch):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.add(x, x, alpha=2)

    return torch.export.unflatten(torch.export.export(Net(), (torch.ones(1),)))(torch.ones(1))


def locate_2__what_removes():
    return ["torch/export/unflatten.py: _deduplicate_modules"]


def mend_2__nothing_is_shared():
    return _wrong("15d.2")


def test_2__numbers_only(self, torch):
    class Mix(torch.nn.Module):
        def forward(self, x, weight):
            return torch.add(x, x, alpha=weight)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.mix(x, 1), self.mix(x, 3)

    net, x = Net(), torch.ones(2)
    net.mix = Mix()
    self.assertEqual(torch.export.unflatten(torch.export.export(net, (x,)))(x), net(x))


# A picture that wraps around


def reproduce_3__without_a_parameter(torch):
    return torch.compile(lambda x: x * 4 + x * 4.0)(torch.tensor([200], dtype=torch.uint8))


def locate_3__the_partitioner():
    return ["torch/_functorch/partitioners.py: min_cut_rematerialization_partition"]


def mend_3__floats_only():
    return _wrong("15d.3")


def test_3__floats_only(self, torch):
    w, i = torch.ones(1, requires_grad=True), torch.tensor([200], dtype=torch.uint8)

    def f(w, i):
        return w * (i * 2) + w * (i * 2.0)

    self.assertEqual(torch.compile(f, backend="aot_eager")(w, i), f(w, i))


# Recordings that lose their end


def reproduce_4__a_remainder_that_is_right(torch):
    return torch.compile(lambda x: x + 1 if len(x) % 4 > 0 else x, dynamic=True)(torch.zeros(3))


def locate_4__the_guards():
    return [
        "torch/fx/experimental/symbolic_shapes.py: evaluate_expr",
        "torch/utils/_sympy/functions.py: eval",
    ]


def mend_4__the_upper_end():
    return _wrong("15d.4")


def test_4__one_length(self, torch):
    def f(x):
        return x + 1 if -len(x) % 4 > 0 else x

    self.assertEqual(torch.compile(f, dynamic=True, backend="eager")(torch.zeros(3)), f(torch.zeros(3)))


# Pages that are all one slot


def reproduce_5__static(torch):
    i = torch.tensor([1, 7])
    return torch.compile(lambda i, j: (i / j).long(), dynamic=False)(i, i + 1)


def locate_5__the_reference():
    return ["torch/_refs/__init__.py: div", "torch/_prims_common/__init__.py: elementwise_dtypes"]


def mend_5__not_for_truth_values():
    return _wrong("15d.5")


def test_5__integers_only(self, torch):
    f = torch.compile(lambda a, b: (a / b).long(), dynamic=True, backend="aot_eager")
    a, b = torch.tensor([1, 7]), torch.tensor([2, 2])
    self.assertEqual(f(a, b), (a / b).long())
