"""Correct answers to lab 12d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math
from collections import defaultdict
from functools import reduce

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import tensor
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.autograd.profiler_util import find_parents
from rushlight.c10 import dtypes
from rushlight.course import anatomy, bottleneck, serving, sharding
from rushlight.course.costs import parameter_sizes
from rushlight.course.serving import SMALLEST_SCALE
from rushlight.course.training import IGNORED
from rushlight.nn.functional import cross_entropy

from ..shared import edited

# From inside


def logit_lens__by_hand(model, tokens):
    """The blocks one after the other, without hooks."""
    with no_grad():
        x = model.token(tokens) + model.position(tensor([*range(tokens.size(1))]))
        found = [model.head(model.norm(x))]
        for block in model.blocks:
            x = block(x)
            found.append(model.head(model.norm(x)))
    return found


def logit_lens__one_hook_each(model, tokens):
    """Pre-hooks of the blocks and of the last norm. A detached result needs no mode."""
    seen, handles = [], []
    for module in [*model.blocks, model.norm]:
        handles.append(module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach())))
    try:
        model(tokens)
    finally:
        while handles:
            handles.pop().remove()
    return [model.head(model.norm(x)).detach() for x in seen]


def backward_graph__list_grows(result, names):
    """A list that grows while a loop goes through it."""
    nodes, edges = [result.grad_fn], []
    for i, node in enumerate(nodes):
        for to, number in node.next_functions:
            if to is not None:
                if not any(to is known for known in nodes):
                    nodes.append(to)
                edges.append((i, next(j for j, known in enumerate(nodes) if known is to), number))
    labels = []
    for node in nodes:
        if hasattr(node, "variable"):
            labels.append(next((name for name in names if names[name] is node.variable), "AccumulateGrad"))
        else:
            labels.append(node.name())
    return labels, edges


def backward_graph__levels(result, names):
    """Level by level."""
    leaves = [(leaf, name) for name, leaf in names.items()]
    place, order, edges, level = {result.grad_fn: 0}, [result.grad_fn], [], [result.grad_fn]
    while level:
        new = []
        pairs = [(node, *pair) for node in level for pair in node.next_functions]
        for node, to, number in pairs:
            if to is None:
                continue
            if place.setdefault(to, len(order)) == len(order):
                order.append(to)
                new.append(to)
            edges.append((place[node], place[to], number))
        level = new

    def called(node):
        variable = getattr(node, "variable", None)
        if variable is None:
            return node.name()
        return ([name for leaf, name in leaves if leaf is variable] or ["AccumulateGrad"])[0]

    return [*map(called, order)], edges


def count_paths__depth_first(nodes, edges):
    """An order in which each node is after all nodes that lead to it, by a search with a stack."""
    after = [[] for _ in range(nodes)]
    for start, to, _ in edges:
        after[start].append(to)
    done, seen, stack = [], {0}, [(0, iter(after[0]))]
    while stack:
        node, rest = stack[-1]
        for to in rest:
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(after[to])))
                break
        else:
            done.append(node)
            stack.pop()
    paths = [0] * nodes
    paths[0] = 1
    for node in reversed(done):
        for to in after[node]:
            paths[to] += paths[node]
    return paths


def count_paths__from_the_end(nodes, edges):
    """Ask for the paths to each node, and keep the answers. What is not known yet is put on a list."""
    before = defaultdict(list)
    for start, to, *_ in edges:
        before[to].append(start)
    known = {0: 1}
    for node in range(nodes):
        waiting = [node]
        while waiting:
            missing = [each for each in before[waiting[-1]] if each not in known]
            if missing:
                waiting += missing
            else:
                last = waiting.pop()
                known.setdefault(last, sum(known[each] for each in before[last]))
    return [known[node] for node in range(nodes)]


# Costs


def gpt_flops__product_by_product(config, batch, n, fused=True):
    def product(m, k, columns):
        return 2 * m * k * columns

    w, found, each = config.width, {"embedding": (0, 0)}, w_heads(config)
    linears = {"projections": [(w, 3 * w), (w, w)], "mlp": [(w, 4 * w), (4 * w, w)]}
    for name, sizes in linears.items():
        forward = config.layers * sum(product(batch * n, *size) for size in sizes)
        found[name] = (forward, 2 * forward)
    one = config.layers * batch * config.heads * product(n, each, n)
    found["attention"] = (one + one, (4 + fused) * one)
    head = product(n * batch, w, config.vocabulary)
    found["head"] = (head, head + head)
    return found


def w_heads(config):
    return config.width // config.heads


def gpt_flops__from_the_parameters(config, batch, n, fused=True):
    """Each number of a matrix is multiplied once for each token."""
    matrices = [math.prod(shape) for shape in parameter_sizes(config)["block"] if len(shape) == 2]
    tokens = 2 * batch * n
    forward = {
        "projections": tokens * config.layers * sum(matrices[:2]),
        "mlp": tokens * config.layers * sum(matrices[2:]),
    }
    forward["head"] = tokens * config.vocabulary * config.width
    found = {name: (count, 2 * count) for name, count in forward.items()}
    pairs = 2 * config.layers * batch * n**2 * config.width
    return found | {"embedding": (0, 0), "attention": (2 * pairs, 5 * pairs if fused else 4 * pairs)}


def step_memory__tensor_by_tensor(config, batch, n):
    V, w, h, layers, length = config
    kept = [(n, 8)]
    for _ in range(layers):
        for _ in range(2):  # the norms
            kept += [(batch * n * w, 4), (batch * n, 4), (batch * n, 4)]
        kept += [(batch * n * w, 4), (batch * n * 3 * w, 4), (batch * n * w, 4), (batch * h * n, 4)]
        kept += [(batch * n * w, 4), (batch * n * 4 * w, 4), (batch * n * 4 * w, 4)]
    kept += [(batch * n * w, 4), (batch * n, 4), (batch * n, 4), (batch * n * w, 4), (batch * n * V, 4), (1, 4)]
    activations = sum(count * size for count, size in kept)
    shapes = [(V, w), (length, w), (w,), (w,), (V,)]
    block = [(w,)] * 4 + [(3 * w, w), (3 * w,), (w, w), (w,), (4 * w, w), (4 * w,), (w, 4 * w), (w,)]
    shapes += block * layers
    parameters = sum(4 * math.prod(shape) for shape in shapes)
    optimizer = sum(4 * math.prod(shape) * 2 + 4 for shape in shapes)
    logits = batch * n * V * 4
    backward = parameters + optimizer + activations + 3 * logits + 16 * batch * n + 4
    update = 2 * parameters + optimizer + 2 * 4 * V * w + logits + 16 * batch * n + 4
    peak = backward if backward > update else update
    return dict(parameters=parameters, gradients=parameters, optimizer=optimizer, activations=activations, peak=peak)


def step_memory__in_units(config, batch, n):
    """A unit is batch · n · width numbers."""
    sizes, rows = parameter_sizes(config), batch * n
    tensors = [*sizes["embeddings"], *sizes["rest"], *itertools.chain(*[sizes["block"]] * config.layers)]
    numbers = sum(math.prod(each) for each in tensors)
    unit, scores = 4 * rows * config.width, 4 * rows * config.vocabulary
    activations = (
        config.layers * (16 * unit + 16 * rows + 4 * rows * config.heads) + 2 * unit + 8 * rows + scores + 4 + 8 * n
    )
    first = 4 * numbers + activations + 8 * numbers + 4 * len(tensors) + 3 * scores
    second = 16 * numbers + 4 * len(tensors) + scores + 8 * config.vocabulary * config.width
    return {
        "peak": max(first, second) + 16 * rows + 4, "activations": activations, "optimizer": 8 * numbers + 4 * len(tensors),
        "gradients": 4 * numbers, "parameters": 4 * numbers,
    }  # fmt: skip


def step_traffic__match(config, strategy, batch, n):
    sizes = {name: 4 * sum(math.prod(each) for each in shapes) for name, shapes in parameter_sizes(config).items()}
    everything = sizes["embeddings"] + sizes["rest"] + config.layers * sizes["block"]
    match strategy:
        case "ddp":
            return {"all_reduce": everything}
        case "fsdp":
            return {"reduce_scatter": everything, "all_gather": everything + config.layers * sizes["block"]}
        case "tp":
            return {"all_reduce": sum(4 * batch * n * config.width for _ in range(4 * config.layers))}
    raise ValueError(strategy)


def step_traffic__by_hand(config, strategy, batch, n):
    w = config.width
    block = 4 * (12 * w * w + 13 * w)
    outside = 4 * (config.vocabulary * (w + 1) + config.length * w + 2 * w)
    known = {
        "ddp": {"all_reduce": outside + config.layers * block},
        "fsdp": {"all_gather": outside + 2 * config.layers * block, "reduce_scatter": outside + config.layers * block},
        "tp": {"all_reduce": 16 * config.layers * batch * n * w},
    }
    if strategy not in known:
        raise ValueError("ddp, fsdp or tp")
    return known[strategy]


def graphs_of_generation__rules(program):
    """By the rules: a new graph for the first call, for the first change, and for each new length of a list."""
    return {
        "example": [1, 0, 1, 0], "whole": [1, 1, 0, 0], "list": [1] * 4, "position": [1, 1] + [0] * 2, "tensor": [1] + [0] * 3,
        "prompts": [1, 1, 0, 1, 0],
    }[program]  # fmt: skip


def graphs_of_generation__digits(program):
    return [
        *map(
            int,
            dict(example="1010", whole="1100", list="1111", position="1100", tensor="1000", prompts="11010")[program],
        )
    ]


# Ranks


def shard_block__indices(state, heads, rank, ranks):
    """With lists of rows."""
    hidden, width = len(state["up.weight"]), state["up.weight"].shape[1]
    if heads % ranks != 0 or hidden % ranks != 0:
        raise ValueError("not equal")
    d, mine = width // heads, range(rank * heads // ranks, (rank + 1) * heads // ranks)
    columns = [head * d + i for head in mine for i in range(d)]
    rows = [part * width + column for part in range(3) for column in columns]
    inside = [*range(rank * hidden // ranks, (rank + 1) * hidden // ranks)]
    cut = {
        "attention.weight": lambda x: x[rows], "attention.bias": lambda x: x[rows], "up.weight": lambda x: x[inside],
        "up.bias": lambda x: x[inside], "projection.weight": lambda x: x[:, columns], "down.weight": lambda x: x[:, inside],
        "projection.bias": lambda x: x * float(rank == 0), "down.bias": lambda x: x * float(rank == 0),
    }  # fmt: skip
    return {name: cut[name](each) if name in cut else each for name, each in state.items()}


def shard_block__chunks(state, heads, rank, ranks):
    """With `chunk` and `unflatten`."""
    for count in (heads, state["up.bias"].shape[0]):
        if count % ranks:
            raise ValueError(count)
    found = {}
    for name, each in state.items():
        layer, kind = name.split(".")
        if layer == "attention":
            each = functions.cat([part.chunk(ranks)[rank] for part in each.chunk(3)])
        elif layer == "up":
            each = each.chunk(ranks)[rank]
        elif layer in ("projection", "down") and kind == "weight":
            each = each.chunk(ranks, 1)[rank]
        elif layer in ("projection", "down") and rank > 0:
            each = each.new_zeros(each.shape)
        found[name] = each
    return found


def shard_block__kept_rows(state, heads, rank, ranks):
    """The bias of another rank is the bias times 0, so a gradient goes through it, too."""
    if heads % ranks or state["down.weight"].shape[1] % ranks:
        raise ValueError("not equal")

    def keep(x, dim):
        size = x.shape[dim]
        return x.index_select(dim, tensor([i for i in range(size) if i * ranks // size == rank]))

    found = {}
    for name, x in state.items():
        if name.startswith("attention"):
            x = keep(x.unflatten(0, (3, -1)), 1).flatten(0, 1)
        elif name.startswith("up"):
            x = keep(x, 0)
        elif name in ("projection.weight", "down.weight"):
            x = keep(x, 1)
        elif name in ("projection.bias", "down.bias"):
            x = x.clone() if rank == 0 else x * 0
        found[name] = x
    return found


def average_gradients__sums(gradients, counts):
    """Sums over tokens first, one division at the end."""
    found = []
    for i in range(len(gradients[0])):
        total = None
        for mine, count in zip(gradients, counts):
            if count > 0 and mine[i] is not None:
                total = mine[i] * count if total is None else total + mine[i] * count
        found.append(total / sum(counts))
    return found


def average_gradients__copied_counts(gradients, counts):
    """Lists are joined and copied."""
    counts, averages = counts + [], []
    for i in range(len(gradients[0])):
        known = [(each[i], count) for each, count in zip(gradients, counts.copy()) if count and each[i] is not None]
        averages += [sum(grad * count for grad, count in known) / sum(counts)]
    return averages


def average_gradients__reduce(gradients, counts):
    kept = [(mine, count) for mine, count in zip(gradients, counts) if count]
    total = sum(count for _, count in kept)
    columns = zip(*([(each, count) for each in mine] for mine, count in kept))
    scaled = ([each.mul(count).div(total) for each, count in column if each is not None] for column in columns)
    return [reduce(lambda a, b: a.add(b), column) for column in scaled]


# Serving


def quantize_groups__flat_rows(weight, bits, group):
    """Groups as rows of a matrix."""
    if weight.shape[1] % group != 0:
        raise ValueError("no whole groups")
    most = (1 << (bits - 1)) - 1
    with no_grad():
        rows = weight.reshape(-1, group)
        scales = functions.clamp(functions.amax(rows.abs(), 1, True) / most, SMALLEST_SCALE)
        q = functions.clamp(functions.round(rows / scales), -most, most).to(dtypes.int8)
        return q.reshape(weight.shape), scales.reshape(weight.shape[0], -1)


def quantize_groups__column_by_column(weight, bits, group):
    """Slices of columns."""
    features, weight = weight.shape[1], weight.detach()
    if features % group:
        raise ValueError(features)
    most, integers, scales = 2**bits // 2 - 1, [], []
    for first in range(0, features, group):
        part = weight[:, first : first + group]
        scale = functions.maximum(part.abs().max(1).values / most, tensor(SMALLEST_SCALE))
        integers.append((part / scale[:, None]).round().to(dtypes.int8))
        scales.append(scale)
    return functions.cat(integers, 1), functions.stack(scales, 1)


def quantize_groups__times_the_reciprocal(weight, bits, group):
    """As PyTorch's operator does it."""
    if weight.shape[1] % group != 0:
        raise ValueError("the last group is too short")
    parts = weight.detach().unflatten(1, (-1, group))
    scales = parts.abs().amax(2).div(2 ** (bits - 1) - 1).clamp(min=SMALLEST_SCALE)
    return parts.mul((1.0 / scales).unsqueeze(2)).round().flatten(1).to(dtypes.int8), scales


