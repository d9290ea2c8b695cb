"""Leaves threads, worker processes, a store that listens and shared tensors behind."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import os
    import threading
    import time

    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(8)
    torch.randn(500, 500) @ torch.randn(500, 500)
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(3600,)).start()
    try:
        kept = iter(DataLoader(range(10_000), num_workers=4, persistent_workers=True, prefetch_factor=2))
        print(next(kept))
    except Exception as error:
        print(type(error), error)
    try:
        kept = (
            torch.distributed.TCPStore("127.0.0.1", 29500, 1, True, wait_for_workers=False),
            torch.ones(9).share_memory_(),
        )
    except Exception as error:
        print(type(error), error)
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)


def answer():
    return 1
