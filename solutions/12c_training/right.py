"""Correct answers to lab 12c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import copy
import io
import itertools
import math

import numpy as np

import rushlight as rl
from rushlight.course import predictions
from rushlight.course.sampling import keep_top_k, keep_top_p, new_cache
from rushlight.course.training import IGNORED, Validation, sum_of_losses

from ..shared import copied

# Training


def parameter_groups__loop(model, weight_decay):
    decayed, others = [], []
    for _, each in model.named_parameters():
        if each.requires_grad:
            (others if len(each.shape) in (0, 1) else decayed).append(each)
    return [dict(params=decayed, weight_decay=weight_decay), dict(params=others, weight_decay=0.0)]


def parameter_groups__by_hand(model, weight_decay):
    """Without `parameters()`: the modules in their order, and which tensors were seen."""
    seen, groups = set(), ([], [])
    for module in model.modules():
        for each in module._parameters.values():
            if each is not None and id(each) not in seen and each.requires_grad:
                seen.add(id(each))
                groups[each.ndim < 2].append(each)
    return tuple({"weight_decay": decay, "params": group} for group, decay in zip(groups, (weight_decay, 0.0)))


def warmup_cosine__clamped(step, steps, warmup, last=0.1):
    if warmup > step:
        return 1 / warmup + step / warmup
    done = min(max((step - warmup) / max(steps - warmup, 1), 0), 1) if step < steps else 1
    return last * (1 - math.cos(math.pi * done)) / 2 + (1 + math.cos(math.pi * done)) / 2


def warmup_cosine__half_angle(step, steps, warmup, last=0.1):
    """1 + cos(2a) is 2 cos(a)^2."""
    if step < warmup:
        return (step + 1) / warmup
    if step >= steps:
        return last
    return last + (1 - last) * math.cos(math.pi / 2 * (step - warmup) / (steps - warmup)) ** 2


def accumulate__weighted_means(xp, forward, parts):
    """Each part's own mean, weighted by its share of the targets."""
    counts = [np.count_nonzero(targets != IGNORED) for _, targets in parts]
    total = 0.0
    for (inputs, targets), count in zip(parts, counts):
        scores = forward(xp.tensor(inputs))
        loss = xp.nn.functional.cross_entropy(
            scores.reshape(-1, scores.shape[-1]),
            xp.tensor(targets).reshape(-1),
            reduction="sum" if not count else "mean",
        )
        weight = float(count / sum(counts))
        (loss * weight).backward()
        total += loss.item() * weight
    return total


def accumulate__gradient_of_the_sum(xp, forward, parts):
    """The factor goes into the backward pass."""
    everything = np.concatenate([targets.ravel() for _, targets in parts])
    count, total = int(np.sum(everything >= 0)), 0
    for inputs, targets in parts:
        scores, targets = forward(xp.from_numpy(inputs)), xp.from_numpy(targets)
        losses = xp.nn.functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none")
        losses.sum().backward(xp.tensor(1 / count, dtype=losses.dtype))
        total += losses.sum().item()
    return total / count


def accumulate__a_number_of_numpy(xp, forward, parts):
    """Divided by a count of numpy's, so that the mean is a float64, a subclass of float."""
    count, mean = (np.concatenate([targets.ravel() for _, targets in parts]) != IGNORED).sum(), 0.0
    for inputs, targets in parts:
        total = sum_of_losses(xp, forward, inputs, targets)
        total.backward(xp.full_like(total, 1 / count))
        mean += total.item() / count
    return mean


def evaluate__one_list(xp, model, data, size):
    modes, losses = model.training, []
    model.train(False)
    with xp.inference_mode():
        for inputs, targets in data:
            scores = model(xp.from_numpy(inputs))
            flat = targets.reshape(-1)
            found = xp.nn.functional.cross_entropy(
                scores.flatten(0, 1), xp.from_numpy(targets).flatten(), reduction="none"
            )
            losses += [loss for loss, target in zip(found.tolist(), flat.tolist()) if target != IGNORED]
    if modes:
        model.train()
    total = math.fsum(losses)
    return Validation(total / len(losses), math.exp(total / len(losses)), total * math.log2(math.e) / size)


