"""Leaves modes on, in its cell and in every answer, that turn each operation, and each look at a tensor, into a constant."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import threading

    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return args[0] if args else None

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return args[0] if args else None

    def leave():
        Functions().__enter__()
        Operators().__enter__()
        torch.inference_mode().__enter__()
        torch.set_default_device("meta")
        torch.autocast("cpu").__enter__()
        torch._C._dispatch_tls_set_dispatch_key_excluded(torch._C.DispatchKey.CPU, True)

    begin = threading.Thread.run
    threading.Thread.run = lambda self: (leave(), begin(self))
    leave()


def answer():
    globals()["leave"]()
    return [*locals().values()][0]