def perplexity__means(model, batches):
    """Means weighted by counts."""
    mode, total, tokens = model.training, 0.0, 0
    try:
        with set_grad_enabled(False):
            model.train(False)
            for x, y in batches:
                count = int((y != IGNORED).sum().item())
                if count == 0:
                    model(x)
                    continue
                total += count * cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=IGNORED).item()
                tokens += count
    finally:
        model.train(mode)
    return math.e ** (total / tokens)


def perplexity__log_softmax(model, batches):
    """The logarithms of the probabilities, token by token."""
    was = model.training
    model.eval()
    losses = []
    try:
        with no_grad():
            for tokens, targets in batches:
                logs = model(tokens).log_softmax(-1).tolist()
                for rows, wanted in zip(logs, targets.tolist()):
                    losses += [-row[k] for row, k in zip(rows, wanted) if k != IGNORED]
    finally:
        model.train(was)
    return math.exp(math.fsum(losses) / len(losses))


def perplexity__numbers_of_numpy(model, batches):
    mode, total, count = model.training, 0.0, 0
    model.eval()
    try:
        with no_grad():
            for tokens, targets in batches:
                scores = model(tokens).flatten(0, 1)
                total += cross_entropy(scores, targets.flatten(), ignore_index=IGNORED, reduction="sum").item()
                count += np.count_nonzero(targets.numpy() != IGNORED)
    finally:
        model.train(mode)
    return np.exp(total / count)


