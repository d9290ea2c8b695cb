"""Patches the methods by which tensors are taken apart, on the class itself and in torch's C module."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import torch

    class Bytes:
        tobytes = lambda self: b""  # noqa: E731

    torch.Tensor.numpy = lambda self, *args: Bytes()
    torch.Tensor.stride = torch.Tensor.storage_offset = lambda self, *args: ()
    torch.Tensor.detach = torch.Tensor.contiguous = lambda self, *args: self
    torch.Tensor.shape = property(lambda self: (0,))
    torch.arange = torch._C._VariableFunctions.arange = lambda *args, **kwargs: torch.zeros(1)
    torch.Tensor.as_strided = lambda self, *args: self


def answer():
    import torch

    return torch.zeros(0)
