"""Wrong answers to lab 12d that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

from rushlight.aten.native.creation import tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.course.anatomy import backward_graph, count_paths, logit_lens, trace_of_an_operation
from rushlight.course.bottleneck import find_bottleneck
from rushlight.course.costs import gpt_flops, step_memory, step_traffic
from rushlight.course.predictions import graphs_of_generation
from rushlight.course.serving import generate_padded, perplexity, quantize_groups
from rushlight.course.sharding import average_gradients, shard_block
from rushlight.course.training import IGNORED
from rushlight.nn.functional import cross_entropy

from ..shared import copied, edited

# From inside


logit_lens__no_norm = edited(logit_lens, ("model.head(model.norm(x))", "model.head(x)"))


logit_lens__with_a_graph = edited(logit_lens, ("with no_grad():", "if True:"))


logit_lens__hooks_stay_after_an_error = edited(
    logit_lens,
    ("    try:\n        with", "    if True:\n        with"),
    ("return [model.head(model.norm(x)) for x in stream]", "found = [model.head(model.norm(x)) for x in stream]"),
    ("    finally:\n        for", "    for"),
    ("            handle.remove()", "        handle.remove()\n    return found"),
)  # fmt: skip


def logit_lens__runs_a_model_for_each(model, tokens):
    """The first k blocks again for each k."""
    with no_grad():
        found = []
        for k in range(len(model.blocks) + 1):
            seen = []
            handle = (model.blocks[k] if k < len(model.blocks) else model.norm).register_forward_pre_hook(
                lambda _, args, seen=seen: seen.append(args[0])
            )
            try:
                model(tokens)
            finally:
                handle.remove()
            found.append(model.head(model.norm(seen[0])))
        return found


logit_lens__removes_the_hooks_of_others = edited(
    logit_lens,
    (
        "            handle.remove()",
        "            model.blocks[0]._forward_pre_hooks.clear()\n            handle.remove()",
    ),
)


logit_lens__freezes_the_model = edited(
    logit_lens,
    (
        "        with no_grad():\n            model(tokens)\n            return",
        "        model.requires_grad_(False)\n        if True:\n            model(tokens)\n            return",
    ),
)


logit_lens__evaluation_mode_stays = edited(logit_lens, ("    stream = []", "    stream = []\n    model.eval()"))


backward_graph__depth_first = edited(backward_graph, ("waiting.popleft()", "waiting.pop()"))


backward_graph__by_equal_numbers = edited(
    backward_graph,
    ("by_identity.get(id(leaf), ", "next((name for name, each in names.items() if each.tolist() == leaf.tolist()), "),
)


backward_graph__a_tree = edited(backward_graph, ("if successor not in index:", "if True:"))


backward_graph__only_new_edges = edited(
    backward_graph,
    (
        "                waiting.append(successor)\n            edges",
        "                waiting.append(successor)\n                edges",
    ),
)


backward_graph__no_leaves = edited(
    backward_graph, ("if successor is None:", 'if successor is None or hasattr(successor, "variable"):')
)


def count_paths__as_numbered(nodes, edges):
    """It takes the numbers of the nodes for their order."""
    paths = [1] + [0] * (nodes - 1)
    for start, to, _ in sorted(edges):
        paths[to] += paths[start]
    return paths


def count_paths__to_the_first_node(nodes, edges):
    """Each node asks those before it, which is deep if the node at the end of a chain comes first."""
    sources, known = [[] for _ in range(nodes)], {0: 1}
    for start, to, _ in edges:
        sources[to].append(start)

    def paths(node):
        if node not in known:
            known[node] = sum(map(paths, sources[node]))
        return known[node]

    return [*map(paths, range(nodes))]


def count_paths__recursive(nodes, edges):
    """Exponential, and too deep."""

    def count(node):
        return 1 if node == 0 else sum(count(start) for start, to, _ in edges if to == node)

    return [count(node) for node in range(nodes)] if nodes < 20 else [0] * nodes


count_paths__of_64_bits = edited(count_paths, ("return paths", "return [each % 2**63 for each in paths]"))


count_paths__a_set_of_edges = edited(count_paths, ("for start, to, _ in edges:", "for start, to, _ in {*edges}:"))

# Costs


gpt_flops__half_for_the_mask = edited(gpt_flops, ("rows * n * width, rows", "rows * (n + 1) // 2 * width, rows"))


gpt_flops__backward_is_twice = edited(gpt_flops, ("(5 if fused else 4)", "4"))


gpt_flops__no_output_projection = edited(gpt_flops, ("rows * 4 * width * width", "rows * 3 * width * width"))


gpt_flops__the_embedding_is_a_product = edited(gpt_flops, ('"embedding": (0, 0)', '"embedding": (head, head)'))


gpt_flops__narrow_inside = edited(gpt_flops, ("rows * 8 * width * width", "rows * 2 * width * width"))


gpt_flops__the_head_gets_one_gradient = edited(gpt_flops, ("2 * head", "head"))


step_memory__views_count = edited(step_memory, ("+ rows * width + heads * rows", "+ 2 * rows * width + heads * rows"))


step_memory__the_head_has_a_weight = edited(step_memory, ('+ sizes["rest"]', '+ sizes["rest"] + [(vocabulary, width)]'))


step_memory__all_at_once = edited(
    step_memory, ("max(activations + 2 * scores, parameters", "(activations + 2 * scores + parameters")
)


step_memory__without_the_counts = edited(step_memory, ("2 * parameters + FLOAT * len(numbers)", "2 * parameters"))


step_memory__scores_are_free = edited(step_memory, ("rows + scores + FLOAT", "rows + FLOAT"))


step_traffic__gathered_once = edited(step_traffic, ("2 * block + rest, ", "block + rest, "))


step_traffic__one_direction = edited(step_traffic, ("4 * config.layers", "2 * config.layers"))


step_traffic__per_link = edited(step_traffic, ('{"all_reduce": block + rest}', '{"all_reduce": 2 * (block + rest)}'))


step_traffic__any_other_is_tp = edited(
    step_traffic, ('if strategy == "tp":', 'if strategy not in ("zero", "pp", "ep", "cp"):')
)


step_traffic__capitals = edited(step_traffic, ("    sizes =", "    strategy = strategy.lower()\n    sizes ="))


step_traffic__how_a_name_begins = edited(step_traffic, ('strategy == "fsdp"', 'strategy.startswith("fsdp")'))


step_traffic__scattered_twice = edited(step_traffic, ('"reduce_scatter": block', '"reduce_scatter": 2 * block'))


graphs_of_generation__sizes_are_guarded = edited(
    graphs_of_generation, ('"whole": [1, 1, 0, 0]', '"whole": [1, 1, 1, 1]')
)

# Ranks


shard_block__rows_in_a_row = edited(  # a third of the rows of a rank are not what it needs
    shard_block,
    ("functions.cat([chunk[mine] for chunk in state[name].split(width)])", "state[name].chunk(ranks)[rank]"),
)


shard_block__bias_on_all = edited(shard_block, ("if rank:", "if False:"))


shard_block__bias_in_equal_parts = edited(
    shard_block, ("if rank:", "if True:"), ("functions.zeros_like(state[name])", "state[name] / ranks")
)


shard_block__only_heads = edited(shard_block, ("if heads % ranks or hidden % ranks:", "if heads % ranks:"))


shard_block__without_a_graph = edited(
    shard_block, ("    return part", "    return {name: each.detach() for name, each in part.items()}")
)


shard_block__keys_in_an_order_of_its_own = edited(
    shard_block,
    (
        "    return part",
        '    layers = ("norm_1", "norm_2", "attention", "projection", "up", "down")\n'
        '    return {f"{layer}.{kind}": part[f"{layer}.{kind}"] for layer in layers for kind in ("weight", "bias")}',
    ),
)


shard_block__halves_the_biases = edited(
    shard_block,
    ("    part = dict(state)", '    part = dict(state)\n    state["down.bias"].detach().div_(ranks)'),
)


average_gradients__mean_of_means = edited(average_gradients, ("(count / total)", "(1 / len(counts))"))


average_gradients__nan = edited(average_gradients, ("if count and grad is not None", "if grad is not None"))


average_gradients__over_those_that_have_one = edited(
    average_gradients,
    ("shares = [", "total = sum(count for grad, count in zip(grads, counts) if grad is not None)\n        shares = ["),
)


def average_gradients__in_place(gradients, counts):
    total = sum(counts)
    for mine, count in zip(gradients, counts):
        for grad in mine:
            if grad is not None and count:
                grad.mul_(count / total)
    kept = [mine for mine, count in zip(gradients, counts) if count]
    return [sum(each[1:], each[0]) for each in ([grad for grad in column if grad is not None] for column in zip(*kept))]


def average_gradients__weighs_the_arguments(gradients, counts):
    """New tensors, but each gradient is multiplied in place."""
    for grads, count in zip(gradients, counts):
        for grad in grads if count else ():
            if grad is not None:
                grad.mul_(count / sum(counts))
    shares = [[g.clone() for g, count in zip(grads, counts) if count and g is not None] for grads in zip(*gradients)]
    return [sum(share[1:], share[0]) for share in shares]


# Serving


quantize_groups__a_scale_for_a_row = edited(
    quantize_groups, ("groups.abs().amax(2)", "groups.abs().amax(2).amax(1, True).expand(outs, features // group)")
)


quantize_groups__one_more_integer = edited(quantize_groups, ("2 ** (bits - 1) - 1", "2 ** (bits - 1)"))


quantize_groups__down = edited(quantize_groups, (".round()", ".floor()"))


quantize_groups__keeps_the_graph = edited(quantize_groups, ("weight.detach().reshape", "weight.reshape"))


quantize_groups__smallest_number_not_scale = edited(
    quantize_groups,
    (
        "(groups.abs().amax(2) / largest).clamp(min=SMALLEST_SCALE)",
        "groups.abs().amax(2).clamp(min=SMALLEST_SCALE) / largest",
    ),
)


quantize_groups__smallest_scale_is_added = edited(
    quantize_groups, (" / largest).clamp(min=SMALLEST_SCALE)", " / largest) + SMALLEST_SCALE")
)


quantize_groups__another_smallest_scale = edited(quantize_groups, ("clamp(min=SMALLEST_SCALE)", "clamp(min=1e-12)"))


perplexity__of_the_first_row = edited(
    perplexity,
    ("model(tokens).flatten(0, 1)", "model(tokens)[0]"),
    ("targets.flatten()", "targets[0]"),
    ("(targets != IGNORED).sum()", "(targets[0] != IGNORED).sum()"),
)


perplexity__no_graph_from_now_on = edited(
    perplexity, ("        with no_grad():", "        no_grad().__enter__()\n        if True:")
)


def perplexity__mean_of_batches(model, batches):
    was, losses = model.training, []
    model.eval()
    try:
        with no_grad():
            for tokens, targets in batches:
                loss = cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=IGNORED).item()
                losses += [loss] if loss == loss else []
    finally:
        model.train(was)
    return math.exp(sum(losses) / len(losses))


perplexity__mean_of_perplexities = edited(
    perplexity,
    ('nats += cross_entropy(scores, targets.flatten(), ignore_index=IGNORED, reduction="sum").item()',
     "n = (targets != IGNORED).sum().item()\n                "
     "mean = cross_entropy(scores, targets.flatten(), ignore_index=IGNORED).item()\n                "
     "nats += n and n * math.exp(mean)"),
    ("math.exp(nats / count)", "nats / count"),
)  # fmt: skip


perplexity__always_training = edited(perplexity, ("model.train(was_training)", "model.train()"))


perplexity__training_only_at_the_end = edited(
    perplexity,
    (
        "    finally:\n        model.train(was_training)",
        "    except ZeroDivisionError:\n        pass\n    model.train(was_training)",
    ),
)


perplexity__fills_the_targets = edited(
    perplexity, ("IGNORED).sum().item()\n", "IGNORED).sum().item()\n                targets[targets == IGNORED] = 0\n")
)
perplexity__counts_ignored = edited(perplexity, ("(targets != IGNORED).sum().item()", "targets.numel()"))


generate_padded__last_position = edited(generate_padded, ("scores[0, len(seen) - 1]", "scores[0, -1]"))


generate_padded__fill_in_front = edited(
    generate_padded,
    ("seen + [end] * (length - len(seen))", "[end] * (length - len(seen)) + seen"),
    ("len(seen) - 1", "-1"),
)


generate_padded__goes_on = edited(generate_padded, ("if text[-1] == end:", "if False:"))


generate_padded__zeros_behind = edited(generate_padded, ("[end] * (length", "[0] * (length"))


generate_padded__nothing_after_an_end_in_the_text = edited(
    generate_padded,
    ("while len(text) < len(tokens) + count:", "while len(text) < len(tokens) + count and text[-1] != end:"),
)


generate_padded__first_tokens = edited(generate_padded, ("text[-length:]", "text[:length]"))


def generate_padded__changes_the_list(program, tokens, count, length, end):
    first = len(tokens)
    for _ in range(count):
        seen = tokens[-length:]
        scores = program(tensor([seen + [end] * (length - len(seen))]))
        tokens.append(scores[0, len(seen) - 1].argmax().item())
        if tokens[-1] == end:
            break
    return tokens[first:]


# Profiles


find_bottleneck__total_times = edited(find_bottleneck, ("own[parent] -= events[i][2] - events[i][1]", "pass"))


find_bottleneck__by_name = edited(find_bottleneck, ('"/".join(reversed(path))', "path[0]"))


find_bottleneck__only_slower = edited(find_bottleneck, (".items() if time]", ".items() if time > 0]"))


find_bottleneck__unsorted_ties = edited(find_bottleneck, ("(-row[1], row[0])", "-row[1]"))


find_bottleneck__ties_by_name = edited(find_bottleneck, ("row[0]))", 'row[0].split("/")))'))


find_bottleneck__ties_without_capitals = edited(find_bottleneck, ("row[0]))", "row[0].lower()))"))


find_bottleneck__equal_times_are_neighbours = edited(
    find_bottleneck,
    (
        "parents = find_parents([(0, start, end) for _, start, end in events])",
        "parents = [min((j for j, (_, a, b) in enumerate(events) if a <= start and end <= b and (a, b) != (start, end)),\n"
        "            key=lambda j: events[j][2] - events[j][1], default=None) for _, start, end in events]",
    ),
)  # fmt: skip


find_bottleneck__only_the_parent = edited(
    find_bottleneck, ("            while parent is not None:\n", "            if parent is not None:\n")
)


backward_graph__a_leaf_by_its_memory = edited(
    backward_graph,
    ("id(leaf): name", "leaf.data_ptr(): name"),
    ("by_identity.get(id(leaf)", "by_identity.get(leaf.data_ptr()"),
)


perplexity__records_afterwards = edited(
    perplexity,
    (
        "        model.train(was_training)\n",
        "        model.train(was_training)\n        from rushlight.c10.dispatch import local\n\n"
        "        local.grad_enabled = True\n",
    ),
)

quantize_groups__halves_away_from_zero = edited(
    quantize_groups,
    (
        "    q = (groups / scales.unsqueeze(2)).round()\n",
        "    q = groups / scales.unsqueeze(2)\n    q = q.sign() * (q.abs() + 0.5).floor()\n",
    ),
)

quantize_groups__halves_up = edited(quantize_groups, (".round()", ".add(0.5).floor()"))


perplexity__in_the_mode_that_it_has = edited(perplexity, ("    model.eval()\n", ""))


quantize_groups__in_place = edited(
    quantize_groups,
    ("    q = (groups / scales.unsqueeze(2)).round()", "    q = groups.div_(scales.unsqueeze(2)).round()"),
)


# The path of one operation: each of these is refused for one reason


def _changed(*pairs):
    return edited(trace_of_an_operation, *pairs)


trace_of_an_operation__a_file_that_is_not_there = _changed(
    ("torch/nn/modules/activation.py", "torch/nn/modules/gelu.py")
)

trace_of_an_operation__a_header_that_is_not_there = _changed(
    ("| dispatcher | as 3 |", "| dispatcher | `torch/include/ATen/ops/gelu_redispatch_ops.h` |")
)

trace_of_an_operation__no_path = _changed(("`aten/src/ATen/native/cpu/Activation.cpp`", "`native/cpu/Activation.cpp`"))

trace_of_an_operation__no_file = _changed(
    ("`GELU.forward` | frontend | `torch/nn/modules/activation.py`", "`GELU.forward` | frontend | in `torch.nn`")
)

trace_of_an_operation__a_kernel_in_the_dispatcher = _changed(("impl` | ATen |", "impl` | dispatcher |"))

trace_of_an_operation__a_binding_in_aten = _changed(("`THPVariable_gelu` | frontend", "`THPVariable_gelu` | ATen"))

trace_of_an_operation__two_layers_at_once = _changed(
    ("`VariableType::gelu` | dispatcher", "`VariableType::gelu` | dispatcher, ATen")
)

trace_of_an_operation__not_in_the_model = _changed(("TRACE of `gelu`", "TRACE of `silu`"), ("::gelu", "::silu"))

trace_of_an_operation__the_name_in_python = _changed(("TRACE of `gelu`", "TRACE of `GELU`"))

trace_of_an_operation__another_operator_in_the_title = _changed(("TRACE of `gelu`", "TRACE of `native_layer_norm`"))

trace_of_an_operation__no_title = _changed(("TRACE of `gelu`", "The activation of the MLP"))

trace_of_an_operation__a_made_up_overload = _changed(("_ops::gelu::redispatch", "_ops::gelu_tanh::redispatch"))

trace_of_an_operation__a_made_up_method = _changed(("_ops::gelu::redispatch", "_ops::gelu::dispatch"))

trace_of_an_operation__a_made_up_kernel = _changed(("structured_gelu_out_cpu::impl", "gelu_cpu_kernel"))

trace_of_an_operation__knows_all_from_the_sources = _changed(
    *((f"| {how}\n", "| the sources\n") for how in (
        "the stack, in gdb", "`keys_in_order`, `serving`", "`serving`; `grad_fn`", "`serving` below autograd",
        "`serving`; the stack, in gdb", "the YAML; the sources", "a debugger, stopped there", "the graph; the stack",
    ))
)  # fmt: skip

trace_of_an_operation__just_knows_one_thing = _changed(("| `serving` below autograd", "| known from the lecture"))

trace_of_an_operation__says_nothing_of_one = _changed(("| runs the loop, with SIMD |", "| |"))

trace_of_an_operation__an_operator_like_no_other = _changed(
    ("`VariableType::gelu`", "`at::_ops::qqq_nonsense_zzz::call`")
)

trace_of_an_operation__an_operator_with_a_dot = _changed(("_ops::gelu::redispatch", "_ops::gelu.out::redispatch"))

trace_of_an_operation__an_overload_that_is_none = _changed(("TRACE of `gelu`", "TRACE of `gelu.tanh`"))

trace_of_an_operation__redispatches_without_a_call = _changed(
    ("`GeluBackwardKernelImpl` | ATen | as 9", "`at::_ops::gelu_backward::redispatch` | dispatcher | as 3")
)

trace_of_an_operation__knows_a_part_of_a_word = _changed(
    ("| `serving` below autograd", "| StackOverflow and modern resources, a paragraph of blogs")
)

trace_of_an_operation__repeats_a_row_with_its_namespace = _changed(
    ("`GeluBackwardKernelImpl`", "`at::native::(anonymous namespace)::GeluKernelImpl`")
)

trace_of_an_operation__describes_a_function = _changed(("`GeluKernelImpl`", "the loop of the kernel"))

trace_of_an_operation__a_kernel_for_cuda = _changed(("structured_gelu_out_cpu::impl", "structured_gelu_out_cuda::impl"))

trace_of_an_operation__a_kernel_of_an_operator_that_is_not_called = _changed(
    (
        "| runs the loop of the gradient, reached as 9 was, by 3 to 8 | a debugger, stopped there",
        "| the gradient | the YAML",
    ),
    ("`GeluBackwardKernelImpl`", "`structured_gelu_backward_out_cpu::impl`"),
)

trace_of_an_operation__the_engine_in_the_frontend = _changed(
    (
        "`GeluBackward0::apply` | dispatcher | `torch/csrc/autograd/generated/Functions.cpp`",
        "`THPEngine_run_backward` | frontend | `torch/csrc/autograd/python_engine.cpp`",
    )
)

trace_of_an_operation__python_in_a_folder_of_c10 = _changed(("`torch/nn/modules/activation.py`", "`c10/activation.py`"))

trace_of_an_operation__repeats_a_row = _changed(("`GeluBackwardKernelImpl`", "`GeluKernelImpl`"))

trace_of_an_operation__the_kernel_first = _changed(
    (
        "`GELU.forward` | frontend | `torch/nn/modules/activation.py`",
        "`gelu` | ATen | `aten/src/ATen/native/Activation.cpp`",
    )
)

trace_of_an_operation__redispatches_first = _changed(
    ("_ops::gelu::redispatch", "_ops::gelu::later"),
    ("_ops::gelu::call", "_ops::gelu::redispatch"),
    ("gelu::later", "gelu::call"),
)

trace_of_an_operation__back_to_python_for_no_reason = _changed(
    (
        "`GeluBackward0::apply` | dispatcher | `torch/csrc/autograd/generated/Functions.cpp`",
        "`gelu` | frontend | `torch/nn/functional.py`",
    )
)

trace_of_an_operation__no_line_below_the_head = _changed(("---|---|---|---|---\n", ""))

trace_of_an_operation__a_cell_too_few = _changed(("| dispatcher | as 3 |", "| as 3 |"))

trace_of_an_operation__a_column_too_few = _changed(("| how I know", "| evidence"))


def trace_of_an_operation__of_add_as_in_lab_00():
    return _ADD


def trace_of_an_operation__of_add_under_another_name():
    return _ADD.replace("TRACE of `add`", "TRACE of `gelu`")


def trace_of_an_operation__of_add_with_its_name_replaced():
    return _ADD.replace("add", "gelu").replace("Add", "Gelu")


_ADD = """TRACE of `add`

