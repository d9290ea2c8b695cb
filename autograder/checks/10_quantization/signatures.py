"""Lab 10, exported programs: the roles of inputs and outputs, and a run with the tensors of the module."""

from __future__ import annotations

from ...check import program
from ..cases import as_lists, drawing, drawn, several

# Inputs --------------------------------------------------------------------------------------------------------------
#
# An argument is a structure: None for a tensor, a list, or a dict.


def leaves(value, path):
    """The paths of the tensors in an argument."""
    if value is None:
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, item in items for leaf in leaves(item, [*path, key])]


def in_module_order(names, modules):
    """Names of attributes in the order in which a module lists them: its own, then those of its children."""
    order = ["", *modules]
    return sorted(names, key=lambda name: order.index(name.rpartition(".")[0]))


def modules_of(*names):
    return list(dict.fromkeys(name.rpartition(".")[0] for each in names for name in each if "." in name))


def _spec(spec):
    return [spec.kind.name, spec.arg.name, spec.target, spec.persistent]


PARAMETERS = ["w", "W", "w_1", "lin.weight", "lin.bias", "Lin.weight", "lin_weight", "a.b", "a_b", "out.0", "out 0"]
BUFFERS = ["mean", "Mean", "lin.mean", "count", "bn.mean", "x"]
CONSTANTS = ["k", "K", "table", "lin.k"]
ARGUMENTS = ["x", "y", "p_w", "p_lin_weight", "b_mean", "c_k", "p_w_1", "items"]
STRUCTURES = [None, None, None, [None], [None, {"A b": None}], {"a": None, "A": None}, {1: [None], "é": None}]


@drawing
def _inputs(draw, st):
    parameters, buffers, constants = (
        draw(st.lists(st.sampled_from(names), max_size=4, unique=True)) for names in (PARAMETERS, BUFFERS, CONSTANTS)
    )
    names = draw(st.lists(st.sampled_from(ARGUMENTS), min_size=1, max_size=3, unique=True))
    arguments = [[name, draw(st.sampled_from(STRUCTURES))] for name in names]
    return roles(parameters, [[name, draw(st.booleans())] for name in buffers], constants, arguments)


def roles(parameters, buffers, constants, arguments):
    modules = modules_of(parameters, [name for name, _ in buffers], constants)
    persistent = dict(buffers)
    paths = [leaf for name, value in arguments for leaf in leaves(value, [name])]
    return {
        "parameters": in_module_order(parameters, modules),
        "buffers": [[name, persistent[name]] for name in in_module_order(persistent, modules)],
        "constants": constants,
        "arguments": [[name, shown(value)] for name, value in arguments],
        "paths": paths,
    }


def shown(value):
    """A structure without keys that are no text, because a case is JSON."""
    if isinstance(value, dict):
        return {"dict": [[key, shown(item)] for key, item in value.items()]}
    return [shown(item) for item in value] if isinstance(value, list) else value


ROLES = [roles(*each) for each in (
    ([], [], [], [["x", None]]),
    (["w", "lin.weight", "lin.bias"], [["mean", True], ["lin.mean", False]], ["k"],
     [["x", None], ["items", [None, {"A b": None}]]]),
    (["lin.weight", "Lin.weight"], [], [], [["p_lin_weight", None]]),
    (["w", "W"], [], ["k", "K"], [["p_w", None], ["x", None]]),
    (["w", "W"], [], [], [["p_w", None], ["p_w_1", None]]), (["w"], [], [], [["p_w", None], ["items", [None, {"A b": None}]]]),
    (["w"], [], [], [["p_w_1", None], ["p_w", None]]),
    (["w", "w_1", "W"], [], [], [["x", None]]),
    (["lin_weight", "lin.weight", "a_b", "a.b"], [["x", True], ["Mean", False], ["mean", True]], [], [["b_mean", None]]),
    (["out.0", "out 0"], [], ["lin.k"], [["x", {1: [None], "é": None}], ["y", {"a": None, "A": None}]]),
    (["w"], [["p_w", True]], [], [["y", [None, None]], ["c_k", None], ["p_w", [None, None]]]),
)]  # fmt: skip


@program("export.graph_signature.input_specs", cases=_inputs, edges=ROLES, draws=10)
def roles_of_inputs(xp, parameters, buffers, constants, arguments, paths):
    call = xp.export.graph_signature.input_specs
    parameters, constants, paths = as_lists([parameters, constants, paths])
    found = call(parameters, dict(buffers), constants, paths)
    tuples = call(tuple(parameters), dict(buffers), tuple(constants), tuple(map(tuple, paths)))
    return {"specs": list(map(_spec, found)), "tuples": list(map(_spec, tuples))}


