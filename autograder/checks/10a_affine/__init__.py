"""The checks of lab 10a, a module for each topic."""

TOPICS = (
    "affine",
    "floats",
    "observers",
    "settings",
    "fake_quantize",
    "predictions",
    "together",
)  # in the order of the lab
