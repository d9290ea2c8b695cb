"""The checks of lab 12a, a module for each topic."""

TOPICS = ("tokens", "token_rows", "further_tokens", "own_tokens")  # in the order of the lab