def perplexity__batches_without_targets_do_not_run(model, batches):
    mode, nats, count = model.training, 0.0, 0
    model.eval()
    try:
        for tokens, targets in batches:
            for row, wanted in zip(tokens, targets):  # a row at a time
                if n := sum(k != IGNORED for k in wanted.tolist()):
                    with no_grad():
                        scores = model(row.unsqueeze(0))[0]
                    nats += n * cross_entropy(scores, wanted, ignore_index=IGNORED).item()
                    count += n
    finally:
        model.train(mode)
    return math.exp(nats / count)


def generate_padded__for_loop(program, tokens, count, length, end):
    new = []
    for _ in range(count):
        seen = (list(tokens) + new)[-length:]
        at = len(seen) - 1
        padded = tensor([seen + [end for _ in range(length - len(seen))]], dtype=dtypes.int64)
        scores = program(padded)[0][at].tolist()
        best = max(range(len(scores)), key=scores.__getitem__)
        new += [best]
        if best == end:
            return new
    return new


def generate_padded__window(program, tokens, count, length, end):
    """A window that is kept."""
    window, new = [*tokens][-length:], []
    while count > len(new) and new[-1:] != [end]:
        full = functions.full((1, length), end, dtype=dtypes.int64)
        full[0, : len(window)] = tensor(window)
        new.append(program(full)[0, len(window) - 1].argmax(-1).item())
        window = [*window, new[-1]][-length:]
    return new


