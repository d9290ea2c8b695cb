"""The checks of lab 10, a module for each topic."""

TOPICS = (
    "affine", "floats", "observers", "settings", "fake_quantize", "predictions", "together",  # in the order of the labs
    "int8", "graphs", "pruning",
)  # fmt: skip
