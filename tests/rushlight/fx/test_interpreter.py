"""Interpreters and transformers run a graph node by node, and can be stepped in, as torch.fx's."""

import operator
import weakref

import pytest
from both import agree

import rushlight as rl


def module_of(xp):
    """(x + y) * x, with a layer and a parameter."""
    root = xp.nn.Module()
    root.weight = xp.nn.Parameter(xp.ones(3) * 2)
    root.relu = xp.nn.ReLU()
    graph = xp.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", default_value=1)
    total = graph.call_function(operator.add, (x, y))
    product = graph.call_function(xp.mul, (total, graph.get_attr("weight")))
    relu = graph.call_module("relu", (product,))
    graph.output((graph.call_method("sum", (relu,), {"dim": 0}), [x]))
    return xp.fx.GraphModule(root, graph)


def plain(result):
    return [each.detach() if hasattr(each, "detach") else each for each in result]


def test_it_computes_what_the_code_computes():
    def program(xp):
        module, x = module_of(xp), xp.arange(3.0)
        interpreter = xp.fx.Interpreter(module)
        return [plain(interpreter.run(x, 5)), plain(interpreter.run(x)), plain(module(x, 5)), len(interpreter.env)]

    agree(program)


@pytest.mark.parametrize("collect", [False, True])
def test_the_values_that_are_left_are_those_in_use(collect):
    def program(xp):
        module = module_of(xp)
        interpreter = xp.fx.Interpreter(module, garbage_collect_values=collect)
        interpreter.run(xp.ones(3))
        uses = {
            user.name: [used.name for used in each]
            for user, each in getattr(interpreter, "user_to_last_uses", {}).items()
        }
        return [[node.name for node in interpreter.env], uses if collect else None]

    agree(program)


def test_values_are_freed_after_their_last_use():
    """The tensors themselves, not only their names, and without a search for garbage."""
    alive = []

    class Watching(rl.fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            alive.append(sum(each() is not None for each in made))
            if node.op == "call_function":
                made.append(weakref.ref(result))
            return result

    made = []
    Watching(rl.fx.symbolic_trace(lambda x: rl.neg(rl.neg(rl.neg(rl.neg(x)))))).run(rl.ones(2))
    assert max(alive) <= 2


def test_every_kind_of_node_can_be_overridden():
    def program(xp):
        met = []

        class Listening(xp.fx.Interpreter):
            def run_node(self, node):
                met.append(node.name)
                return super().run_node(node)

            def placeholder(self, target, args, kwargs):
                met.append(["placeholder", target, args])
                return super().placeholder(target, args, kwargs) + 1

            def get_attr(self, target, args, kwargs):
                return super().get_attr(target, args, kwargs) * 2

            def call_function(self, target, args, kwargs):
                met.append(["function", len(args), list(kwargs)])
                return super().call_function({xp.mul: xp.add}.get(target, target), args, kwargs)

            def call_method(self, target, args, kwargs):
                met.append(["method", target, kwargs])
                return super().call_method(target, args, {})

            def call_module(self, target, args, kwargs):
                return -super().call_module(target, args, kwargs)

            def output(self, target, args, kwargs):
                return [*args[0], target]

        return [plain(Listening(module_of(xp)).run(xp.ones(3))), met]

    agree(program)


def test_some_values_can_be_given_before():
    def program(xp):
        module = module_of(xp)
        nodes = {node.name: node for node in module.graph.nodes}
        env = {nodes["add"]: xp.ones(3), nodes["y"]: None}
        interpreter = xp.fx.Interpreter(module, garbage_collect_values=False)
        result = plain(interpreter.run(7, initial_env=env))
        return [result, interpreter.env is env, [node.name for node in env]]

    agree(program)


def test_another_graph_can_be_run_with_the_attributes_of_a_module():
    def program(xp):
        graph = xp.fx.Graph()
        graph.output(graph.call_function(xp.neg, (graph.get_attr("weight"),)))
        return xp.fx.Interpreter(module_of(xp), graph=graph).run().detach()

    agree(program)


def test_inputs_in_a_box_are_taken_out_of_it():
    def program(xp):
        module, box = module_of(xp), [xp.ones(3), 2]
        result = plain(xp.fx.Interpreter(module).boxed_run(box))
        return [result, box]

    agree(program)
    agree(lambda xp: xp.fx.Interpreter(module_of(xp)).boxed_run([1]))
    agree(lambda xp: xp.fx.Interpreter(module_of(xp)).boxed_run([1, 2, 3]))


def test_stars_and_defaults_are_taken_from_the_inputs():
    def program(xp):
        traced = xp.fx.symbolic_trace(lambda x, *rest: x + rest[0] + rest[1])
        return xp.fx.Interpreter(traced).run(1, 2, 3)

    agree(program)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda graph, nodes: nodes["add"].append(nodes["y"]),
        lambda graph, nodes: setattr(nodes["weight"], "target", "nothing.more"),
        lambda graph, nodes: setattr(nodes["relu"], "target", "nothing"),
        lambda graph, nodes: setattr(nodes["sum_1"], "target", "nothing"),
        lambda graph, nodes: setattr(nodes["add"], "args", (nodes["x"], "text")),
        lambda graph, nodes: (
            setattr(nodes["add"], "args", ({}, "key")) or setattr(nodes["add"], "target", operator.getitem)
        ),
        lambda graph, nodes: setattr(nodes["y"], "args", ()),
        lambda graph, nodes: graph.erase_node(nodes["output"]),
    ],
)
def test_what_fails_fails_as_in_torch(spoil):
    def program(xp):
        module = module_of(xp)
        spoil(module.graph, {node.name: node for node in module.graph.nodes})
        return xp.fx.Interpreter(module).run(xp.ones(3))

    agree(program)


