"""Kernels in Triton: interpreted, they compute what eager execution computes, and access no memory outside of their tensors."""

import gzip
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from inductor_run import kernels, run_triton, same, scheduled
from sweep import failures, sweep
from test_lowering import ELEMENTWISE, OTHERS, REDUCTIONS, VIEWS, find, replaced, samples, tensors
from test_scheduler import COUNTS

import rushlight as rl
from rushlight import inductor
from rushlight.inductor import config, ir, triton_code, triton_kernel

pytest.importorskip("triton", reason="Triton is not installed: it is no requirement of the course")
from rushlight.inductor import triton_heuristics

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of overflow and the like

functional = rl.nn.functional
RECORDED = Path(__file__).parents[3] / "phases/recorded/stand_in/triton.json.gz"
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3e38, -3e38, math.inf, -math.inf, math.nan, 88.0, -88.0, 100.0, -100.0]
special = rl.tensor(SPECIAL)


@pytest.fixture(autouse=True)
def in_triton(monkeypatch):
    monkeypatch.setattr(config, "cpu_backend", "triton")


def agree(function, *inputs):
    expected = function(*inputs)
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    for mine, theirs in zip(run_triton(scheduled(function, *inputs), inputs), expected, strict=True):
        same(mine, theirs)


# What kernels compute ------------------------------------------------------------------------------------------------


def test_fused_graphs_compute_what_eager_execution_computes():
    found = failures(lambda case: agree(case[0], *case[1]), COUNTS.items())
    assert not found, found


@pytest.mark.parametrize("name", sweep([*ELEMENTWISE, *VIEWS, *REDUCTIONS, *OTHERS], every=28))
def test_kernels_compute_what_the_operator_computes_on_the_samples_of_torch(name):
    tried = 0
    for args, kwargs, known in samples(name):

        def call(*inputs, args=args, kwargs=kwargs):
            new = iter(inputs)
            result = find(name)(*replaced(args, new), **replaced(kwargs, new))
            return list(result) if isinstance(result, (list, tuple)) else result

        try:
            expected = call(*known)
            program = scheduled(call, *known)
        except (RuntimeError, TypeError, IndexError, NotImplementedError):
            continue  # what eager execution refuses
        for mine, theirs in zip(run_triton(program, known), tensors([expected])):
            same(mine, theirs)
            tried += 1
    assert tried


@pytest.mark.parametrize("kind", [rl.float32, rl.float64])
def test_functions_of_one_number_are_right_at_the_ends(kind):
    agree(
        lambda x: [rl.exp(x), rl.expm1(x), rl.log(x), rl.log1p(x), rl.tanh(x), rl.erf(x), rl.sigmoid(x)],
        special.to(kind),
    )
    agree(lambda x: [rl.sqrt(x), rl.rsqrt(x), rl.reciprocal(x), rl.relu(x), rl.abs(x), rl.neg(x)], special.to(kind))
    agree(lambda x: [rl.floor(x), rl.ceil(x), rl.round(x), rl.trunc(x), rl.sign(x)], special.to(kind))
    agree(lambda x: [rl.sin(x), rl.cos(x), rl.tan(x), rl.log2(x), x**2.5], special[:6].to(kind))


def test_comparisons_and_the_larger_of_two_know_nan():
    x, y = special, special.flip(0)
    agree(
        lambda x, y: [rl.maximum(x, y), rl.minimum(x, y), x < y, x == x, x != x, x >= y, rl.isnan(x), rl.isinf(x)], x, y
    )
    agree(lambda x: [x.clamp(-1, 1), rl.where(x > 0, x, -x), x.amax(), x.amin(), x[:9].amax(), x[:9].argmax(0)], x)
    agree(lambda x: [x % 3, x % -3, rl.div(x, -3, rounding_mode="floor"), rl.div(x, 3, rounding_mode="trunc")], x[:6])


def test_whole_numbers_wrap_and_convert_as_eager_ones():
    small = rl.arange(0, 256, 5).to(rl.uint8)
    agree(
        lambda x: [x + x, x * x, -x, x.float() / 3, x > 100, x.to(rl.int64) - 300, x.bool(), x.amax(), x.amin()], small
    )
    agree(lambda x: [x.to(rl.int64), x.to(rl.int32) * 3, x.bool(), x.double() * 0.1], rl.randn(10) * 100)
    agree(lambda x: [x.sum(1), x.amax(1), x.argmin(1), x.prod(1)], rl.arange(40).reshape(5, 8) - 20)


