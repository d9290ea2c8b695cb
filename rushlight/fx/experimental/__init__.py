"""Tracers and passes that PyTorch may still change."""
