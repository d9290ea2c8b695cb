"""Layers for quantised models: `torch.ao.nn`."""
