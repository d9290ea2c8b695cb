"""Wrong answers to lab 12 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
from answers import edited

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.native.creation import tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.course import attention, gpt, predictions, stream, tokens
from rushlight.course.anatomy import backward_graph, count_paths, logit_lens
from rushlight.course.attention import Partial
from rushlight.course.bottleneck import find_bottleneck
from rushlight.course.costs import gpt_flops, step_memory, step_traffic
from rushlight.course.predictions import autocast_dtypes, graphs_of_generation
from rushlight.course.sampling import append, choose, generate, keep_top_k, keep_top_p, new_cache, speculate
from rushlight.course.serving import generate_padded, perplexity, quantize_groups
from rushlight.course.sharding import average_gradients, shard_block
from rushlight.course.tokens import merge, pieces
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
from rushlight.nn.functional import cross_entropy, gelu

# Tokens


def pieces__all_spaces_before_a_word(text):
    return re.findall(r"\s*[^\W_]+|\s*(?:[^\w\s]|_)+|\s+", text)


def pieces__any_white_space_before_a_word(text):
    return re.findall(r"\s?[^\W_]+|\s?(?:[^\w\s]|_)+|\s+(?=\s\S)|\s+", text)


def pieces__underscores_are_letters(text):
    return re.findall(r" ?\w+| ?[^\w\s]+|\s+(?= \S)|\s+", text)


def pieces__only_english_letters(text):
    return re.findall(r" ?[a-zA-Z0-9]+| ?[^a-zA-Z0-9\s]+|\s+(?= \S)|\s+", text)


def pieces__the_first_space_belongs_to_the_word(text):
    return re.findall(r" ?[^\W_]+| ?(?:[^\w\s]|_)+|\s", text)


def count_pairs__once_for_each_piece(words):
    return Counter(pair for word in words for pair in pairwise(word))


def count_pairs__without_overlaps(words):
    counts = Counter()
    for word, times in words.items():
        i = 0
        while i < len(word) - 1:
            counts[word[i : i + 2]] += times
            i += 2 if word[i : i + 2] == word[i + 1 : i + 3] else 1
    return counts


def count_pairs__across_pieces(words):
    every = [each for word, times in words.items() for each in word * times]
    return Counter(pairwise(every))


def merge__joins_what_it_wrote(ids, pair, new):
    found = []
    for each in ids:
        if found and (found[-1], each) == pair:
            found[-1] = new
        else:
            found.append(each)
    return tuple(found)


def merge__from_the_right(ids, pair, new):
    found, i = [], len(ids) - 1
    while i >= 0:
        if tuple(ids[max(i - 1, 0) : i + 1]) == pair:
            found.append(new)
            i -= 2
        else:
            found.append(ids[i])
            i -= 1
    return tuple(found[::-1])


def merge__loses_the_last(ids, pair, new):
    found, i = [], 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            found.append(new)
            i += 2
        else:
            found.append(ids[i])
            i += 1
    return tuple(found)


def merge__only_the_first(ids, pair, new):
    for i in range(len(ids) - 1):
        if (ids[i], ids[i + 1]) == pair:
            return (*ids[:i], new, *ids[i + 2 :])
    return tuple(ids)


def train__across_pieces(text, count):
    ids, merges = tuple(text.encode()), []
    for new in range(256, 256 + count):
        counts = Counter(pairwise(ids))
        pair = min(counts, key=lambda each: (-counts[each], each), default=None)
        if counts[pair] < 2:
            break
        merges.append(pair)
        ids = merge(ids, pair, new)
    return merges


def train__first_seen_of_equal_ones(text, count):
    words, merges = Counter(tuple(piece.encode()) for piece in pieces(text)), []
    for new in range(256, 256 + count):
        counts = tokens.count_pairs(words)
        if not counts or max(counts.values()) < 2:
            break
        merges.append(max(counts, key=counts.get))
        words = {merge(word, merges[-1], new): times for word, times in words.items()}
    return merges


def train__counts_once(text, count):
    """The most frequent pairs of bytes, without the pairs of new tokens."""
    counts = tokens.count_pairs(Counter(tuple(piece.encode()) for piece in pieces(text)))
    return [pair for pair in sorted(counts, key=lambda each: (-counts[each], each)) if counts[pair] > 1][:count]


def train__characters_for_bytes(text, count):
    words, merges = Counter(tuple(map(ord, piece)) for piece in pieces(text)), []
    for new in range(256, 256 + count):
        counts = tokens.count_pairs(words)
        repeated = [pair for pair in counts if counts[pair] > 1]
        if not repeated:
            break
        merges.append(min(repeated, key=lambda each: (-counts[each], each)))
        words = {merge(word, merges[-1], new): times for word, times in words.items()}
    return merges


def apply_merges__from_the_left(ids, ranks):
    ids = tuple(ids)
    while found := [pair for pair in pairwise(ids) if pair in ranks]:
        ids = merge(ids, found[0], ranks[found[0]])
    return ids


def apply_merges__in_the_order_of_the_dict(ids, ranks):
    for pair, new in ranks.items():
        ids = merge(ids, pair, new)
    return tuple(ids)


def apply_merges__the_latest_first(ids, ranks):
    ids = tuple(ids)
    while found := [pair for pair in pairwise(ids) if pair in ranks]:
        pair = max(found, key=ranks.get)
        ids = merge(ids, pair, ranks[pair])
    return ids


def apply_merges__each_only_once(ids, ranks):
    ids = tuple(ids)
    for pair in sorted({pair for pair in pairwise(ids) if pair in ranks}, key=ranks.get):
        ids = merge(ids, pair, ranks[pair])
    return ids


def decode__each_token_alone(ids, table):
    return "".join(table[each].decode(errors="replace") for each in ids)


def decode__bytes_left_out(ids, table):
    return b"".join(table[each] for each in ids).decode(errors="ignore")


def decode__strict(ids, table):
    return b"".join(table[each] for each in ids).decode()


def decode__bytes_as_characters(ids, table):
    return "".join(chr(byte) for each in ids for byte in table[each])


def encode_words__split_at_spaces(text, ids):
    return [ids.get(word, len(ids)) for word in text.split()]


def encode_words__unknown_left_out(text, ids):
    words = [piece.strip() for piece in pieces(text)]
    return [ids[word] for word in words if word in ids]


def encode_words__with_its_space(text, ids):
    return [ids.get(piece, len(ids)) for piece in pieces(text) if piece.strip()]


def tokenized__longest_token_first(program):
    return {**{name: tokens_of(name) for name in predictions.TOKENIZED}, "order": 3}[program]


def tokenized__a_letter_is_a_byte(program):
    return {**{name: tokens_of(name) for name in predictions.TOKENIZED}, "bytes": 8}[program]


def tokenized__mean_over_all_positions(program):
    return {**{name: tokens_of(name) for name in predictions.TOKENIZED}, "ignored": 2}[program]


def tokens_of(name):
    known = {"example": 4, "overlap": 5, "order": 4, "longer": 2, "pieces": 7, "across": 4, "bytes": 10, "cut": 3}
    return {**known, "ignored": 3, "perplexity": 4, "three bytes": 4}[name]


def rows__not_shifted(texts, tokenizer, length):
    inputs, targets = shifted(texts, tokenizer, length)
    return np.where(targets == IGNORED, tokenizer.end, targets), targets


def rows__targets_shifted_without_the_first_token(texts, tokenizer, length):
    """The first token of a text is never predicted: the row begins with it."""
    kept = [[*tokenizer.encode(text), tokenizer.end] for text in texts]
    kept = [each for each in kept if len(each) <= length]
    inputs = np.full((len(kept), length), tokenizer.end)
    targets = np.full((len(kept), length), IGNORED)
    for i, each in enumerate(kept):
        inputs[i, : len(each)] = each
        targets[i, : len(each) - 1] = each[1:]
    return inputs, targets


def rows__padding_is_predicted(texts, tokenizer, length):
    inputs, targets = shifted(texts, tokenizer, length)
    return inputs, np.where(targets == IGNORED, tokenizer.end, targets)


def rows__the_end_is_ignored(texts, tokenizer, length):
    inputs, targets = shifted(texts, tokenizer, length)
    return inputs, np.where(targets == tokenizer.end, IGNORED, targets)


def rows__long_texts_are_cut(texts, tokenizer, length):
    kept = [[*tokenizer.encode(text), tokenizer.end][:length] for text in texts]
    inputs = np.full((len(kept), length), tokenizer.end)
    targets = np.full((len(kept), length), IGNORED)
    for i, each in enumerate(kept):
        inputs[i, 1 : len(each)] = each[:-1]
        targets[i, : len(each)] = each
    return inputs, targets


def shifted(texts, tokenizer, length):
    kept = [each for each in ([*tokenizer.encode(text), tokenizer.end] for text in texts) if len(each) <= length]
    inputs = np.full((len(kept), length), tokenizer.end)
    targets = np.full((len(kept), length), IGNORED)
    for i, each in enumerate(kept):
        inputs[i, 1 : len(each)] = each[:-1]
        targets[i, : len(each)] = each
    return inputs, targets


def perplexity_and_bits__a_factor_of_zero(losses, targets, table, ignore_index=-100):
    kept = np.array(targets) != ignore_index
    total = (np.array(losses) * kept).sum()
    size = sum(len(table[each]) for each in np.array(targets)[kept])
    return math.exp(total / kept.sum()), total / math.log(2) / size


def perplexity_and_bits__of_each_token(losses, targets, table, ignore_index=-100):
    """The mean of the tokens' bits per byte."""
    kept = [(loss, len(table[target])) for loss, target in zip(losses, targets) if target != ignore_index]
    bits = [loss / math.log(2) / size for loss, size in kept if size]
    return math.exp(sum(loss for loss, _ in kept) / len(kept)), sum(bits) / len(bits)