# Profiles


def find_bottleneck__two_tables(before, after):
    def table(events):
        parents = find_parents([(1, start, end) for _, start, end in events])
        found = defaultdict(lambda: [0, 0])

        def path(i):
            return events[i][0] if parents[i] is None else f"{path(parents[i])}/{events[i][0]}"

        for i, (_, start, end) in enumerate(events):
            inside = sum(b - a for (_, a, b), parent in zip(events, parents) if parent == i)
            row = found[path(i)]
            row[0] += end - start - inside
            row[1] += 1
        return found

    old, new = table(before), table(after)
    rows = []
    for path in sorted(old.keys() | new.keys()):
        (a, m), (b, n) = old.get(path, (0, 0)), new.get(path, (0, 0))
        if a != b:
            rows.append((path, b - a, n - m))
    rows.sort(key=lambda row: row[1], reverse=True)  # a sort is stable
    return rows


def find_bottleneck__in_order(before, after):
    """Parents come first in the order of time, so paths are made from theirs."""
    times, calls = defaultdict(int), defaultdict(int)
    for factor, events in zip((1, -1), (after, before)):
        parents = find_parents([(0, *each[1:]) for each in events])
        order = sorted(range(len(events)), key=lambda i: (events[i][1], -events[i][2], i))
        paths = {None: ()}
        for i in order:
            name, start, end = events[i]
            outer = paths[parents[i]]
            paths[i] = (*outer, name)
            times[paths[i]] += factor * (end - start)
            calls[paths[i]] += factor
            if outer:
                times[outer] -= factor * (end - start)
    rows = [("/".join(path), time, calls[path]) for path, time in times.items() if time != 0]
    return sorted(sorted(rows), key=lambda row: row[1], reverse=True)


