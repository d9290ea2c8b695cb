"""The phases that work on PyTorch itself: each module here imports torch, and `import rushlight` imports none of them."""