ROWS = {
    "sums": lambda x: [x.sum(1), x.amax(1) + x.amin(1), (x > 0).any(1), (x > -9).all(1), (x * 0.1 + 1).prod(1)],
    "positions": lambda x: [x.argmax(1), x.argmin(1), x.round().argmax(1)],
    "softmax": lambda x: [x.softmax(-1), x.log_softmax(-1)],
    "variance": lambda x: [x.var(1), x - x.mean(1, True)],
    "across": lambda x: [x.sum(0), x.amax(0), x - x.mean(0, True), x.softmax(0)],
    "all": lambda x: [x.sum(), x / x.abs().sum()],
    "shared": lambda x: (lambda e: [e.log_softmax(-1), e + 1, (e / e.sum(1, True)).softmax(-1) * e])(x.sigmoid()),
    "joined": lambda x: [rl.cat([x, x * 2], 1).sum(1), rl.cat([x[:, :3], x.flip(1)], 1).softmax(1)],
}


@pytest.mark.parametrize("length", sweep([2, 64, 100, 1023, 1024, 1025, 3000], every=3))
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_length_are_reduced_in_one_block_or_in_a_loop(name, length):
    agree(ROWS[name], rl.randn(5, length))


def test_one_long_row_without_a_mask_is_reduced():
    for name in ROWS.keys() - {"across"}:
        agree(ROWS[name], rl.randn(1, 2048))


def test_rows_that_are_far_apart_in_memory_are_reduced_too():
    agree(ROWS["across"], rl.randn(200, 7))
    agree(lambda x: [x.sum(1), x.amax((0, 2))], rl.randn(3, 70, 8))
    agree(lambda x, y: (x + y.t()).sum(1), rl.randn(40, 33), rl.randn(33, 40))


def test_views_in_any_direction_are_read_where_they_are():
    x = rl.randn(6, 8, 10)
    agree(lambda x: [x.permute(2, 1, 0).contiguous(), x.transpose(0, 1) * 2, x[1:, ::2, 3:7] + 1, x.flip(1, 2) + 1], x)
    agree(lambda x: [(x.permute(2, 0, 1) * 2).reshape(-1).flip(0) + 1, x.reshape(12, 40).t() + 1], x)
    agree(lambda x, y: x + y.permute(2, 1, 0), rl.randn(3, 20, 40), rl.randn(40, 20, 3))
    agree(lambda x: (x.reshape(24).flip(0).reshape(3, 8) * 2).flip(0).t() + x.t().reshape(8, 3), rl.randn(4, 6))
    agree(lambda x, y, z: x * y + z, rl.randn(30, 20), rl.randn(1), rl.randn(()))
    agree(lambda x: [x + 1, x.sum()], rl.randn(20, 30).as_strided((10, 7), (60, 2)))
    agree(lambda x: [x.exp(), x.sum() * 2], rl.randn(()))


def test_an_index_from_memory_is_checked():
    def embed(x, table):
        return table[x] * 2

    table = rl.randn(10, 16)
    agree(embed, rl.tensor([0, 9, -1, -10, 3]), table)
    program = scheduled(embed, rl.tensor([0, 1]), table)
    with pytest.raises(IndexError, match="out of range"):
        run_triton(program, [rl.tensor([0, 10]), table])


@pytest.mark.parametrize("length", [20, 1500])
def test_an_input_that_is_written_to_is_read_before(length):
    def step(x):
        old = x.softmax(-1) + x.amax(-1, True)
        x.mul_(2)
        return [old, x.sum(-1)]

    x = rl.randn(3, length)
    expected, before = step(now := x.clone()), x.clone()
    program = scheduled(step, x.clone())
    for mine, theirs in zip(run_triton(program, [x]), expected):
        same(mine, theirs)
    same(x, now)
    graph = inductor.compile_fx(step, [before])
    for mine, theirs in zip(graph(before), expected):
        same(mine, theirs)
    same(before, now)


# What a compiled graph does ------------------------------------------------------------------------------------------


