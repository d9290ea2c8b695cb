"""A graph becomes code and a module that runs, as in torch.fx."""

import copy
import operator
import pickle
import traceback

import pytest
from both import FRAMEWORKS, agree, outcome
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl


def program_of(xp):
    """A graph of every kind of node, and the module that it looks things up in."""
    root = xp.nn.Module()
    root.layer = xp.nn.Module()
    root.layer.relu = xp.nn.ReLU()
    root.layer.weight = xp.nn.Parameter(xp.arange(3.0))
    root.register_buffer("shift", xp.ones(3))
    root.plain = xp.ones(3) * 2
    root.number = 5
    root.spare = xp.nn.ReLU()
    graph = xp.fx.Graph()
    x = graph.placeholder("x")
    weight, shift = graph.get_attr("layer.weight"), graph.get_attr("shift")
    plain, number = graph.get_attr("plain"), graph.get_attr("number")
    product = graph.call_function(xp.mul, (x, weight))
    total = graph.call_method("add", (product, shift), {"alpha": number})
    result = graph.call_module("layer.relu", (graph.call_function(operator.sub, (total, plain)),))
    graph.output((result, [shift]))
    return root, graph


def held(module):
    lists = [module.named_modules(), module.named_parameters(), module.named_buffers(), module.named_children()]
    return [[name for name, _ in each] for each in lists]


def test_a_module_has_what_its_graph_looks_up_and_no_more():
    def program(xp):
        root, graph = program_of(xp)
        module = xp.fx.GraphModule(root, graph, "Mine")
        same = [
            module.layer.weight is root.layer.weight,
            module.layer is root.layer,
            module.layer.relu is root.layer.relu,
        ]
        facts = [
            held(module),
            same,
            type(module).__name__,
            module.number,
            graph.owning_module is module,
            module.graph is graph,
        ]
        result, (shift,) = module(xp.arange(3.0))
        return [*facts, result.detach(), shift, module.code, module.meta, hasattr(module, "spare"), module.training]

    agree(program)


def test_it_can_be_made_of_a_dict_by_qualified_name():
    def program(xp):
        root, graph = program_of(xp)
        names = ["layer.weight", "shift", "plain", "number", "layer.relu"]
        things = {name: root.get_submodule("layer").relu if name == "layer.relu" else None for name in names}
        things |= {"layer.weight": root.layer.weight, "shift": root.shift, "plain": root.plain, "number": 5, "spare": 1}
        module = xp.fx.GraphModule(things, graph)
        return [held(module), module(xp.ones(3))[0].detach(), type(module).__name__]

    agree(program)


@pytest.mark.parametrize("root", [{}, {"layer.weight": 1}, None, 3, []])
def test_a_root_that_lacks_something_is_refused(root):
    agree(lambda xp: xp.fx.GraphModule(root, program_of(xp)[1]))


def test_a_module_as_root_that_lacks_something_is_refused():
    agree(lambda xp: xp.fx.GraphModule(xp.nn.Module(), program_of(xp)[1]))


def test_new_code_comes_with_a_new_graph_or_when_asked_for():
    def program(xp):
        module = xp.fx.GraphModule(*program_of(xp))
        old, x = module.code, xp.ones(3)
        for node in module.graph.nodes:
            if node.target is operator.sub:
                node.target = operator.add
        unchanged = [module.code == old, module(x)[0].detach()]
        changed = [module.recompile().src == module.code, module.code == old, module(x)[0].detach()]
        other = xp.fx.Graph()
        other.output(other.placeholder("y"))
        module.graph = other
        return [unchanged, changed, module.code, module(7), str(module.graph)]

    agree(program)


@pytest.mark.parametrize("graph", [None, "graph", 3])
def test_a_graph_is_a_graph(graph):
    agree(lambda xp: setattr(xp.fx.GraphModule(*program_of(xp)), "graph", graph))


def test_each_module_has_a_forward_of_its_own():
    def program(xp):
        a, b = (xp.fx.symbolic_trace(f) for f in (lambda x: x + 1, lambda x: x * 5))
        c = copy.deepcopy(a)
        c.graph.output_node().args = (7,)
        c.recompile()

        class Mine(xp.fx.GraphModule):
            extra = 3

        d = Mine(xp.nn.Module(), b.graph)
        return [a(1), b(1), c(1), d(1), d.extra, isinstance(d, Mine), type(a) is type(b), a.forward(2)]

    agree(program)


def test_copies_share_or_do_not():
    def program(xp):
        module = xp.fx.GraphModule(*program_of(xp))
        module.meta["key"] = [1]
        deep, shallow = copy.deepcopy(module), copy.copy(module)
        same = [each.layer.weight is module.layer.weight for each in (deep, shallow)]
        graphs = [each.graph is module.graph for each in (deep, shallow)]
        x = xp.ones(3)
        return [
            same,
            graphs,
            held(deep),
            held(shallow),
            deep(x)[0].detach(),
            shallow.code == module.code,
            deep.meta,
            shallow.meta,
        ]

    agree(program)