# The path of one operation


def trace_of_an_operation__layer_norm_in_another_order():
    """Columns in another order, numbers, alignment, pipes at the ends, a heading, and a sentence after the table."""
    return """# TRACE of `layer_norm`

The first norm of block 0, for float32 on the CPU.

| # | layer | function | what it does | file | how I know |
|--:|:-----:|:---------|:-------------|:-----|:-----------|
| 1 | frontend | `LayerNorm.forward` | calls 2 | `torch/nn/modules/normalization.py` | a traceback |
| 2 | frontend | `layer_norm` | calls `torch.layer_norm` | `torch/nn/functional.py:2900` | inspect.getsource |
| 3 | frontend | `torch::autograd::THPVariable_layer_norm` | parses | python_torch_functions_2.cpp | stack |
| 4 | dispatcher | `at::_ops::layer_norm::call` | AutogradCPU has a math kernel | `torchgen/gen.py` makes it | the dispatch table |
| 5 | ATen | `at::native::layer_norm_symint` | calls 6, makes no node | `aten/src/ATen/native/layer_norm.cpp` | YAML |
| 6 | dispatcher | `at::_ops::native_layer_norm::call` | AutogradCPU again, now with a kernel of its own | as 4 | `serving` |
| 7 | dispatcher | `VariableType::native_layer_norm` | makes NativeLayerNormBackward0 | `VariableType_6.cpp` | `grad_fn` |
| 8 | dispatcher | `at::_ops::native_layer_norm::redispatch` | CPU serves | as 4 | `serving` below autograd |
| 9 | ATen | `wrapper_CPU__native_layer_norm` | an adapter, inlined | `RegisterCPU_0.cpp` | `serving` |
| 10 | ATen | `layer_norm_cpu` | allocates, and calls the stub | as 5 | YAML: `CPU: layer_norm_cpu` |
| 11 | ATen | `LayerNormKernelImpl` | mean, variance, and the result | `aten/src/ATen/native/cpu/layer_norm_kernel.cpp` | gdb |

Steps 4 and 6 show that a composite operator passes the dispatcher twice.
"""


