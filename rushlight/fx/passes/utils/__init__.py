"""Algorithms that passes share."""