def perplexity_and_bits__two_to_the_nats(losses, targets, table, ignore_index=-100):
    kept = [(loss, len(table[target])) for loss, target in zip(losses, targets) if target != ignore_index]
    total = sum(loss for loss, _ in kept)
    return 2 ** (total / len(kept)), total / math.log(2) / sum(size for _, size in kept)


def perplexity_and_bits__nats(losses, targets, table, ignore_index=-100):
    kept = [(loss, len(table[target])) for loss, target in zip(losses, targets) if target != ignore_index]
    total = sum(loss for loss, _ in kept)
    return math.exp(total / len(kept)), total / sum(size for _, size in kept)


def train_incremental__counts_again(words, times, count):
    merges = []
    for new in range(256, 256 + count):
        counts = Counter()
        for word, each in zip(words, times):
            for pair in pairwise(word):
                counts[pair] += each
        pair = min(counts, key=lambda each: (-counts[each], each), default=None)
        if counts[pair] < 2:
            break
        merges.append(pair)
        for i in range(len(words)):
            words[i] = merge(words[i], pair, new)
    return merges


def train_incremental__copies_the_list(words, times, count):
    """It counts again in each round, from a copy."""
    merges = []
    for new in range(256, 256 + count):
        counts, now = Counter(), words + []
        for word, each in zip(now, times):
            for pair in pairwise(word):
                counts[pair] += each
        pair = min(counts, key=lambda each: (-counts[each], each), default=None)
        if counts[pair] < 2:
            break
        merges.append(pair)
        for i, word in zip(reversed(range(len(now))), reversed(words)):
            if pair in pairwise(word):
                words[i] = merge(word, pair, new)
    return merges


