"""Wrong answers to lab 15c that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""


def review_1__the_authors_test(self, torch):
    def order(noise):
        torch.manual_seed(0)
        seen = []
        for index in torch.utils.data.RandomSampler(range(5), num_samples=17):
            seen.append(index)
            torch.rand(noise)
        return seen

    self.assertEqual(order(0), order(3))
    return "accept"


def review_1__guesses(self, torch):
    self.assertEqual(1, 1)
    return "refuse"


def review_1__decides_against_its_test(self, torch):
    sampler = torch.utils.data.RandomSampler(range(30), num_samples=40)
    orders = []
    for noise in (1, 2):
        torch.manual_seed(5)
        orders.append([(index, torch.rand(noise))[0] for index in sampler])
    self.assertEqual(orders[0], orders[1])
    return "accept"


def review_2__decides_against_its_test(self, torch):
    lr = torch.tensor(0.5)
    for default in (lr, 3.0):
        lr.fill_(0.5)
        optimizer = torch.optim.SGD([{"params": [torch.ones(2)], "lr": lr}], lr=default)
        inner = torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
        torch.optim.lr_scheduler.SequentialLR(optimizer, [inner], [])
        self.assertIs(optimizer.param_groups[0]["lr"], lr)
        self.assertEqual(float(optimizer.param_groups[0]["initial_lr"]), 0.5)
    return "refuse"


def review_3__no_decision(self, torch):
    conv = torch.nn.Conv1d(1, 1, 1, bias=False, dtype=torch.float16).eval()
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, torch.nn.BatchNorm1d(1).eval())
    self.assertEqual(fused.weight.dtype, torch.float16)


def review_4__perhaps(self, torch):
    words, weight = torch.tensor([[0, 1], [0, 2]]), torch.ones(3, 2, requires_grad=True)
    torch.nn.functional.embedding(words, weight, scale_grad_by_freq=True).sum().backward()
    self.assertEqual(weight.grad, torch.ones(3, 2))
    return "perhaps"


def review_2__a_single_rate(self, torch):
    optimizer = torch.optim.SGD([torch.ones(1)], lr=torch.tensor(0.5))
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25)
    torch.optim.lr_scheduler.SequentialLR(optimizer, [schedule], [])
    self.assertEqual(float(optimizer.param_groups[0]["initial_lr"]), 0.5)
    return "accept"


def review_3__only_the_dtype(self, torch):
    conv = torch.nn.Conv1d(1, 1, 1, dtype=torch.float16).eval()
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, torch.nn.BatchNorm1d(1).eval())
    self.assertEqual(fused.weight.dtype, torch.float16)
    return "refuse"


def review_3__two_decisions(self, torch):
    if torch.nn.utils.fuse_conv_bn_eval is None:
        return "accept"
    return "refuse"


def review_4__one_dimension(self, torch):
    weight = torch.ones(3, 2, requires_grad=True)
    look_up = torch.compile(torch.nn.functional.embedding, backend="aot_eager_decomp_partition")
    look_up(torch.tensor([[0, 1], [0, 2]]), weight, scale_grad_by_freq=True).sum().backward()
    self.assertEqual(weight.grad, torch.ones(3, 2))
    return "accept"


def review_5__the_code(self, torch):
    def model(x):
        return torch.add(torch.add(x, 0), 0)

    traced = torch.fx.symbolic_trace(model)
    torch.fx.replace_pattern(traced, lambda y: torch.add(y, 0), lambda y: y)
    self.assertFalse(any(node.target == torch.add for node in traced.graph.nodes))
    return "accept"


def review_5__the_symptom(self, torch):
    def model(x):
        return torch.add(torch.add(x, 0), 0)

    traced = torch.fx.symbolic_trace(model)
    for match in torch.fx.replace_pattern(traced, lambda y: torch.add(y, 0), lambda y: y):
        (source,) = [node for inner, node in match.nodes_map.items() if inner.op == "placeholder"]
        self.assertIn(source, list(traced.graph.nodes))
    return "accept"
