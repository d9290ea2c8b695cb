"""Wrong answers to lab 12a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np

from rushlight.course import predictions, tokens
from rushlight.course.tokens import merge, pieces
from rushlight.course.training import IGNORED

from ..shared import edited


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


apply_merges__the_latest_first = edited(
    tokens.apply_merges,
    ("pair = min(fitting, key=lambda candidate: ranks[candidate])", "pair = max(fitting, key=ranks.get)"),
)


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


perplexity_and_bits__two_to_the_nats = edited(
    tokens.perplexity_and_bits, ("math.exp(total / len(counted))", "2 ** (total / len(counted))")
)
perplexity_and_bits__counts_characters = edited(
    tokens.perplexity_and_bits, ("len(table[target])", 'len(table[target].decode("utf-8", "replace"))')
)
perplexity_and_bits__nats = edited(tokens.perplexity_and_bits, ("total / math.log(2)", "total"))


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
            word = words[i] = merge(words[i], best, new)
            for pair in pairwise(word):
                if new in pair:
                    counts[pair] += times[i]
                    where.setdefault(pair, set()).add(i)
        del counts[best]
    return merges


train_incremental__pieces_as_lists = edited(
    tokens.train_incremental,
    ("merged = words[i] = merge(word, best, new)", "merged = merge(word, best, new)\n            words[i] = [*merged]"),
)


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


merge__the_same_object = edited(
    merge,
    (
        "is_pair = tuple(ids[i : i + 2]) == pair",
        "is_pair = i + 1 < len(ids) and ids[i] is pair[0] and ids[i + 1] is pair[1]",
    ),
)
train__lower_case = edited(tokens.train, ("pieces(text)", "pieces(text.lower())"))
train__smallest_sum = edited(
    tokens.train, ("(-counts[candidate], candidate)", "(-counts[candidate], sum(candidate), candidate)")
)
train__only_the_first_token_decides = edited(
    tokens.train, ("(-counts[candidate], candidate)", "(-counts[candidate], candidate[0])")
)
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


encode_special__refuses_special_tokens_only = edited(
    tokens.encode_special,
    ("for name in disallowed_special:", "for name in {*disallowed_special} & special_tokens.keys():"),
)


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


# What each hint is for

batches_by_length__below_the_budget = edited(tokens.batches_by_length, ("<= budget", "< budget"))


def rows__measured_in_letters(texts, tokenizer, length):
    return shifted((text for text in texts if len(text) < length), tokenizer, length)


def merge__a_new_token_that_is_true(ids, pair, new):
    """0 is a token, too."""
    merged, i = [], 0
    while i < len(ids):
        joined = new if tuple(ids[i : i + 2]) == pair else None
        merged.append(joined or ids[i])
        i += 2 if joined else 1
    return tuple(merged)


encode_special__a_token_that_is_true = edited(
    tokens.encode_special,
    ("[special_tokens[part]] if part in allowed_special else encode(part) if part else []",
     "[special_tokens[part]] if part in allowed_special and special_tokens[part] else encode(part) if part else []"),
)  # fmt: skip
encode_special__encodes_empty_parts = edited(tokens.encode_special, ("encode(part) if part else []", "encode(part)"))
encode_special__nothing_disallowed_is_all = edited(
    tokens.encode_special,
    ('if disallowed_special == "all":', 'if not disallowed_special or disallowed_special == "all":'),
)


def apply_merges__the_given_object(ids, ranks):
    return tokens_after(ids, ranks) if any(pair in ranks for pair in pairwise(ids)) else ids


def apply_merges__in_the_list(ids, ranks):
    merged = tokens_after(ids, ranks)
    if isinstance(ids, list):
        ids[:] = merged
    return merged


tokens_after = edited(tokens.apply_merges)


def count_pairs__a_dict(words):
    return {pair: times for pair, times in counted_pairs(words).items()}


counted_pairs = edited(tokens.count_pairs)
pieces__each_mark_alone = edited(tokens.pieces, ("| ?(?:[^\\w\\s]|_)+|", "| ?(?:[^\\w\\s]|_)|"))
pieces__in_tuples = edited(
    tokens.pieces,
    ("return re.findall(", "return [(piece,) for piece in re.findall("),
    ('\\s+", text)', '\\s+", text)]'),
)
merge__a_list = edited(merge, ("return tuple(merged)", "return merged"))
train__pairs_that_occur_once = edited(tokens.train, ("if counts[pair] > 1]", "]"))
train__a_piece_once = edited(
    tokens.train, ("Counter(tuple", "dict.fromkeys((tuple"), ("pieces(text))", "pieces(text)), 1)")
)
train_incremental__each_piece_once = edited(tokens.train_incremental, ("+= times[i]", "+= 1"), ("-= times[i]", "-= 1"))


def perplexity_and_bits__mean_of_perplexities(losses, targets, table, ignore_index=-100):
    counted = [math.exp(loss) for loss, target in zip(losses, targets) if target != ignore_index]
    return sum(counted) / len(counted), perplexity_and_bits_right(losses, targets, table, ignore_index)[1]
