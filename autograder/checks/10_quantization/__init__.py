"""The checks of lab 10, a module for each topic."""

# in the order of the lab
TOPICS = ("signatures", "sizes", "files", "exported")
