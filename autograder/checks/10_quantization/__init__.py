"""The checks of lab 10, a module for each topic."""

# in the order of the labs
TOPICS = (
    *("affine", "floats", "observers", "settings", "fake_quantize", "predictions", "together"),
    *("int8", "graphs", "pruning"),
    *("signatures", "sizes", "files", "exported"),
)
