"""Wrong answers to lab 15a that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from autograder.engine.changes import diff, find_case


def _wrong(number):
    """The patch of a wrong mend of a case, with which the program of the report is right."""
    case = find_case(number)
    return diff(case.patient, case.with_mend(next(edits for name, edits in case.wrong.items() if name.startswith("*"))))


# A run that is resumed


def reproduce_1__of_float32(torch):
    w = torch.ones(1)
    optimizer = torch.optim.Adagrad([w])
    optimizer.load_state_dict(optimizer.state_dict())
    return optimizer.state[w]["step"]


def reproduce_1__compares_with_itself(torch):
    optimizer = torch.optim.Adagrad([torch.zeros(1, dtype=torch.bfloat16)])
    optimizer.load_state_dict(optimizer.state_dict())
    return optimizer.state_dict()["state"][0]["sum"]


def reproduce_1__a_traceback(torch):
    return torch.optim.Adam([torch.ones(1, dtype=torch.bfloat16)]).load_state_dict({"state": 1})


def locate_1__the_optimizer():
    return ["torch/optim/adam.py: Adam.__setstate__", "torch/optim/adam.py: Adam._init_group"]


def locate_1__the_caller():
    return ["torch/optim/optimizer.py: Optimizer.load_state_dict"]


def locate_1__no_function():
    return ["torch/optim/optimizer.py"]


def mend_1__in_adam():
    return _wrong("15a.1")


def mend_1__a_text():
    return "Leave the step alone in torch/optim/optimizer.py"


def mend_1__another_file():
    return """--- a/torch/version.py
+++ b/torch/version.py
@@ -1,1 +1,1 @@
-a
+b
"""


def test_1__one_dtype(self, torch):
    w = torch.nn.Parameter(torch.zeros(1, dtype=torch.bfloat16))
    w.grad = torch.ones_like(w)
    optimizer = torch.optim.Adam([w])
    optimizer.step()
    other = torch.optim.Adam([w])
    other.load_state_dict(optimizer.state_dict())
    self.assertEqual(other.state[w]["step"].dtype, torch.float32)


def test_1__what_is_right_on_the_patient(self, torch):
    w = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adagrad([w])
    optimizer.load_state_dict(optimizer.state_dict())
    self.assertEqual(optimizer.state[w]["step"].dtype, torch.float32)


def test_1__fails_everywhere(self, torch):
    self.assertEqual(torch.zeros(1, dtype=torch.bfloat16).dtype, torch.float32)


# Voxels in another order


def reproduce_2__an_image(torch):
    x = torch.ones(1, 2, 2, 2).to(memory_format=torch.channels_last)
    return torch.compile(lambda t: torch.nn.functional.interpolate(t, scale_factor=2))(x).stride()


def reproduce_2__in_eager(torch):
    x = torch.ones(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    return torch.nn.functional.interpolate(x, scale_factor=2).stride()


def locate_2__the_registered():
    return ["torch/_decomp/decompositions.py: upsample_nearest3d", "torch/_meta_registrations.py: upsample_nearest3d"]


def mend_2__contiguous_or_not():
    return _wrong("15a.2")


def test_2__numbers(self, torch):
    x = torch.rand(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    up = torch.nn.Upsample(scale_factor=2)
    self.assertEqual(torch.compile(up, backend="aot_eager")(x), up(x))


def test_2__one_layout(self, torch):
    x = torch.rand(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    up = torch.nn.Upsample(scale_factor=2)
    self.assertEqual(torch.compile(up, backend="aot_eager")(x).stride(), up(x).stride())


# A loop that stops early


def reproduce_3__a_copy(torch):
    def f(x):
        items = [x]
        for y in list(items):
            items.append(y + 1)
        return torch.stack(items)

    return torch.compile(f)(torch.ones(1))


def reproduce_3__too_long(torch):
    def f(x):
        a = [x]
        b = [x]
        c = [x]
        for y in a:
            if len(a) < 3:
                a.append(y + 1)
        for y in b:
            if len(b) < 3:
                b.append(y + 1)
        return torch.stack(a + b + c)

    return torch.compile(f)(torch.ones(1))


def locate_3__where_it_is_asked():
    return [
        "torch/_dynamo/variables/lists.py: ListIteratorVariable.next_variable",
        "torch/_dynamo/symbolic_convert.py: InstructionTranslatorBase.FOR_ITER",
    ]


def mend_3__an_end():
    return _wrong("15a.3")


def test_3__one_loop(self, torch):
    def grow(x):
        items = [x]
        for y in items:
            if len(items) < 3:
                items.append(y + 1)
        return items

    self.assertEqual(torch.compile(grow, backend="eager")(torch.ones(1)), grow(torch.ones(1)))


# A density that depends on its batch


def reproduce_4__nothing_changes(torch):
    d = torch.distributions
    flow = d.ComposeTransform([d.ExpTransform(), d.SigmoidTransform()])
    return flow.log_abs_det_jacobian(torch.ones(2), flow(torch.ones(2)))


def locate_4__the_sum():
    return [
        "torch/distributions/transforms.py: ReshapeTransform.log_abs_det_jacobian",
        "torch/distributions/transformed_distribution.py: TransformedDistribution.log_prob",
    ]


def mend_4__before_the_part():
    return _wrong("15a.4")


def test_4__one_direction(self, torch):
    d = torch.distributions
    flow = d.ComposeTransform([d.ReshapeTransform((4,), (2, 2)), d.ExpTransform()])
    self.assertEqual(flow.log_abs_det_jacobian(torch.ones(4), flow(torch.ones(4))).shape, ())


# Two outputs of one encoder


def reproduce_5__one_layer(torch):
    layer = torch.nn.TransformerEncoderLayer(2, 1, activation=torch.nn.GELU())
    return layer.activation(torch.ones(1))


def locate_5__the_fast_path():
    return ["torch/nn/modules/transformer.py: TransformerEncoderLayer.forward"]


def mend_5__by_a_flag():
    return _wrong("15a.5")


def test_5__gelu(self, torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.GELU(), batch_first=True)
    x = torch.rand(2, 3, 8)
    self.assertEqual(torch.nn.TransformerEncoder(layer, 1)(x), layer(x))