def test_a_compiled_graph_calls_kernels_products_and_operators_and_reuses_memory():
    def function(x, y):
        h = (x.relu() @ y).softmax(-1)
        return [(h.cumsum(0) * 2 + h) @ y, h.t() + 1]

    x, y = rl.randn(8, 8), rl.randn(8, 8)
    graph = inductor.compile_fx(function, [x, y])
    for mine, theirs in zip(graph(x, y), function(x, y)):
        same(mine, theirs)
    assert "triton_per_fused__softmax_" in graph.python_text and "softmax" not in graph.cpp_text


def test_a_model_learns_in_compiled_code_as_it_does_without():
    def losses(compiled):
        rl.manual_seed(0)
        model = rl.nn.Sequential(rl.nn.Linear(4, 8), rl.nn.LayerNorm(8), rl.nn.GELU(), rl.nn.Linear(8, 3))
        forward = rl.compile(model) if compiled else model
        x, target = rl.randn(6, 4), rl.tensor([0, 1, 2, 0, 1, 2])
        optimizer, values = rl.optim.SGD(model.parameters(), lr=0.1), []
        for _ in range(3):
            loss = functional.cross_entropy(forward(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            values.append(loss.item())
        return values

    assert losses(True) == pytest.approx(losses(False), rel=1e-5)


@pytest.mark.sweep
def test_another_library_may_have_imported_triton_before():
    program = (
        "import triton, triton.language as tl; from rushlight.inductor import config; import rushlight as rl, sys\n"
        "config.cpu_backend = 'triton'; x = rl.randn(4, 6)\n"
        "y = rl.inductor.compile_fx(lambda x: [x.sigmoid().sum(1)], [x])(x)[0]\n"
        "assert (y - x.sigmoid().sum(1)).abs().max() < 1e-5 and isinstance(tl.sum, triton.JITFunction)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_threads_may_call_one_graph_at_the_same_time():
    inputs = [rl.randn(20, 30) for _ in range(4)]
    graph = inductor.compile_fx(lambda x: [x.softmax(1) + x.sum(0)], inputs[:1])
    with ThreadPoolExecutor(4) as threads:
        results = [*threads.map(graph, inputs)]
    for (mine,), x in zip(results, inputs):
        same(mine, x.softmax(1) + x.sum(0))


def test_kernels_of_the_same_name_are_not_confused():
    x = rl.randn(10)
    plus, minus = (inductor.compile_fx(lambda x, n=n: [x + n], [x]) for n in (1, -1))
    assert "triton_poi_fused_add_0" in plus.python_text and "triton_poi_fused_add_0" in minus.python_text
    for graph, expected in ((plus, x + 1), (minus, x - 1)):
        same(graph(x)[0], expected)


COMPILE = """
import re
from inductor_run import kernels
import rushlight as rl
from rushlight.inductor import config, triton_heuristics
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

config.cpu_backend = "triton"
functions = [
    lambda x: [x.sigmoid().relu(), x.t().contiguous(), x % 3, x.isnan(), x.floor().sign()],
    lambda x: [x.softmax(1), x.argmax(1), (x > 0).any(1), x.amin(0), x.prod(1)],
    lambda x: [x.double().erf(), x.to(rl.uint8) + 1, rl.cat([x, x * 2], 1), x[rl.tensor([1, 0])].flip(1)],
]
for length in (100, 1100):
    for function in functions:
        for kernel in kernels(function, rl.randn(5, length)):
            launcher = triton_heuristics.triton(kernel.name, kernel.text, "cuda")
            names, sizes = launcher.function.arg_names, launcher.block_sizes()
            signature = eval(re.search(r"'signature': ({.*?})", kernel.text)[1])
            known = {(names.index(name),): size for name, size in sizes.items()}
            source = ASTSource(launcher.function, signature, known)
            assert "cubin" in compile(source, target=GPUTarget("cuda", 90, 32)).asm
"""


@pytest.mark.sweep
def test_the_same_texts_compile_for_a_gpu(tmp_path):
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parents[1])])
    environment = os.environ | {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True)


def test_every_operation_has_a_form_in_triton():
    assert set(ir.SCALARS) <= {*triton_kernel.OPERATIONS, "cast"}


# Texts ---------------------------------------------------------------------------------------------------------------


UNUSED = r"    \s*(r0_offset|roffset|rnumel|RBLOCK|rbase|rindex)\b.* = "  # names that only torch's kernels define


def recorded():
    return {module["name"]: module for module in json.loads(gzip.decompress(RECORDED.read_bytes()))["modules"]}


