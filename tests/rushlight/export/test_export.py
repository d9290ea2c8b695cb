"""Exported programs, compared with torch's."""

import io
import json
import subprocess
import sys
import warnings
import zipfile

import pytest
import torch
from sweep import sweep

import rushlight as rl
from rushlight.export import Dim, export, load, save
from rushlight.export.dynamic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode, UserError
from rushlight.export.serialize import SerializeError, serialize, serialize_argument


def modules(text):
    """The class M of a text, in both frameworks."""
    found = []
    for framework in (rl, torch):
        scope = {"xp": framework}
        exec(text, scope)
        found.append(scope["M"])
    return found


ROLES = """
class M(xp.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.Lin = xp.nn.Linear(4, 3), xp.nn.Linear(4, 3)
        self.tied = self.lin
        self.unused = xp.nn.Parameter(xp.ones(2))
        self.register_buffer("count", xp.zeros(()))
        self.register_buffer("shift", xp.ones(3), persistent=False)
        self.k = xp.full((3,), 2.0)

    def forward(self, x, p_lin_weight, *args, items=None, scale=1.0, **more):
        self.count.add_(1)
        args[0].mul_(2)
        y = self.lin(x) + self.Lin(p_lin_weight) + args[1] + items[0] + items[1]["A b"] + more["z"]
        return {"y": y * self.k + self.shift, "count": self.count}, [scale, None, args[0]]
"""


def call_of(xp):
    o = [xp.full((3,), float(i)) for i in range(5)]
    return (xp.ones(5, 4), xp.ones(5, 4), o[0], o[1]), {"items": [o[2], {"A b": o[3]}], "scale": 2.0, "z": o[4]}


def test_the_signature_is_that_of_torch():
    ours, theirs = modules(ROLES)
    mine = export(ours(), *call_of(rl)).graph_signature
    reference = torch.export.export(theirs(), *call_of(torch)).run_decompositions({}).graph_signature
    assert [str(spec) for spec in mine.input_specs] == [
        f"{s.arg.name}: {s.kind.name}" + (f" target={s.target!r}" if s.target else "")
        + ("" if s.persistent is None else f" persistent={s.persistent}")
        for s in reference.input_specs
    ]  # fmt: skip
    assert [(s.kind.name, s.target) for s in mine.output_specs] == [
        (s.kind.name, s.target) for s in reference.output_specs
    ]
    assert mine.non_persistent_buffers == ("shift",) == tuple(reference.non_persistent_buffers)
    assert mine.user_inputs == tuple(reference.user_inputs)


def test_the_module_of_a_program_computes_and_writes_what_torchs_does():
    results = []
    for xp, cls in zip((rl, torch), modules(ROLES)):
        xp.manual_seed(0)
        module = xp.export.export(cls(), *call_of(xp)).module()
        args, kwargs = call_of(xp)
        found = [module(*args, **kwargs) for _ in range(2)][-1]
        results.append(
            [found[0]["y"].tolist(), found[0]["count"].item(), found[1][:2], args[2].tolist(), module.count.item()]
        )
    torch.testing.assert_close(torch.tensor(results[0][0]), torch.tensor(results[1][0]))
    assert results[0][1:] == results[1][1:]


SIZES = """
class M(xp.nn.Module):
    def forward(self, x, y):
        return x.reshape(x.shape[0] * 3), x[1:] + y[1:], y.mean(), xp.cat([x, x])
"""
LIMITS = [
    (Dim.AUTO, Dim.AUTO), (Dim.DYNAMIC, Dim.DYNAMIC), (Dim("b", min=3, max=64), Dim.AUTO), (Dim.AUTO, Dim("b")), (None, Dim.AUTO),
]  # fmt: skip


@pytest.mark.parametrize("dims", LIMITS, ids=str)
def test_a_program_with_dynamic_sizes_runs_at_other_sizes(dims):
    ours, _ = modules(SIZES)
    program = export(ours(), (rl.ones(8, 3), rl.ones(8, 3)), dynamic_shapes=[{0: dim} for dim in dims])
    for size in (8,) if None in dims else (5, 8, 40):
        x, y = rl.randn(size, 3), rl.randn(size, 3)
        for one, other in zip(program.module()(x, y), ours()(x, y)):
            assert one.tolist() == other.tolist()


