"""log_prob of a batch is not the log_prob of its rows for a flow that flattens images

My flow takes images of 2 by 3 pixels, flattens them and squashes the six numbers with a sigmoid. The density of one
picture is right: I compared it with a formula written by hand. For a batch of four pictures I expected the four
values that I get one by one. Instead each row comes out wrong, though the result has the right shape, `[4]`, and no
error or warning is given, also with `validate_args=True`. The larger the batch, the larger the error: with 64 rows
the values are off by hundreds. The program below compares both; it should say True and says False. 2.13.0, Linux,
CPU.

What I tried: without the flattening the rows agree. `model.batch_shape` and `model.event_shape` are `[]` and `[6]`,
as they should be, samples look fine, and `flow.inv(flow(x))` gives back `x`. Turning the transforms' cache on changes
nothing.
"""

ABOUT = (
    "ComposeTransform.log_abs_det_jacobian sums each part's term over the same number of dimensions, although a "
    "part may change how many dimensions an event has. Modelled on pytorch pull request 50581 (fixes many bugs of "
    "composed transforms whose parts change their event shapes) and issue 21596 (a wrong event shape after such a "
    "transform)."
)
AT = ("torch/distributions/transforms.py", "ComposeTransform.log_abs_det_jacobian")
FAULT = [
    (
        "torch/distributions/transforms.py",
        """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
            event_dim += part.codomain.event_dim - part.domain.event_dim
""",
        """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
""",
    )
]
NEEDS = {"torch/distributions/transformed_distribution.py", "torch/distributions/transforms.py"}
STATEMENTS = 6
LINES = 8
LINK = (
    "TransformedDistribution.log_prob -> ComposeTransform.inv, then ComposeTransform.log_abs_det_jacobian -> "
    "_sum_rightmost of SigmoidTransform.log_abs_det_jacobian. Dead end: the count of event_dim in "
    "TransformedDistribution.log_prob, which is right, as is _sum_rightmost, which sums without complaint over more"
    " dimensions than there are."
)


def symptom(torch):
    from torch import distributions as d

    base = d.Independent(d.Normal(torch.zeros(2, 3), torch.ones(2, 3)), 2)
    flow = d.ComposeTransform(
        [
            d.ReshapeTransform((2, 3), (6,)),
            d.SigmoidTransform(),
        ]
    )
    model = d.TransformedDistribution(base, flow, validate_args=True)

    pictures = torch.linspace(0.05, 0.95, 24).reshape(4, 6)
    together = model.log_prob(pictures)
    one_by_one = torch.stack([model.log_prob(picture) for picture in pictures])
    return torch.allclose(together, one_by_one, atol=1e-3)


def reproduced(torch):
    flow = torch.distributions.ComposeTransform(
        [torch.distributions.ReshapeTransform((2, 2), (4,)), torch.distributions.ExpTransform()]
    )
    x = torch.ones(3, 2, 2)
    return flow.log_abs_det_jacobian(x, flow(x))


def hidden__events_get_a_dimension(torch):
    from torch import distributions as d

    flow = d.ComposeTransform([d.ReshapeTransform((4,), (2, 2)), d.ExpTransform()])
    x = torch.arange(4.0)
    y = torch.arange(12.0).reshape(3, 4)
    return [flow.log_abs_det_jacobian(x, flow(x)), flow.log_abs_det_jacobian(y, flow(y))]


def hidden__there_and_back(torch):
    from torch import distributions as d

    flow = d.ComposeTransform(
        [
            d.ExpTransform(),
            d.ReshapeTransform((6,), (2, 3)),
            d.ExpTransform().inv,
            d.ReshapeTransform((2, 3), (6,)),
            d.ExpTransform(),
        ]
    )
    x = torch.arange(24.0).reshape(2, 2, 6) / 16
    term = flow.log_abs_det_jacobian(x, flow(x))
    return [list(term.shape), torch.allclose(term, x.sum(-1), atol=1e-4)]


def hidden__inverse(torch):
    from torch import distributions as d

    flow = d.ComposeTransform([d.ExpTransform(), d.ReshapeTransform((4,), (2, 2))])
    y = torch.exp(torch.arange(12.0).reshape(3, 2, 2) / 8)
    term = flow.inv.log_abs_det_jacobian(y, flow.inv(y))
    return [list(term.shape), torch.allclose(term, -y.log().sum((-2, -1)), atol=1e-4)]


def hidden__correlation_matrices(torch):
    from torch import distributions as d

    first, second = d.CorrCholeskyTransform(), d.AffineTransform(torch.zeros(3, 3), torch.full((3, 3), 2.0))
    flow = d.ComposeTransform([first, second])
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    term = flow.log_abs_det_jacobian(x, flow(x))
    expected = first.log_abs_det_jacobian(x, first(x)) + 9 * torch.tensor(2.0).log()
    return [list(term.shape), torch.allclose(term, expected.expand(term.shape), atol=1e-4)]


def hidden__compositions_in_compositions(torch):
    from torch import distributions as d

    down = d.ComposeTransform([d.ReshapeTransform((2, 2), (4,)), d.ExpTransform()])
    flow = d.ComposeTransform([down, d.ReshapeTransform((4,), (1, 2, 2)), d.ExpTransform().inv])
    x = torch.arange(12.0).reshape(3, 2, 2) / 8
    term = flow.log_abs_det_jacobian(x, flow(x))
    return [list(term.shape), torch.allclose(term, torch.zeros(term.shape), atol=1e-5)]


