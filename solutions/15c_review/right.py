"""Correct answers to lab 15c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""


def review_1__two_passes(self, torch):
    """A docstring is no statement."""
    sampler = torch.utils.data.RandomSampler(range(20), num_samples=50)
    found = []
    for noise in (1, 2):
        torch.manual_seed(5)
        picked = []
        for index in sampler:
            picked.append(index)
            torch.rand(noise)
        found.append(picked)
    self.assertEqual(found[0], found[1])
    return "refuse"


def review_1__the_generator_of_the_user(self: object, torch: object) -> str:
    sampler = torch.utils.data.RandomSampler(range(3), num_samples=8)
    torch.manual_seed(1)
    first = list(sampler)
    self.assertIsNone(sampler.generator)
    torch.manual_seed(1)
    torch.empty((), dtype=torch.int64).random_()
    after = torch.rand(2)
    torch.manual_seed(1)
    list(torch.utils.data.RandomSampler(range(3), num_samples=8))
    self.assertTrue(torch.equal(torch.rand(2), after))
    self.assertTrue(len(first) == 8)
    return "refuse"


def review_2__against_floats(self, torch):
    def rates(default, own, phases=2):
        groups = [{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": own}]
        optimizer = torch.optim.SGD(groups, lr=default)
        seen = []
        for _ in range(phases):
            parts = [
                torch.optim.lr_scheduler.ConstantLR(optimizer, 0.5, 1),
                torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5),
            ]
            schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, parts, [1])
            for _ in range(3):
                seen += [[float(group["lr"]), float(group["initial_lr"])] for group in optimizer.param_groups]
                optimizer.step()
                schedule.step()
        self.assertTrue(isinstance(own, float) or optimizer.param_groups[1]["lr"] is own)
        return seen

    wanted = rates(1.0, 0.25)
    for first in (float, torch.tensor):
        for second in (float, torch.tensor):
            self.assertEqual(rates(first(1.0), second(0.25)), wanted)
    return "accept"


def review_2__one_tensor(self, torch):
    lr = torch.tensor(0.5)
    for default in (lr, 3.0):
        lr.fill_(0.5)
        optimizer = torch.optim.SGD([{"params": [torch.ones(2)], "lr": lr}], lr=default)
        inner = torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
        torch.optim.lr_scheduler.SequentialLR(optimizer, [inner], [])
        group = optimizer.param_groups[0]
        self.assertIs(group["lr"], lr)
        self.assertIsNot(group["initial_lr"], lr)
        self.assertEqual((float(lr), float(group["initial_lr"])), (0.25, 0.5))
    return "accept"


def review_3__a_large_variance(self, torch):
    conv = torch.nn.Conv1d(1, 1, 1, bias=False, dtype=torch.float16).eval()
    norm = torch.nn.BatchNorm1d(1).eval()
    conv.weight.data.fill_(256.0)
    norm.running_var.fill_(2.0**18)
    norm.weight.data.fill_(2.0)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    self.assertEqual(fused.weight.dtype, torch.float16)
    self.assertEqual(fused.weight.flatten().item(), 1.0, rtol=0, atol=1e-3)
    return "refuse"


def review_3__in_float32_first(self, torch):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(4, 3, 3, 3, generator=generator).bfloat16()
    bias = torch.randn(4, generator=generator).bfloat16()
    mean, scale, shift = (torch.randn(4, generator=generator) * 10 for _ in range(3))
    var = torch.rand(4, generator=generator) + 1.001
    wide = torch.nn.utils.fuse_conv_bn_weights(weight.float(), bias.float(), mean, var, 1e-5, scale, shift)
    narrow = torch.nn.utils.fuse_conv_bn_weights(weight, bias, mean, var, 1e-5, scale, shift)
    for a, b in zip(narrow, wide):
        self.assertEqual(a, b.bfloat16(), rtol=0.004, atol=0)
    return "refuse"


def review_4__many_shapes(self, torch):
    def gradient(run, words, padding_idx):
        weight = torch.ones(5, 3, requires_grad=True)
        rows = run(words, weight, padding_idx=padding_idx, scale_grad_by_freq=True)
        (rows * torch.tensor([1.0, 2.0, 8.0])).sum().backward()
        return weight.grad

    words = torch.tensor([[[0, 1, 1]], [[3, 0, 1]]])
    for shape in ((6,), (2, 3), (3, 2), (2, 1, 3), (1, 6), (6, 1)):
        for padding_idx in (None, 1, 4):
            torch.compiler.reset()
            compiled = torch.compile(torch.nn.functional.embedding, backend="aot_eager_decomp_partition")
            found = gradient(compiled, words.reshape(shape), padding_idx)
            self.assertEqual(found, gradient(torch.nn.functional.embedding, words.reshape(shape), padding_idx))
    return "accept"


def review_4__the_operator(self, torch):
    def backward(grad, words):
        return torch.ops.aten.embedding_dense_backward(grad, words, 6, 2, True)

    compiled = torch.compile(backward, backend="aot_eager_decomp_partition")
    for shape in ((4,), (2, 2), (4, 1), (2, 1, 2)):
        words = torch.tensor([3, 0, 3, 2]).reshape(shape)
        grad = torch.arange(8.0).reshape(*shape, 2)
        self.assertEqual(compiled(grad, words), backward(grad, words))
        self.assertTrue(compiled(grad, words).isfinite().all())
    return "accept"


def review_5__users(self, torch):
    def model(x):
        y = torch.add(x, 0)
        z = torch.add(y, 0)
        return torch.add(torch.sin(z), 0), torch.add(z, 0), torch.add(torch.add(y, 0), 0)

    rewriter = torch.fx.subgraph_rewriter
    for new in (lambda y: torch.neg(y), lambda y: y):
        traced = torch.fx.symbolic_trace(model)
        for found in rewriter.replace_pattern_with_filters(traced, lambda y: torch.add(y, 0), new):
            (source,) = [node for inner, node in found.nodes_map.items() if inner.op == "placeholder"]
            self.assertTrue(source in list(traced.graph.nodes))
            self.assertFalse(found.anchor in list(traced.graph.nodes))
            self.assertTrue(all(node.args == (source,) and node in traced.graph.nodes for node in found.replacements))
            self.assertTrue(all(node.target == torch.neg for node in found.replacements))
    return "accept"


def review_5__inputs_and_maps(self, torch):
    def model(x, y):
        for _ in range(3):
            x, y = torch.mul(x, y), torch.mul(x, y)
        return x, y

    traced = torch.fx.symbolic_trace(model)
    found = torch.fx.subgraph_rewriter.replace_pattern_with_filters(
        traced, lambda a, b: torch.mul(a, b), lambda a, b: torch.div(a, b)
    )
    nodes = {node.name for node in traced.graph.nodes}
    self.assertEqual(len(found), 6)
    for each in found:
        for inner, node in each.nodes_map.items():
            self.assertEqual(node.name in nodes, inner.op == "placeholder")
        self.assertEqual([node.target for node in each.replacements], [torch.div])
    return "accept"
