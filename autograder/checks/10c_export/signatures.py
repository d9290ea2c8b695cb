"""Lab 10, exported programs: the roles of inputs and outputs, and a run with the tensors of the module."""

from __future__ import annotations

from ...engine.check import program
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
    return list(
        dict.fromkeys(name.rpartition(".")[0] for names_of_kind in names for name in names_of_kind if "." in name)
    )


def _spec(spec):
    """A spec as a line."""
    return f"{spec.arg.name}: {spec.kind.name} target={spec.target!r} persistent={spec.persistent!r}"


PARAMETERS = ["w", "W", "w_1", "lin.weight", "lin.bias", "Lin.weight", "lin_weight", "a.b", "a_b", "out.0", "out 0"]
BUFFERS = ["mean", "Mean", "lin.mean", "count", "bn.mean", "x"]
CONSTANTS = ["k", "K", "table", "lin.k"]
ARGUMENTS = [
    "x",
    "y",
    "p_w",
    "p_lin_weight",
    "b_mean",
    "c_k",
    "p_w_1",
    "p_w_3",
    "b_mean_1_2",
    "b_mean_4a",
    "c_k_9",
    "items",
]
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


ROLES = [roles(*form) for form in (
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
    # the number of a name: the largest, of all digits, not at the end, the last, and of no other name
    (["w"], [], [], [["p_w", None], ["p_w_3", None]]), (["w"], [], [], [["p_w", None], ["p_w_9", None], ["p_w_10", None]]),
    ([], [["mean", True], ["Mean", True]], [], [["b_mean", [None, {"A b": None}]]]),
    (["w"], [], [], [["p_w", None], ["p_w_4a", None]]),
    ([], [["mean", True]], [], [["b_mean", None], ["b_mean_1_2", None]]),
    (["w"], [], [], [["p_w", None], ["p_w_x_8", None], ["my_p_w_9", None], ["w_7", None]]),
    (["w_1"], [], [], [["p_w_1", None], ["p_w_1_4", None]]),
)]  # fmt: skip


@program("export.graph_signature.input_specs", cases=_inputs, edges=ROLES, draws=10)
def roles_of_inputs(xp, parameters, buffers, constants, arguments, paths):
    call = xp.export.graph_signature.input_specs
    parameters, constants, paths = as_lists([parameters, constants, paths])
    specs = [_spec(spec) for spec in call(parameters, dict(buffers), constants, paths)]
    tuples = call(tuple(parameters), dict(buffers), tuple(constants), tuple(map(tuple, paths)))
    return {"specs": specs, "the same with tuples": [*map(_spec, tuples)] == specs}


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
    return {"specs": list(map(_spec, specs)), "the same with tuples": True}


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


def module_of(torch, writes, results, buffers=("b0", "b1")):
    """A module that writes to these tensors and returns the results. `buffers` are the names of b0 and b1 in it."""

    class Exported(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in numbers_of(torch).items():
                if name[0] == "p":
                    self.register_parameter(name, torch.nn.Parameter(value))
                elif name[0] == "b":
                    self.register_buffer(buffers[int(name[1])], value, persistent=name == "b0")
            self.c = numbers_of(torch)["c"]

        def forward(self, x, y):
            tensors = {name: getattr(self, name) for name in ("p0", "p1", "c")} | {"x": x, "y": y}
            tensors |= {f"b{i}": getattr(self, name) for i, name in enumerate(buffers)}
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

    _, signature = aot_export_module(Writing(), (torch.ones(2), torch.ones(2)), trace_joint=False)
    names = dict(zip(signature.user_inputs, "xy"))
    return [
        *(["PARAMETER_MUTATION", name] for name in signature.parameters_to_mutate.values()),
        *(["BUFFER_MUTATION", name] for name in signature.buffers_to_mutate.values()),
        *(["USER_INPUT_MUTATION", names[name]] for name in signature.user_inputs_to_mutate.values()),
    ]


IN_ORDER = ["p0", "p1", "b0", "b1", "c", "x", "y"]


def specs_of(xp, targets=None):
    """The specs of the inputs, in the order of `IN_ORDER`. `targets` has those that are not the name itself."""
    of, targets = xp.export.graph_signature, targets or {}
    specs = []
    for name in IN_ORDER:
        kind, target = getattr(of.InputKind, KINDS[name[0]]), targets.get(name, name)
        arg = of.TensorArgument(name if name in "xy" else f"{name[0]}_{target}")
        specs.append(
            of.InputSpec(kind, arg, None if name in "xy" else target, name == "b0" if name[0] == "b" else None)
        )
    return specs


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
        [[spec.kind.name, spec.target, type(spec.arg).__name__, *vars(spec.arg).values()] for spec in specs]
        for specs in (call(inputs, new_values, given), call(tuple(inputs), new_values, tuple(given)))
    ]


