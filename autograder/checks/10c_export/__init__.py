"""The checks of lab 10c, a module for each topic."""

TOPICS = ("signatures", "sizes", "files", "quantizers", "exported")  # in the order of the lab