def body(text):
    """The lines of a kernel's function, without hints for caches and brackets before `%`, with numbers for temporary values and
    results in order of use."""
    (text,) = re.findall(r"^def triton_.*?:\n(.*?)(?=\n'''|\Z)", text, re.MULTILINE | re.DOTALL)
    text = re.sub(r"\((\w+ // \d+)\) %", r"\1 %", re.sub(r", eviction_policy='\w+'", "", text))
    for prefix, old in (("tmp", r"tmp\d+"), ("out_ptr", r"(?:in_)?out_ptr\d+")):
        names = [*dict.fromkeys(re.findall(old, text))]
        text = re.sub(old, lambda found: f"{prefix}{names.index(found[0])}", text)
    return [line for line in text.strip("\n").splitlines() if not re.match(UNUSED, line)]


SAME = {
    "relu": lambda x: x.relu(),
    "nothing to mask": lambda x: x.relu() + 1,
    "pointwise": lambda x, y: rl.relu(x * 2 + y),
    "bias": lambda x, y: x + y,
    "column": lambda x, y: x * y,
    "outer": lambda x, y: x + y,
    "three dimensions": lambda x, y, z: x + y * z,
    "transposed": lambda x, y: x + y.t(),
    "copy of a transpose": lambda x: x.t().contiguous(),
    "permuted": lambda x, y: x + y.permute(2, 1, 0),
    "slice": lambda x: x[1:, 2:7] * 2,
    "strided input": lambda x: x + 1,
    "sum of rows": lambda x: x.sum(1),
    "sum of columns": lambda x: x.sum(0),
    "small sum": lambda x: x.sum(),
    "sum of two": lambda x, y: (x * y).sum(-1),
    "sums of 1,500": lambda x: (x - x.amax(1, keepdim=True)).abs().sum(1),
    "RMS norm": lambda x, y: x * rl.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * y,
}


def strided(sizes, strides, dtype):
    return rl.zeros(sizes) if strides is None else rl.empty_strided(sizes, strides)


def text_of(name):
    (kernel,) = kernels((SAME | OTHER)[name], *(strided(*described) for described in recorded()[name]["inputs"]))
    return kernel.text


@pytest.mark.parametrize("name", SAME)
def test_kernels_are_torchs_line_by_line(name):
    assert body(text_of(name)) == body(recorded()[name]["text"])


OTHER = {
    "softmax": lambda x: x.softmax(-1),
    "softmax of columns": lambda x: x.softmax(0),
    "log softmax": lambda x: x.log_softmax(-1),
    "layer norm": lambda x, y, z: functional.layer_norm(x, x.shape[-1:], y, z),
    "largest": lambda x: (x.amax(1), x.argmax(1)),
    "two results": lambda x: (x.relu(), x.sum(1), x.relu().amax(1)),
}


@pytest.mark.parametrize("name", OTHER)
def test_kernels_of_other_formulas_move_as_many_bytes_as_torchs_do(name):
    (theirs,) = re.findall(r"^(@triton_heuristics.*?)^'''", recorded()[name]["text"], re.MULTILINE | re.DOTALL)
    mine, theirs = (triton_code.kernel_traffic(text).values() for text in (text_of(name), theirs))
    assert sorted(mine) == sorted(theirs)


def test_the_launches_are_those_that_a_reader_of_the_module_expects(monkeypatch):
    def function(x, y):
        return [x.softmax(-1) + y, x.t().contiguous(), y.sum(0), x.exp()]

    inputs, grids, grid = (rl.randn(40, 1500), rl.randn(1500)), [], triton_heuristics.grid
    graph = inductor.compile_fx(function, inputs)
    monkeypatch.setattr(triton_heuristics, "grid", lambda *sizes: grids.append(grid(*sizes)) or grids[-1])
    for mine, theirs in zip(graph(*inputs), function(*inputs), strict=True):
        same(mine, theirs)
    launchers = {
        name: value for name, value in graph.__globals__.items() if isinstance(value, triton_heuristics.Launcher)
    }
    blocks = {name: launcher.block_sizes() for name, launcher in launchers.items()}
    launches = triton_code.kernel_launches(graph.python_text, blocks)
    assert [launch[2] for launch in launches] == grids
    assert {launch[1] for launch in launches} == {"pointwise", "reduction"}
