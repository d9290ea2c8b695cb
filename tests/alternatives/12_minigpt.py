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
from itertools import groupby, pairwise

import numpy as np

import rushlight as rl
from rushlight.course.predictions import CASTS
from rushlight.course.sampling import keep_top_k, keep_top_p, new_cache
from rushlight.course.tokens import count_pairs, merge, pieces
from rushlight.course.training import IGNORED, Validation

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
    return dict([*known, ("cut", 3), ("ignored", 3), ("uniform", 600), ("two bytes", 8)])[program]


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
        "uniform",
        "two bytes",
    ]
    return [4, 5, 4, 2, 7, 4, 10, 3, 3, 600, 8][names.index(program)]


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
        weight = count / sum(counts)
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
    order = order[:top_k]
    whole, total, kept = sum(weights[each] for each in order), 0.0, [0.0] * len(values)
    for token in order:
        if total / whole >= top_p and total:
            break
        kept[token] = weights[token]
        total += weights[token]
    kept = rl.tensor(kept, dtype=scores.dtype)
    return (kept / kept.sum()).multinomial(1, generator=generator).tolist()[0]


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