CONDITIONS = [
    "a > 4", "a != 5", "a == 8", "a == b", "a * 2 > 10", "a < 100", "a >= 2", "a != 1", "a <= 8", "a == 7", "7 < a",
    "a * 3 == 24", "3 - a < -4", "a >= 8 and a <= 8", "a == b and a > 4", "a > 4 and b < 30 and a < 20",
]  # fmt: skip
BRANCH = """
class M(xp.nn.Module):
    def forward(self, x, y):
        a, b = x.shape[0], y.shape[0]
        if {}:
            return x * 2, y
        return x, y
"""


def described(program, xp):
    sizes = [node.meta["sizes" if xp is rl else "val"] for node in program.graph.nodes if node.op == "placeholder"]
    sizes = [size[0] if xp is rl else size.shape[0] for size in sizes]
    names = {str(size): f"s{i}" for i, size in enumerate(dict.fromkeys(map(str, sizes)))}
    ranges = {str(name): each for name, each in program.range_constraints.items()}
    found = []
    for size in sizes:
        if str(size) not in ranges:
            found.append(int(size))
            continue
        upper = ranges[str(size)].upper
        found.append(
            [names[str(size)], int(ranges[str(size)].lower), None if "oo" in str(upper) else upper and int(upper)]
        )
    return found


@pytest.mark.parametrize("kind", ["auto", "dynamic", "named", "first named"])
@pytest.mark.parametrize("condition", sweep(CONDITIONS, every=4))
def test_the_guards_of_a_program_give_torchs_ranges_and_errors(condition, kind):
    torch._logging.set_logs(all=50)
    found = []
    for xp, cls in zip((rl, torch), modules(BRANCH.format(condition))):
        dim = xp.export.Dim
        dims = {
            "auto": [dim.AUTO, dim.AUTO], "dynamic": [dim.DYNAMIC, dim.DYNAMIC],
            "named": [dim("p", min=2, max=64), dim("q", min=2, max=64)], "first named": [dim("p", min=2, max=64), dim.AUTO],
        }[kind]  # fmt: skip
        errors = UserError if xp is rl else (torch._dynamo.exc.UserError, ValueError)
        try:
            program = xp.export.export(
                cls(), (xp.ones(8, 3), xp.ones(8, 3)), dynamic_shapes=[{0: each} for each in dims]
            )
            found.append(described(program, xp))
        except errors:
            found.append("violated")
    assert found[0] == found[1]


def test_a_loop_over_a_size_and_a_size_that_a_kernel_compares_specialise_it():
    cls, _ = modules("""
class M(xp.nn.Module):
    def forward(self, x):
        for _ in range(x.shape[0]):
            x = x + xp.ones(3, 3)
        return x
""")
    assert export(cls(), (rl.ones(3, 3),), dynamic_shapes=[{0: Dim.AUTO}]).range_constraints == {}
    for dim in (Dim("b"), Dim.DYNAMIC):
        with pytest.raises(ConstraintViolationError):
            export(cls(), (rl.ones(3, 3),), dynamic_shapes=[{0: dim}])


@pytest.mark.parametrize(
    "body", ["return x if x.sum() > 0 else -x", "return x * x.sum().item()", "return x * int(x[0])"]
)
def test_a_program_that_reads_data_is_refused_as_in_torch(body):
    cls, _ = modules(f"class M(xp.nn.Module):\n    def forward(self, x):\n        {body}")
    with pytest.raises(GuardOnDataDependentSymNode):
        export(cls(), (rl.ones(3),))


def test_arguments_that_no_export_can_use_have_torchs_errors():
    cls, theirs = modules("class M(xp.nn.Module):\n    def forward(self, x):\n        return x + 1")
    for xp, module, error in ((rl, cls(), UserError), (torch, theirs(), torch._dynamo.exc.UserError)):
        with pytest.raises(ValueError):
            xp.export.export(lambda x: x, (xp.ones(2),))
        for arguments in ((xp.ones(2),), ((xp.ones(2),), None, {"y": None})):
            with pytest.raises(error):
                xp.export.export(module, *arguments[:2], **({"dynamic_shapes": arguments[2]} if arguments[2:] else {}))
        module = xp.export.export(
            module, (xp.ones(8, 2),), dynamic_shapes=[{0: xp.export.Dim("b", min=4, max=9)}]
        ).module()
        for wrong in (xp.ones(3, 2), xp.ones(10, 2), xp.ones(5, 3)):
            with pytest.raises(AssertionError, match="Guard failed"):
                module(wrong)
        with pytest.raises(ValueError, match="tree spec"):
            module([xp.ones(5, 2)])
        for wrong, problem in ((xp.ones(5), IndexError), (3, AttributeError)):
            with pytest.raises(problem):
                module(wrong)
        assert module(xp.ones(5, 2, 3)).shape == (5, 2, 3)  # a further dimension is not tested


