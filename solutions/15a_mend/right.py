"""Correct answers to lab 15a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from autograder.engine.changes import diff, find_case


def _right(number, index):
    """The patch of another right mend of a case."""
    case = find_case(number)
    return diff(case.patient, case.with_mend([*case.right.values()][index]))


# A run that is resumed


def reproduce_1__a_count_that_bfloat16_has_not(torch):
    w = torch.ones(1, dtype=torch.bfloat16)
    optimizer = torch.optim.Adam([w])
    state = {"state": {0: {"step": torch.tensor(257.0)}}, "param_groups": optimizer.state_dict()["param_groups"]}
    optimizer.load_state_dict(state)
    return optimizer.state[w]["step"]


def reproduce_1__a_dtype(torch: object) -> object:
    """A docstring is no statement."""
    w = torch.ones(1, dtype=torch.float16)
    optimizer = torch.optim.Adagrad([w])
    optimizer.load_state_dict(optimizer.state_dict())
    return str(optimizer.state[w]["step"].dtype)


def locate_1__a_text():
    return "torch/optim/optimizer.py: _process_value_according_to_param_policy"


def locate_1__with_a_second():
    return (
        "torch/optim/optimizer.py:Optimizer._process_value_according_to_param_policy",
        "torch/optim/optimizer.py: Optimizer.load_state_dict",
    )


def mend_1__second():
    return _right("15a.1", 1)


def mend_1__third():
    return _right("15a.1", 2)


def test_1__a_dtype_for_each(self, torch):
    for dtype in torch.bfloat16, torch.float64, torch.float16:
        for kind in torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam:
            w = torch.nn.Parameter(torch.zeros(1, dtype=dtype))
            w.grad = torch.ones_like(w)
            optimizer = kind([w])
            optimizer.step()
            other = kind([w])
            other.load_state_dict(optimizer.state_dict())
            self.assertTrue(other.state[w]["step"].dtype == torch.float32)


def test_1__counts(self, torch):
    for dtype, count in [(torch.bfloat16, 256), (torch.float16, 2048), (torch.float64, 5)]:
        w = torch.nn.Parameter(torch.zeros(1, dtype=dtype))
        w.grad = torch.ones_like(w)
        optimizer = torch.optim.Adam([w])
        optimizer.step()
        state = optimizer.state_dict()
        state["state"][0]["step"] += count
        optimizer.load_state_dict(state)
        optimizer.step()
        found = optimizer.state[w]["step"]
        self.assertEqual(found, torch.tensor(count + 2.0), exact_dtype=True)


# Voxels in another order


def reproduce_2__a_module(torch):
    x = torch.ones(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    return torch.compile(torch.nn.Upsample(scale_factor=2))(x).stride()


def reproduce_2__exchanged(torch):
    x = torch.rand(2, 3, 4, 5, 6).to(memory_format=torch.channels_last_3d)
    y = torch.compile(torch.nn.functional.interpolate, backend="aot_eager")(x, size=[7, 7, 7])
    return [y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last_3d)]


def locate_2__a_text():
    return "torch/_decomp/decompositions.py:_upsample_nearest"


def locate_2__with_a_second():
    return ["torch/_decomp/decompositions.py: _upsample_nearest", "torch/_decomp/decompositions.py: upsample_nearest3d"]


def mend_2__second():
    return _right("15a.2", 1)


def mend_2__third():
    return _right("15a.2", 2)


def test_2__many_layouts(self, torch):
    def check(f, x):
        torch.compiler.reset()
        got = torch.compile(f, backend="aot_eager", fullgraph=True)(x)
        want = f(x)
        self.assertEqual(got, want)
        self.assertEqual(got.stride(), want.stride())

    image = torch.arange(36.0).reshape(2, 3, 2, 3)
    volume = torch.arange(144.0).reshape(2, 3, 2, 3, 4)
    last = volume.to(memory_format=torch.channels_last_3d)
    for mode in ("nearest", "nearest-exact"):
        for x in [image, image.transpose(2, 3), volume, last, volume.transpose(2, 4), last[:, :, :, 1:]]:
            check(lambda x, mode=mode: torch.nn.functional.interpolate(x, size=[5] * (x.dim() - 2), mode=mode), x)


def test_2__flags(self, torch):
    volume = torch.rand(2, 3, 2, 3, 4)
    for mode in ("nearest", "nearest-exact"):
        up = torch.nn.Upsample(size=(4, 6, 8), mode=mode)
        for x in (volume, volume.to(memory_format=torch.channels_last_3d), volume.transpose(0, 1), volume.mT):
            torch.compiler.reset()
            self.assertTrue(torch.compile(up, backend="aot_eager")(x).stride() == up(x).stride())


# A loop that stops early


def reproduce_3__what_is_left(torch):
    def f(x):
        q = [x]
        for h in q:
            if len(q) < 3:
                q.append(h + 1)
        return h

    return torch.compile(f)(torch.ones(1))


def reproduce_3__removed(torch):
    def f(x):
        numbers = [1, 1, 1, 1]
        for n in numbers:
            numbers.remove(n)
        return x * len(numbers)

    return torch.compile(f, backend="eager")(torch.ones(1))


def locate_3__a_text():
    return "torch/_dynamo/variables/lists.py:ListIteratorVariable.__init__"


def locate_3__with_a_second():
    return [
        "torch/_dynamo/variables/lists.py: ListIteratorVariable.__init__",
        "torch/_dynamo/variables/lists.py: ListIteratorVariable.next_variable",
    ]


def mend_3__second():
    return _right("15a.3", 1)


def mend_3__third():
    return _right("15a.3", 2)


def test_3__many_loops(self, torch):
    def grow(x):
        q, seen = [x], []
        for h in q:
            seen.append(h)
            if len(q) < 4:
                q.append(h + 1)
        return seen, q

    def shrink(x):
        q, seen = [x, x + 1, x + 2, x + 3, x + 4], []
        for h in q:
            seen.append(h)
            q.pop()
        return seen, q

    def insert(x):
        q, seen = [x, x + 1], []
        for h in q:
            seen.append(h)
            if len(q) < 5:
                q.insert(0, h * 10)
        return seen, q

    def spent(x):
        q = [x]
        it = iter(q)
        seen = [h for h in it]
        q.append(x + 5)
        return seen, list(it)

    def replaced(x):
        q, seen = [x, x + 1, x + 2], []
        for h in q:
            seen.append(h)
            if len(seen) == 1:
                q[1:] = [x * 7, x * 8, x * 9]
        return seen, q

    for f in (grow, shrink, insert, spent, replaced):
        x = torch.tensor([1.0, 2.0])
        self.assertEqual(torch.compile(f, backend="eager", fullgraph=True)(x), f(x))

    def outer(x, q):
        for h in q:
            if len(q) < 4:
                q.append(h + x)
        return torch.stack(q)

    x = torch.ones(1)
    self.assertEqual(torch.compile(outer, backend="eager")(x, [x]), outer(x, [x]))


def test_3__numbers_from_outside(self, torch):
    def outer(x, numbers):
        count = 0
        for n in numbers:
            count += n
            if len(numbers) < 6:
                numbers.insert(len(numbers), n + 1)
            if n == 3:
                del numbers[0]
        return x * count

    mine, theirs = [1, 2], [1, 2]
    self.assertEqual(torch.compile(outer, backend="eager")(torch.ones(1), mine), outer(torch.ones(1), theirs))
    self.assertEqual(mine, theirs)


# A density that depends on its batch


def reproduce_4__sigmoid(torch):
    d = torch.distributions
    flow = d.ComposeTransform([d.ReshapeTransform((2, 2), (4,)), d.SigmoidTransform()])
    x = torch.ones(3, 2, 2)
    return flow.log_abs_det_jacobian(x, flow(x))


def reproduce_4__a_density(torch):
    base = torch.distributions.Normal(torch.zeros(4), 1.0)
    parts = [torch.distributions.ReshapeTransform((4,), (2, 2)), torch.distributions.ExpTransform()]
    flow = torch.distributions.TransformedDistribution(base, torch.distributions.ComposeTransform(parts))
    return flow.log_prob(torch.full((3, 2, 2), 0.5))


def locate_4__a_text():
    return "torch/distributions/transforms.py: log_abs_det_jacobian"


def locate_4__with_a_second():
    return [
        "torch/distributions/transforms.py: ComposeTransform.log_abs_det_jacobian",
        "torch/distributions/transformed_distribution.py: TransformedDistribution.log_prob",
    ]


def mend_4__second():
    return _right("15a.4", 1)


def mend_4__third():
    return _right("15a.4", 2)


def test_4__row_by_row(self, torch):
    d = torch.distributions
    for here, there in [((2, 3), (6,)), ((6,), (3, 2)), ((2, 3), (3, 2)), ((1, 2, 3), (6,))]:
        flow = d.ComposeTransform([d.ReshapeTransform(here, there), d.SigmoidTransform(), d.AffineTransform(1, 2)])
        x = torch.rand(5, 4, *here)
        found = flow.log_abs_det_jacobian(x, flow(x))
        for i in range(5):
            self.assertEqual(found[i], torch.stack([flow.log_abs_det_jacobian(r, flow(r)) for r in x[i]]))


def test_4__shapes(self, torch):
    d = torch.distributions
    for sizes in [((2, 3), (6,)), ((6,), (2, 3))]:
        there = d.ReshapeTransform(sizes[0], sizes[1])
        nested = d.ComposeTransform([there, d.ComposeTransform([d.ExpTransform()])])
        for batch in ((), (3,), (3, 2), (4, 3, 2)):
            for flow in (d.ComposeTransform([there, d.ExpTransform()]), nested):
                x = torch.ones(*batch, *sizes[0])
                found = flow.log_abs_det_jacobian(x, flow(x))
                self.assertEqual(found, torch.full(batch, 6.0))


# Two outputs of one encoder


def reproduce_5__the_activation(torch):
    layer = torch.nn.TransformerEncoderLayer(2, 1, activation=torch.nn.GELU())
    return torch.nn.TransformerEncoder(layer, 1).layers[0].activation(torch.ones(1))


def reproduce_5__a_text(torch):
    layer = torch.nn.TransformerEncoderLayer(2, 1, activation=torch.nn.Tanh())
    return str(torch.nn.TransformerEncoder(layer, 1).layers[0].activation)[:4]


def locate_5__a_text():
    return "torch/nn/modules/transformer.py: TransformerEncoderLayer.__setstate__"


def locate_5__with_a_second():
    return [
        "torch/nn/modules/transformer.py: TransformerEncoderLayer.__setstate__",
        "torch/nn/modules/transformer.py: TransformerEncoderLayer.forward",
    ]


def mend_5__second():
    return _right("15a.5", 1)


def mend_5__third():
    return _right("15a.5", 2)


def test_5__the_layer_itself(self, torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.Tanh(), batch_first=True)
    encoder, x = torch.nn.TransformerEncoder(layer, 1), torch.rand(2, 3, 8)
    self.assertEqual(encoder(x), layer(x))
    self.assertFalse(encoder.layers[0].activation is layer.activation)


def test_5__many_kinds(self, torch):
    for kind in (torch.nn.GELU, torch.nn.SiLU, torch.nn.PReLU):
        layer = torch.nn.TransformerEncoderLayer(4, 1, activation=kind())
        for copied in torch.nn.TransformerEncoder(layer, 3).layers:
            self.assertIsInstance(copied.activation, kind)
            self.assertTrue(dict(copied.named_children())["activation"] is not layer.activation)
