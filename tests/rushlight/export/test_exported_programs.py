"""Exports of many small programs treat sizes, data and modes as torch's do.

`SAME` programs have the same sizes, signature, results and errors of calls in both frameworks. A `NARROWER` program is right for
fewer sizes here: it may refuse a call that torch's accepts, and never gives other results. `REFUSED` are what is left out: each is
an error of one line. In every program `x` has 8 rows and `y` has 6, `a` and `b`.
"""

import logging
import warnings

import pytest
import torch
from sweep import sweep

import rushlight as rl
from rushlight.export.dynamic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode

CONDITIONS = [
    "a > b", "a < b", "a >= b", "a <= b", "a != b", "a > 2 * b", "a + b > 5", "a == b + 2", "a * b > 4", "a % 2 == 0",
    "a % 3 == 0", "a % 2 == 1", "a % b == 2", "a // 2 > 3", "a // b == 1", "a % 2 != b % 2", "2 * a > b", "a - b > 0",
    "a % 4", "-a < -3", "a == b or a > b", "bool(a > b)", "a + b == 14", "a * 3 > 2 * b", "not a", "int(a) > 4", "float(a) > 2",
    "a.bit_length() > 3", "a in (8, 9)", "a == None", "(a + 1) // 2 == 4", "a > b and a % 2 == 0 and a + b < 30", "len(x) > 500",
    "x.numel() > y.numel()", "x.numel() % 6 == 0", "x.shape > y.shape", "x.shape == y.shape", "x.stride(1) == 1",
    "h.shape[0] > 500", "h.shape[0] % 2 == 0", "h.shape[0] > b", "x[1:].shape[0] > 500", "x[1:].shape[0] > b", "h.numel() > 30",
    "len(h) > 5", "xp.cat([x, y]).shape[0] > 100", "x[::2].shape[0] > 50", "(h @ h.T).shape[1] < 500",
    "h.reshape(-1).size(0) == h.numel()", "divmod(a, 2)", "{8: 1}.get(a)", "x.data_ptr() > 0",
]  # fmt: skip
RESULTS = [
    "x + (a - b)", "x * (a % 4)", "x * a", "x.sum(0) / a", "xp.zeros(a + b)", "xp.zeros(a // 2, b)", "x.sum(0).expand(b, 3)",
    "xp.ones(a, a).tril() @ x", "xp.full((a, 2), b)", "xp.arange(a)", "x.chunk(2)", "x @ x.T", "x.mean(0)", "h.reshape(a * 3)",
    "x[1:].reshape(x[1:].shape[0] * 3)", "xp.cat([x, y])", "(a - b, a * b, -a, a % 3)", "x * xp.is_grad_enabled()",
]  # fmt: skip
NARROWER = [
    "x[: min(a, b)]", "x[:b]", "x[-b:]", "x.reshape(2, a // 2, 3)", "x * a**-0.5", "x * (a / 2)", "x.split(4)", "x[:5] + y[:5]",
    "x + xp.tensor(a)", "[x[i] for i in range(a)]", "x if a > 3.5 else h", "x if a**2 > 9 else h", "x if max(a, b) > 4 else h",
    "x if min(a, b) < 7 else h", "x if abs(a - b) > 1 else h", "x if a & 1 == 0 else h",
    "xp.nn.functional.batch_norm(x, None, None, training=True)",
]  # fmt: skip
DATA = ["x.nonzero()", "x[x > 0]", "xp.masked_select(x, x > 0)", "xp.unique(x)", "x.tolist()", "xp.where(x > 0)"]
READS = [
    "x[: int(y.sum())]",
    "x * y[0, 0].item()",
    "x if y.sum() > 0 else y",
    "x * float(y.sum())",
    "xp.zeros(y.sum().int().item())",
]
MODULE = """
class M(xp.nn.Module):
    def forward(self, x, y):
        a, b, h = x.shape[0], y.shape[0], x * 2
        {}
"""
CALLS = [(8, 6), (9, 5), (4, 7), (16, 4), (12, 2), (7, 6), (200, 600), (600, 200)]


@pytest.fixture(autouse=True)
def quiet():
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(before)


def exported(xp, body, dims=("AUTO", "AUTO"), inputs=None, **options):
    scope = {"xp": xp}
    exec(MODULE.format(body), scope)
    found = [
        getattr(xp.export.Dim, dim) if isinstance(dim, str) else dim and xp.export.Dim(*dim[:1], **dim[1])
        for dim in dims
    ]
    inputs = inputs or (xp.ones(8, 3), xp.ones(6, 3))
    return xp.export.export(scope["M"](), inputs, dynamic_shapes=[each and {0: each} for each in found], **options)


