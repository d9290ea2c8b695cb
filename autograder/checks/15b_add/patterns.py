"""Lab 15b, a pattern of the compiler: which sums of products become `addcmul`, and what a graph is afterwards."""

from __future__ import annotations

from collections import Counter

from ...engine.check import program
from ..cases import copied, defaults, drawn, explained, field, first_of, numbers, when, with_layout

PROGRAMS = {  # of x, y and z
    "product first": "x * y + z",
    "product second": "z + x * y",
    "scaled addend": "torch.add(x * y, z, alpha=3)",
    "scaled product": "torch.add(z, x * y, alpha=3)",
    "negative alpha": "torch.add(x * y, z, alpha=-1)",
    "negative product": "torch.add(z, x * y, alpha=-2)",
    "alpha of 1": "torch.add(x * y, z, alpha=1)",
    "numeric factor": "x * 2 + z",
    "number before": "2 * x + z",
    "numeric addend": "x * y + 2",
    "used twice": "(t := x * y) + z, t",
    "used in two sums": "(t := x * y) + z, y + t",
    "doubled product": "(t := x * y) + t",
    "square": "x * x + x",
    "two products": "x * y + z * x",
    "scaled products": "torch.add(x * y, z * x, alpha=2)",
    "chain": "(x * y + z) * y + x",
    "sum in a sum": "x * y + (y * z + x)",
    "difference": "x * y - z",
    "quotient": "x / y + z",
    "exponential": "(x * y).exp() + z",
    "other order": "y * x + z, z * y + x",
}  # fmt: skip
SIZES = ([2, 3], [3], [2, 1], [1, 3], [], [1])
DTYPES = ("float32", "float64", "int64", "int32", "bool", "float16", "bfloat16")
usual = defaults(program="product first", sizes=[[2, 3]] * 3, kinds=["float32"] * 3, layouts=[""] * 3)


def tensors_of(torch, sizes, kinds, layouts):
    many = enumerate(zip(sizes, kinds, layouts))
    # no number is 0, and products and sums of them are exact
    return [
        with_layout(torch, (numbers(torch, shape, i) * 4 + 8).to(getattr(torch, kind)), layout)
        for i, (shape, kind, layout) in many
    ]


def function_of(torch, program):
    return eval(f"lambda x, y, z: ({PROGRAMS[program]})", {"torch": torch})


def traced(torch, program, tensors):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(function_of(torch, program), tracing_mode="fake")(*tensors)


def shown(torch, program, **about):
    about = zip("xyz", about["sizes"], about["kinds"], about["layouts"])
    lines = [f"# {name}: {kind} {tuple(size)} {layout}".rstrip() for name, size, kind, layout in about]
    return "\n".join([f"lambda x, y, z: ({PROGRAMS[program]})", *lines])


def matches(torch, graph):
    """The matches in a graph, in its order, that the matcher hands to a check. Each is made by one of the two patterns."""
    from torch._inductor.pattern_matcher import CallFunction, KeywordArg, PatternMatcherPass, register_graph_pattern

    aten, seen, passes = torch.ops.aten, [], PatternMatcherPass()
    product, z = CallFunction(aten.mul.Tensor, KeywordArg("x"), KeywordArg("y")), KeywordArg("z")
    for operands in ((product, z), (z, product)):
        pattern = CallFunction(aten.add.Tensor, *operands)
        register_graph_pattern(pattern, extra_check=lambda match: seen.append(match) is not None, pass_dict=passes)(
            print
        )
    passes.apply(graph)
    return seen


def kind_of_case(*names):
    return lambda case: case["program"] in names


CASES = {
    "program": [*PROGRAMS],
    "sizes": lambda st: st.one_of(st.just([[2, 3]] * 3), st.lists(st.sampled_from(SIZES), min_size=3, max_size=3)),
    "kinds": lambda st: st.one_of(
        st.sampled_from(DTYPES[:4]).map(lambda kind: [kind] * 3), st.sampled_from(DTYPES).map(lambda kind: [kind] * 3),
        st.lists(st.sampled_from(DTYPES), min_size=3, max_size=3),
    ),
    "layouts": lambda st: st.lists(st.sampled_from(["", "backwards"]), min_size=3, max_size=3),
}  # fmt: skip


