"""On torch's own sample inputs every operator does what torch's does: the first samples here, all of them in bench/parity.py.

`make test` takes one operator in 48.
"""

import pytest
import torch
from sweep import sweep

from bench import parity

COUNT = 6  # samples of each dtype of each entry


@pytest.mark.parametrize("name", sweep(parity.compared_names(), every=96))
def test_an_operator_agrees_with_torch_on_the_first_samples(name):
    report = parity.parity(name, COUNT)
    assert not report.disagree, "\n".join(report.disagree)


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