| | function | layer | file | what it does | how I know |
|---|---|---|---|---|---|
| 1 | `THPVariable_add` | frontend | `tools/autograd/gen_python_functions.py` | parses the arguments | the stack of an error |
| 2 | `at::_ops::add_Tensor::call` | dispatcher | `torchgen/gen.py` | looks up the highest key, AutogradCPU | `serving` |
| 3 | `VariableType::add_Tensor` | dispatcher | `VariableType_2.cpp` | makes the node `AddBackward0` | `serving`; `grad_fn` |
| 4 | `at::_ops::add_Tensor::redispatch` | dispatcher | as 2 | CPU serves | `serving` below autograd |
| 5 | `wrapper_CPU_add_Tensor` | ATen | `RegisterCPU_0.cpp` | works out the result, allocates it | the stack; the YAML |
| 6 | `structured_add_Tensor::meta` | ATen | `aten/src/ATen/native/BinaryOps.cpp` | sizes, dtype | the stack |
| 7 | `add_kernel` | ATen | `aten/src/ATen/native/cpu/BinaryOpsKernel.cpp` | the loop | a debugger |
"""


def trace_of_an_operation__in_five_rows():
    head, *rows = _text_of_the_trace().split("\n`")
    return "\n`".join([head, *rows[1:5], rows[8]])


_text_of_the_trace = copied(trace_of_an_operation)


def trace_of_an_operation__ends_before_a_kernel():
    head, *rows = _text_of_the_trace().split("\n`")
    return "\n`".join([head, *rows[:6], rows[9]])


def trace_of_an_operation__in_two_layers():
    head, *rows = _text_of_the_trace().split("\n`")
    return "\n`".join([head, *rows[:5], rows[9]])


def trace_of_an_operation__as_a_list():
    return _text_of_the_trace().replace("|", ",")


def trace_of_an_operation__as_rows():
    return [row.split(" | ") for row in _text_of_the_trace().splitlines()]


def trace_of_an_operation__in_letters():
    rows = ["a|frontend|torch/nn/functional.py|x|source", "at::_ops::gelu::call|dispatcher|torchgen/gen.py|x|table"]
    rows += ["at::_ops::gelu::redispatch|dispatcher|torchgen/gen.py|x|table"]
    rows += [f"{name}|ATen|aten/src/ATen/native/x.cpp|x|stack" for name in "bcd"]
    return "\n".join(["TRACE of gelu", "function|layer|file|what it does|how I know", "-|-|-|-|-", *rows])


trace_of_an_operation__a_made_up_function_in_python = _changed(("`GELU.forward`", "`Gelu.call_kernel`"))


def average_gradients__in_single_precision(gradients, counts):
    single = [[None if grad is None else grad.float() for grad in grads] for grads in gradients]
    kinds = [next(grad.dtype for grad in grads if grad is not None) for grads in zip(*gradients)]
    return [mean.to(kind) for mean, kind in zip(average_gradients_right(single, counts), kinds)]


average_gradients_right = copied(average_gradients)
