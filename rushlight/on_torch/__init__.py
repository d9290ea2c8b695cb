"""Modules that work on PyTorch itself. Each imports torch, and `import rushlight` imports none of them."""
