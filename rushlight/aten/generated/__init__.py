"""Written by `rushlight/torchgen/gen.py`, as `torchgen` writes the files of `build/aten/src/ATen/`."""