def test_an_error_says_at_which_node():
    with pytest.raises(TypeError, match=r"(?s)While executing %add : .*call_function\[target=operator.add\]"):
        rl.fx.Interpreter(module_of(rl)).run("text", 2)
    quiet = rl.fx.Interpreter(module_of(rl))
    quiet.extra_traceback = False
    with pytest.raises(TypeError, match=r"^(?!.*While executing)"):
        quiet.run("text", 2)


# Transformers


def test_a_transformer_makes_a_new_module():
    def program(xp):
        class Swap(xp.fx.Transformer):
            def call_function(self, target, args, kwargs):
                if target is operator.add:
                    return xp.sub(*args) * 2
                return super().call_function(target, args, kwargs)

            def call_method(self, target, args, kwargs):
                return super().call_method("mean" if target == "sum" else target, args, kwargs)

            def get_attr(self, target, args, kwargs):
                return xp.nn.functional.relu(super().get_attr(target, args, kwargs))

        module = module_of(xp)
        module.graph.output_node().meta["kept"] = 1
        new = Swap(module).transform()
        facts = [new.code, str(new.graph), plain(new(xp.ones(3))), new.weight is module.weight, type(new).__name__]
        return [*facts, new.graph.output_node().meta.get("kept"), module.code]

    agree(program)


def test_a_transformer_that_changes_nothing_gives_the_same_code():
    def program(xp):
        class Inner(xp.nn.Module):
            def forward(self, x):
                return self.training and x + 1

        class Outer(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.linear = Inner(), xp.nn.Linear(2, 2)

            def forward(self, x, y=3, *rest):
                return self.linear(self.inner(x)) + y, {"a": rest}

        module = xp.fx.symbolic_trace(Outer())
        new = xp.fx.Transformer(module).transform()
        return [new.code == module.code, new.code, [name for name, _ in new.named_modules()]]

    agree(program)


def test_a_transformed_graph_keeps_the_notes_of_its_nodes():
    def program(xp):
        class Model(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.relu = xp.nn.Parameter(xp.ones(2)), xp.nn.ReLU()

            def forward(self, x):
                return self.relu(x + self.weight).sum()

        module = xp.fx.symbolic_trace(Model())
        for node in module.graph.nodes:
            node.meta |= {"nn_module_stack": node.name, "stack_trace": "here", "custom": {"a": 1}, "note": 1}
        again = xp.fx.Transformer(module).transform()
        names = ("nn_module_stack", "stack_trace", "custom", "note")
        return [(node.op, [node.meta.get(name) for name in names]) for node in again.graph.nodes if node.op != "output"]

    agree(program)