@roles_of_inputs.oracle
def _(torch, parameters, buffers, constants, arguments, paths):
    class Child(torch.nn.Module):
        pass

    class Exported(torch.nn.Module):
        pass

    module = Exported()
    for name in modules_of(parameters, [name for name, _ in buffers], constants):
        module.add_module(name, Child())

    def owner_of(name):
        path, _, leaf = name.rpartition(".")
        return module.get_submodule(path), leaf

    for name in parameters:
        owner, leaf = owner_of(name)
        owner.register_parameter(leaf, torch.nn.Parameter(torch.ones(3)))
    for name, persistent in buffers:
        owner, leaf = owner_of(name)
        owner.register_buffer(leaf, torch.ones(3), persistent=persistent)
    for name in constants:
        owner, leaf = owner_of(name)
        setattr(owner, leaf, torch.ones(3))

    def run(self):
        total = torch.ones(3)
        for name in constants:
            owner, leaf = owner_of(name)
            total = total * getattr(owner, leaf)
        return total

    names = ", ".join(name for name, _ in arguments)
    made = {"run": run}
    exec(f"def forward(self, {names}):\n    return run(self)", made)
    Exported.forward = made["forward"]
    program = exported(torch, module, tuple(structure(torch, value) for _, value in arguments))
    specs = [spec for spec in program.graph_signature.input_specs if "lifted_tensor" not in str(spec.target)]
    return dict.fromkeys(["specs", "tuples"], list(map(_spec, specs)))


def structure(torch, value):
    if isinstance(value, dict):
        return {key: structure(torch, item) for key, item in value["dict"]}
    return torch.ones(3) if value is None else [structure(torch, item) for item in value]


def exported(torch, module, args, dynamic_shapes=None):
    """A program that torch exports, without its warnings."""
    import contextlib
    import io
    import warnings

    torch._logging.set_logs(all=50)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        return torch.export.export(module, args, dynamic_shapes=dynamic_shapes)


# Programs that write -------------------------------------------------------------------------------------------------
#
# The tensors are the parameters p0 and p1, the buffers b0 and b1, a constant c, and the user inputs x and y. A write is
# [tensor, other, number]: `tensor` becomes `tensor * number + other`. A result is the name of a tensor or a constant.

TENSORS = ["p0", "p1", "b0", "b1", "x", "y"]
KINDS = {"p": "PARAMETER", "b": "BUFFER", "c": "CONSTANT_TENSOR", "x": "USER_INPUT", "y": "USER_INPUT"}
CONSTANT_RESULTS = [None, 3, True, 2.5, "a"]


def numbers_of(xp):
    """The tensors of a program."""
    return {name: xp.tensor([float(i), i + 0.5]) for i, name in enumerate([*TENSORS, "c"], start=1)}


def _writes(st):
    write = st.tuples(st.sampled_from(TENSORS), st.sampled_from([*TENSORS, "c"]), st.integers(2, 3)).map(list)
    return st.lists(write, max_size=4)