def with_every_kind_of_node(xp):
    module = xp.fx.GraphModule(*program_of(xp)).eval()
    module.extra = "kept"
    return module


def with_layers(xp):
    return xp.fx.symbolic_trace(xp.nn.Sequential(xp.nn.Linear(3, 3), xp.nn.ReLU()))


def with_annotations(xp):
    def doubled(x: int, y=2):
        return x * y + 1

    return xp.fx.symbolic_trace(doubled)


@pytest.mark.parametrize("made", [with_every_kind_of_node, with_layers, with_annotations])
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_a_copy_or_a_pickle_has_the_same_graph(made, copied):
    def program(xp):
        module = made(xp)
        new = copied(module)
        results = [str(each(xp.ones(3))) for each in (module, new)]
        parts = [held(new), sorted(new.state_dict()), new.training, type(new).__name__, getattr(new, "extra", None)]
        texts = [str(each.graph).replace("rushlight", "torch") for each in (module, new)]
        codes = new.code == module.code, type(new) is type(module), new.graph.owning_module is new
        return [parts, texts, codes, results[0] == results[1]]

    agree(program)


def test_a_pickled_graph_comes_back():
    agree(lambda xp: str(pickle.loads(pickle.dumps(with_layers(xp).graph))).replace("rushlight", "torch"))


# Modules within


def test_modules_within_are_added_and_taken_away():
    def program(xp):
        module = xp.fx.GraphModule(*program_of(xp))
        done = [module.add_submodule("a.b.c", xp.nn.ReLU()), module.add_submodule("layer.more", xp.nn.ReLU())]
        done += [module.add_submodule("layer.weight.x", xp.nn.ReLU()), module.add_submodule("top", xp.nn.ReLU())]
        done.append(held(module))
        names = ["a.b.c", "a.b.c", "nothing", "nothing.more", "layer.weight", "layer.weight.x", "top"]
        done += [module.delete_submodule(name) for name in names]
        done.append(held(module))
        module.delete_all_unused_submodules()
        return [*done, held(module)]

    agree(program)


def test_what_a_called_module_holds_is_used():
    def program(xp):
        root = xp.nn.Module()
        root.block = xp.nn.Sequential(xp.nn.ReLU(), xp.nn.Sequential(xp.nn.Linear(3, 3)))
        root.other = xp.nn.Sequential(xp.nn.Linear(3, 3), xp.nn.ReLU())
        graph = xp.fx.Graph()
        x = graph.placeholder("x")
        graph.output((graph.call_module("block", (x,)), graph.get_attr("other.0.weight")))
        module = xp.fx.GraphModule(root, graph)
        module.add_submodule("other.1", xp.nn.ReLU())
        before = held(module)
        module.delete_all_unused_submodules()
        return [before, held(module)]

    agree(program)


# Code


@pytest.mark.parametrize("root", ["self", "m", "a.b"])
def test_the_root_can_have_another_name(root):
    agree(lambda xp: program_of(xp)[1].python_code(root).src)


def test_globals_are_what_the_code_names():
    def program(xp):
        graph = xp.fx.Graph()
        x = graph.placeholder("x")
        nodes = [
            graph.call_function(f, (x,)) for f in (operation, rival(), rival(), len, xp.relu, xp.ops.aten.relu.default)
        ]
        graph.output(nodes)
        code = graph.python_code("self")
        return [code.src, sorted(set(code.globals) - {"fx_pytree", "pytree", "torch", "rushlight"})]

    agree(program)


def operation(x):
    return x


def rival():
    def operation(x):
        return x

    return operation


def test_a_value_is_given_up_after_its_last_use_only():
    source = rl.fx.symbolic_trace(lambda x, y: (x + y) * x - (x + 1) * 2).code
    lines = [line.strip() for line in source.splitlines() if "=" in line]
    assert lines == [
        "add = x + y;  y = None",
        "mul = add * x;  add = None",
        "add_1 = x + 1;  x = None",
        "mul_1 = add_1 * 2;  add_1 = None",
        "sub = mul - mul_1;  mul = mul_1 = None",
    ]


def test_an_error_in_generated_code_shows_its_line_and_drops_the_traceback(capsys):
    shown = []
    for xp in FRAMEWORKS:
        module = xp.fx.symbolic_trace(lambda x: x.nothing(1))
        with pytest.raises(AttributeError) as error:
            module(xp.ones(2))
        assert "nothing = x.nothing(1)" not in "".join(traceback.format_tb(error.value.__traceback__))
        text = capsys.readouterr().err
        shown.append(text[text.index("Call using") :])
    assert shown[0].splitlines()[0] == shown[1].splitlines()[0]
    assert "nothing = x.nothing(1);  x = None" in shown[FRAMEWORKS.index(rl)]


