"""The caching allocator of a CUDA device, simulated. In PyTorch: `c10/cuda/`."""
