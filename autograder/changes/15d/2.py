"""The unflattened program of a module that is called twice gives other numbers than the exported one

Our network calls the same small block twice, the first time with weight 1 and the second time with weight 3. We
export it and rebuild the module tree with `torch.export.unflatten` to quantise block by block. The exported program
(`ep.module()`) agrees with eager for all inputs; the unflattened module does not: for the program below it returns a
result in which the second call of the block was done with the weight of the first. There is no warning. When the
block is written as `x + y * weight`, the unflattened module is right, and it is right when the two calls go to two
blocks. We looked at `ep.graph`: both calls are in it, with their own weights. The unflattened module has one
submodule for the block where we expected two, one for each way in which it is called.

2.13.0, Linux, CPU
"""

ABOUT = (
    "Unflattening removes the graph of a call when it equals that of an earlier call of the module, and the "
    "comparison leaves out the keyword arguments of the nodes. Modelled on pytorch pull request 137013 (calls of "
    "one submodule that were specialised differently must keep their own graphs; if they are taken for equal, the "
    "unflattened module computes wrong numbers) and issue 132993 (unflattening a submodule that is used twice gives"
    " an incorrect graph)."
)
AT = ("torch/export/unflatten.py", "_check_graph_equivalence.graph_dump")
FAULT = [
    (
        "torch/export/unflatten.py",
        """            args_dump += [
                f"{key}={value}"
                for key, value in pytree.tree_map(arg_dump, node.kwargs).items()
            ]
""",
        "",
    )
]
NEEDS = {"torch/export/unflatten.py"}
STATEMENTS = 12
LINES = 16
LINK = (
    "torch.export.unflatten -> UnflattenedModule.__init__ -> _outline_submodules (makes mix and mix@1) -> "
    "_deduplicate_modules -> _check_graph_equivalence. Dead end: _ModuleFrame (copy_node, run_from), where the "
    "graph of each call is made and is right; and _sink_params"
)


def symptom(torch):
    class Mix(torch.nn.Module):
        def forward(self, x, y, weight):
            return torch.add(x, y, alpha=weight)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = Mix()

        def forward(self, x, y):
            half = self.mix(x, y, 1) / 2
            return self.mix(half, y, 3)

    example = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    ep = torch.export.export(Net(), example)
    unflattened = torch.export.unflatten(ep)
    names = [name for name, module in unflattened.named_modules() if name]
    return [unflattened(*example), ep.module()(*example), Net()(*example), names]


def reproduced(torch):
    class Mix(torch.nn.Module):
        def forward(self, x, weight):
            return torch.add(x, x, alpha=weight)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.mix(self.mix(x, 1) * 2, 5)

    net = Net()
    net.mix = Mix()
    return torch.export.unflatten(torch.export.export(net, (torch.ones(1),)))(torch.ones(1))


def hidden__values_and_keys(torch):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.eye(2))
            self.bias = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, **options):
            return torch.addmm(self.bias, x, self.weight, **options)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = Scale()

        def forward(self, x):
            return self.scale(x, beta=2), self.scale(x, alpha=2), self.scale(x, alpha=7)

    x = torch.arange(4.0).reshape(2, 2)
    return torch.export.unflatten(torch.export.export(Net(), (x,)))(x)


def hidden__preserved_signature(torch):
    class Half(torch.nn.Module):
        def forward(self, x, down):
            return torch.div(x, 2, rounding_mode="floor" if down else "trunc")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.halve = Half()

        def forward(self, x):
            return self.halve(x, True), self.halve(x, False), self.halve(x + 2, True), self.halve(x - 2, False)

    x = torch.tensor([-3.0, 3.0])
    ep = torch.export.export(Net(), (x,), preserve_module_call_signature=("halve",))
    return torch.export.unflatten(ep)(x)


def hidden__after_decompositions(torch):
    class Cast(torch.nn.Module):
        def forward(self, x, dtype):
            return x.to(dtype)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cast = Cast()

        def forward(self, x):
            return self.cast(x, torch.int64), self.cast(x, torch.float64), self.cast(x, torch.int64) + 1

    x = torch.tensor([1.5, -2.5])
    return torch.export.unflatten(torch.export.export(Net(), (x,)).run_decompositions())(x)


def hidden__tensor_keyword(torch):
    class Search(torch.nn.Module):
        def forward(self, values, first, second, x, which):
            shift = first - second
            return torch.searchsorted(values, x, sorter=first if which else second) + shift

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.search = Search()

        def forward(self, values, first, second, x):
            return self.search(values, first, second, x, True), self.search(values, first, second, x, False)

    example = (
        torch.tensor([3.0, 1.0, 2.0]),
        torch.tensor([1, 2, 0]),
        torch.tensor([0, 1, 2]),
        torch.tensor([1.5, 2.5, 0.5]),
    )
    return torch.export.unflatten(torch.export.export(Net(), example))(*example)


