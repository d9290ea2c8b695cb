"""Wrong answers to lab 12c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

import rushlight as rl
from rushlight.course.predictions import autocast_dtypes
from rushlight.course.sampling import append, choose, generate, keep_top_p, new_cache, speculate
from rushlight.course.training import (
    IGNORED,
    Validation,
    accumulate,
    checkpoint,
    evaluate,
    noise_scale,
    parameter_groups,
    resume,
    warmup_cosine,
)

from ..shared import edited

# Training


def parameter_groups__by_name(model, weight_decay):
    """By the name, as in much code: a norm's weight decays, too."""
    named = [*model.named_parameters()]
    return [
        {"params": [each for name, each in named if not name.endswith("bias")], "weight_decay": weight_decay},
        {"params": [each for name, each in named if name.endswith("bias")], "weight_decay": 0.0},
    ]


parameter_groups__frozen_too = edited(parameter_groups, (" if parameter.requires_grad", ""))
parameter_groups__scalars_decay = edited(
    parameter_groups, ("parameter.dim() >= 2", "parameter.dim() != 1"), ("parameter.dim() < 2", "parameter.dim() == 1")
)
parameter_groups__twice = edited(
    parameter_groups, ("model.parameters()", "(p for m in model.modules() for p in m.parameters(False))")
)
warmup_cosine__begins_at_zero = edited(warmup_cosine, ("(step + 1) / warmup", "step / warmup"))
warmup_cosine__from_the_first_step = edited(warmup_cosine, ("(step - warmup) / (steps - warmup)", "step / steps"))
warmup_cosine__rises_again = edited(warmup_cosine, ("if step >= steps:", "if step == steps:"))
warmup_cosine__ends_one_step_early = edited(warmup_cosine, ("/ (steps - warmup)", "/ max(1, steps - 1 - warmup)"))
# Divided by the number of parts.
accumulate__mean_of_means = edited(
    accumulate,
    ("    count = sum(int((targets != IGNORED).sum()) for _, targets in parts)\n", ""),
    (
        "loss = sum_of_losses(xp, forward, inputs, targets) / count",
        "scores = forward(xp.from_numpy(inputs)).flatten(0, 1)\n"
        "        loss = xp.nn.functional.cross_entropy(scores, xp.from_numpy(targets).flatten()) / len(parts)",
    ),
)


def accumulate__all_at_the_end(xp, forward, parts):
    """All graphs are in memory at once."""
    count = sum(int((targets != IGNORED).sum()) for _, targets in parts)
    total = 0.0
    for inputs, targets in parts:
        scores = forward(xp.from_numpy(inputs)).flatten(0, 1)
        total = total + xp.nn.functional.cross_entropy(scores, xp.from_numpy(targets).flatten(), reduction="sum")
    (total / count).backward()
    return total.item() / count


accumulate__counts_all_positions = edited(accumulate, ("int((targets != IGNORED).sum())", "targets.size"))
accumulate__a_tensor = edited(accumulate, ("total += loss.item()", "total = total + loss.detach()"))


def evaluate__mean_of_batches(xp, model, data, size):
    """Each batch counts the same."""
    was_training, losses, count = model.training, [], 0
    model.eval()
    with xp.no_grad():
        for inputs, targets in data:
            scores = model(xp.from_numpy(inputs)).flatten(0, 1)
            losses.append(xp.nn.functional.cross_entropy(scores, xp.from_numpy(targets).flatten()).item())
            count += int((targets != IGNORED).sum())
    model.train(was_training)
    mean = sum(losses) / len(losses)
    return Validation(mean, math.exp(mean), mean * count / math.log(2) / size)


