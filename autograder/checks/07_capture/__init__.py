"""The checks of lab 07, a module for each topic."""

TOPICS = (
    "graphs",
    "passes",
    "bytecode",
    "guards",
    "calls",
    "predictions",
    "functional",
    "joint",
)  # in the order of the lab
