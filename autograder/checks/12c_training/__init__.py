"""The checks of lab 12c, a module for each topic."""

TOPICS = (
    "rules",
    "steps",
    "runs",
    "casts",
    "chosen",
    "caches",
    "pretraining",
    "speculation",
)  # in the order of the lab
