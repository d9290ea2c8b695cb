"""On torch's own sample inputs every operator does what torch's does: the first samples here, all of them in bench/parity.py.

`make test` takes one operator in 96.
"""

import pytest
import torch
from sweep import hold_each, sweep

from bench import parity

pytestmark = pytest.mark.usefixtures("database")
COUNT = 6  # samples of each dtype of each entry
PARTS = 96  # of the operators, of which `make test` takes the first


@pytest.mark.parametrize("part", sweep(range(PARTS), every=PARTS))
def test_an_operator_agrees_with_torch_on_the_first_samples(part, seeded):
    def hold(name):
        report = parity.parity(name, COUNT)
        assert not report.disagree, "\n".join(report.disagree)

    hold_each(hold, ((name, name) for name in parity.compared_names()[part::PARTS]), seeded)


IN_BFLOAT16 = [
    "__getitem__", "abs", "add", "addmm", "amax", "argmin", "bmm", "cat", "clamp", "cumsum", "div", "exp", "fmod",
    "index_select", "lerp", "log_softmax", "logsumexp", "matmul", "max", "mean", "mul", "nn.functional.gelu", "permute", "pow",
    "prod", "rsqrt", "softmax", "std", "sum", "topk", "where",
]  # fmt: skip


@pytest.mark.parametrize("name", sweep(IN_BFLOAT16, every=8))
def test_an_operator_agrees_with_torch_in_bfloat16(name):
    report = parity.parity(name, 3, [torch.bfloat16])
    assert report.agree and not report.disagree, "\n".join(report.disagree)


def test_every_operator_that_is_looked_at_without_its_values_is_one_that_torch_knows():
    assert not set(parity.VALUES_APART) - set(parity.database())