evaluate__stays_in_eval = edited(evaluate, ("model.train(was_training)", "pass"))
evaluate__always_trains_afterwards = edited(evaluate, ("model.train(was_training)", "model.train()"))
evaluate__with_graph = edited(evaluate, ("xp.no_grad()", "xp.enable_grad()"))
evaluate__bits_of_a_token = edited(evaluate, ("total / math.log(2) / size", "total / count / math.log(2)"))
evaluate__perplexity_of_two = edited(evaluate, ("math.exp(total / count)", "2 ** (total / count)"))
noise_scale__without_signal = edited(noise_scale, ("noise / signal", "noise"))
noise_scale__of_the_large_batch = edited(noise_scale, ("large - noise / large_size", "large"))
checkpoint__not_copied = edited(checkpoint, ("deepcopy(run.model.state_dict())", "run.model.state_dict()"))
checkpoint__shallow = edited(checkpoint, ("deepcopy(run.optimizer.state_dict())", "dict(run.optimizer.state_dict())"))
checkpoint__seed_only = edited(checkpoint, ("run.xp.get_rng_state()", "run.xp.Generator().get_state()"))
checkpoint__next_position = edited(checkpoint, ("run.position", "run.position + 1"))
resume__weights_only = edited(
    resume,
    (
        '    run.optimizer.load_state_dict(saved["optimizer"])\n    run.scheduler.load_state_dict(saved["scheduler"])\n',
        "",
    ),
)
resume__without_copy = edited(resume, ("saved = deepcopy(saved)", "saved = dict(saved)"))
resume__other_random_numbers = edited(resume, ('run.xp.set_rng_state(saved["generator"])', "run.xp.manual_seed(5)"))
resume__data_from_the_start = edited(resume, ('run.position = saved["position"]', "run.position = 0"))
accumulate__another_framework = edited(accumulate, ("    total = 0.0", "    import rushlight as xp\n\n    total = 0.0"))
evaluate__another_framework = edited(evaluate, ("    model.eval()", "    import rushlight as xp\n\n    model.eval()"))
evaluate__fills_the_targets = edited(
    evaluate, ("IGNORED).sum())\n", "IGNORED).sum())\n            targets[targets == IGNORED] = 0\n")
)
checkpoint__rounded = edited(
    checkpoint,
    ("deepcopy(run.model.state_dict())", "{n: x.float().to(x.dtype) for n, x in run.model.state_dict().items()}"),
)
resume__rounded_moments = edited(
    resume,
    (
        "    run.model.load",
        "    for each in saved['optimizer']['state'].values():\n"
        "        each['exp_avg_sq'] = each['exp_avg_sq'].float().to(each['exp_avg_sq'].dtype)\n    run.model.load",
    ),
)
# The parameters of the module and of its children, and not those of their children.
parameter_groups__of_children = edited(
    parameter_groups,
    (
        "parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]",
        "parameters = [*model._parameters.values()] + [each for child in model.children() for each in child._parameters.values()]\n"
        "    parameters = [*dict.fromkeys(parameter for parameter in parameters if parameter.requires_grad)]",
    ),
)
accumulate__graphs_stay = edited(
    accumulate,
    ("    total = 0.0", "    total, kept = 0.0, []"),
    ("loss.backward()", "loss.backward(retain_graph=True)\n        kept.append(loss)"),
)
accumulate__fills_the_targets = edited(
    accumulate,
    ("        total += loss.item()", "        total += loss.item()\n        targets[targets == IGNORED] = 0"),
)
evaluate__freezes = edited(evaluate, ("    model.eval()\n", "    model.eval()\n    model.requires_grad_(False)\n"))
evaluate__clears_gradients = edited(evaluate, ("    model.eval()\n", "    model.eval()\n    model.zero_grad()\n"))
# Parameters that are equal, not the same one.
parameter_groups__equal_ones_once = edited(
    parameter_groups,
    (
        "parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]",
        "parameters = []\n"
        "    for p in model.parameters():\n"
        "        if p.requires_grad and not any(p.shape == one.shape and bool((p == one).all()) for one in parameters):\n"
        "            parameters.append(p)",
    ),
)
checkpoint__part_of_the_schedule = edited(
    checkpoint,
    (
        "deepcopy(run.scheduler.state_dict())",
        "{name: getattr(run.scheduler, name) for name in ('last_epoch', 'base_lrs', '_last_lr')}",
    ),
)
checkpoint__in_eval_mode = edited(
    checkpoint, ("deepcopy(run.model.state_dict())", "deepcopy(run.model.eval().state_dict())")
)
checkpoint__without_buffers = edited(
    checkpoint,
    ("run.model.state_dict()", "{n: x.detach() for n, x in run.model.named_parameters(remove_duplicate=False)}"),
)
resume__without_buffers = edited(
    resume,
    (
        'run.model.load_state_dict(saved["model"])',
        '[each.data.copy_(saved["model"][name]) for name, each in run.model.named_parameters()]',
    ),
)
resume__only_the_count_of_the_schedule = edited(
    resume,
    (
        'run.scheduler.load_state_dict(saved["scheduler"])',
        'run.scheduler.last_epoch = saved["scheduler"]["last_epoch"]',
    ),
)
resume__takes_from_the_checkpoint = edited(
    resume,
    (
        "    saved = deepcopy(saved)\n",
        "    given, saved = saved, deepcopy(saved)\n    given['scheduler'].pop('_last_lr', None)\n",
    ),
)
autocast_dtypes__a_norm_as_on_a_gpu = edited(
    autocast_dtypes, ('["bfloat16", "bfloat16", "float64"', '["bfloat16", "float32", "float64"')
)
autocast_dtypes__an_in_place_operator_promotes = edited(
    autocast_dtypes,
    (
        '["float32", "bfloat16", "bfloat16", "float32", "float32"]',
        '["float32", "float32", "bfloat16", "float32", "float32"]',
    ),
)
autocast_dtypes__for_another_name = edited(autocast_dtypes, ('"Ada"', '"ada"'))