def hidden__parts_that_are_independent(torch):
    from torch import distributions as d

    flow = d.ComposeTransform([d.ReshapeTransform((2, 1, 2), (4,)), d.IndependentTransform(d.ExpTransform(), 1)])
    x = torch.arange(24.0).reshape(2, 3, 2, 1, 2)
    return flow.log_abs_det_jacobian(x, flow(x))


def hidden__two_parts_after_the_change(torch):
    from torch import distributions as d

    first = d.ComposeTransform([d.ReshapeTransform((2, 3), (6,)), d.ExpTransform(), d.SigmoidTransform()])
    second = d.ComposeTransform(
        [d.ReshapeTransform((6,), (2, 3)), d.ExpTransform(), d.ExpTransform(), d.ExpTransform()]
    )
    x, y = torch.full((4, 2, 3), 0.5), torch.full((5, 4, 6), 0.25)
    return [first.log_abs_det_jacobian(x, first(x)), second.log_abs_det_jacobian(y, second(y))]


def kept__parts_of_the_same_dimension(torch):
    from torch import distributions as d

    x = torch.arange(6.0).reshape(2, 3)
    flow = d.ComposeTransform([d.ExpTransform(), d.ExpTransform().inv, d.ExpTransform()])
    empty = d.ComposeTransform([])
    return [flow.log_abs_det_jacobian(x, x.exp()), empty.log_abs_det_jacobian(x, x)]


def kept__change_of_dimension_comes_last(torch):
    from torch import distributions as d

    flow = d.ComposeTransform([d.ExpTransform(), d.ReshapeTransform((2, 2), (4,))])
    x = torch.arange(12.0).reshape(3, 2, 2)
    return flow.log_abs_det_jacobian(x, flow(x))


def kept__vectors_and_numbers(torch):
    from torch import distributions as d

    stick = d.StickBreakingTransform()
    x = torch.linspace(-1, 1, 6).reshape(3, 2)
    first = d.ComposeTransform([d.ExpTransform(), stick]).log_abs_det_jacobian(x, stick(x.exp()))
    last = d.ComposeTransform([stick, d.ExpTransform()]).log_abs_det_jacobian(x, stick(x).exp())
    part = stick.log_abs_det_jacobian(x, stick(x))
    return [
        torch.allclose(first, x.sum(-1) + stick.log_abs_det_jacobian(x.exp(), stick(x.exp())), atol=1e-4),
        torch.allclose(last, part + stick(x).sum(-1), atol=1e-4),
    ]


TEST = """
def test_compose_log_abs_det_jacobian_of_parts_that_change_event_dim(self, torch):
    d = torch.distributions
    for in_shape, out_shape in (((2, 3), (6,)), ((6,), (2, 3))):
        transform = d.ComposeTransform([d.ReshapeTransform(in_shape, out_shape), d.ExpTransform()])
        for batch_shape in ((), (4,), (5, 4)):
            x = torch.randn(batch_shape + in_shape)
            actual = transform.log_abs_det_jacobian(x, transform(x))
            self.assertEqual(actual, x.reshape(batch_shape + (6,)).sum(-1))
"""
WRONG = {
    "counts from the last part's dimension": [
        (
            "torch/distributions/transforms.py",
            """        event_dim = self.domain.event_dim
        for part, x, y in""",
            """        event_dim = self.codomain.event_dim
        for part, x, y in""",
        )
    ],
    "takes the smaller of both dimensions": [
        (
            "torch/distributions/transforms.py",
            """        event_dim = self.domain.event_dim
        for part, x, y in""",
            """        event_dim = min(self.domain.event_dim, self.codomain.event_dim)
        for part, x, y in""",
        )
    ],
    "*adds the change before the part that makes it": [
        (
            "torch/distributions/transforms.py",
            """        for part, x, y in zip(self.parts, xs[:-1], xs[1:]):
            terms""",
            """        for part, x, y in zip(self.parts, xs[:-1], xs[1:]):
            event_dim += part.codomain.event_dim - part.domain.event_dim
            terms""",
        )
    ],
    "adds the change with the sign of log_prob": [
        (
            "torch/distributions/transforms.py",
            """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
""",
            """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
            event_dim += part.domain.event_dim - part.codomain.event_dim
""",
        )
    ],
    "*the distribution takes the composition apart": [
        (
            "torch/distributions/transformed_distribution.py",
            """            self.transforms = [
                transforms,
            ]
""",
            """            self.transforms = list(getattr(transforms, "parts", [transforms]))
""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/distributions/transforms.py",
            """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
""",
            """                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
                )
            )
            event_dim += part.codomain.event_dim - part.domain.event_dim
""",
        )
    ],
    "counts up first and compares with what comes out": [
        (
            "torch/distributions/transforms.py",
            """        for part, x, y in zip(self.parts, xs[:-1], xs[1:]):
            terms.append(
                _sum_rightmost(
                    part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim
""",
            """        for part, x, y in zip(self.parts, xs[:-1], xs[1:]):
            event_dim += part.codomain.event_dim - part.domain.event_dim
            terms.append(
                _sum_rightmost(
                    part.log_abs_det_jacobian(x, y), event_dim - part.codomain.event_dim
""",
        )
    ],
    "lists the dimensions before": [
        (
            "torch/distributions/transforms.py",
            """        event_dim = self.domain.event_dim
        for part, x, y in zip(self.parts, xs[:-1], xs[1:]):
            terms""",
            """        event_dims = [self.domain.event_dim]
        for part in self.parts:
            change = part.codomain.event_dim - part.domain.event_dim
            event_dims.append(event_dims[-1] + change)
        for part, x, y, event_dim in zip(self.parts, xs[:-1], xs[1:], event_dims):
            terms""",
        )
    ],
}
