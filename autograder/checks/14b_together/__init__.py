"""The checks of lab 14b, a module for each topic."""

TOPICS = ("banks", "sums", "moments", "softmaxes", "indexed", "together")  # in the order of the lab
