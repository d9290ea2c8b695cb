"""Correct answers to lab 12 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from collections import Counter
from itertools import pairwise

# Tokens


def count_pairs__repeated(words):
    return Counter(pair for word, times in words.items() for _ in range(times) for pair in pairwise(word))


def count_pairs__by_index(words):
    counts = Counter()
    for word in words:
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] = counts[word[i - 1], word[i]] + words[word]
    return counts
