"""The checks of lab 15b, a module for each topic."""

TOPICS = (
    "decomposition",
    "samples",
    "fakes",
    "patterns",
    "lowerings",
    "yaml_entries",
    "together",
)  # in the order of the lab
ON_TORCH = True  # it works on torch itself
