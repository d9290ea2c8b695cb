"""On torch's own sample inputs gradients and graphs are torch's: the first samples here, all of them in bench/gradients.py."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))  # behind tests/, where a name may be the same
import gradients  # noqa: E402

COUNT = 5  # samples of each entry


@pytest.mark.parametrize("name", [name for name in gradients.compared_names() if name not in gradients.APART])
def test_gradients_and_graph_of_an_operator_agree_with_torch(name):
    _, differ, _ = gradients.gradients(name, COUNT)
    assert not differ, "\n".join(differ)