def kept__same_calls_share(torch):
    class Mix(torch.nn.Module):
        def forward(self, x, y, weight):
            return torch.add(x, y, alpha=weight)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = Mix()

        def forward(self, x, y):
            half = self.mix(x, y, 3) / 2
            return self.mix(half, y, 3)

    example = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    unflattened = torch.export.unflatten(torch.export.export(Net(), example))
    return [unflattened(*example), [name for name, module in unflattened.named_modules() if name]]


def kept__tensor_keyword_shares(torch):
    class Search(torch.nn.Module):
        def forward(self, values, order, x):
            return torch.searchsorted(values, x, sorter=order)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.search = Search()

        def forward(self, values, order, x):
            return self.search(values, order, x), self.search(values * 2, order + 0, x - 1)

    example = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([1, 2, 0]), torch.tensor([1.5, 2.5])
    unflattened = torch.export.unflatten(torch.export.export(Net(), example))
    return [unflattened(*example), [name for name, module in unflattened.named_modules() if name]]


def kept__other_arguments(torch):
    class Add(torch.nn.Module):
        def forward(self, x, more):
            return x + 1 if more else x + 2

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.add = Add()

        def forward(self, x):
            return self.add(self.add(x + 3, True) + 4, False) + 5

    unflattened = torch.export.unflatten(torch.export.export(Net(), (torch.ones(1),)))
    return [unflattened(torch.ones(1)), [name for name, module in unflattened.named_modules() if name]]


TEST = """
def test_unflatten_keeps_calls_with_other_keywords(self, torch):
    class Half(torch.nn.Module):
        def forward(self, x, down):
            return torch.div(x, 2, rounding_mode="floor" if down else "trunc")

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.halve(x, True), self.halve(x, False), self.halve(x + 1, True)

    net, x = Net(), torch.tensor([-3.0, 3.0])
    net.halve = Half()
    unflattened = torch.export.unflatten(torch.export.export(net, (x,)))
    self.assertEqual(unflattened(x), net(x))
    self.assertEqual(len([name for name, module in unflattened.named_modules() if name]), 2)
"""
WRONG = {
    "*removes no graph at all": [
        (
            "torch/export/unflatten.py",
            "    return graph_dump(x.graph) == graph_dump(y.graph)\n",
            "    return x is y\n",
        ),
    ],
    "*compares the names of the keywords": [
        (
            "torch/export/unflatten.py",
            ('            target = node.target if node.op in ("call_function", "get_attr") else ""\n'),
            (
                "            args_dump += sorted(node.kwargs)\n"
                '            target = node.target if node.op in ("call_function", "get_attr") else ""\n'
            ),
        ),
    ],
    "compares the keywords as they stand in the node": [
        (
            "torch/export/unflatten.py",
            ('            target = node.target if node.op in ("call_function", "get_attr") else ""\n'),
            (
                "            args_dump.append(str(node.kwargs))\n"
                '            target = node.target if node.op in ("call_function", "get_attr") else ""\n'
            ),
        ),
    ],
    "compares the values of the keywords without their names": [
        (
            "torch/export/unflatten.py",
            ('            target = node.target if node.op in ("call_function", "get_attr") else ""\n'),
            (
                "            args_dump += [str(v) for v in pytree.tree_map(arg_dump, node.kwargs).values()]\n"
                '            target = node.target if node.op in ("call_function", "get_attr") else ""\n'
            ),
        ),
    ],
    "compares the keywords that are not tensors": [
        (
            "torch/export/unflatten.py",
            ('            target = node.target if node.op in ("call_function", "get_attr") else ""\n'),
            (
                '            args_dump += [f"{k}={v}" for k, v in node.kwargs.items() if not isinstance(v, torch.fx.Node)]\n'
                '            target = node.target if node.op in ("call_function", "get_attr") else ""\n'
            ),
        ),
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/export/unflatten.py",
            '            target = node.target if node.op in ("call_function", "get_attr") else ""\n',
            "            args_dump += [\n"
            '                f"{key}={value}"\n'
            "                for key, value in pytree.tree_map(arg_dump, node.kwargs).items()\n"
            "            ]\n"
            '            target = node.target if node.op in ("call_function", "get_attr") else ""\n',
        )
    ],
    "in the line of the node": [
        (
            "torch/export/unflatten.py",
            """            ret.append(f"{i}: {node.op}[{target}]({', '.join(args_dump)})")\n""",
            "            keywords = pytree.tree_map(arg_dump, dict(sorted(node.kwargs.items())))\n"
            """            ret.append(f"{i}: {node.op}[{target}]({', '.join(args_dump)}, {keywords})")\n""",
        )
    ],
    "the nodes pair by pair": [
        (
            "torch/export/unflatten.py",
            "    return graph_dump(x.graph) == graph_dump(y.graph)\n",
            "    places = {node: i for graph in (x.graph, y.graph) for i, node in enumerate(graph.nodes)}\n\n"
            "    def keywords(node):\n"
            "        return torch.fx.map_arg(node.kwargs, lambda n: places[n])\n\n"
            "    same = all(\n"
            "        keywords(a) == keywords(b) for a, b in zip(x.graph.nodes, y.graph.nodes)\n"
            "    )\n"
            "    return same and graph_dump(x.graph) == graph_dump(y.graph)\n",
        )
    ],
}