def plain(value):
    if isinstance(value, (rl.Tensor, torch.Tensor)):
        return tuple(value.shape), str(value.dtype).rpartition(".")[2], value.tolist()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def calls(xp, program):
    """The result of each call, or its error."""
    module, found = program.module(), []
    for rows in CALLS:
        try:
            found.append(plain(module(*(xp.arange(n * 3).reshape(n, 3).float() / 7 for n in rows))))
        except Exception as error:
            found.append(type(error).__name__)
    return found


def signature(program):
    """Return the kind of each input and each output, and whether its first size is a number."""
    sizes = [
        node.meta.get("sizes") or node.meta["val"].shape for node in program.graph.nodes if node.op == "placeholder"
    ]
    specs = [*program.graph_signature.input_specs, *program.graph_signature.output_specs]
    return [str(size[0]).isdigit() for size in sizes], [(s.kind.name, s.target, type(s.arg).__name__) for s in specs]


def seen(xp, body):
    try:
        program = exported(xp, body)
        program = program if xp is rl else program.run_decompositions({})
    except Exception as error:
        return type(error).__name__
    return *signature(program), calls(xp, program)


def close(one, other):
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    return one == pytest.approx(other, rel=1e-5, abs=1e-5) if isinstance(one, float) else one == other


SAME = [
    *(f"return x * 2 if {condition} else x, y" for condition in CONDITIONS),
    *(f"return {each}, y" for each in RESULTS),
]


@pytest.mark.parametrize("body", sweep(SAME, every=30))
def test_a_program_has_the_guards_and_the_results_of_torchs(body):
    mine, reference = seen(rl, body), seen(torch, body)
    assert close(mine, reference), (mine, reference)


@pytest.mark.parametrize("result", sweep(NARROWER, every=12))
def test_a_program_that_is_right_for_fewer_sizes_gives_no_other_results(result):
    mine, reference = (
        calls(rl, exported(rl, f"return {result}, y")),
        calls(torch, exported(torch, f"return {result}, y")),
    )
    assert not isinstance(mine[0], str)
    for one, other in zip(mine, reference):
        assert one == "AssertionError" or close(one, other)


