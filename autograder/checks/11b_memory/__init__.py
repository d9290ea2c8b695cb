"""The checks of lab 11b, a module for each topic."""

TOPICS = ("blocks", "allocator", "attribution", "trade")  # in the order of the lab
