"""Passes, matchers and tracers that change a program do to it what they do in torch."""

import operator
import pickle
from collections import namedtuple

import pytest
import torch
from both import FRAMEWORKS, agree

import rushlight as rl

annotate = None  # for rewritten programs, set by the test
Point = namedtuple("Point", ["x", "y"])


def module_of(xp, path):
    return __import__(f"{xp.__name__}.{path}", fromlist=["x"])


def names_of(graph):
    return [(node.op, node.name, str(node.args)) for node in graph.nodes]


# Patterns


def replaced(xp, program, pattern, replacement, **options):
    module = xp.fx.symbolic_trace(program)
    function = module_of(xp, "fx.subgraph_rewriter").replace_pattern_with_filters
    matches = function(module, pattern, replacement, **options)
    return module.code, [(str(match.anchor), [str(node) for node in match.replacements]) for match in matches]


PATTERNS = {
    "several results": lambda xp: replaced(
        xp,
        lambda x: xp.sin(x) + xp.cos(x),
        lambda x: (xp.sin(x), xp.cos(x)),
        lambda x: (xp.exp(x), xp.abs(x)),
    ),
    "a result that is used within": lambda xp: replaced(
        xp,
        lambda x, y: xp.sin(x - y) + xp.cos(x - y),
        lambda x, y: (xp.sin(x - y), x - y),
        lambda x, y: (y, xp.exp(x)),
    ),
    "the replacement of a result is the next input": lambda xp: replaced(
        xp, lambda x: xp.sin(xp.sin(xp.sin(x))), xp.fx.symbolic_trace(lambda x: xp.sin(x)), lambda x: x + 1
    ),
    "nothing is added": lambda xp: replaced(xp, lambda x: xp.sin(xp.sin(x)) * 2, lambda x: xp.sin(x), lambda x: x),
    "two uses of an input": lambda xp: replaced(
        xp, lambda x, y: (x + x) * (x + y), lambda a: a + a, lambda a: xp.neg(a)
    ),
    "a cycle": lambda xp: replaced(
        xp,
        lambda x: xp.add(xp.cos(xp.sin(x)), xp.sin(x) if False else x),
        lambda x, y: (xp.sin(x), xp.add(y, x)),
        lambda x, y: (x, y),
    ),
    "a filter": lambda xp: replaced(
        xp,
        lambda x: (x + 1) * (x + 2.5),
        lambda x, number: x + number,
        lambda x, number: x - number,
        match_filters=[lambda match, graph, pattern: isinstance(match.placeholder_nodes[1], int)],
    ),
    "other literals": lambda xp: replaced(
        xp, lambda x: x + 1, lambda x: x + 2, lambda x: xp.neg(x), ignore_literals=True
    ),
    "a replacement for each match": lambda xp: replaced(
        xp,
        lambda x: xp.sin(x) + xp.sin(x + 1),
        lambda x: xp.sin(x),
        None,
        replacement_callback=lambda match, graph, pattern: xp.fx.symbolic_trace(lambda x: xp.cos(x)).graph,
    ),
    "defaults": lambda xp: replaced(
        xp,
        lambda x: xp.ops.aten.sum.dim_IntList(x, [0], True),
        lambda x, dims: xp.ops.aten.sum.dim_IntList(x, dims, keepdim=True, dtype=None),
        lambda x, dims: xp.neg(x),
    ),
    "packets": lambda xp: replaced(
        xp, lambda x: xp.ops.aten.sin(x) + 1, lambda x: xp.ops.aten.sin(x), lambda x: xp.ops.aten.cos(x)
    ),
    "used outside": lambda xp: replaced(
        xp,
        lambda x: (xp.sin(x).exp(), xp.sin(x).neg().abs() if False else xp.cos(x)),
        lambda x: xp.sin(x).exp(),
        lambda x: x,
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_replaced_as_in_torch(name):
    ours, theirs = (PATTERNS[name](xp) for xp in FRAMEWORKS)
    assert ours[0].replace("rushlight", "torch") == theirs[0] and ours[1] == theirs[1]


def test_attributes_match_with_any_elements():
    def program(xp):
        class Add(xp.nn.Module):
            def __init__(self, size):
                super().__init__()
                self.weight = xp.nn.Parameter(xp.ones(size))

            def forward(self, x):
                return x + self.weight

        matcher = module_of(xp, "fx.passes.utils.matcher_utils").SubgraphMatcher
        pattern, graph = (xp.fx.symbolic_trace(Add(size)).graph for size in (2, 3))
        return [len(matcher(pattern, match_output=whole).match(graph)) for whole in (False, True)]

    agree(program)


# Passes


def test_shapes_are_in_the_metadata_of_nodes():
    def program(xp):
        module = xp.fx.symbolic_trace(xp.nn.Sequential(xp.nn.Linear(4, 6), xp.nn.ReLU()))
        module_of(xp, "fx.passes.shape_prop").ShapeProp(module).propagate(xp.ones(2, 4))
        return [
            (str(node), [str(part) for part in node.meta["tensor_meta"]], node.meta["type"] is xp.Tensor)
            for node in module.graph.nodes
        ]

    agree(program)


def managed(xp, constraints=(), **options):
    infra = module_of(xp, "fx.passes.infra" if xp is rl else "fx.passes.infra.pass_manager")
    bases = infra if xp is rl else module_of(xp, "fx.passes.infra.pass_base")

    class Swap(bases.PassBase):
        def call(self, module):
            for node in module.graph.nodes:
                node.target = xp.mul if node.target is xp.add else node.target
            return bases.PassResult(module, True)

    def negate(module):
        output = module.graph.output_node()
        with module.graph.inserting_before(output):
            output.args = (module.graph.call_function(xp.neg, output.args),)

    manager = infra.PassManager([infra.pass_result_wrapper(negate), Swap()], **options)
    if constraints:
        manager.add_constraint(infra.this_before_that_pass_constraint(manager.passes[1], manager.passes[0]))
    return manager, xp.fx.symbolic_trace(lambda x: xp.add(x, 2))


def test_a_manager_runs_its_passes_in_an_order_that_the_constraints_allow():
    def program(xp):
        manager, module = managed(xp, constraints=[1], steps=2)
        result = manager(module)
        return result.graph_module.code, result.modified, [getattr(one, "__name__", "Swap") for one in manager.passes]

    def broken(xp):
        managed(xp, constraints=[1])[0].validate_constraints()

    def circle(xp):
        manager, module = managed(xp, constraints=[1])
        infra = module_of(xp, "fx.passes.infra" if xp is rl else "fx.passes.infra.pass_manager")
        manager.add_constraint(infra.this_before_that_pass_constraint(*manager.passes))
        manager(module)

    for one in (program, broken, circle):
        agree(one)


def test_no_value_is_computed_twice_except_by_operators_that_are_banned():
    def program(xp):
        passes = module_of(xp, "fx.passes.dialect.common.cse_pass" if xp is torch else "fx.passes.dialect.common")
        found = []
        for banned in (None, passes.get_CSE_banned_ops(), [xp.ops.aten.add]):
            graph = xp.fx.Graph()
            x = graph.placeholder("x")
            sums = [graph.call_function(xp.ops.aten.add.Tensor, (x, 1)) for _ in range(2)]
            noise = [graph.call_function(xp.ops.aten.rand_like.default, (x,)) for _ in range(2)]
            graph.output(graph.call_function(xp.ops.aten.cat.default, (sums + noise,)))
            result = passes.CSEPass(banned)(xp.fx.GraphModule({}, graph))
            found.append((names_of(result.graph_module.graph), result.modified))
        return found

    agree(program)


def test_constants_are_computed_once_and_the_module_keeps_its_own():
    def program(xp):
        class Scale(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = (xp.nn.Parameter(xp.ones(2) * value) for value in (2, 3))

            def forward(self, x):
                total = self.a + self.b
                return x * total, x - xp.square(self.a), self.b

        module, fold = xp.fx.symbolic_trace(Scale()), module_of(xp, "fx.experimental.const_fold")
        before = module.code
        folded = fold.split_const_subgraphs(module, skip_folding_node_fn=None)
        results = [each.tolist() for each in folded(xp.arange(2))]
        kinds = [(node.op, str(node.target)) for node in folded.graph.nodes if node.op != "call_function"]
        constants = [node.op for node in folded.const_subgraph_module.graph.nodes]
        skipped = fold.split_const_subgraphs(module, lambda node: node.op == "call_function")
        return results, kinds, sorted(constants), skipped.const_subgraph_module is None, module.code == before

    agree(program)


# Tracers


def test_an_assertion_of_a_rewritten_program_is_a_node(monkeypatch):
    def asserting(x, y: int):
        assert y == 2, "y is two"
        return x + y

    def annotated(x):
        y: int = x * 2
        return y + 1

    def program(xp):
        monkeypatch.setitem(globals(), "torch", xp)
        monkeypatch.setitem(globals(), "annotate", module_of(xp, "fx.annotate").annotate)
        tracer = module_of(xp, "fx.experimental.rewriter").RewritingTracer
        graphs = [tracer().trace(one) for one in (asserting, annotated)]
        run = xp.fx.GraphModule({}, graphs[0])
        with pytest.raises(AssertionError, match="y is two"):
            run(1, 3)
        return [names_of(graph) for graph in graphs], [str(node.type) for node in graphs[1].nodes], run(1, 2), run.code

    agree(program)


def test_sizes_of_parameters_are_numbers_if_the_tracer_says_so():
    def program(xp):
        class Gate(xp.nn.Module):
            def __init__(self, size):
                super().__init__()
                self.weight = xp.nn.Parameter(xp.ones(size, 2))

            def forward(self, x):
                big = self.weight.shape[0] > 3 and self.weight.size()[0] > 3 and self.weight.numel() > 6
                return x + self.weight if big and self.weight.ndim == self.weight.dim() == 2 else x - self.weight

        return [names_of(xp.fx.Tracer(param_shapes_constant=True).trace(Gate(size))) for size in (2, 5)]

    agree(program)


def test_nodes_have_the_lines_of_the_program_if_the_tracer_says_so():
    def program(xp):
        class Add(xp.nn.Module):
            def forward(self, a, b):
                c = a + b
                return xp.relu(c)

        tracer = xp.fx.Tracer()
        tracer.record_stack_traces = True
        traces = {node.name: node.stack_trace or "" for node in tracer.trace(Add()).nodes}
        return [(name, line in trace) for name, trace in traces.items() for line in ("c = a + b", "return xp.relu(c)")]

    agree(program)


def test_calls_of_a_class_with_a_proxy_are_recorded():
    def program(xp):
        class Pair(metaclass=xp.fx.ProxyableClassMeta):
            def __init__(self, left, right):
                self.left, self.right = left, right

        traced = xp.fx.symbolic_trace(lambda x: Pair(x, Pair(3, 4)))
        return names_of(traced.graph), traced(1).right.left, Pair(1, 2).left

    agree(program)


def test_make_fx_is_where_torch_has_it():
    agree(lambda xp: module_of(xp, "fx.experimental.proxy_tensor").make_fx(lambda x: x.sin() + 1)(xp.ones(2)).code)


def test_an_operator_has_one_packet():
    for xp in FRAMEWORKS:
        assert xp.ops.aten.add is xp.ops.aten.add.Tensor.overloadpacket is module_of(xp, "_ops").ops.aten.add


def test_assertions_are_not_dead_code():
    def program(xp):
        graph = xp.fx.symbolic_trace(lambda x: (xp._assert(x > 0, "positive"), operator.neg(x))[1]).graph
        graph.eliminate_dead_code()
        return str(graph)

    agree(program)


def test_a_pickle_of_a_module_with_operators_runs():
    module = rl.fx.symbolic_trace(lambda x: rl.ops.aten.sigmoid(x) + 1)
    assert pickle.loads(pickle.dumps(module))(rl.zeros(1)).item() == 1.5


def test_arguments_are_shown_as_their_class_says():
    class Named(Point):
        def _custom_fx_repr_fn(self):
            return f"Named {self.x}"

    def program(xp):
        graph = xp.fx.Graph()
        return module_of(xp, "fx.node")._format_arg([Point(graph.placeholder("x"), 1.5), (1,), Named(1, 2)])

    agree(program)