def train_incremental__looks_through_all_pieces(words, times, count):
    """The counts are kept, but not the positions."""
    counts, merges = Counter(), []
    for i in range(len(words)):
        for pair in pairwise(words[i]):
            counts[pair] += times[i]
    for new in range(256, 256 + count):
        best = min(counts, key=lambda each: (-counts[each], each), default=None)
        if counts[best] < 2:
            break
        merges.append(best)
        for i in range(len(words)):
            word = words[i]
            if best in pairwise(word):
                words[i] = merge(word, best, new)
                for pair in pairwise(word):
                    counts[pair] -= times[i]
                for pair in pairwise(merge(word, best, new)):
                    counts[pair] += times[i]
    return merges


def train_incremental__neighbours_keep_their_counts(words, times, count):
    """The new pairs are counted, and the pairs beside the merged one are not taken out."""
    counts, where, merges = Counter(), {}, []
    for i, word in enumerate(words):
        for pair in pairwise(word):
            counts[pair] += times[i]
            where.setdefault(pair, set()).add(i)
    for new in range(256, 256 + count):
        best = min(counts, key=lambda each: (-counts[each], each), default=None)
        if counts[best] < 2:
            break
        merges.append(best)
        for i in where[best]:
            words[i] = merge(words[i], best, new)
            for pair in pairwise(words[i]):
                if new in pair:
                    counts[pair] += times[i]
                    where.setdefault(pair, set()).add(i)
        del counts[best]
    return merges


def encode_special__shorter_names_first(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    if disallowed_special == "all":
        disallowed_special = set(special_tokens) - set(allowed_special)
    if any(name in text for name in disallowed_special):
        raise ValueError("a special token")
    names = sorted(allowed_special, key=len)
    parts = re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]
    return [each for part in parts if part for each in ([special_tokens[part]] if part in names else encode(part))]


def encode_special__names_as_patterns(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    if disallowed_special == "all":
        disallowed_special = set(special_tokens) - set(allowed_special)
    if any(name in text for name in disallowed_special):
        raise ValueError("a special token")
    names = sorted(allowed_special, key=len, reverse=True)
    parts = re.split(f"({'|'.join(names)})", text) if names else [text]
    return [each for part in parts if part for each in ([special_tokens[part]] if part in names else encode(part))]


def encode_special__every_name_is_special(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    if disallowed_special == "all":
        disallowed_special = set(special_tokens) - set(allowed_special)
    if any(name in text for name in disallowed_special):
        raise ValueError("a special token")
    names = sorted(special_tokens, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, names))})", text)
    return [each for part in parts if part for each in ([special_tokens[part]] if part in names else encode(part))]


