"""Answers of lab 15c: patches of others for bugs of PyTorch, each reviewed by a regression test.

A test gets PyTorch as `torch`: as it is installed, with a bug, or with a patch for the bug that is right or wrong.
"""

from __future__ import annotations

from typing import Any


def review_1(self: Any, torch: Any) -> str:
    """Review the patch of case 15c.1 by a regression test.

    The test passes on PyTorch as it is installed, and fails on the patient. If the patch is wrong, the test fails with it. If the
    patch is right, the test passes with it, and fails with two other patches for this report that are wrong.

    `self` is a `TestCase` of PyTorch's own tests. Of its methods, use the assertions, `subTest` and `fail`. The test uses the
    public names of `torch`, its own variables, and a few of Python's functions that compute. It has no import and no `try`.
    `torch.compile` has the backend `"aot_eager"` here if you name no other.

    Returns:
        `"accept"` or `"refuse"`, in the last statement of the function.
    """
    sampler = torch.utils.data.RandomSampler(range(5), num_samples=17)

    def order(noise):
        torch.manual_seed(0)
        seen = []
        for index in sampler:
            seen.append(index)
            torch.rand(noise)
        return seen

    self.assertEqual(order(0), order(3))
    self.assertEqual(order(0), order(0))
    torch.manual_seed(0)
    list(sampler)
    after_many = torch.rand(1)
    torch.manual_seed(0)
    list(torch.utils.data.RandomSampler(range(2)))
    self.assertEqual(torch.rand(1), after_many)
    return "refuse"


def review_2(self: Any, torch: Any) -> str:
    """Review the patch of case 15c.2 by a regression test.

    The rules are those of `review_1`.
    """
    schedulers = torch.optim.lr_scheduler
    shared, own = torch.tensor(1.0), torch.tensor(0.5)
    groups = [{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": own}]
    for default, used in ((shared, [shared, own]), (2.0, [2.0, own])):
        own.fill_(0.5)
        optimizer = torch.optim.SGD([dict(group) for group in groups], lr=default)
        initial = [float(lr) for lr in used]
        parts = [schedulers.LinearLR(optimizer, 0.25, total_iters=2), schedulers.StepLR(optimizer, 1, 0.5)]
        schedule = schedulers.SequentialLR(optimizer, parts, [2])
        for factor in (0.25, 0.625, 1.0, 0.5):
            self.assertEqual([float(group["lr"]) for group in optimizer.param_groups], [factor * lr for lr in initial])
            self.assertEqual([float(group["initial_lr"]) for group in optimizer.param_groups], initial)
            optimizer.step()
            schedule.step()
        self.assertIs(optimizer.param_groups[1]["lr"], own)
    return "accept"


def review_3(self: Any, torch: Any) -> str:
    """Review the patch of case 15c.3 by a regression test.

    The rules are those of `review_1`.
    """
    for dtype in (torch.float16, torch.bfloat16):
        weight = torch.tensor([512.0, 1.0], dtype=dtype).reshape(2, 1, 1)
        mean, var = torch.tensor([257.0, 2.0]), torch.tensor([2.0**18, 4.0])
        one, zero = torch.tensor([512.0, 1.0]), torch.zeros(2)
        bias = torch.tensor([256.0, 2.0], dtype=dtype)
        expected = [torch.tensor([512.0, 0.5], dtype=dtype).reshape(2, 1, 1), torch.tensor([-1.0, 0.0], dtype=dtype)]
        fused = torch.nn.utils.fuse_conv_bn_weights(weight, bias, mean, var, 0.0, one, zero)
        for actual, wanted in zip(fused, expected):
            self.assertEqual(actual, wanted, rtol=0, atol=0)
        without = torch.nn.utils.fuse_conv_bn_weights(weight, None, mean, var, 0.0, one, zero)
        self.assertEqual(without[1], torch.tensor([-257.0, -1.0]).to(dtype), rtol=0, atol=0)
    return "refuse"


def review_4(self: Any, torch: Any) -> str:
    """Review the patch of case 15c.4 by a regression test.

    The rules are those of `review_1`.
    """

    def look_up(words, weight):
        return torch.nn.functional.embedding(words, weight, padding_idx=4, scale_grad_by_freq=True)

    compiled = torch.compile(look_up, backend="aot_eager_decomp_partition")
    square = torch.tensor([[0, 1], [0, 4]])
    for words in (square, square.flatten(), square.reshape(2, 1, 2), torch.tensor([[0, 1, 1], [1, 1, 0]])):
        grads = []
        for run in (look_up, compiled):
            weight = torch.ones(6, 2, requires_grad=True)
            (run(words, weight) * torch.tensor([1.0, 4.0])).sum().backward()
            grads.append(weight.grad)
        self.assertEqual(grads[1], grads[0])
    return "accept"


def review_5(self: Any, torch: Any) -> str:
    """Review the patch of case 15c.5 by a regression test.

    The rules are those of `review_1`.
    """

    def model(x, y):
        a = torch.add(x, y)
        b = torch.add(a, x)
        return torch.add(b, y), torch.add(torch.relu(b), a)

    def pattern(v, w):
        return torch.add(v, w)

    for replacement, count in ((lambda v, w: torch.sub(v, w), 1), (lambda v, w: v, 0)):
        module = torch.fx.symbolic_trace(model)
        matches = torch.fx.subgraph_rewriter.replace_pattern_with_filters(module, pattern, replacement)
        nodes = list(module.graph.nodes)
        self.assertEqual(len(matches), 4)
        for match in matches:
            self.assertEqual([node.target for node in match.replacements], [torch.sub] * count)
            for inner, node in match.nodes_map.items():
                self.assertEqual(node in nodes, inner.op == "placeholder")
    return "accept"