def module_of(torch, writes, results):
    """A module that writes to these tensors and returns the results."""

    class Exported(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in numbers_of(torch).items():
                if name[0] == "p":
                    self.register_parameter(name, torch.nn.Parameter(value))
                elif name[0] == "b":
                    self.register_buffer(name, value, persistent=name == "b0")
            self.c = numbers_of(torch)["c"]

        def forward(self, x, y):
            tensors = {name: getattr(self, name) for name in ("p0", "p1", "b0", "b1", "c")} | {"x": x, "y": y}
            with torch.no_grad():
                for name, other, number in writes:
                    tensors[name].copy_(tensors[name] * number + tensors[other])
                unused = self.c * 1
            return [tensors[name] * 1 if name in tensors else name for name in results] + [unused]

    return Exported()


def new_values_of(torch, written):
    """The new values that a functional graph returns, [kind, target] each, if a module writes to these tensors."""
    from torch._functorch.aot_autograd import aot_export_module

    class Writing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in TENSORS[:4]:
                if name[0] == "p":
                    self.register_parameter(name, torch.nn.Parameter(torch.ones(2)))
                else:
                    self.register_buffer(name, torch.ones(2))

        def forward(self, x, y):
            with torch.no_grad():
                for name in written:
                    ({"x": x, "y": y}[name] if name in "xy" else getattr(self, name)).mul_(2)
            return [x * 1]

    _, found = aot_export_module(Writing(), (torch.ones(2), torch.ones(2)), trace_joint=False)
    names = dict(zip(found.user_inputs, "xy"))
    return [
        *(["PARAMETER_MUTATION", name] for name in found.parameters_to_mutate.values()),
        *(["BUFFER_MUTATION", name] for name in found.buffers_to_mutate.values()),
        *(["USER_INPUT_MUTATION", names[name]] for name in found.user_inputs_to_mutate.values()),
    ]


def specs_of(xp):
    """The specs of the inputs, in order."""
    of = xp.export.graph_signature
    found = []
    for name in ("p0", "p1", "b0", "b1", "c", "x", "y"):
        kind = getattr(of.InputKind, KINDS[name[0]])
        is_user = name in "xy"
        arg = of.TensorArgument(name if is_user else f"{name[0]}_{name}")
        found.append(of.InputSpec(kind, arg, None if is_user else name, name == "b0" if name[0] == "b" else None))
    return found


def placeholder(name):
    return name if name in "xy" else f"{name[0]}_{name}"


@program(
    "export.graph_signature.output_specs",
    cases=drawn(
        written=lambda st: st.lists(st.sampled_from(TENSORS), unique=True),
        results=several([*TENSORS, *CONSTANT_RESULTS], 0, 3),
    ),
    edges=[
        {"written": written, "results": results}
        for written, results in (
            ([], []), (["b0"], ["b0"]), (["y", "b1", "p1", "x", "b0", "p0"], ["x", "y"]), (["x"], ["p0"]),
            (["p0"], CONSTANT_RESULTS), (["b1", "p0"], ["p0", "p0", 3, "b0"]), (["y"], [None, "y"]),
        )
    ],
    draws=6,
)  # fmt: skip
def roles_of_outputs(xp, written, results):
    graph = xp.fx.Graph()
    before = {name: graph.placeholder(placeholder(name)) for name in [*TENSORS, "c"]}
    after = {name: graph.create_node("call_function", abs, (before[name],), name=f"new_{name}") for name in written}
    values = before | after
    new_values = {placeholder(name): node for name, node in after.items()}
    given = [values[name] if isinstance(name, str) and name in values else name for name in results]
    call, inputs = xp.export.graph_signature.output_specs, specs_of(xp)
    return [
        [
            [spec.kind.name, spec.target, type(spec.arg).__name__, getattr(spec.arg, "value", spec.arg.name)]
            for spec in found
        ]
        for found in (call(inputs, new_values, given), call(tuple(inputs), new_values, tuple(given)))
    ]


@roles_of_outputs.oracle
def _(torch, written, results):
    found = [[kind, name, "TensorArgument", f"new_{name}"] for kind, name in new_values_of(torch, written)]
    for result in results:
        is_tensor = isinstance(result, str) and result in TENSORS
        name = result if not is_tensor else f"new_{result}" if result in written else placeholder(result)
        found.append(["USER_OUTPUT", None, "TensorArgument" if is_tensor else "ConstantArgument", name])
    return [found, found]


@program(
    "export.exported_program.run_lifted",
    cases=drawn(writes=_writes, results=several([*TENSORS, "c", 3, None], 0, 3)),
    edges=[
        {"writes": writes, "results": results}
        for writes, results in (
            ([], []), ([], ["x", "c"]), ([["b0", "x", 2]], ["b0", 3]), ([["x", "y", 2]], ["y", "x"]),
            ([["y", "x", 3], ["p1", "c", 2]], [None, "p1"]),
            ([["b1", "b0", 2], ["b0", "b1", 2], ["x", "b0", 3], ["p0", "x", 2]], ["p0", "x", "b1", "b0"]),
        )
    ],
    draws=15,
)  # fmt: skip
def lifted(xp, writes, results):
    of, inputs = xp.export.graph_signature, specs_of(xp)
    changed = list(dict.fromkeys(name for name, *_ in writes))
    outputs = []
    for name in sorted(changed, key=["p0", "p1", "b0", "b1", "x", "y"].index):
        kind = of.MUTATIONS[getattr(of.InputKind, KINDS[name[0]])]
        outputs.append(of.OutputSpec(kind, of.TensorArgument(f"new_{name}"), name))
    outputs += [of.OutputSpec(of.OutputKind.USER_OUTPUT, of.ConstantArgument("", 0), None) for _ in results]
    calls = []

    def run(*values):
        calls.append(len(values))
        tensors = dict(zip(("p0", "p1", "b0", "b1", "c", "x", "y"), values))
        for name, other, number in writes:
            tensors[name] = tensors[name] * number + tensors[other]
        found = [tensors[name] * 1 if name in tensors else name for name in results]
        return tuple(tensors[spec.target] for spec in outputs if spec.target is not None) + tuple(found)

    state = numbers_of(xp)
    user_inputs = state.pop("x"), state.pop("y")
    kept = dict(state)
    signature = of.ExportGraphSignature(inputs, outputs)
    found = xp.export.exported_program.run_lifted(signature, run, state, user_inputs)
    again = numbers_of(xp)
    by_list = xp.export.exported_program.run_lifted(signature, run, again, [again.pop("x"), again.pop("y")])
    return {
        "results": found,
        "results with a list": by_list,
        "tensors": [kept[name] for name in ("p0", "p1", "b0", "b1", "c")],
        "user inputs": list(user_inputs),
        "calls": calls,
    }


@lifted.oracle
def _(torch, writes, results):
    module = module_of(torch, writes, results)
    user_inputs = [numbers_of(torch)[name] for name in "xy"]
    found = [x.detach() if isinstance(x, torch.Tensor) else x for x in module(*user_inputs)[:-1]]
    tensors = [getattr(module, name).detach() for name in ("p0", "p1", "b0", "b1")]
    return {
        "results": found,
        "results with a list": found,
        "tensors": [*tensors, numbers_of(torch)["c"]],
        "user inputs": user_inputs,
        "calls": [7, 7],
    }