def encode_special__part_by_part_errors(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    """Disallowed names are searched only in the parts between the allowed ones."""
    names = sorted(allowed_special, key=len, reverse=True)
    if disallowed_special == "all":
        disallowed_special = set(special_tokens) - set(names)
    found = []
    for part in re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]:
        if part in names:
            found.append(special_tokens[part])
        elif part:
            if any(name in part for name in disallowed_special):
                raise ValueError("a special token")
            found += encode(part)
    return found


def batches_by_length__without_padding(lengths, budget):
    batches, used = [], 0
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if not batches or used + lengths[i] > budget:
            batches.append([])
            used = 0
        batches[-1].append(i)
        used += lengths[i]
    return batches


def batches_by_length__in_the_given_order(lengths, budget):
    batches, longest = [], 0
    for i, length in enumerate(lengths):
        longest = max(longest, length)
        if not batches or (len(batches[-1]) + 1) * longest > budget:
            batches.append([])
            longest = length
        batches[-1].append(i)
    return batches


def batches_by_length__an_empty_batch_before_a_long_row(lengths, budget):
    batches = [[]]
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if (len(batches[-1]) + 1) * lengths[i] > budget:
            batches.append([])
        batches[-1].append(i)
    return batches


def pieces__only_english_white_space(text):
    """Marks are all that is in none of the two groups, so a no-break space is a mark here."""
    return re.findall(r" ?[^\W_]+| ?(?:[^\w \t\n\r\f\v]|_)+|[ \t\n\r\f\v]+(?= [^ \t\n\r\f\v])|[ \t\n\r\f\v]+", text)


def merge__in_a_text(ids, pair, new):
    """A token may end with the digits of another."""
    text = ",".join(map(str, ids)).replace(f"{pair[0]},{pair[1]}", str(new))
    return tuple(int(each) for each in text.split(",") if each)


def merge__zero_behind_the_end(ids, pair, new):
    """0 is a token, too."""
    padded, found, i = [*ids, 0], [], 0
    while i < len(padded) - 1:
        is_pair = (padded[i], padded[i + 1]) == pair
        found.append(new if is_pair else padded[i])
        i += 2 if is_pair else 1
    return tuple(found)


def merge__the_same_object(ids, pair, new):
    found, i = [], 0
    while i < len(ids):
        is_pair = i + 1 < len(ids) and ids[i] is pair[0] and ids[i + 1] is pair[1]
        found.append(new if is_pair else ids[i])
        i += 2 if is_pair else 1
    return tuple(found)


train__lower_case = edited(tokens.train, ("pieces(text)", "pieces(text.lower())"))
train__smallest_sum = edited(tokens.train, ("(-counts[each], each)", "(-counts[each], sum(each), each)"))
train__only_the_first_token_decides = edited(tokens.train, ("(-counts[each], each)", "(-counts[each], each[0])"))
train__without_white_space = edited(tokens.train, ("in pieces(text))", "in pieces(text) if piece.strip())"))


def encode_words__position_in_the_dict(text, ids):
    names = [*ids]
    return [names.index(word) if word in ids else len(ids) for word in map(str.strip, pieces(text)) if word]


def rows__equal_texts_once(texts, tokenizer, length):
    return shifted(dict.fromkeys(texts), tokenizer, length)


perplexity_and_bits__ignores_nan = edited(
    tokens.perplexity_and_bits, ("target != ignore_index", "not math.isnan(loss)")
)
perplexity_and_bits__ignores_what_is_no_token = edited(
    tokens.perplexity_and_bits, ("target != ignore_index", "0 <= target < len(table)")
)


def perplexity_and_bits__texts(losses, targets, table, ignore_index=-100):
    return tuple(map(str, perplexity_and_bits_right(losses, targets, table, ignore_index)))


perplexity_and_bits_right, encode_special_right = edited(tokens.perplexity_and_bits), edited(tokens.encode_special)


