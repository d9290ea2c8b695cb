"""The checks of lab 10, a module for each topic."""

# in the order of the labs
TOPICS = (
    *("affine", "floats", "observers", "settings", "fake_quantize", "predictions", "together"),
    *("signatures", "sizes", "files", "exported"),
)