ATTENTION = """
class M(xp.nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (xp.nn.Linear(8, 8) for _ in range(3))
        self.register_buffer("mask", xp.ones(32, 32).tril())

    def forward(self, x):
        B, T, C = x.shape
        if T > 32:
            raise ValueError("too long")
        q, k, v = (each(x).reshape(B, T, 2, C // 2).transpose(1, 2) for each in (self.q, self.k, self.v))
        scores = (q @ k.transpose(-2, -1)) * (C // 2) ** -0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
"""
PADDED = """
class M(xp.nn.Module):
    def forward(self, x):
        n = x.shape[0]
        if n % 4 != 0:
            x = xp.nn.functional.pad(x, (0, 0, 0, 4 - n % 4))
        return x.reshape(x.shape[0] // 4, 4, 3).sum(1)
"""
WINDOWS = """
class M(xp.nn.Module):
    def forward(self, x):
        n, c = x.shape
        assert n % 4 == 0, "no multiple"
        return x.reshape(n // 4, 4, c).sum(1)
"""
MODELS = {
    "attention": (ATTENTION, (4, 6, 8), (0, 1), [(2, 9, 8), (5, 31, 8), (5, 33, 8)]),
    "padded": (PADDED, (6, 3), (0,), [(7, 3), (8, 3), (9, 3), (18, 3)]),
    "windows": (WINDOWS, (8, 3), (0,), [(12, 3), (9, 3), (40, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("dim", sweep(["AUTO", "DYNAMIC"], every=2))
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_several_layers_keeps_its_symbols(name, dim):
    text, sizes, dims, others = MODELS[name]
    found = []
    for xp in (rl, torch):
        scope = {"xp": xp}
        exec(text, scope)
        xp.manual_seed(0)
        wish = dict.fromkeys(dims, getattr(xp.export.Dim, dim))
        module = xp.export.export(scope["M"](), (xp.ones(*sizes),), dynamic_shapes=[wish]).module()
        found.append([])
        for each in others:
            try:
                found[-1].append(plain(module(xp.ones(*each).cumsum(0) / 9)))
            except AssertionError:
                found[-1].append("refused")
    assert close(*found) and found[0].count("refused") < len(others)


@pytest.mark.parametrize("body", sweep(SAME[:15], every=15))
def test_a_loaded_program_has_the_same_guards(body, tmp_path):
    program = exported(rl, body)
    rl.export.save(program, tmp_path / "program.pt2")
    loaded = rl.export.load(tmp_path / "program.pt2")
    assert loaded.guards == program.guards and calls(rl, loaded) == calls(rl, program)


WIDE, HIGH, LOW = ("p", {"min": 2, "max": 64}), ("p", {"min": 3, "max": 64}), ("q", {"min": 2, "max": 63})
LIMITED = [
    "a > b", "a + b > 10", "a * b > 20", "a % b == 2", "a % 2 == b % 2", "a > 2 * b", "a % 2 == 0", "a // 2 == 4", "a // b == 1",
    "a * a > 30", "a * a > 3", "a // 2 > 0", "h.shape[0] > 12", "xp.cat([x, y]).shape[0] > 10",
]  # fmt: skip


@pytest.mark.parametrize("dims", [(HIGH, LOW), (WIDE, ("q", WIDE[1])), (WIDE, "AUTO"), ("AUTO", WIDE)], ids=str)
@pytest.mark.parametrize("condition", sweep(LIMITED, every=14))
def test_a_named_dimension_keeps_its_range_or_the_program_is_refused(condition, dims):
    found = []
    for xp, error in ((rl, ConstraintViolationError), (torch, torch._dynamo.exc.UserError)):
        try:
            program = exported(xp, f"return x * 2 if {condition} else x, y", dims)
            ranges = [(each.lower, each.upper) for each in program.range_constraints.values()]
            ranges = [
                (int(lower), None if "oo" in str(upper) or upper is None else int(upper)) for lower, upper in ranges
            ]
            found.append((ranges, calls(xp, program)))
        except error:
            found.append("violated")
    assert found[0] == found[1]


def test_a_program_does_not_test_whether_a_size_is_0_or_1():
    for xp in (rl, torch):
        module = exported(xp, "return x * 2 if a > 1 else x, y").module()
        assert module(xp.ones(1, 3), xp.ones(6, 3))[0].tolist() == [[2.0] * 3]


def test_an_error_of_the_program_at_other_sizes_is_a_range():
    body = "\n        if h.shape[0] > 12: raise ValueError('too long')\n        return h, y"
    for xp in (rl, torch):
        program = exported(xp, body, ("DYNAMIC", None))
        assert [(each.lower, each.upper) for each in program.range_constraints.values()] == [(2, 12)]


REFUSED = {f"return {each}, y": NotImplementedError for each in DATA}
REFUSED |= {f"return {each}, y": GuardOnDataDependentSymNode for each in READS}
REFUSED["return xp.cond(x.sum() > 0, lambda x: x * 2, lambda x: x + 1, (x,)), y"] = AttributeError


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_left_out_is_refused_in_one_line(body):
    with pytest.raises(REFUSED[body]) as error:
        exported(rl, body)
    assert "\n" not in str(error.value)


def test_other_wishes_that_are_left_out_are_refused_in_one_line():
    x, dim = rl.ones(8, 3), rl.export.Dim("d")
    for wish in (lambda: exported(rl, "return x, y", strict=True), lambda: dim + 1, lambda: 2 * dim):
        with pytest.raises(NotImplementedError, match="left out"):
            wish()
    with pytest.raises(NotImplementedError, match="inputs that share memory"):
        exported(rl, "x.add_(1); return y * 2, y", inputs=(x, x))
    with pytest.raises(ConstraintViolationError, match="there is no one graph"):
        exported(rl, "return xp.nn.functional.batch_norm(x, None, None, training=True) * a**-0.5, y", ("DYNAMIC", None))


@pytest.mark.parametrize(
    "guard",
    [
        ["os", ">", 1],
        [["**", "s0", 9], "==", 1],
        ["s0", "is", 1],
        [["%", "s0"], "==", 1],
        [["+"] * 3, "==", "s0"],
        ["s9", "!=", 1],
    ],
)
def test_a_file_with_something_else_than_a_guard_is_refused(guard):
    from rushlight.export.serialize import serialize
    from rushlight.export.verifier import SpecViolationError, verify_program

    program = exported(rl, "return x * 2 if a % 2 == 0 else x, y")
    data = serialize(program) | {"guards": [guard]}
    with pytest.raises(SpecViolationError, match="a guard is no guard"):
        verify_program(data, lambda target: True, {})