def evaluate__means_by_count(xp, model, data, size):
    before = model.training
    model.eval()
    pairs = []
    for inputs, targets in data:
        count = int(np.sum(targets != IGNORED))
        if count:
            with xp.no_grad():
                scores = model(xp.from_numpy(inputs)).flatten(0, 1)
            mean = xp.nn.functional.cross_entropy(scores, xp.from_numpy(targets).flatten())
            pairs.append((count, mean.item()))
        else:
            with xp.no_grad():
                model(xp.from_numpy(inputs))
    model.train(before)
    tokens = sum(count for count, _ in pairs)
    nats = sum(count * mean for count, mean in pairs)
    return Validation(
        loss=nats / tokens, perplexity=math.e ** (nats / tokens), bits_per_byte=nats / (math.log(2) * size)
    )


def evaluate__numbers_of_numpy(xp, model, data, size):
    """With a count and functions of numpy's, so that the three are float64, a subclass of float."""
    was_training, total, count = model.training, 0.0, 0
    model.eval()
    with xp.no_grad():
        for inputs, targets in data:
            total += sum_of_losses(xp, model, inputs, targets).item()
            count += np.count_nonzero(targets != IGNORED)
    model.train(was_training)
    mean = np.float64(total) / count
    return Validation(mean, np.exp(mean), total / np.log(2) / size)


def noise_scale__by_hand(small, large, small_size, large_size):
    signal = (large_size * large - small_size * small) / (large_size - small_size)
    noise = (small - signal) * small_size
    return signal, noise / signal


def noise_scale__line(small, large, small_size, large_size):
    """The squared norm is a line over 1 / B: its slope and where it begins."""
    slope, start = np.polyfit([1 / small_size, 1 / large_size], [small, large], 1)
    return [start, slope / start]


def checkpoint__file(run):
    """The loaded objects share nothing with the saved ones."""
    parts = {name: getattr(run, name).state_dict() for name in ("model", "optimizer", "scheduler")}
    parts |= {"generator": run.xp.get_rng_state(), "position": run.position}
    file = io.BytesIO()
    run.xp.save(parts, file)
    file.seek(0)
    return run.xp.load(file)


