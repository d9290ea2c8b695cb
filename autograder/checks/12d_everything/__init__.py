"""The checks of lab 12d, a module for each topic."""

TOPICS = (
    "anatomy",
    "costs",
    "generations",
    "sharding",
    "serving",
    "bottleneck",
    "trace",
    "everything",
)  # in the order of the lab
