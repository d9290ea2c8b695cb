"""Image computed in float32 is wrapped at 255 when a parameter of the module is trained under torch.compile

Our module gets images of uint8. It makes a dither pattern with `image * 4`, where we want the wrap-around of uint8,
and a bright image with `image * 4.0`, which is float32. After `torch.compile` the bright image holds 32 where 800 is
expected: as if it had been computed in uint8. Its gradient is wrong too. No warning. This happens with the backend
"aot_eager", not with "eager"; under `torch.no_grad()`, or when `gain` does not require grad, the same compiled module
is right. If the pattern uses `image * 5`, or if we write `image.float() * 4`, everything is right as well. `explain`
shows both multiplications in the graph that Dynamo made, and if we print dtypes inside `forward`, they are uint8 and
float32 as they should be. The program below gives the brightness, the pattern and the gradient.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The elimination of common subexpressions before the partition of the joint graph takes x * 4 and x * 4.0 for "
    "one expression, because 4 == 4.0 and their hashes are equal, and the type of constants is not part of the key."
    " Modelled on pytorch pull request 119567 (fx_graph_cse merges size - 1 and size - 1.0; the types are put into "
    "the hash)."
)
AT = ("torch/_functorch/compile_utils.py", "fx_graph_cse")
FAULT = [
    (
        "torch/_functorch/compile_utils.py",
        """            # hash substituted args to a number, do not hash specs because specs are not hashable
            # We need to add type into hash to avoid situations like:
            # hash((primals_2, 1.0)) == hash((primals_2, 1))
            hash_arg = hash(
                (tuple((a, type(a)) for a in args), tuple((a, type(a)) for a in kwargs))
            )
""",
        """            # hash substituted args to a number, do not hash specs because specs are not hashable
            hash_arg = hash((args, kwargs))
""",
    )
]
NEEDS = {"torch/_functorch/compile_utils.py", "torch/_functorch/partitioners.py"}
STATEMENTS = 5
LINES = 12
LINK = (
    "torch.compile -> backend aot_eager -> aot_module_simplified -> (only when something requires grad) "
    "min_cut_rematerialization_partition -> fx_graph_cse. Dead ends: type promotion of mul (its meta function says "
    "float32 rightly), and the decisions of the partitioner about what is saved for the backward"
)


def symptom(torch):
    class Enhance(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gain = torch.nn.Parameter(torch.tensor([0.5, 1.0, 2.0]))

        def forward(self, image):
            pattern = image * 4 // 8
            bright = image * 4.0
            return (self.gain * bright).sum(), pattern

    image = torch.tensor([10, 100, 200], dtype=torch.uint8)
    results = []
    for compiled in (True, False):
        model = Enhance()
        brightness, pattern = (torch.compile(model) if compiled else model)(image)
        brightness.backward()
        results.append([brightness, pattern, model.gain.grad])
    return results


def reproduced(torch):
    f = torch.compile(lambda w, i: w * (i * 2) + w * (i * 2.0))
    return f(torch.ones(1, requires_grad=True), torch.tensor([200], dtype=torch.uint8))


def hidden__truth(torch):
    def f(w, mask):
        count = mask * 1
        flag = mask * True
        return (w * count).sum(), torch.full_like(flag, 3) * 1, torch.full_like(mask * 1.0, 0.5) * 1

    return torch.compile(f)(torch.ones(2, requires_grad=True), torch.tensor([True, False]))


def hidden__first_float(torch):
    def f(w, i):
        real = i + 1.0
        whole = i + 1
        return (w * real).sum(), whole // 2, torch.full_like(whole, 2) * 1

    return torch.compile(f)(torch.ones(3, requires_grad=True), torch.tensor([1, 2, 5]))


def hidden__keywords_and_nested(torch):
    from torch._functorch.compile_utils import fx_graph_cse

    def pair(x, k=None):
        return k

    def run(calls):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        graph.output(tuple(graph.call_function(pair, (x, *args), kwargs) for args, kwargs in calls))
        merged = list(fx_graph_cse(graph).nodes)[-1].args[0]
        return [(node.args[1:], dict(node.kwargs)) for node in merged]

    constants = (2, 2.0, 1, True, 1.0, 1 + 0j)
    return [
        run([((k,), {}) for k in constants]),
        run([((), {"k": k}) for k in constants]),
        run([((k,), {}) for k in ((1, 2), (1.0, 2), (1, 2.0), (True, 2))]),
    ]


def hidden__equal_ones_after_another_type(torch):
    from torch._functorch.compile_utils import fx_graph_cse

    def pair(x, k):
        return k

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    calls = [graph.call_function(pair, (x, k)) for k in (4, 4.0, 4.0, 4, True, 1, 1, True)]
    graph.output(tuple(calls))
    nodes = list(fx_graph_cse(graph).nodes)
    return [len(nodes), [nodes.index(node) for node in nodes[-1].args[0]]]


def kept__merges(torch):
    from torch._functorch.compile_utils import fx_graph_cse

    def pair(x, k=None):
        return k

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    calls = [graph.call_function(pair, (a, k)) for a in (x, y) for k in (2, 2, 3, 2.5, 2.5)]
    calls += [graph.call_function(pair, (x,), {"k": k}) for k in (2, 2, (3, 4), (3, 4), "2", None)]
    calls += [graph.call_function(pair, (c, 3)) for c in calls[:2]]
    graph.output(tuple(calls))
    nodes = list(fx_graph_cse(graph).nodes)
    return [len(nodes), [nodes.index(node) for node in nodes[-1].args[0]]]


def kept__random(torch):
    def f(w):
        a, b = torch.rand_like(w) + 0.0, torch.rand_like(w) + 0.0
        c, d = w * 2.0, w * 2.0
        return (a * w).sum(), (b * w).sum(), c.sin() + d.sin()

    torch.manual_seed(0)
    first, second, third = torch.compile(f)(torch.ones(8, requires_grad=True))
    return [torch.equal(first, second), third]


TEST = """
def test_cse_tells_types_of_constants_apart(self, torch):
    def f(w, i, mask):
        count, flag = mask * 1, mask * True
        return w * (i * 2) + w * (i * 2.0), (w * count).sum(), torch.full_like(flag, 3) * 1

    w = torch.ones(2, requires_grad=True)
    i, mask = torch.tensor([3, 200], dtype=torch.uint8), torch.tensor([True, False])
    for actual, expected in zip(torch.compile(f, backend="aot_eager")(w, i, mask), f(w, i, mask)):
        self.assertEqual(actual, expected, exact_dtype=True)