def test_an_error_within_a_module_is_raised_as_it_is(capsys):
    for xp in FRAMEWORKS:
        module = xp.fx.symbolic_trace(xp.nn.Sequential(xp.nn.Linear(2, 3)))
        with pytest.raises(RuntimeError):
            module(xp.ones(5))
        assert "Call using" not in capsys.readouterr().err


def test_generated_code_names_the_function_that_was_traced():
    for xp in FRAMEWORKS:
        name = xp.fx.symbolic_trace(lambda x: x + 1).forward.__code__.co_filename
        assert "test_graph_module.py" in name and "<lambda>" in name


def test_generated_code_takes_its_inputs_as_its_codegen_says():
    def program(xp):
        class ListCodeGen(xp.fx.CodeGen):
            def gen_fn_def(self, free_vars, maybe_return_annotation):
                return f"def forward(self, args_list: List[int]){maybe_return_annotation}:\n    {', '.join(free_vars)} = args_list"

            def additional_globals(self):
                return [("List", list)]

            def process_inputs(self, *inputs):
                return inputs[0]

            def generate_output(self, output_args):
                return f"return list({output_args!r})"

            def process_outputs(self, outputs):
                return list(outputs)

        module = xp.fx.symbolic_trace(lambda a, b: (a + b, a))
        module.graph.set_codegen(ListCodeGen())
        module.recompile()
        again = xp.fx.GraphModule({}, copy.deepcopy(module.graph))
        runs = [module, again, xp.fx.Interpreter(module).run, xp.fx.Transformer(module).transform()]
        return module.code, [run([3, 4]) for run in runs], module.graph.process_inputs([1, 2])

    agree(program)


# Showing


def test_a_module_prints_its_parts_and_its_code():
    agree(lambda xp: [str(xp.fx.GraphModule(*program_of(xp), "Mine")), repr(xp.fx.GraphModule(*program_of(xp)))])


@pytest.mark.parametrize("include_stride", [False, True])
@pytest.mark.parametrize("include_device", [False, True])
def test_readable_code_has_sizes_and_lines(include_stride, include_device, capsys):
    def program(xp):
        module = xp.fx.GraphModule(*program_of(xp), "Mine")
        nodes = list(module.graph.nodes)
        for node in nodes[:6]:
            node.meta["val"] = xp.ones(2, 3, dtype=xp.float16).t()
        nodes[6].meta["example_value"] = xp.ones((), dtype=xp.bool)
        trace = 'File "somewhere.py", line 7, in forward\n    y = f(x)\n  File "elsewhere.py", line 8, in f\n    return x * w'
        for node in nodes[3:6]:
            node.meta["stack_trace"] = trace
        inner = xp.fx.symbolic_trace(lambda x: xp.relu(x) + 1)
        module.add_submodule("inner", inner)
        text = module.print_readable(include_stride=include_stride, include_device=include_device)
        return [text, capsys.readouterr().out == text + "\n", module.print_readable(print_output=False) != ""]

    agree(program)


# Anything

VALUES = [0, 1.5, None, True, "text", (1,), [2, [3]], {"a": (4, {"b": 5})}, slice(1, None), ..., float("inf"), -0.0, 1j]


@given(
    st.lists(
        st.tuples(st.sampled_from(["neg", "list", "dict", "id"]), st.integers(0, 9), st.sampled_from(VALUES)),
        max_size=6,
    )
)
def test_generated_code_computes_what_the_graph_says(lines):
    def program(xp):
        graph = xp.fx.Graph()
        nodes = [graph.placeholder("x"), graph.placeholder("y", default_value=[1, (2,)])]
        for name, i, value in lines:
            node = nodes[i % len(nodes)]
            function = {"neg": operator.neg, "list": operation, "dict": operation, "id": operation}[name]
            args = {"list": ([node, value, (node,)],), "dict": ({"a": node, "b": value},)}.get(name, (node,))
            nodes.append(graph.call_function(function, args))
        graph.output(tuple(nodes))
        module = xp.fx.GraphModule({}, graph)
        return [
            module.code,
            outcome(lambda xp: module(3), xp),
            outcome(lambda xp: xp.fx.Interpreter(module).run(3), xp),
        ]

    agree(program)


def test_both_frameworks_are_looked_at():
    assert len(FRAMEWORKS) == 2


def test_a_deep_copy_keeps_what_refers_to_the_module_itself():
    def program(xp):
        module = xp.fx.symbolic_trace(xp.nn.Sequential(xp.nn.ReLU()))
        module.meta["itself"], module.meta["list"] = module, [1]
        again = copy.deepcopy(module)
        same = again.meta["itself"] is again, again.meta["list"] is module.meta["list"], again(xp.ones(2)).tolist()
        return same, type(again).__name__, str(again.graph)

    agree(program)
