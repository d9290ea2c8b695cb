"""The checks of lab 12b, a module for each topic."""

TOPICS = ("heads", "weights", "tiles", "stream", "kinds")  # in the order of the lab