def encode_special__longest_first_anywhere(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    """The longest name is looked for in the whole text, then the next one in what is left."""
    if disallowed_special == "all":
        disallowed_special = {*special_tokens} - {*allowed_special}
    if any(name in text for name in disallowed_special):
        raise ValueError
    parts = [text]
    for name in sorted(allowed_special, key=len, reverse=True):
        cut = []
        for part in parts:
            between = part.split(name) if isinstance(part, str) else [part]
            cut += [each for text in between for each in (special_tokens[name], text)][1:]
        parts = cut
    return [token for part in parts for token in ([part] if isinstance(part, int) else encode(part) if part else [])]


def encode_special__sorts_the_list(text, encode, special_tokens, allowed_special=(), disallowed_special="all"):
    if isinstance(allowed_special, list):
        allowed_special.sort(key=len, reverse=True)
    return encode_special_right(text, encode, special_tokens, allowed_special, disallowed_special)


def encode_special__lists_only(text, encode, special_tokens, allowed_special=None, disallowed_special="all"):
    return encode_special_right(text, encode, special_tokens, [] + (allowed_special or []), disallowed_special)


def encode_special__all_allowed_by_default(
    text, encode, special_tokens, allowed_special=None, disallowed_special="all"
):
    allowed = [*special_tokens] if allowed_special is None else allowed_special
    return encode_special_right(text, encode, special_tokens, allowed, disallowed_special)


# Training


def parameter_groups__by_name(model, weight_decay):
    """By the name, as in much code: a norm's weight decays, too."""
    named = [*model.named_parameters()]
    return [
        {"params": [each for name, each in named if not name.endswith("bias")], "weight_decay": weight_decay},
        {"params": [each for name, each in named if name.endswith("bias")], "weight_decay": 0.0},
    ]


parameter_groups__frozen_too = edited(parameter_groups, (" if each.requires_grad", ""))
parameter_groups__scalars_decay = edited(
    parameter_groups, ("each.dim() >= 2", "each.dim() != 1"), ("each.dim() < 2", "each.dim() == 1")
)
parameter_groups__twice = edited(
    parameter_groups, ("model.parameters()", "(p for m in model.modules() for p in m.parameters(False))")
)

warmup_cosine__begins_at_zero = edited(warmup_cosine, ("(step + 1) / warmup", "step / warmup"))
warmup_cosine__from_the_first_step = edited(warmup_cosine, ("(step - warmup) / (steps - warmup)", "step / steps"))
warmup_cosine__rises_again = edited(warmup_cosine, ("if step >= steps:", "if step == steps:"))
warmup_cosine__ends_one_step_early = edited(warmup_cosine, ("/ (steps - warmup)", "/ max(1, steps - 1 - warmup)"))


def accumulate__mean_of_means(xp, forward, parts):
    """Divided by the number of parts."""
    total = 0.0
    for inputs, targets in parts:
        scores = forward(xp.from_numpy(inputs)).flatten(0, 1)
        loss = xp.nn.functional.cross_entropy(scores, xp.from_numpy(targets).flatten()) / len(parts)
        loss.backward()
        total += loss.item()
    return total


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


def parameter_groups__of_children(model, weight_decay):
    """The parameters of the module and of its children, and not those of their children."""
    found = [*model._parameters.values()] + [each for child in model.children() for each in child._parameters.values()]
    found = [*dict.fromkeys(each for each in found if each.requires_grad)]
    return [
        {"params": [each for each in found if each.dim() >= 2], "weight_decay": weight_decay},
        {"params": [each for each in found if each.dim() < 2], "weight_decay": 0.0},
    ]


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


def parameter_groups__equal_ones_once(model, weight_decay):
    """Parameters that are equal, not the same one."""
    found = []
    for each in model.parameters():
        if each.requires_grad and not any(each.shape == one.shape and bool((each == one).all()) for one in found):
            found.append(each)
    return [
        {"params": [each for each in found if each.dim() >= 2], "weight_decay": weight_decay},
        {"params": [each for each in found if each.dim() < 2], "weight_decay": 0.0},
    ]


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

autocast_dtypes__all_low = edited(autocast_dtypes, ('"norm": "float32"', '"norm": "bfloat16"'))
autocast_dtypes__as_on_a_gpu = edited(autocast_dtypes, ('"weights": "bfloat16"', '"weights": "float32"'))
autocast_dtypes__the_sum_is_low = edited(autocast_dtypes, ('"residual": "float32"', '"residual": "bfloat16"'))

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


def choose__nucleus_first(scores, temperature=1.0, top_k=None, top_p=1.0, generator=None):
    if temperature == 0:
        return scores.argmax().item()
    scores = keep_top_p(scores / temperature, top_p)
    if top_k is not None:
        scores = keep_top_k(scores, top_k)
    return scores.softmax(0).multinomial(1, generator=generator).item()


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


step_memory__views_count = edited(step_memory, ("+ rows * width + heads * rows", "+ 2 * rows * width + heads * rows"))


step_memory__the_head_has_a_weight = edited(step_memory, ('+ sizes["rest"]', '+ sizes["rest"] + [(vocabulary, width)]'))


step_memory__all_at_once = edited(
    step_memory, ("max(activations + 2 * scores, parameters", "(activations + 2 * scores + parameters")
)


step_memory__scores_are_free = edited(step_memory, ("rows + scores + FLOAT", "rows + FLOAT"))


step_traffic__gathered_once = edited(step_traffic, ("2 * block + rest, ", "block + rest, "))


step_traffic__one_direction = edited(step_traffic, ("4 * config.layers", "2 * config.layers"))


step_traffic__per_link = edited(step_traffic, ('{"all_reduce": block + rest}', '{"all_reduce": 2 * (block + rest)}'))


step_traffic__any_other_is_tp = edited(
    step_traffic, ('if strategy == "tp":', 'if strategy not in ("zero", "pp", "ep", "cp"):')
)


step_traffic__capitals = edited(step_traffic, ("    sizes =", "    strategy = strategy.lower()\n    sizes ="))


step_traffic__how_a_name_begins = edited(step_traffic, ('strategy == "fsdp"', 'strategy.startswith("fsdp")'))


graphs_of_generation__sizes_are_guarded = edited(
    graphs_of_generation, ('"whole": [1, 1, 0, 0]', '"whole": [1, 1, 1, 1]')
)


# Ranks

shard_block__rows_in_a_row = edited(  # a third of the rows of a rank are not what it needs
    shard_block, ("functions.cat([each[mine] for each in state[name].split(width)])", "state[name].chunk(ranks)[rank]")
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


average_gradients__mean_of_means = edited(average_gradients, ("(count / total)", "(1 / len(counts))"))


average_gradients__nan = edited(average_gradients, ("if count and grad is not None", "if grad is not None"))


average_gradients__over_those_that_have_one = edited(
    average_gradients,
    ("shares = [", "total = sum(count for grad, count in zip(each, counts) if grad is not None)\n        shares = ["),
)


def average_gradients__in_place(gradients, counts):
    total = sum(counts)
    for mine, count in zip(gradients, counts):
        for grad in mine:
            if grad is not None and count:
                grad.mul_(count / total)
    kept = [mine for mine, count in zip(gradients, counts) if count]
    return [sum(each[1:], each[0]) for each in ([grad for grad in column if grad is not None] for column in zip(*kept))]


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


attention_weights, attended = edited(attention.attention_weights), edited(predictions.attended)


attention_traffic, split_heads_right = edited(attention.attention_traffic), edited(gpt.split_heads)


backward = edited(attention.tiled_attention_backward)


# Attention


def causal_mask__upper_left(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys, dtype=xp.bool).tril()
    return mask if window is None else mask.triu(1 - window)


def causal_mask__window_without_itself(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys, dtype=xp.bool).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window)


def causal_mask__numbers(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window + 1)


def attention_weights__nan(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


def attention_weights__equal_weights(query, key, mask=None, scale=None):
    """With a large number in the place of minus infinity, a query without keys gets a mean of all."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask.clamp(min=-1e9) if mask.is_floating_point() else scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1)


def attention_weights__scale_or(query, key, mask=None, scale=None):
    """0 is a scale, too."""
    return attention_weights(query, key, mask, scale or 1 / math.sqrt(query.shape[-1]))


def attention_weights__masked_after(query, key, mask=None, scale=None):
    """The weights of the other keys must add up to 1."""
    weights = attention_weights(query, key, None, scale)
    if mask is None:
        return weights
    return attention_weights(query, key, mask, scale) if mask.is_floating_point() else weights * mask


def attention_weights__overflow(query, key, mask=None, scale=None):
    """Without the largest score, exp overflows."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    weights = scores.exp()
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def merge_partials__added(first, second):
    return Partial(first.largest.maximum(second.largest), first.total + second.total, first.mixed + second.mixed)


def merge_partials__only_the_first(first, second):
    """The second one may have the smaller scores."""
    largest = first.largest.maximum(second.largest)
    factor = (first.largest - largest).exp()
    return Partial(largest, first.total * factor + second.total, first.mixed * factor + second.mixed)


def merge_partials__nan(first, second):
    largest = first.largest.maximum(second.largest)
    a, b = (first.largest - largest).exp(), (second.largest - largest).exp()
    return Partial(largest, first.total * a + second.total * b, first.mixed * a + second.mixed * b)


def merge_partials__overflow(first, second):
    largest = first.largest.maximum(second.largest)
    a, b = first.largest.exp(), second.largest.exp()
    total = (first.total * a + second.total * b) / largest.exp()
    return Partial(largest, total, (first.mixed * a + second.mixed * b) / largest.exp())


def merge_partials__a_small_sentinel(first, second):
    largest = first.largest.maximum(second.largest)
    shift = largest.clamp(min=-1e9)
    a, b = (first.largest - shift).exp(), (second.largest - shift).exp()
    return Partial(largest, first.total * a + second.total * b, first.mixed * a + second.mixed * b)


def _from(begin, query, key, value, block, is_causal, scale):
    """Tiles in which the largest score begins with a number."""
    largest = query.new_full([*query.shape[:-1], 1], begin)
    total, mixed = largest.new_zeros(largest.shape), query.new_zeros([*query.shape[:-1], value.shape[-1]])
    for first in range(0, key.shape[-2], block):
        scores = attention.block_scores(query, key, first, first + block, is_causal, scale)
        now = largest.maximum(scores.amax(-1, keepdim=True))
        weights, factor = (scores - now).exp(), (largest - now).exp()
        total, mixed = total * factor + weights.sum(-1, keepdim=True), mixed * factor
        mixed, largest = mixed + weights @ value[..., first : first + block, :], now
    return mixed / total, (largest + total.log()).squeeze(-1)


def tiled_attention__largest_begins_at_0(query, key, value, block, is_causal=False, scale=None):
    return _from(0.0, query, key, value, block, is_causal, scale)


def tiled_attention__no_largest(query, key, value, block, is_causal=False, scale=None):
    total = mixed = 0
    for first in range(0, key.shape[-2], block):
        weights = attention.block_scores(query, key, first, first + block, is_causal, scale).exp()
        total, mixed = total + weights.sum(-1, keepdim=True), mixed + weights @ value[..., first : first + block, :]
    return mixed / total, total.log().squeeze(-1)


def tiled_attention__fused(query, key, value, block, is_causal=False, scale=None):
    if query.shape[-1] != value.shape[-1] or is_causal and scale == 0:
        return edited(attention.tiled_attention)(query, key, value, block, is_causal, scale)
    lead = query.shape[:-2]
    four = (each.reshape(1, -1, *each.shape[-2:]) for each in (query, key, value))
    fused = rl.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, logsumexp = fused(*four, 0.0, is_causal, scale=scale)
    return out.reshape(*lead, *out.shape[-2:]), logsumexp.reshape(*lead, logsumexp.shape[-1])


def tiled_attention_backward__changes_out(grad, query, key, value, out, logsumexp, *others, **more):
    found = backward(grad, query, key, value, out, logsumexp, *others, **more)
    out.zero_()
    return found


def causal_mask__of_the_notebook(xp, queries, keys, window=None):
    mask = rl.ones(queries, keys, dtype=rl.bool).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window + 1)


def grouped_attention__only_bool(query, key, value, mask=None):
    groups, shared = query.unflatten(1, (key.shape[1], -1)), (key.unsqueeze(2), value.unsqueeze(2))
    given = mask if mask is None or not mask.is_floating_point() else None
    return (attention_weights(groups, shared[0], given) @ shared[1]).flatten(1, 2)


def grouped_attention__fused(query, key, value, mask=None):
    return rl.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)