@pytest.mark.parametrize("value", [[[1, 2], [3]], {1}, object()], ids=["nested", "set", "object"])
def test_an_argument_that_a_file_cannot_have_is_a_serialize_error(value):
    with pytest.raises(SerializeError):
        serialize_argument(value)


def test_decompositions_replace_operators_and_keep_the_numbers_and_the_sizes():
    cls, _ = modules(
        "class M(xp.nn.Module):\n    def forward(self, x):\n        return x.softmax(-1), x.mean(), x.var(0)"
    )
    program = export(cls(), (rl.ones(8, 4),), dynamic_shapes=[{0: Dim.AUTO, 1: Dim.AUTO}])
    simpler = program.run_decompositions()
    names = {node.target.schema.name for node in simpler.graph.nodes if isinstance(node.target, rl.library.OpOverload)}
    assert (
        names <= {"amax", "sub", "exp", "sum", "div", "mul"} and simpler.range_constraints == program.range_constraints
    )
    x = rl.randn(5, 3)
    for one, other in zip(simpler.module()(x), program.module()(x)):
        torch.testing.assert_close(torch.from_dlpack(one), torch.from_dlpack(other))


def test_an_argument_with_a_name_of_python_keeps_it_as_in_torch():
    ours, theirs = modules("""
class M(xp.nn.Module):
    def forward(self, input, list, sum_1):
        return xp.sum(input * list + sum_1)
""")
    mine = export(ours(), (rl.ones(3),) * 3, dynamic_shapes=({0: Dim.AUTO},) * 3)
    reference = torch.export.export(theirs(), tuple(torch.ones(3) for _ in range(3)))
    names = [[node.name for node in each.graph.nodes] for each in (mine, reference)]
    assert names[0] == names[1]
    loaded = load(written(mine.run_decompositions({})))
    assert loaded.module()(*[rl.ones(4)] * 3).item() == mine.module()(*[rl.ones(4)] * 3).item() == 8


# Files ---------------------------------------------------------------------------------------------------------------

MANY = """
class M(xp.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = xp.nn.Linear(64, 60)
        self.register_buffer("calls", xp.zeros((), dtype=xp.int64))
        self.register_buffer("shorter", xp.ones(3).bfloat16(), persistent=False)
        self.flags = xp.tensor([True, False, True])

    def forward(self, x, n=3):
        self.calls.add_(1)
        a, b = x.split(32, 1)
        v, i = self.lin(x).max(1)
        more = {"a": a.reshape(x.shape[0] * 32), "inf": x * float("inf"), "none": None}
        return v.view(x.shape[0], 1), more, b, self.shorter.float() * self.flags, n, xp.arange(x.shape[0]).to(xp.float64)
"""


@pytest.fixture
def program():
    rl.manual_seed(0)
    cls, _ = modules(MANY)
    return export(cls(), (rl.ones(5, 64), 4), dynamic_shapes=({0: Dim("b", min=2, max=64)}, None))


def written(program):
    file = io.BytesIO()
    save(program, file)
    return file


def test_a_program_is_the_same_after_it_was_saved_and_loaded(program):
    loaded = load(written(program))
    assert json.dumps(serialize(loaded)) == json.dumps(serialize(program))
    assert (
        str(loaded.graph_signature) == str(program.graph_signature)
        and loaded.state_dict.keys() == program.state_dict.keys()
    )
    x = rl.randn(7, 64)
    one, other = program.module()(x, 4), loaded.module()(x, 4)
    assert one[0].tolist() == other[0].tolist() and one[1]["inf"].tolist() == other[1]["inf"].tolist()
    assert other[3].tolist() == [1.0, 0.0, 1.0] and other[4:][0] == 4 and other[5].tolist() == list(range(7))


def test_a_process_without_the_class_runs_a_loaded_program(program, tmp_path):
    save(program, tmp_path / "program.pt2")
    script = f"""
import rushlight as rl
module = rl.export.load({str(tmp_path / "program.pt2")!r}).module()
print(module(rl.arange(3 * 64).reshape(3, 64).float() / 100, 4)[0].tolist(), module.calls.item())
"""
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    expected = program.module()(rl.arange(3 * 64).reshape(3, 64).float() / 100, 4)[0].tolist()
    assert found.strip() == f"{expected} 1"