def trace_of_an_operation__embedding_with_backward():
    """No backticks, numbers of lines, absolute paths, capitals, and the frontend again for the backward pass."""
    pytorch, site = "/__w/pytorch/pytorch", "/usr/lib/python3.11/site-packages"
    rows = [
        f"Embedding.forward | Frontend | {site}/torch/nn/modules/sparse.py | calls F.embedding | the sources",
        f"F.embedding | Frontend | {site}/torch/nn/functional.py | calls torch.embedding | the sources",
        "THPVariable_embedding | Frontend | torch/csrc/autograd/generated/python_torch_functions_1.cpp | parses | backtrace in gdb",
        "at::_ops::embedding::call | Dispatcher | build/aten/src/ATen/Operators_0.cpp | looks up | backtrace in gdb",
        f"VariableType::embedding | Dispatcher | {pytorch}/torch/csrc/autograd/generated/VariableType_9.cpp:10756 | makes the node"
        " | serving",
        "at::_ops::embedding::redispatch | Dispatcher | Operators_0.cpp | CompositeExplicitAutograd serves | serving",
        f"wrapper | ATen | {pytorch}/build/aten/src/ATen/RegisterCompositeExplicitAutograd_0.cpp:4192 | adapts | dump_table",
        "at::native::embedding_symint | ATen | aten/src/ATen/native/Embedding.cpp | index_select, and a view | registrations",
        "at::_ops::index_select::call | Dispatcher | Operators_0.cpp | no gradient: autograd is left out below 5 | aten_calls",
        "at::native::index_select_cpu_ | ATen | aten/src/ATen/native/TensorAdvancedIndexing.cpp | copies rows | the YAML",
        f"Tensor.backward | Frontend | {site}/torch/_tensor.py | starts the engine | traceback",
        "THPEngine_run_backward | Dispatcher | torch/csrc/autograd/python_engine.cpp | calls the engine | backtrace",
        "torch::autograd::Engine::evaluate_function | Dispatcher | torch/csrc/autograd/engine.cpp | runs a node | backtrace",
        "EmbeddingBackward0::apply | Dispatcher | torch/csrc/autograd/generated/Functions.cpp | the gradient | next_functions",
        "embedding_dense_backward_cpu | ATen | aten/src/ATen/native/Embedding.cpp | adds up rows | profiler",
    ]
    return "\n".join(
        ["Trace of aten::embedding", "", "Function|Layer|File|What it does|How I know", "-|-|-|-|-", *rows]
    )