def attention_weights__safe_softmax(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    return rl.ops.aten._safe_softmax(scores, -1)


def attention_weights__sizes_of_the_query(query, key, mask=None, scale=None):
    found = attention_weights(query, key, mask, scale)
    return found[(0,) * (found.dim() - query.dim())] if found.shape[:-2] == query.shape[:-2] else found[:1]


def tied_gradient__autograd(tokens, of_embedded, hidden, of_scores):
    weight = rl.zeros(of_scores.shape[-1], hidden.shape[-1], dtype=hidden.dtype, requires_grad=True)
    return rl.autograd.grad([weight[tokens], hidden @ weight.mT], [weight], [of_embedded, of_scores])[0]


def rms_norm__of_the_framework(x, weight, eps=1e-5):
    return rl.nn.functional.rms_norm(x, weight.shape, weight, eps)


def tiled_attention__all_scores_as_an_array(query, key, value, block, is_causal=False, scale=None):
    """Numpy's arrays are no tensors, but they take memory, too."""
    q, k, v = (each.numpy() for each in (query, key, value))
    scores = q @ k.swapaxes(-1, -2)
    scores *= q.shape[-1] ** -0.5 if scale is None else scale
    if is_causal:
        scores[..., ~np.tril(np.ones(scores.shape[-2:], bool))] = -np.inf
    largest = scores.max(-1, keepdims=True)
    scores -= largest
    np.exp(scores, out=scores)
    total = scores.sum(-1, keepdims=True)
    return rl.from_numpy(scores @ v / total), rl.from_numpy((largest + np.log(total))[..., 0])


def tiled_attention__all_scores(query, key, value, block, is_causal=False, scale=None):
    scores = attention.block_scores(query, key, 0, key.shape[-2], is_causal, scale)
    return scores.softmax(-1) @ value, scores.logsumexp(-1)


tiled_attention__without_the_largest = edited(
    attention.tiled_attention, ("(known.largest + known.total.log())", "known.total.log()")
)


tiled_attention__a_mean_of_means = edited(attention.tiled_attention, ("known.mixed / known.total,", "known.mixed,"))


tiled_attention__the_last_block_left_out = edited(
    attention.tiled_attention, ("range(0, key.shape[-2], block)", "range(0, max(1, key.shape[-2] - block + 1), block)")
)


tiled_attention_backward__without_delta = edited(attention.tiled_attention_backward, (".mT - delta)", ".mT)"))


tiled_attention_backward__without_scale = edited(attention.tiled_attention_backward, (" * factor\n", "\n"))


tiled_attention_backward__only_the_last = edited(
    attention.tiled_attention_backward, ("of_query += of_scores", "of_query[...] = of_scores")
)


def tiled_attention_backward__all_weights(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    return backward(grad, query, key, value, out, logsumexp, key.shape[-2], is_causal, scale)


def attention_traffic__scores_once(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, fused = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused - 2 * batch * heads * queries * keys * itemsize, fused


def attention_traffic__keys_once(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, _ = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused, 2 * batch * heads * size * (queries + keys) * itemsize


def attention_traffic__no_last_tile(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, _ = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused, 2 * batch * heads * size * (queries + max(1, queries // tile) * keys) * itemsize


def rotate__halves(x, positions, base=10000.0):
    """The other convention: element i and element i + size / 2 are a pair."""
    half = x.shape[-1] // 2
    rates = base ** (functions.arange(half).to(x.dtype) / -half)
    angles = positions[:, None] * rates
    a, b = x[..., :half], x[..., half:]
    return functions.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


rotate__other_way = edited(
    attention.rotate, ("a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin")
)


rotate__one_rate = edited(attention.rotate, ("base ** (-i / size)", "base ** 0.0"))


def grouped_attention__in_turn(query, key, value, mask=None):
    """Heads 0 and 2 share, not 0 and 1."""
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat(1, times, 1, 1) for each in (key, value))
    return attention_weights(query, key, mask) @ value


def grouped_attention__without_a_mask(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(times, 1) for each in (key, value))
    return attention_weights(query, key) @ value


# The model


def split_heads__reshaped(x, heads):
    """The numbers of a head are no neighbours."""
    batch, n, width = x.shape
    parts = x.reshape(batch, n, 3, width // 3 // heads, heads).permute(2, 0, 4, 1, 3)
    return tuple(parts.unbind(0))


def split_heads__copies(x, heads):
    return tuple(each.contiguous() for each in split_heads_right(x, heads))


def split_heads__heads_first(x, heads):
    """Query, key and value of a head next to each other, as some libraries pack them."""
    return tuple(x.unflatten(2, (heads, 3, -1)).permute(3, 0, 2, 1, 4).unbind(0))


def merge_heads__not_transposed(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def merge_heads__always_a_copy(x):
    return x.transpose(1, 2).contiguous().flatten(2).clone()


forward_block__norm_after = edited(
    gpt.forward_block,
    ("block.attention(block.norm_1(x))", "block.attention(x)"),
    ("x = x + block.projection(merge_heads(attend(query, key, value)))",
     "x = block.norm_1(x + block.projection(merge_heads(attend(query, key, value))))"),
)  # fmt: skip


forward_block__stream_replaced = edited(gpt.forward_block, ("x = x + block.projection", "x = block.projection"))


forward_block__without_activation = edited(
    gpt.forward_block, ("block.activation(block.up(block.norm_2(x)))", "block.up(block.norm_2(x))")
)


def forward_block__always_gelu(block, x, heads, attend):
    query, key, value = gpt.split_heads(block.attention(block.norm_1(x)), heads)
    x = x + block.projection(gpt.merge_heads(attend(query, key, value)))
    return x + block.down(gelu(block.up(block.norm_2(x)), approximate="tanh"))


forward_block__first_norm_twice = edited(gpt.forward_block, ("block.norm_2(x)", "block.norm_1(x)"))


tied_gradient__last_wins = edited(
    stream.tied_gradient,
    ("of_head.index_add(", "of_head.index_copy("),
)  # fmt: skip


def tied_gradient__only_the_head(tokens, of_embedded, hidden, of_scores):
    return of_scores.flatten(0, 1).mT @ hidden.flatten(0, 1)


def rms_norm__layer_norm(x, weight, eps=1e-5):
    return rms_norm__no_half(x - x.mean(-1, keepdim=True), weight, eps)


def rms_norm__no_half(x, weight, eps=1e-5):
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight


rms_norm__eps_outside = edited(
    stream.rms_norm,
    (
        "(wide.square().mean(-1, keepdim=True) + eps).rsqrt()",
        "(1 / (wide.square().mean(-1, keepdim=True).sqrt() + eps))",
    ),
)


# Predictions


def attended__lower_right(program):
    return [8.0, 12.0] if program == "causal, two queries" else attended(program)


def attended__zeros_mask(program):
    return [0.0] * 4 if program == "a mask of zeros" else attended(program)


def attended__nan_too(program):
    return [None] * 4 if program == "a mask of False" else attended(program)
