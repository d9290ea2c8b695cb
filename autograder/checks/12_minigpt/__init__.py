"""The checks of lab 12, a module for each topic."""

# in the order of the labs
TOPICS = (
    "tokens",
    "token_rows",
    "further_tokens",
    "own_tokens",
    "rules",
    "steps",
    "runs",
    "casts",
    "chosen",
    "caches",
    "pretraining",
    "speculation",
    "heads",
    "weights",
    "tiles",
    "stream",
    "kinds",
    "anatomy",
    "costs",
    "generations",
    "sharding",
    "serving",
    "bottleneck",
    "everything",
)