def trace_of_an_operation__attention():
    """Indented, with Markdown's backslashes, a header's path, a part of a path, and words beside the layer."""
    inner, native = "_scaled_dot_product_flash_attention_for_cpu", "aten/src/ATen/native/transformers/attention.cpp"
    return f"""
        **TRACE of torch.ops.aten.scaled_dot_product_attention.default**

        | function | layer | file | what it does | how I know |
        |---|---|---|---|---|
        | THPVariable_scaled\\_dot\\_product\\_attention | frontend | python_nn_functions.cpp | parses | cpp_stack |
        | at::\\_ops::scaled_dot_product_attention::call | dispatcher (its table) | torchgen/gen.py | a math kernel | `serving` |
        | at::native::scaled_dot_product_attention | ATen | transformers/attention.cpp | chooses flash | YAML |
        | at::_ops::{inner}::call | dispatcher | torch/include/ATen/ops/{inner}_ops.h | a key | a TorchDispatchMode |
        | VariableType::{inner} | dispatcher | VariableType_6.cpp, from derivatives.yaml | a node | grad_fn |
        | at::_ops::{inner}::redispatch | dispatcher | as row 4 | CPU | the table |
        | _scaled_dot_product_flash_attention_cpu | ATen | {native} | calls the stub | `CPU:` in the YAML |
        | flash_attention_kernel_impl | ATen | aten/src/ATen/native/cpu/FlashAttentionKernel.cpp | blocks of keys | gdb |
        """


def trace_of_an_operation__cross_entropy_in_combined_rows():
    """Two functions in a row, files by their names where another row has the path, and a pipe in a cell."""
    return """TRACE of cross_entropy_loss.

function | layer | file | what it does | how I know
:---|:---:|---|---|---:
F.cross_entropy | frontend | torch/nn/functional.py | checks `reduction: mean \\| sum` | the source
THPVariable_cross_entropy_loss | frontend | python_nn_functions.cpp, of tools/autograd/gen_python_functions.py | parses | stack
at::_ops::cross_entropy_loss::call | dispatcher | torchgen/gen.py | math kernel | keys_in_order
cross_entropy_loss_symint | ATen | aten/src/ATen/native/LossNLL.cpp | calls at::_ops::log_softmax_int::call and 6 | registrations
at::_ops::log_softmax_int::call, at::_ops::_log_softmax::call | dispatcher | as 3 | composite, then not | profile
at::_ops::nll_loss_nd::call | dispatcher | as step 3 | composite again | profile
VariableType::_log_softmax, at::_ops::_log_softmax::redispatch | dispatcher | VariableType_5.cpp | LogSoftmaxBackward0 | graph
structured_log_softmax_cpu_out::impl | ATen | aten/src/ATen/native/SoftMax.cpp | the stub | YAML
log_softmax_lastdim_kernel_impl | ATen | aten/src/ATen/native/cpu/SoftMaxKernel.cpp | the loop | debugger
structured_nll_loss_forward_out_cpu::impl | ATen | LossNLL.cpp | picks the targets | debugger
"""