# Sampling


keep_top_p__without_the_last = edited(keep_top_p, ("outside = before >= p", "outside = ordered.cumsum(0) > p"))
keep_top_p__rounds_away = edited(keep_top_p, ("if p >= 1:", "if p > 1:"))
keep_top_p__by_position = edited(keep_top_p, ("outside.new_zeros(outside.shape).scatter(0, order, outside)", "outside"))
keep_top_p__none_for_zero = edited(keep_top_p, ("    outside[0] = False\n", ""))
keep_top_p__inverse_order = edited(
    keep_top_p, ("outside.new_zeros(outside.shape).scatter(0, order, outside)", "outside[order]")
)
choose__greedy_draws = edited(
    choose, ("if temperature == 0:", "if temperature == 0 and scores.softmax(0).multinomial(1) >= 0:")
)
choose__temperature_last = edited(
    choose,
    ("    scores = scores / temperature\n", ""),
    ("keep_top_p(scores, top_p)", "(keep_top_p(scores, top_p) / temperature)"),
)
choose__multiplied = edited(choose, ("scores / temperature", "scores * temperature"))
choose__nucleus_first = edited(
    choose,
    ("scores = scores / temperature", "scores = keep_top_p(scores / temperature, top_p)"),
    ("    probabilities = keep_top_p(scores, top_p).softmax(0)\n", ""),
    ("probabilities.multinomial", "scores.softmax(0).multinomial"),
)


def choose__exactly_k(scores, temperature=1.0, top_k=None, top_p=1.0, generator=None):
    """Scores that are equal to the k-th do not stay."""
    if temperature == 0:
        return scores.argmax().item()
    if top_k is not None:
        values, places = scores.topk(min(top_k, len(scores)))
        scores = rl.full_like(scores, -math.inf).scatter(0, places, values)
    return keep_top_p(scores / temperature, top_p).softmax(0).multinomial(1, generator=generator).item()


choose__exp_without_largest = edited(choose, (".softmax(0)", ".exp()"))
choose__one_is_not_drawn = edited(choose, ("if temperature == 0:", "if temperature == 0 or top_k == 1:"))
keep_top_p__the_same_memory = edited(keep_top_p, ("scores.clone()", "scores[:]"))
append__copied_and_written_back = edited(
    append,
    (
        "    cache.keys[:, :, start:stop].copy_(keys)\n",
        "    new = cache.keys.clone()\n    new[:, :, start:stop] = keys\n    cache.keys.copy_(new)\n",
    ),
)
append__added = edited(append, ("[:, :, start:stop].copy_(keys)", "[:, :, start:stop].add_(keys)"))
generate__another_framework = edited(
    generate, ("    with xp.no_grad", "    import rushlight as xp\n\n    with xp.no_grad")
)
choose__default_generator = edited(choose, ("multinomial(1, generator=generator)", "multinomial(1)"))


def append__joined(cache, keys, values):
    """A copy of everything, as with `cat`."""
    if cache.length + keys.shape[2] > cache.keys.shape[2]:
        raise ValueError("full")
    known = [
        rl.cat([memory[:, :, : cache.length], new], 2) for memory, new in ((cache.keys, keys), (cache.values, values))
    ]
    cache.length += keys.shape[2]
    cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length] = known
    return known[0], known[1]


append__one_token_only = edited(append, ("cache.keys.shape[2]:\n", "cache.keys.shape[2] + 1:\n"))
append__grows_before_it_fails = edited(
    append, ("if stop > cache.keys", "cache.length = stop\n    if stop > cache.keys")
)
append__all_positions = edited(
    append, ("return cache.keys[:, :, :stop], cache.values[:, :, :stop]", "return cache.keys, cache.values")
)
append__from_the_front = edited(append, ("[:, :, start:stop].copy_(keys)", "[:, :, : stop - start].copy_(keys)"))


def generate__all_tokens_again(xp, model, tokens, count, choose_next, end=None):
    """Right, but it computes everything anew each time."""
    text, positions = [*tokens], new_cache(model)[0].keys.shape[2]
    with xp.no_grad():
        while len(text) - len(tokens) < count and len(text) <= positions:
            text.append(choose_next(model(xp.tensor([text]))[0, -1]))
            if text[-1] == end:
                break
    return text[len(tokens) :]