@roles_of_outputs.oracle
def _(torch, written, results):
    specs = [[kind, name, "TensorArgument", f"new_{name}"] for kind, name in new_values_of(torch, written)]
    for result in results:
        is_tensor = isinstance(result, str) and result in TENSORS
        name = result if not is_tensor else f"new_{result}" if result in written else placeholder(result)
        arg = ["TensorArgument", name] if is_tensor else ["ConstantArgument", "", name]
        specs.append(["USER_OUTPUT", None, *arg])
    return [specs, specs]


BUFFER_NAMES = [["b0", "b1"], ["b0", "b1"], ["x", "b1"], ["y", "x"]]


@program(
    "export.exported_program.run_lifted",
    cases=drawn(writes=_writes, results=several([*TENSORS, "c", 3, None], 0, 3), buffers=BUFFER_NAMES),
    edges=[
        {"writes": writes, "results": results, "buffers": buffers or ["b0", "b1"]}
        for writes, results, *buffers in (
            ([], []), ([], ["x", "c"]), ([["b0", "x", 2]], ["b0", 3]), ([["x", "y", 2]], ["y", "x"]), ([], ["y"]),
            ([["y", "x", 3], ["p1", "c", 2]], [None, "p1"]),
            ([["b1", "b0", 2], ["b0", "b1", 2], ["x", "b0", 3], ["p0", "x", 2]], ["p0", "x", "b1", "b0"]),
            ([["b0", "x", 2]], ["b0"], "x", "b1"), ([["x", "b0", 2]], ["x"], "x", "y"),
            ([["x", "b0", 2], ["b0", "x", 2], ["b1", "y", 3]], ["x", "b0"], "x", "y"),
        )
    ],
    draws=15,
)  # fmt: skip
def lifted(xp, writes, results, buffers):
    """A buffer may have the name of an argument. It is another tensor."""
    of = xp.export.graph_signature
    targets = dict(zip(["b0", "b1"], buffers))
    inputs = specs_of(xp, targets)
    changed = [name for name in TENSORS if name in [written for written, *_ in writes]]
    outputs = []
    for name in changed:
        kind = of.MUTATIONS[getattr(of.InputKind, KINDS[name[0]])]
        outputs.append(of.OutputSpec(kind, of.TensorArgument(f"new_{name}"), targets.get(name, name)))
    outputs += [of.OutputSpec(of.OutputKind.USER_OUTPUT, of.ConstantArgument("", 0), None) for _ in results]
    order = [6, 2, 4, 0, 5, 3, 1]  # of the inputs in the signature
    calls = []

    def run(*values):
        calls.append(len(values))
        tensors = dict(zip((IN_ORDER[i] for i in order), values))
        for name, other, number in writes:
            tensors[name] = tensors[name] * number + tensors[other]
        outputs = [tensors[name] * 1 if name in tensors else name for name in results]
        return tuple(tensors[name] for name in changed) + tuple(outputs)

    signature = of.ExportGraphSignature([inputs[i] for i in order], outputs)
    seen, found_by = [], []
    for kind in (tuple, list):
        tensors = numbers_of(xp)
        views = {name: tensor[:] for name, tensor in tensors.items()}
        user_inputs = kind([tensors.pop("y"), tensors.pop("x")])
        state = {targets.get(name, name): tensor for name, tensor in tensors.items()} | {"unused": None}
        names = list(state)
        run_results = xp.export.exported_program.run_lifted(signature, run, state, user_inputs)
        seen.append({tensor_shown(name, buffers): views[name].tolist() for name in IN_ORDER})
        seen[-1] |= {"tensors in `state` and `user_inputs`": [[*state] == names, len(user_inputs)]}
        found_by.append(run_results)
    is_same = as_plain(found_by[0]) == as_plain(found_by[1]) and seen[0] == seen[1]
    return (
        {"results": found_by[0]}
        | seen[0]
        | {"the same with a list of user inputs": is_same, "inputs of each run": calls}
    )


def as_plain(found):
    return [value.tolist() if hasattr(value, "tolist") else value for value in found]


def tensor_shown(name, buffers):
    """The kind of a tensor, and its name in the module."""
    if name[0] == "b":
        return f"buffer {buffers[int(name[1])]} after the run"
    kinds = {"p": "parameter", "c": "constant", "x": "argument", "y": "argument"}
    return f"{kinds[name[0]]} {name} after the run"


@lifted.oracle
def _(torch, writes, results, buffers):
    module = module_of(torch, writes, results, buffers)
    user_inputs = [numbers_of(torch)[name] for name in "xy"]
    seen = {"results": [x.detach() if isinstance(x, torch.Tensor) else x for x in module(*user_inputs)[:-1]]}
    tensors = [*(getattr(module, name) for name in ("p0", "p1", *buffers)), numbers_of(torch)["c"], *user_inputs]
    seen |= {tensor_shown(name, buffers): tensor.tolist() for name, tensor in zip(IN_ORDER, tensors)}
    seen["tensors in `state` and `user_inputs`"] = [True, 2]
    return seen | {"the same with a list of user inputs": True, "inputs of each run": [7, 7]}