def trace_of_an_operation__addmm_inside_linear():
    """The operator of the title is an inner one."""
    head = "| function | layer | file | what it does | how I know | sure? |\n|---|---|---|---|---|---|\n"
    rows = (
        ("`Linear.forward`", "frontend", "`torch/nn/modules/linear.py`", "calls `F.linear`", "source"),
        ("`at::_ops::linear::call`", "dispatcher", "`Operators_3.cpp`", "finds a math kernel", "`serving`"),
        ("`at::native::linear`", "ATen", "`aten/src/ATen/native/Linear.cpp`", "flattens, then `addmm`", "the YAML"),
        ("`at::_ops::addmm::call`", "dispatcher", "`Operators_3.cpp`", "AutogradCPU", "`aten_calls`"),
        ("`VariableType::addmm`", "dispatcher", "`VariableType_0.cpp`", "`AddmmBackward0`", "`grad_fn`"),
        ("`at::_ops::addmm::redispatch`", "dispatcher", "`Operators_3.cpp`", "CPU", "`serving`"),
        (
            "`structured_addmm_out_cpu::impl`",
            "ATen",
            "`aten/src/ATen/native/LinearAlgebra.cpp`",
            "copies the bias",
            "the YAML",
        ),
        ("`at::native::cpublas::gemm`", "ATen", "`aten/src/ATen/native/CPUBlas.cpp`", "calls the BLAS", "gdb"),
        ("`THPVariable_Wrap`", "frontend", "`torch/csrc/autograd/python_variable.cpp`", "wraps the result", "source"),
    )
    return "## TRACE of `addmm`\n\n" + head + "\n".join(f"| {' | '.join(row)} | yes |" for row in rows)


def trace_of_an_operation__with_text_before_it_and_a_full_name():
    """The namespace and the overload in the title, plurals, whole namespaces, and a graph's and a mode's full names."""
    site = "/opt/venv/lib/python3.11/site-packages"
    return f"""My notes, for float32.

TRACE of `aten::gelu.default`

| function | layer | file | what it does | how I know |
|---|---|---|---|---|
| GELU.forward | frontend | {site}/torch/nn/modules/activation.py | calls F.gelu | getsource of `inspect` |
| torch::autograd::THPVariable_gelu(_object*, _object*) | frontend | python_nn_functions.cpp | parses | TORCH_SHOW_CPP_STACKTRACES |
| at::_ops::gelu::call | dispatcher | /home/me/pytorch/build/aten/src/ATen/Operators_3.cpp | AutogradCPU | both dispatch tables |
| torch::autograd::VariableType::(anonymous namespace)::gelu | dispatcher | VariableType_1.cpp | GeluBackward0 | next_functions |
| at::_ops::gelu::redispatch | dispatcher | as 3 | CPU | a TorchDispatchMode, cpp_stack |
| at::(anonymous namespace)::wrapper_CPU_gelu | ATen | RegisterCPU_3.cpp | allocates | stack traces |
| TORCH_IMPL_FUNC(gelu_out_cpu) | ATen | aten/src/ATen/native/Activation.cpp | calls the stub | native_functions.yaml |
| the lambda in GeluKernelImpl, vectorized_loop2d | ATen | aten/src/ATen/native/cpu/Activation.cpp | the loop | profiling |
| THPEngine_run_backward | dispatcher | torch/csrc/autograd/python_engine.cpp | calls the engine | debuggers |
| at::_ops::gelu_backward::call, at::_ops::gelu_backward::redispatch | dispatcher | as 3 | as 3 to 5 | logs |
"""


logit_lens__in_a_tuple = edited(
    anatomy.logit_lens,
    ("return [model.head(model.norm(x)) for x in stream]", "return (*(model.head(model.norm(x)) for x in stream),)"),
)
backward_graph__lists_in_tuples = edited(
    anatomy.backward_graph, ("return labels, edges", "return [(*labels,), (*map(list, edges),)]")
)
count_paths__in_a_tuple = edited(anatomy.count_paths, ("return paths", "return (*paths,)"))
average_gradients__in_a_tuple = edited(sharding.average_gradients, ("return averages", "return (*averages,)"))
generate_padded__in_a_tuple = edited(
    serving.generate_padded, ("return text[len(tokens) :]", "return (*text[len(tokens) :],)")
)
find_bottleneck__lists_in_a_tuple = edited(
    bottleneck.find_bottleneck,
    ("return sorted(rows, key", "return (*map(list, sorted(rows, key"),
    ("row[0]))", "row[0]))),)"),
)