def test_the_arguments_in_a_file_are_those_that_torch_writes():
    """(torch's graph keeps `linear`. Without it the nodes are the same.)"""
    ours, theirs = modules("""
class M(xp.nn.Module):
    def forward(self, x):
        a, b = x.split(2, 1)
        values, indices = x.max(1)
        return values.view(x.shape[0], 1), a * float("inf"), xp.cat([a, b], 1), x.sum([0, 1]), x.to(xp.float64), xp.relu(x)
""")
    mine = serialize(export(ours(), (rl.ones(5, 4),), dynamic_shapes=[{0: Dim("b", max=9)}]))["graph"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = torch.export.export(
            theirs(), (torch.ones(5, 4),), dynamic_shapes=[{0: torch.export.Dim("b", max=9)}]
        )
        from torch._export.serde.serialize import ExportedProgramSerializer, _dataclass_to_dict

        found = _dataclass_to_dict(
            ExportedProgramSerializer().serialize(reference.run_decompositions({})).exported_program
        )
    names = ("split", "max", "mul", "cat")

    def kinds(nodes):
        wanted = [node for node in nodes if node["target"].split(".")[-2] in names]
        return sorted(
            str((n["target"], [[*each["arg"]] for each in n["inputs"]][:2], [[*o] for o in n["outputs"]]))
            for n in wanted
        )

    assert kinds(mine["nodes"]) == kinds(found["graph_module"]["graph"]["nodes"])


def corrupted(program, change):
    file, model = io.BytesIO(), serialize(program)
    change(model)
    with zipfile.ZipFile(written(program)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, json.dumps(model) if name.endswith("model.json") else old.read(name))
    return file


def setting(*path):
    *steps, last, value = path

    def change(model):
        for step in steps:
            model = model[step]
        model[last] = value

    return change


BAD = {
    "version": setting("schema_version", 99),
    "operator": setting("graph", "nodes", 0, "target", "os.system"),
    "operator that writes": setting("graph", "nodes", 0, "target", "torch.ops.aten.add_.Tensor"),
    "operator of nobody": setting("graph", "nodes", 0, "target", "torch.ops.nowhere.split.default"),
    "dunder": setting("graph", "nodes", 0, "target", "torch.ops.aten.__class__.default"),
    "code as a name": setting("graph", "nodes", 0, "name", "x\nimport os"),
    "code as an output": setting("graph", "nodes", 0, "outputs", [{"as_tensor": {"name": "x); print(1"}}]),
    "no value": setting("graph", "nodes", 0, "inputs", 0, "arg", {"as_tensor": {"name": "later"}}),
    "kind": setting("graph", "nodes", 0, "inputs", 0, "arg", {"as_pickle": "gASVKAAA"}),
    "value": setting("graph", "nodes", 0, "inputs", 1, "arg", {"as_int": {}}),
    "argument": setting("graph", "nodes", 0, "inputs", 0, "name", "self_"),
    "target": setting("input_specs", 0, "target", "missing"),
    "shape": setting("input_specs", 0, "sizes", [1, 1]),
    "outputs": setting("output_specs", []),
    "mutation": setting("output_specs", 0, "target", "lin.weight"),
    "range": setting("range_constraints", {}),
    "container": setting("out_spec", "type", "os.system"),
    "no graph": lambda model: model.pop("graph"),
    "a list": lambda model: [model.clear()],
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_line_and_runs_nothing(name, program):
    with pytest.raises(SerializeError) as error:
        load(corrupted(program, BAD[name]))
    assert "\n" not in str(error.value) and str(error.value).startswith("this is no file of an exported program: ")


@pytest.mark.parametrize("data", [b"", b"abc", b"PK\x05\x06" + bytes(18)], ids=["empty", "text", "no entries"])
def test_what_is_no_archive_gives_one_line(data):
    with pytest.raises(SerializeError):
        load(io.BytesIO(data))


@pytest.mark.parametrize("start", [0, 8, 9, 40, 200])
def test_tensors_whose_header_is_damaged_are_refused(start, program):
    file = io.BytesIO()
    with zipfile.ZipFile(written(program)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data[:start] + b"\xff9" + data[start + 2 :] if "weights" in name else data)
    with pytest.raises(SerializeError):
        load(file)
