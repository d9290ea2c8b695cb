"""The checks of lab 11c, a module for each topic."""

TOPICS = (
    "launches",
    "races",
    "copies",
    "capture",
    "waves",
    "backward",
    "compiled",
    "race_free",
)  # in the order of the lab
