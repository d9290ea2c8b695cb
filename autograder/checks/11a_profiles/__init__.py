"""The checks of lab 11a, a module for each topic."""

TOPICS = ("events", "queue", "device_times", "busy", "measured")  # in the order of the lab
