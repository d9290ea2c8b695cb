"""Correct answers to lab 12 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import codecs
import copy
import heapq
import io
import itertools
import math
import re
from collections import Counter, defaultdict
from functools import reduce
from itertools import groupby, pairwise

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.native.creation import tensor
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.autograd.profiler_util import find_parents
from rushlight.c10 import dtypes
from rushlight.course.attention import Partial, block_scores
from rushlight.course.costs import parameter_sizes
from rushlight.course.gpt import merge_heads, split_heads
from rushlight.course.predictions import CASTS
from rushlight.course.sampling import keep_top_k, keep_top_p, new_cache
from rushlight.course.serving import SMALLEST_SCALE
from rushlight.course.tokens import count_pairs, merge, pieces
from rushlight.course.training import IGNORED, Validation, sum_of_losses
from rushlight.nn.functional import cross_entropy

# Tokens


def pieces__by_kinds(text):
    def kind(each):
        return "space" if each.isspace() else "word" if each.isalnum() else "mark"

    runs = [[name, "".join(run)] for name, run in groupby(text, kind)]
    for before, after in pairwise(runs):
        if before[0] == "space" and before[1].endswith(" "):
            before[1], after[1] = before[1][:-1], " " + after[1]
    return [run for _, run in runs if run]


def pieces__finditer(text):
    pattern = re.compile(r"(?: (?=\S))?(?:(?:(?![_])\w)+|(?:_|[^\w\s])+)|\s+(?=[ ]\S)|\s+")
    return [match.group() for match in pattern.finditer(text)]


def count_pairs__repeated(words):
    return Counter(pair for word, times in words.items() for _ in range(times) for pair in pairwise(word))


def count_pairs__by_index(words):
    counts = Counter()
    for word in words:
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] = counts[word[i - 1], word[i]] + words[word]
    return counts


def merge__recursive(ids, pair, new):
    ids = list(ids)
    for i in range(len(ids) - 1):
        if (ids[i], ids[i + 1]) == pair:
            return (*ids[:i], new, *merge(ids[i + 2 :], pair, new))
    return tuple(ids)


def merge__stack(ids, pair, new):
    found = []  # each with whether it may be joined
    for each in ids:
        if found and found[-1] == (pair[0], True) and each == pair[1]:
            found[-1] = (new, False)
        else:
            found.append((each, True))
    return tuple(each for each, _ in found)


def train__as_lists(text, count):
    words = [list(piece.encode("utf-8")) for piece in pieces(text)]
    merges = []
    while len(merges) < count:
        counts = defaultdict(int)
        for word in words:
            for i in range(len(word) - 1):
                counts[word[i], word[i + 1]] += 1
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:1]
        if not best or best[0][1] == 1:
            return merges
        merges += [best[0][0]]
        words = [list(merge(word, best[0][0], 255 + len(merges))) for word in words]
    return merges


def train__largest_count(text, count):
    words = Counter(map(lambda piece: tuple(piece.encode()), pieces(text)))
    merges = []
    for k in range(count):
        counts = count_pairs(words)
        most = max(counts.values(), default=0)
        if most <= 1:
            break
        pair = min(each for each, times in counts.items() if times == most)
        merges.append(pair)
        joined = Counter()
        for word, times in words.items():
            joined[merge(word, pair, 256 + k)] += times
        words = joined
    return merges


def apply_merges__all_in_order(ids, ranks):
    for pair, new in sorted(ranks.items(), key=lambda item: item[1]):
        ids = merge(ids, pair, new)
    return tuple(ids)


def apply_merges__one_at_a_time(ids, ranks):
    """As tiktoken does it: the leftmost of the earliest ones."""
    ids = list(ids)
    while len(ids) > 1:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]
        if not found:
            break
        new, i = min(found)
        ids[i : i + 2] = [new]
    return tuple(ids)


def decode__incremental(ids, table):
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return "".join([*(decoder.decode(table[each]) for each in ids), decoder.decode(b"", True)])


def decode__one_buffer(ids, table):
    buffer = bytearray()
    for each in ids:
        buffer.extend(table[each])
    return str(buffer, "utf-8", "replace")


def encode_words__own_pattern(text, ids):
    found = re.findall(r"(?:[^\W_])+|(?:_|[^\w\s])+", text)
    return [ids[word] if word in ids else len(ids) for word in found]


def encode_words__map(text, ids):
    return [ids.get(word, len(ids)) for word in map(str.strip, pieces(text)) if word]


def encode_words__in_a_loop(text, ids):
    found = []
    for piece in pieces(text):
        word = piece.removeprefix(" ")
        if not word or word.isspace():
            continue
        try:
            found.append(ids[word])
        except KeyError:
            found.append(len(ids))
    return found


def tokenized__as_pairs(program):
    known = [("example", 4), ("overlap", 5), ("order", 4), ("longer", 2), ("pieces", 7), ("across", 4), ("bytes", 10)]
    return dict([*known, ("cut", 3), ("ignored", 3), ("perplexity", 4), ("three bytes", 4)])[program]


def tokenized__by_number(program):
    names = [
        "example",
        "overlap",
        "order",
        "longer",
        "pieces",
        "across",
        "bytes",
        "cut",
        "ignored",
        "perplexity",
        "three bytes",
    ]
    return [4, 5, 4, 2, 7, 4, 10, 3, 3, 4, 4][names.index(program)]


def rows__as_lists(texts, tokenizer, length):
    inputs, targets = [], []
    for text in texts:
        found = list(tokenizer.encode(text)) + [tokenizer.end]
        rest = length - len(found)
        if rest >= 0:
            inputs.append([tokenizer.end] + found[:-1] + [tokenizer.end] * rest)
            targets.append(found + [IGNORED] * rest)
    shape = (len(inputs), length)
    return np.array(inputs, dtype=np.int64).reshape(shape), np.array(targets, dtype=np.int64).reshape(shape)


def rows__by_rolling(texts, tokenizer, length):
    """The inputs are the targets, moved by one."""
    kept = [each for each in ([*tokenizer.encode(text), tokenizer.end] for text in texts) if len(each) <= length]
    targets = np.full((len(kept), length), IGNORED)
    for i, each in enumerate(kept):
        targets[i, : len(each)] = each
    inputs = np.roll(np.where(targets == IGNORED, tokenizer.end, targets), 1, axis=1)
    inputs[:, 0] = tokenizer.end
    return inputs, targets


def perplexity_and_bits__numpy(losses, targets, table, ignore_index=-100):
    losses, targets = np.array(losses, dtype=float), np.array(targets)
    kept = targets != ignore_index
    size = sum(len(table[each]) for each in targets[kept])
    return float(np.exp(losses[kept].mean())), float(losses[kept].sum() / (size * np.log(2)))


def perplexity_and_bits__loop(losses, targets, table, ignore_index=-100):
    bits, nbytes, count = 0.0, 0, 0
    for i in range(len(targets)):
        if targets[i] == ignore_index:
            continue
        bits += losses[i] * math.log2(math.e)
        nbytes += len(table[targets[i]])
        count += 1
    return 2 ** (bits / count), bits / nbytes


def train_incremental__differences(words, times, count):
    """Only what changes is counted: the pairs that a piece had more, or has more."""
    held = [list(pairwise(word)) for word in words]
    counts, where, merges = Counter(), defaultdict(set), []
    for i, pairs in enumerate(held):
        for pair in pairs:
            counts[pair] += times[i]
            where[pair].add(i)
    while len(merges) < count:
        most = max(counts.values(), default=0)
        if most < 2:
            break
        pair = min(each for each in counts if counts[each] == most)
        new = 256 + len(merges)
        merges.append(pair)
        for i in sorted(where.pop(pair)):
            joined = merge(words[i], pair, new)
            words[i] = joined
            before, after = Counter(held[i]), Counter(pairwise(joined))
            for each in before.keys() | after.keys():
                counts[each] += times[i] * (after[each] - before[each])
                if after[each]:
                    where[each].add(i)
                elif each != pair:
                    where[each].discard(i)
            held[i] = [*pairwise(joined)]
    return merges


def train_incremental__heap(words, times, count):
    """The best pair is on a heap. An entry whose count has changed is skipped."""
    given = [words[i] for i in range(len(words))]
    counts, where = Counter(), {}
    for i, word in enumerate(given):
        for pair in pairwise(word):
            counts[pair] += times[i]
            where.setdefault(pair, set()).add(i)
    heap = [(-times, pair) for pair, times in counts.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < count:
        times_of, pair = heapq.heappop(heap)
        if -times_of != counts[pair] or -times_of < 2:
            continue
        changed = set()
        for i in where[pair]:
            after = merge(given[i], pair, 256 + len(merges))
            if after == given[i]:
                continue
            for each in pairwise(given[i]):
                counts[each] -= times[i]
                changed.add(each)
            for each in pairwise(after):
                counts[each] += times[i]
                changed.add(each)
                if each != pair:
                    where.setdefault(each, set()).add(i)
            given[i] = words[i] = after
        merges.append(pair)
        for each in changed:
            heapq.heappush(heap, (-counts[each], each))
    return merges


def encode_special__by_position(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    forbidden = set(special_tokens) - set(allowed_special) if disallowed_special == "all" else disallowed_special
    if any(name in text for name in forbidden):
        raise ValueError("a special token")
    found, start = [], 0
    while True:
        ahead = [(text.find(name, start), -len(name), name) for name in allowed_special if name in text[start:]]
        at, _, name = min(ahead, default=(len(text), 0, ""))
        if at > start:
            found.extend(encode(text[start:at]))
        if not ahead:
            return found
        found.append(special_tokens[name])
        start = at + len(name)


def encode_special__recursive(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    allowed = list(allowed_special)
    if disallowed_special == "all":
        disallowed_special = [name for name in special_tokens if name not in allowed]
    for name in disallowed_special:
        if text.count(name):
            raise ValueError(name)
    if not text:
        return []
    starts = sorted((text.index(name), -len(name)) for name in allowed if name in text)
    if not starts:
        return list(encode(text))
    at, size = starts[0][0], -starts[0][1]
    rest = encode_special__recursive(text[at + size :], encode, special_tokens, allowed, ())
    return [*(encode(text[:at]) if at else ()), special_tokens[text[at : at + size]], *rest]


def batches_by_length__one_list(lengths, budget):
    batches, batch = [], []
    for length, i in sorted((length, i) for i, length in enumerate(lengths)):
        if batch and length * (1 + len(batch)) > budget:
            batches.append(batch)
            batch = []
        batch.append(i)
    return batches + [batch] * bool(batch)


def batches_by_length__numpy(lengths, budget):
    order = np.argsort(lengths, kind="stable").tolist() if lengths else []
    ends = [0]
    for k, i in enumerate(order):
        if k and (k - ends[-1] + 1) * lengths[i] > budget:
            ends.append(k)
    return [order[a:b] for a, b in pairwise([*ends, len(order)]) if a < b]


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
    """What a file gives back shares nothing."""
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


def autocast_dtypes__run(program):
    """It runs the program, on rushlight."""
    nn = rl.nn
    names = {"xp": rl, "F": nn.functional, "linear": nn.Linear(64, 64), "embedding": nn.Embedding(64, 64)}
    names |= {"norm": nn.LayerNorm(64), "x": rl.ones(2, 8, 64), "tokens": rl.ones(2, 8, dtype=rl.int64)}
    names["optimizer"] = rl.optim.AdamW(names["linear"].parameters())
    with rl.autocast("cpu", dtype=rl.bfloat16):
        exec(CASTS[program], names)
    return str(names["y"].dtype).rpartition(".")[2]


def autocast_dtypes__table(program):
    low = ("example", "activation", "gate", "attention", "weights")
    return "float64" if program == "product" else "bfloat16" if program in low else "float32"


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


# Attention


def causal_mask__compare(xp, queries, keys, window=None):
    distance = xp.arange(keys - queries, keys)[:, None] - xp.arange(keys)[None, :]
    mask = distance >= 0
    if window is not None:
        mask = mask & (distance < window)
    return mask


def causal_mask__lists(xp, queries, keys, window=None):
    window = keys if window is None else window
    rows = []
    for i in range(keys - queries, keys):
        rows.append([i - window < j <= i for j in range(keys)])
    return xp.tensor(rows)


def attention_weights__by_hand(query, key, mask=None, scale=None):
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if mask is not None and not mask.is_floating_point():
        mask = scores.new_zeros(mask.shape).masked_fill(~mask, float("-inf"))
    if mask is not None:
        scores = scores + mask
    largest = scores.amax(-1, keepdim=True)
    weights = (scores - largest.masked_fill(largest == float("-inf"), 0)).exp()
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def attention_weights__nan_replaced(query, key, mask=None, scale=None):
    scores = (query @ key.mT) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None and not mask.is_floating_point():
        mask = functions.zeros(mask.shape, dtype=query.dtype).masked_fill(mask.logical_not(), -math.inf)
    weights = (scores if mask is None else scores + mask).softmax(dim=-1)
    return weights.masked_fill(weights.isnan(), 0)


def attention_weights__nan(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is None:
        return scores.softmax(-1)
    is_bool = "bool" in str(mask.dtype)
    scores = functions.where(mask, scores, scores.new_full((), -math.inf)) if is_bool else mask + scores
    weights = scores.softmax(-1)
    nothing = scores.amax(-1, keepdim=True) == -math.inf
    return functions.where(nothing, weights.new_zeros(()), weights)


def merge_partials__factors(first, second):
    first_is_larger = first.largest >= second.largest
    largest = functions.where(first_is_larger, first.largest, second.largest)
    gap = -(first.largest - second.largest).abs()
    gap = gap.masked_fill(gap.isnan(), 0.0)
    small = gap.exp()
    one = small.new_ones(small.shape)
    a = functions.where(first_is_larger, one, small)
    b = functions.where(first_is_larger, small, one)
    return Partial(largest, a * first.total + b * second.total, a * first.mixed + b * second.mixed)


def merge_partials__nan_is_nothing(first, second):
    largest = functions.maximum(first.largest, second.largest)

    def factor(part):
        distance = part.largest - largest
        return functions.where(distance.isnan(), 0.0, distance.exp())

    a, b = factor(first), factor(second)
    return Partial(largest, *(x * a + y * b for x, y in zip(first[1:], second[1:])))


def merge_partials__stacked(first, second):
    largest = functions.stack([first.largest, second.largest])
    top = largest.amax(0)
    factors = (largest - top.clamp(min=-1e35)).exp()
    total = (functions.stack([first.total, second.total]) * factors).sum(0)
    mixed = (functions.stack([first.mixed, second.mixed]) * factors).sum(0)
    return Partial(largest=top, total=total, mixed=mixed)


def tiled_attention__running(query, key, value, block, is_causal=False, scale=None):
    shape = query.shape[:-1]
    largest, total = query.new_full([*shape, 1], -math.inf), query.new_zeros([*shape, 1])
    mixed = query.new_zeros([*shape, value.shape[-1]])
    begin = 0
    while begin < key.shape[-2]:
        end = min(begin + block, key.shape[-2])
        scores = block_scores(query, key, begin, end, is_causal, scale)
        now = functions.maximum(largest, scores.amax(-1, keepdim=True))
        weights, factor = (scores - now).exp(), (largest - now).exp()
        total = total * factor + weights.sum(-1, keepdim=True)
        mixed = mixed * factor + weights @ value[..., begin:end, :]
        largest, begin = now, end
    return mixed / total, (largest + total.log())[..., 0]


def tiled_attention__two_passes(query, key, value, block, is_causal=False, scale=None):
    count = key.shape[-2]
    ranges = [(begin, min(count, begin + block)) for begin in range(0, count, block)]
    logs = [block_scores(query, key, *each, is_causal, scale).logsumexp(-1, keepdim=True) for each in ranges]
    logsumexp = logs[0]
    for each in logs[1:]:
        top = functions.maximum(logsumexp, each)
        logsumexp = top + ((logsumexp - top).exp() + (each - top).exp()).log()
    out = 0
    for begin, end in ranges:
        weights = (block_scores(query, key, begin, end, is_causal, scale) - logsumexp).exp()
        out = weights @ value[..., begin:end, :] + out
    return out, logsumexp.squeeze(-1)


def tiled_attention_backward__lists(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    of_query, keys, values = 0, [], []
    for begin in range(0, key.shape[-2], block):
        part = slice(begin, begin + block)
        k, v = key[..., part, :], value[..., part, :]
        scores = block_scores(query, key, begin, begin + k.shape[-2], is_causal, scale)
        weights = functions.exp(scores - logsumexp[..., None])
        values.append(weights.transpose(-1, -2).matmul(grad))
        slope = (grad.matmul(v.mT) - (out * grad).sum(-1)[..., None]) * weights
        keys.append(slope.mT.matmul(query * scale))
        of_query = of_query + slope.matmul(k * scale)
    return of_query, functions.cat(keys, -2), functions.cat(values, -2)


def tiled_attention_backward__key_by_key(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    delta = functions.sum(grad * out, -1)
    of_query, of_key, of_value = (functions.zeros_like(each) for each in (query, key, value))
    for j in range(key.shape[-2]):
        weight = (block_scores(query, key, j, j + 1, is_causal, scale)[..., 0] - logsumexp).exp()
        slope = weight * ((grad * value[..., j : j + 1, :]).sum(-1) - delta) * scale
        of_query = of_query + slope[..., None] * key[..., j : j + 1, :]
        of_key[..., j, :] = (slope[..., None] * query).sum(-2)
        of_value[..., j, :] = (weight[..., None] * grad).sum(-2)
    return of_query, of_key, of_value


def attention_traffic__operators(batch, heads, queries, keys, size, tile, itemsize=4):
    q, k, s = queries * size, keys * size, queries * keys
    operators = [(q, k, s), (s, s), (s, k, q)]
    fused = 0
    for begin in range(0, queries, tile):
        rows = min(tile, queries - begin)
        fused += rows * size + k + k + rows * size
    factor = batch * heads * itemsize
    return sum(map(sum, operators)) * factor, fused * factor


def attention_traffic__ceil(batch, heads, queries, keys, size, tile, itemsize=4):
    tiles = (queries + tile - 1) // tile
    unfused = 4 * queries * keys + 2 * size * (queries + keys)
    return batch * heads * itemsize * unfused, batch * heads * itemsize * 2 * size * (queries + tiles * keys)


def rotate__matrices(x, positions, base=10000.0):
    pairs = x.unflatten(-1, (-1, 2))
    rates = base ** (functions.arange(0, x.shape[-1], 2, dtype=x.dtype) / -x.shape[-1])
    angles = positions.to(x.dtype)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    matrices = functions.stack([functions.stack([cos, -sin], -1), functions.stack([sin, cos], -1)], -2)
    return (matrices @ pairs.unsqueeze(-1)).squeeze(-1).flatten(-2)


def rotate__outer(x, positions, base=10000.0):
    size, turned = x.shape[-1], functions.empty_like(x)
    rates = base ** (-functions.arange(0, size, 2, dtype=x.dtype) / size)
    angles = functions.outer(positions.to(x.dtype), rates)
    cos, sin = angles.cos(), angles.sin()
    turned[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    turned[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return turned


def rotate__one_by_one(x, positions, base=10000.0):
    result = x.clone()
    for row, position in enumerate(positions.tolist()):
        for i in range(0, x.shape[-1], 2):
            angle = position * base ** (-i / x.shape[-1])
            a, b = x[..., row, i], x[..., row, i + 1]
            result[..., row, i] = a * math.cos(angle) - b * math.sin(angle)
            result[..., row, i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return result


def _weights(query, key, mask):
    return attention_weights__by_hand(query, key, mask)


def grouped_attention__repeated(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(times, 1) for each in (key, value))
    return _weights(query, key, mask) @ value


def grouped_attention__slices(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    heads = []
    for h in range(query.shape[1]):
        one_key, one_value = key[:, h // times, None], value[:, h // times, None]
        heads.append(_weights(query[:, h : h + 1], one_key, mask) @ one_value)
    return functions.cat(heads, 1)


def grouped_attention__loop(query, key, value, mask=None):
    times, heads = query.shape[1] // key.shape[1], []
    for head in range(query.shape[1]):
        weights = _weights(query[:, head], key[:, head // times], mask)
        heads.append(weights @ value[:, head // times])
    return functions.stack(heads, 1)


# The model


def split_heads__strided(x, heads):
    batch, n, width = x.shape[0], x.shape[1], x.shape[2] // 3
    sizes = (batch, heads, n, width // heads)
    a, b, step = x.stride()
    strides = (a, width // heads * step, b, step)
    return tuple(x.as_strided(sizes, strides, x.storage_offset() + part * width * step) for part in range(3))


def split_heads__permuted(x, heads):
    q, k, v = x.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
    return q, k, v


def merge_heads__reshape(x):
    batch, heads, n, size = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, n, heads * size)


def merge_heads__try(x):
    x = x.transpose(1, 2)
    try:
        return x.view(*x.shape[:2], -1)
    except RuntimeError:
        return x.contiguous().view(*x.shape[:2], -1)


def forward_block__steps(block, x, heads, attend):
    normed = block.norm_1(x)
    parts = split_heads(block.attention(normed), heads)
    mixed = merge_heads(attend(*parts))
    middle = block.projection(mixed) + x
    normed = block.norm_2(middle)
    inner = block.activation(block.up(normed))
    return block.down(inner) + middle


def forward_block__own_heads(block, x, heads, attend):
    batch, n, width = x.shape
    packed = block.attention(block.norm_1(x)).reshape(batch, n, 3, heads, width // heads)
    q, k, v = (packed[:, :, part].transpose(1, 2) for part in range(3))
    found = attend(q, k, v).transpose(1, 2).reshape(batch, n, width)
    for added in (lambda x: block.projection(found), lambda x: block.down(block.activation(block.up(block.norm_2(x))))):
        x = x + added(x)
    return x


def tied_gradient__one_hot(tokens, of_embedded, hidden, of_scores):
    width, vocabulary = of_embedded.shape[-1], of_scores.shape[-1]
    one_hot = (tokens.reshape(-1, 1) == functions.arange(vocabulary)).to(of_scores.dtype)
    left = functions.cat([one_hot, of_scores.reshape(-1, vocabulary)])
    right = functions.cat([of_embedded.reshape(-1, width), hidden.reshape(-1, width)])
    return left.t() @ right


def tied_gradient__loop(tokens, of_embedded, hidden, of_scores):
    grad = functions.einsum("bnv,bnw->vw", [of_scores, hidden])
    for text, row in enumerate(tokens.tolist()):
        for position, token in enumerate(row):
            grad[token] = grad[token] + of_embedded[text, position]
    return grad


def rms_norm__norm(x, weight, eps=1e-5):
    wide = x.float() if "16" in str(x.dtype) else x
    mean = (wide * wide).sum(-1, keepdim=True) / x.shape[-1]
    return (wide / (mean + eps).sqrt() * weight.to(wide.dtype)).to(x.dtype)


def rms_norm__double(x, weight, eps=1e-5):
    wide = x.double()
    return (wide * weight.double() / (wide.pow(2).mean(-1).unsqueeze(-1) + eps) ** 0.5).to(x.dtype)


# Predictions


def attended__means(program):
    values = {"a": 4.0, "b": 8.0, "c": 12.0, "d": 24.0}
    seen = {
        "example": ["abcd"] * 4, "causal": ["a", "ab", "abc", "abcd"], "causal, two queries": ["a", "ab"],
        "a bool mask": ["ad"] * 4, "a mask of zeros": ["abcd"] * 4, "a mask of False": [""] * 4, "by hand": [None] * 4,
        "a band": ["a", "ab", "bc", "cd"], "loud": ["b"] * 4, "loud and causal": ["a", "b", "b", "b"],
        "no scale": ["abcd"] * 4,
    }[program]  # fmt: skip
    return [None if each is None else sum(values[x] for x in each) / max(1, len(each)) for each in seen]


def attended__tuple(program):
    causal = (4, 6, 8, 12)
    if program == "causal":
        return causal
    if program == "causal, two queries":
        return causal[:2]
    if program == "a band":
        return (4, 6, 10, 18)
    if program == "loud and causal":
        return (4, 8, 8, 8)
    return ({"a bool mask": 14, "a mask of False": 0, "by hand": None, "loud": 8}.get(program, 12),) * 4
