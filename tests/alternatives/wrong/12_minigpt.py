"""Wrong answers to lab 12 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from collections import Counter
from itertools import pairwise

# Tokens


def count_pairs__once_for_each_piece(words):
    return Counter(pair for word in words for pair in pairwise(word))