def edges():
    yield from (usual(program) for program in PROGRAMS)
    yield from (usual(kinds=[kind] * 3) for kind in DTYPES)
    for mixed in (["float64", "float32", "float32"], ["float32", "float32", "float64"], ["int64", "float32", "float32"],
                  ["float32", "int64", "float32"], ["float32", "float32", "int64"],
                  ["int32", "int32", "int64"], ["bool", "int64", "int64"]):  # fmt: skip
        yield from (usual(program, kinds=mixed) for program in ("product first", "product second"))
    for layouts in (["backwards", "", ""], ["", "", "backwards"], ["backwards", "backwards", ""], ["backwards"] * 3):
        yield from (usual(program, layouts=layouts) for program in ("product first", "product second", "chain"))
    for sizes in ([[3], [3], [2, 3]], [[2, 3], [3], []], [[3], [2, 1], []], [[], [], [2, 3]], [[2, 1], [1, 3], [3]]):
        yield from (usual(program, sizes=sizes) for program in ("product first", "scaled product"))
    yield usual("two products", kinds=["int64", "int64", "float32"])
    yield usual("product second", sizes=[[2, 3], [2, 3], [3]], layouts=["backwards", "", ""])


REASONS = first_of(
    when(kind_of_case("scaled addend", "negative alpha", "scaled products"), "alpha scales the second operand"),
    when(kind_of_case("numeric factor", "number before", "numeric addend"), "an operand of mul and add may be a number"),
    when(kind_of_case("doubled product"), "if z is the product, the product is computed anyway"),
    when(lambda case: len({*case["kinds"]}) > 1, "x, y and z have the same dtype"),
    when(lambda case: case["kinds"][0] == "bool", "there is no addcmul for bool"),
    when(lambda case: "float16" in case["kinds"][0], "in float16 and bfloat16 mul rounds the product, and addcmul does not"),
    when(
        lambda case: "backwards" in case["layouts"],
        "the strides of addcmul(z, x, y) may differ from those of the sum: ask the fake tensors",
    ),
)  # fmt: skip


def refuses_more(case, mine, theirs):
    """Whether a safe match is refused."""
    answers = [field(side, "safe") for side in (mine, theirs)]
    return all(isinstance(each, list) for each in map(items, answers)) and any(
        yours is False and right for yours, right in zip(*map(items, answers))
    )


def items(tree):
    return tree.get("tuple", tree.get("list")) if isinstance(tree, dict) else tree


def replaces(sign):
    """Whether more matches are replaced than are safe, or fewer."""

    def test(case, mine, theirs):
        counts = [field(side, "count") for side in (mine, theirs)]
        return all(isinstance(count, int) for count in counts) and sign * counts[0] > sign * counts[1]

    return test


SCALED = ("scaled product", "negative product")
SECOND = (*SCALED, "product second", "number before", "other order")


@program(
    "contribute.add.addcmul_is_safe",
    cases=drawn(**CASES),
    edges=[*edges()],
    show=shown,
    hint=first_of(
        explained(graph="the graph is not changed"),
        when(
            lambda case, mine, theirs: refuses_more(case, mine, theirs) and case["program"] in SCALED,
            "add(z, product, alpha=a) is z + a x y, which addcmul computes",
        ),
        when(refuses_more, "a match that is refused here is safe: both forms give the same values, dtype and strides"),
        REASONS,
    ),
    draws=15,
    disposable=True,
)
def is_safe(xp, program, sizes, kinds, layouts):
    import torch

    graph = traced(torch, program, tensors_of(torch, sizes, kinds, layouts))
    code = graph.code
    answers = [xp.contribute.add.addcmul_is_safe(match) for match in matches(torch, graph)]
    return {"safe": answers, "graph": graph.graph.python_code("self").src == code}


