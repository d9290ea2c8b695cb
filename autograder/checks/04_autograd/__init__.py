"""The checks of lab 04, a module for each topic."""

TOPICS = (
    "predictions",
    "graph",
    "formulas",
    "by_hand",
    "engine",
    "modes",
    "functions",
    "together",
)  # in the order of the lab
