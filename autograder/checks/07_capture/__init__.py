"""The checks of lab 07, a module for each topic."""

# in the order of the lab
TOPICS = ("graphs", "passes", "bytecode", "guards", "calls", "breaks", "effects", "predictions", "functional", "joint")