@is_safe.oracle
def safe_by_torch(torch, program, sizes, kinds, layouts):
    tensors = tensors_of(torch, sizes, kinds, layouts)
    graph = traced(torch, program, tensors)
    return {"safe": [same_by_torch(torch, graph, match, tensors) for match in matches(torch, graph)], "graph": True}


def same_by_torch(torch, graph, match, tensors):
    """Whether both forms give the same, on the tensors of the case."""
    values = torch.fx.Interpreter(graph, garbage_collect_values=False)
    values.run(*tensors)
    total = match.output_node()
    operands = [match.kwargs[name] for name in "xyz"]
    if not all(isinstance(each, torch.fx.Node) for each in operands) or match.nodes[0] is operands[2]:
        return False
    x, y, z = (values.env[each] for each in operands)
    alpha = total.kwargs.get("alpha", 1)
    try:
        replaced = torch.addcmul(z, x, y, value=alpha)
    except RuntimeError:
        return False
    expected = values.env[total]
    rounds = expected.dtype in (torch.float16, torch.bfloat16)
    alike = x.dtype == y.dtype == z.dtype and replaced.stride() == expected.stride() and not rounds
    return alike and (alpha == 1 or torch.equal(replaced, expected))


@program(
    "contribute.add.addcmul_pass",
    cases=drawn(**CASES),
    edges=[*edges()],
    show=shown,
    hint=first_of(
        when(
            lambda case, mine, theirs: replaces(-1)(case, mine, theirs) and case["program"] in SECOND,
            "there are two patterns: the product may come first or second",
        ),
        when(replaces(-1), "each match that addcmul_is_safe accepts is replaced, if the sum alone uses the product"),
        when(kind_of_case("difference"), "a pattern is of one operator: sub is not add"),
        when(kind_of_case(*SCALED), "add(z, product, alpha=a) is addcmul(z, x, y, value=a)"),
        when(replaces(1), "addcmul_is_safe decides: it is the extra_check of both patterns"),
        explained(is_new="each call returns a new pass", results="addcmul(z, x, y) is z + x y, so z comes first"),
    ),
    draws=15,
    disposable=True,
)  # fmt: skip
def passed(xp, program, sizes, kinds, layouts):
    import torch

    tensors = tensors_of(torch, sizes, kinds, layouts)
    graph = traced(torch, program, tensors)
    passes = xp.contribute.add.addcmul_pass()
    count = passes.apply(graph)
    graph.graph.lint()
    graph.recompile()
    return {
        "operators": operators(graph),
        "results": results(graph(*tensors)),
        "count": count,
        "is new": passes is not xp.contribute.add.addcmul_pass(),
        "values": sorted(str(node.kwargs) for node in graph.graph.nodes if "addcmul" in str(node.target)),
    }


def operators(graph):
    return sorted(Counter(str(node.target) for node in graph.graph.nodes if node.op == "call_function").items())


def results(result):
    return [[copied(each), each.stride()] for each in (result if isinstance(result, tuple) else (result,))]


@passed.oracle
def passed_by_torch(torch, program, sizes, kinds, layouts):
    tensors = tensors_of(torch, sizes, kinds, layouts)
    graph = traced(torch, program, tensors)
    replaced = {}  # the sum of each match that is safe, with one product
    for match in matches(torch, graph):
        if match.output_node() not in replaced and same_by_torch(torch, graph, match, tensors):
            replaced[match.output_node()] = match.output_node().kwargs
    left = Counter(dict(operators(graph)))
    left.subtract({"aten.add.Tensor": len(replaced), "aten.mul.Tensor": len(replaced)})
    left["aten.addcmul.default"] += len(replaced)
    given = [kwargs.get("alpha", 1) for kwargs in replaced.values()]
    return {
        "operators": sorted((+left).items()),
        "results": results(function_of(torch, program)(*tensors)),
        "count": len(replaced),
        "is new": True,
        "values": sorted(str({} if value == 1 else {"value": value}) for value in given),
    }
