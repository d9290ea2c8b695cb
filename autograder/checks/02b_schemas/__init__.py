"""The checks of lab 02b, a module for each topic."""

TOPICS = (
    "schemas",
    "reviewed",
    "cases_of_students",
    "calls",
    "autocast",
    "predictions",
    "together",
)  # in the order of the lab