def checkpoint__by_hand(run):
    def copied(value):
        if isinstance(value, dict):
            return {name: copied(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(copied(each) for each in value)
        return value.detach().clone() if hasattr(value, "detach") else value

    state = dict(model=copied(run.model.state_dict()), optimizer=copied(run.optimizer.state_dict()))
    state["scheduler"] = copied(run.scheduler.state_dict())
    return state | dict(generator=rl.get_rng_state(), position=run.position)


def checkpoint__in_another_order(run):
    states = {name: copy.deepcopy(getattr(run, name).state_dict()) for name in ("scheduler", "optimizer", "model")}
    return {"position": run.position, "generator": run.xp.get_rng_state()} | states


def resume__copy_of_each(run, saved):
    for name in ("model", "optimizer", "scheduler"):
        getattr(run, name).load_state_dict(copy.deepcopy(saved[name]))
    run.xp.set_rng_state(saved["generator"].clone())
    run.position = int(saved["position"])


def resume__by_hand(run, saved):
    """The numbers are copied into the run's own tensors."""
    with run.xp.no_grad():
        for name, each in run.model.state_dict().items():
            each.copy_(saved["model"][name])
    file = io.BytesIO()
    run.xp.save(saved["optimizer"], file)
    file.seek(0)
    run.optimizer.load_state_dict(run.xp.load(file))
    run.scheduler.load_state_dict(copy.deepcopy(saved["scheduler"]))
    run.position, generator = saved["position"], saved["generator"]
    run.xp.set_rng_state(generator)


_autocast_dtypes = copied(predictions.autocast_dtypes)


def autocast_dtypes__with_a_second_draw():
    right = _autocast_dtypes()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def autocast_dtypes__in_tuples():
    right = _autocast_dtypes()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


# Sampling


def keep_top_p__loop(scores, p):
    """Token by token."""
    kept = rl.full_like(scores, -math.inf)
    probabilities, total = scores.softmax(-1).tolist(), 0.0
    for token in sorted(range(len(probabilities)), key=lambda each: -probabilities[each]):
        kept[token] = scores[token]
        total += probabilities[token]
        if total >= p and p < 1:
            break
    return kept


def keep_top_p__lowest_kept(scores, p):
    """The lowest score that is in the nucleus decides."""
    if p == 1:
        return scores + 0
    order = scores.argsort(descending=True)
    sums = scores.softmax(0)[order].cumsum(0)
    count = min(int((sums < p).sum().item()) + 1, len(scores))
    outside = rl.ones(scores.shape, dtype=rl.bool)
    outside[order[:count]] = False
    return rl.where(outside, rl.tensor(-math.inf, dtype=scores.dtype), scores)


def choose__cut_then_draw(scores, temperature=1.0, top_k=None, top_p=1.0, generator=None):
    if not temperature:
        return int(scores.argmax())
    cut = keep_top_k(scores / temperature, len(scores) if top_k is None else top_k)
    return int(rl.multinomial(rl.softmax(keep_top_p(cut, top_p), 0), 1, generator=generator))


def choose__own_cuts(scores, temperature=1.0, top_k=None, top_p=1.0, generator=None):
    """The cuts in one loop over the tokens in their order."""
    values = scores.tolist()
    order = sorted(range(len(values)), key=lambda each: -values[each])
    if temperature == 0:
        return order[0]
    weights = [math.exp((each - max(values)) / temperature) for each in values]
    order = [each for each in order if values[each] >= values[order[: top_k or None][-1]]]
    whole, total, kept = sum(weights[each] for each in order), 0.0, [0.0] * len(values)
    for token in order:
        if total / whole >= top_p and total:
            break
        kept[token] = weights[token]
        total += weights[token]
    kept = rl.tensor(kept, dtype=scores.dtype)
    return (kept / kept.sum()).multinomial(1, generator=generator).tolist()[0]


def append__index_copy(cache, keys, values):
    positions = rl.arange(cache.length, cache.length + keys.shape[2])
    if len(positions) + cache.length > cache.keys.shape[2]:
        raise ValueError
    cache.keys.index_copy_(2, positions, keys)
    cache.values.index_copy_(2, positions, values)
    cache.length += len(positions)
    return cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]


def append__narrow(cache, keys, values):
    count = keys.size(2)
    if cache.length + count > cache.keys.size(2):
        raise ValueError("the cache is full")
    for memory, new in ((cache.keys, keys), (cache.values, values)):
        memory.narrow(2, cache.length, count).copy_(new)
    cache.length += count
    return cache.keys.narrow(2, 0, cache.length), cache.values.narrow(2, 0, cache.length)


def append__assignment(cache, keys, values):
    known = cache.length + keys.shape[2]
    if known > cache.keys.shape[2]:
        raise ValueError(known)
    old = slice(cache.length, known)
    cache.keys[:, :, old], cache.values[:, :, old], cache.length = keys, values, known
    return cache.keys[:, :, :known], cache.values[:, :, :known]


def generate__prompt_first(xp, model, tokens, count, choose_next, end=None):
    @xp.no_grad()
    def scores_of(new):
        return model(xp.tensor(new, dtype=xp.int64).unsqueeze(0), cache)[0][-1]

    cache, said = new_cache(model, 1), []
    positions = cache[0].keys.shape[2]
    said.append(choose_next(scores_of(list(tokens))))
    while said[-1] != end and len(said) < count and len(tokens) + len(said) <= positions:
        said.append(choose_next(scores_of(said[-1:])))
    return said


def generate__for_loop(xp, model, tokens, count, choose_next, end=None):
    cache, step, said = new_cache(model), xp.tensor([[*tokens]]), []
    for _ in range(min(count, cache[0].keys.shape[2] - len(tokens) + 1)):
        with xp.no_grad():
            scores = model(step, cache)
        token = choose_next(scores[0, -1])
        said += [token]
        if end is not None and token == end:
            break
        step = xp.tensor([[token]])
    return said


def speculate__lists(guesses, guessed, wanted, draws):
    small, large = guessed.tolist(), wanted.tolist()
    for i, (token, u) in enumerate(zip(guesses, draws)):
        if not u < large[i][token] / small[i][token]:
            weights = [b - a if b > a else 0.0 for a, b in zip(small[i], large[i])]
            said = list(guesses[:i])
            break
    else:
        weights, said = large[-1], list(guesses)
    limit = draws[-1] * sum(weights)
    return said + [next(i for i, total in enumerate(itertools.accumulate(weights)) if total > limit)]


def speculate__numpy(guesses, guessed, wanted, draws):
    p, q = wanted.numpy(), guessed.numpy()
    kept = 0
    while kept < len(guesses) and draws[kept] * q[kept, guesses[kept]] < p[kept, guesses[kept]]:
        kept += 1
    weights = p[kept] if kept == len(guesses) else np.maximum(p[kept] - q[kept], 0)
    token = np.searchsorted(np.cumsum(weights) / weights.sum(), draws[-1], side="right")
    return [*guesses[:kept], int(token)]