"""
WRONG = {
    "the types of positional arguments only": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            ("            hash_arg = hash((tuple((a, type(a)) for a in args), kwargs))\n"),
        ),
    ],
    "*tells floats from all others": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            (
                "            floats = tuple(isinstance(a, float) for a in args + kwargs)\n"
                "            hash_arg = hash((args, kwargs, floats))\n"
            ),
        ),
    ],
    "*tells whole numbers from all others": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            (
                "            wholes = tuple(isinstance(a, int) for a in args + kwargs)\n"
                "            hash_arg = hash((args, kwargs, wholes))\n"
            ),
        ),
    ],
    "the types of the arguments before lists are flattened": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            (
                "            types = tuple(type(a) for a in (*n.args, *n.kwargs.values()))\n"
                "            hash_arg = hash((args, kwargs, types))\n"
            ),
        ),
    ],
    "keeps every expression with a number": [
        (
            "torch/_functorch/compile_utils.py",
            "            or n in nodes_that_alias_outputs\n",
            (
                "            or n in nodes_that_alias_outputs\n"
                "            or any(isinstance(a, (int, float)) for a in n.args)\n"
            ),
        ),
    ],
    "the dtype of the value that was traced": [
        (
            "torch/_functorch/compile_utils.py",
            '                "kwargs_spec": kwargs_spec,\n',
            (
                '                "kwargs_spec": kwargs_spec,\n'
                '                "dtype": getattr(n.meta.get("val"), "dtype", None),\n'
            ),
        ),
    ],
    "in the token that is compared, so that equal nodes lose each other": [
        (
            "torch/_functorch/compile_utils.py",
            '                "kwargs_spec": kwargs_spec,\n',
            '                "kwargs_spec": kwargs_spec,\n                "types": [type(a) for a in (*args, *kwargs)],\n',
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            "            hash_arg = hash(\n"
            "                (tuple((a, type(a)) for a in args), tuple((a, type(a)) for a in kwargs))\n"
            "            )\n",
        )
    ],
    "by what the arguments are printed as": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            "            hash_arg = hash((repr(args), repr(kwargs)))\n",
        )
    ],
    "the name of the type for constants only": [
        (
            "torch/_functorch/compile_utils.py",
            "            hash_arg = hash((args, kwargs))\n",
            "            def key(a):\n"
            "                return a if isinstance(a, fx.Node) else (type(a).__name__, a)\n\n"
            "            hash_arg = hash(\n"
            "                (tuple(key(a) for a in args), tuple(key(a) for a in kwargs))\n"
            "            )\n",
        )
    ],
}