def generate__token_by_token(xp, model, tokens, count, choose_next, end=None):
    """The text that is given goes in token by token."""
    cache, said = new_cache(model), []
    with xp.no_grad():
        for token in tokens[:-1]:
            model(xp.tensor([[token]]), cache)
        new = tokens[-1]
        while len(said) < count and cache[0].length < cache[0].keys.shape[2]:
            new = choose_next(model(xp.tensor([[new]]), cache)[0, -1])
            said.append(new)
            if new == end:
                break
    return said


generate__with_graph = edited(generate, ("xp.no_grad()", "xp.enable_grad()"))
generate__one_token_less = edited(generate, ("cache[0].length ==", "cache[0].length + 1 >="))
generate__with_the_text = edited(generate, ("return said", "return [*tokens, *said]"))
generate__without_end = edited(
    generate, ("                return said", "                return said[:-1] if new[0] == end else said")
)
speculate__takes_the_last_draw = edited(
    speculate, ("    said = []", "    said, draws_left = [], draws\n    draws = [*draws]\n    draws_left.pop()")
)
choose__nearly_zero_is_zero = edited(choose, ("if temperature == 0:", "if temperature < 1e-3:"))
choose__nucleus_by_default = edited(choose, ("top_p: float = 1.0", "top_p: float = 0.9"))
choose__centred = edited(choose, ("scores = scores / temperature", "scores = (scores - scores.mean()) / temperature"))


def keep_top_p__overflow(scores, p):
    """A softmax that does not subtract the maximum."""
    if p >= 1:
        return scores.clone()
    ordered, order = (scores.exp() / scores.exp().sum()).sort(0, descending=True)
    outside = ordered.cumsum(0) - ordered >= p
    outside[0] = False
    return scores.masked_fill(outside.new_zeros(outside.shape).scatter(0, order, outside), -math.inf)


generate__no_end_zero = edited(generate, ("new[0] == end or", "end and new[0] == end or"))
generate__gradients_stay_off = edited(
    generate, ("    with xp.no_grad():\n", "    xp.set_grad_enabled(False)\n    if True:\n")
)
generate__in_eval_mode = edited(generate, ("    with xp.no_grad():\n", "    model.eval()\n    with xp.no_grad():\n"))
speculate__wanted_instead_of_the_rest = edited(speculate, ("(wanted[i] - guessed[i]).clamp(min=0)", "wanted[i]"))
speculate__not_divided = edited(
    speculate,
    (
        "draw_token((wanted[i] - guessed[i]).clamp(min=0), draws[-1])",
        "((wanted[i] - guessed[i]).clamp(min=0).cumsum(0) > draws[-1]).int().argmax().item()",
    ),
)
speculate__draw_of_the_guess = edited(speculate, ("clamp(min=0), draws[-1])", "clamp(min=0), draws[i])"))
speculate__nothing_after_all = edited(speculate, ("return [*said, draw_token(wanted[-1], draws[-1])]", "return said"))
speculate__goes_on = edited(
    speculate,
    (
        "            return [*said, draw_token((wanted[i] - guessed[i]).clamp(min=0), draws[-1])]\n        said.append(token)",
        "            token = draw_token((wanted[i] - guessed[i]).clamp(min=0), draws[-1])\n        said.append(token)",
    ),
)


accumulate__counts_each_array_once = edited(
    accumulate,
    (
        "sum(int((targets != IGNORED).sum()) for _, targets in parts)",
        "sum({id(targets): int((targets != IGNORED).sum()) for _, targets in parts}.values())",
    ),
)
generate__records_again_afterwards = edited(
    generate,
    ("    with xp.no_grad():\n", "    xp.set_grad_enabled(False)\n    if True:\n"),
    ("                return said\n", "                xp.set_grad_enabled(True)\n                return said\n"),
)

generate__restores_grad_mode_unless_it_fails = edited(
    generate,
    ("    with xp.no_grad():\n", "    before = xp.is_grad_enabled()\n    xp.set_grad_enabled(False)\n    if True:\n"),
    ("                return said\n", "                xp.set_grad_enabled(before)\n                return said\n"),
)

evaluate__records_afterwards = edited(
    evaluate, ("    model.train(was_training)\n", "    model.train(was_training)\n    xp.set_grad_enabled(True)\n")
)


def generate__in_evaluation_mode(xp, model, tokens, count, choose_next, end=None):
    model.eval()
    try:
        return generate_right(xp, model, tokens, count, choose_next, end)
    finally:
        model.train()


generate_right = edited(generate)
keep_top_p__in_float32 = edited(keep_top_p, ("scores.softmax(0)", "scores.float().softmax(0)"))
