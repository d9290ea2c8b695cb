"""Warnings come where torch's come, and are of the same category."""

import json
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from both import FRAMEWORKS, written

import rushlight
from rushlight.c10 import exception

TEXTS = """
(x * 2).grad
z = x * 2; z.sum().backward(); z.grad
z = x * 2; z.retain_grad(); z.grad
z = x * 2; z.grad = None; z.grad
z = x * 2; hasattr(z, "grad")
z = x * 2; del z.grad; 1
x.view(2).grad
x[0].grad
x.grad
y.grad
(x * 2).detach().grad
xp.tensor(y)
xp.tensor(x, requires_grad=True)
y.new_tensor(y)
xp.tensor([y[0]])
xp.tensor(y.numpy())
xp.as_tensor(y)
y.T
m.T
m[None].T
xp.tensor(1.0).T
y.mT
xp.nn.functional.log_softmax(y)
m.mT
xp.tensor(1.0).mT
x.sum().backward(create_graph=True)
x.sum().backward(retain_graph=True)
x.sum().backward(create_graph=True, inputs=[x])
xp.autograd.backward(x.sum(), create_graph=True)
xp.autograd.grad(x.sum(), x, create_graph=True)
y.sum().backward(create_graph=True)
float(x[0])
int(x[0])
x[0].item()
float(y[0])
xp.tensor([x[0], 1.0])
xp.zeros(1).expand(2).index_fill_(0, i[:1] - 1, 1.0)
xp.zeros(1).expand(2).masked_fill_(y > 1, 1.0)
xp.zeros(2, 1).expand(2, 2)[0].masked_fill_(y > 1, 1.0)
xp.zeros(1).expand(2).index_put_((i - 1,), y)
xp.utils.data.DataLoader([1, 2], num_workers=10000).num_workers
xp.utils.data.DataLoader([1, 2], num_workers=1).num_workers
xp.utils.data.DataLoader([1, 2]).num_workers
xp.nn.functional.grid_sample(xp.ones(1, 1, 2, 2), xp.ones(1, 1, 1, 2))
xp.nn.functional.affine_grid(xp.ones(1, 2, 3), (1, 1, 2, 2))
xp.nn.functional.affine_grid(xp.ones(1, 2, 3), (1, 1, 2, 2), align_corners=False)
xp.ones(1).std()
xp.ones(0).var()
xp.var_mean(xp.ones(1, 3), 0)
xp.ones(3).std(correction=3)
xp.ones(3).var(unbiased=False)
xp.set_default_tensor_type(xp.FloatTensor)
""".strip().splitlines()


def categories(text, xp):
    xp.set_warn_always(True)
    with warnings.catch_warnings(record=True) as caught, suppress(RuntimeError, TypeError):
        warnings.simplefilter("always")
        written(text)(xp)
    xp.set_warn_always(False)
    return [each.category for each in caught]


@pytest.mark.parametrize("text", TEXTS)
def test_torch_warns_here_too(text):
    ours, theirs = (categories(text, xp) for xp in FRAMEWORKS)
    assert ours == theirs


PLACES = """
y[byte]
xp.where(byte, y, y)
(x * 2).grad
xp.tensor(y)
y.new_tensor(y)
xp.tensor([np.ones(2)])
xp.from_numpy(np.broadcast_to(np.ones(1), 2))
xp.frombuffer(b"abcd", dtype=xp.uint8)
y.T
y.mean().T
y.mean().mT
x.sum().backward(create_graph=True)
xp.autograd.grad(x.sum(), x, only_inputs=False)
float(x[0])
y[:1].expand(2).masked_fill_(y > 1, 1.0)
xp.add(y, y, out=xp.ones(3))
xp.meshgrid(y, y)
xp.range(0, 2)
xp.std(y[:1])
y.var(correction=2)
xp.var_mean(y[:0])
xp.cross(m, m)
xp.searchsorted(m.T, m.T)
xp.bucketize(m.T, y)
y.storage()
xp.set_default_tensor_type(xp.FloatTensor)
xp.nn.functional.conv1d(m[None], xp.ones(2, 2, 2), padding="same")
xp.nn.functional.softmax(y)
xp.nn.Softmax()(y)
xp.nn.functional.mse_loss(y[:1], y)
xp.nn.L1Loss()(y[:1], y)
xp.nn.functional.mse_loss(y, y, reduce=True)
xp.nn.CrossEntropyLoss(size_average=False)
xp.nn.functional.kl_div(y, y)
xp.nn.functional.dropout2d(m)
xp.nn.init.kaiming_uniform_(xp.empty(0, 2))
xp.nn.init.xavier_normal(m)
xp.nn.utils.clip_grad_norm([x], 1.0)
xp.nn.LSTM(2, 2, dropout=0.5)
xp.autograd.Variable(y, volatile=True)
xp.no_grad()(type("A", (), {}))
xp.autograd.detect_anomaly()
xp.amp.GradScaler()
xp.cuda.amp.GradScaler()
xp.cuda.amp.autocast()
xp.autocast("cpu", dtype=xp.float64)
xp.utils.checkpoint.checkpoint_sequential([xp.nn.Linear(2, 2)], 1, y)
xp.utils.data.random_split([1, 2], [2, 0])
xp.optim.SGD([x, x], 0.1)
xp.optim.lr_scheduler.StepLR(xp.optim.SGD([x], 0.1), 1).step(1)
""".strip().splitlines()
SETTING = """
import numpy as np
xp.manual_seed(0)
y, x = xp.tensor([1.0, 2.0]), xp.tensor([1.0, 2.0], requires_grad=True)
m, byte = xp.arange(6.0).reshape(2, 3), xp.tensor([1, 0], dtype=xp.uint8)
"""


def places(xp):
    """The warnings of each text, which runs twice on line 3 and once on line 4, with two filters: the category, and the line.
    The line is None if the file is not the program's."""
    names, seen = {"xp": xp}, []
    exec(SETTING, names)
    for text in PLACES:
        for mode in "default", "always":
            file = f"{mode} {text}"
            exec(compile(f"def program():\n for _ in 1, 2:\n  {text}\n {text}", file, "exec"), names)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter(mode)
                names["program"]()
            lines = [w.lineno if w.filename == file else None for w in caught]
            seen.append([file, [[w.category.__name__, line] for w, line in zip(caught, lines)]])
    return seen


def test_a_warning_names_the_line_of_the_program_that_torch_names(monkeypatch):
    """PyTorch names a line of its own where its Python code warns of itself. There, rushlight names the program's line."""
    code = "import json, torch, test_warnings; print(json.dumps(test_warnings.places(torch)))"
    monkeypatch.setattr(exception, "_given", set())
    folder = Path(__file__).parent  # in a new process, because some warnings of torch come once in a process
    theirs = json.loads(
        subprocess.run([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, check=True).stdout
    )
    for (text, seen), (_, expected) in zip(places(rushlight), theirs, strict=True):
        if any(line is None for _, line in expected):
            if text.startswith("default"):  # it shows a warning once for each line
                continue
            seen, expected = ([category for category, _ in warned] for warned in (seen, expected))
        assert seen == expected, text
