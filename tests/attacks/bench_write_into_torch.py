"""Writes into torch's own files and into the edition: by opening, by mapped storages, by links and by removing."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import ctypes
    import os

    import torch

    place = os.path.dirname(torch.__file__)
    files = [
        f"{place}/__init__.py",
        f"{place}/lib/libtorch_cpu.so",
        "/edition/autograder/engine/recorder.py",
        "/edition/x.py",
    ]
    for path in files:
        for attempt in (
            lambda path=path: os.write(os.open(path, os.O_WRONLY), b"raise SystemExit\n"),
            lambda path=path: torch.UntypedStorage.from_file(path, True, 16).fill_(0),
            lambda path=path: torch.from_file(path, shared=True, size=4).zero_(),
            lambda path=path: os.remove(path),
            lambda path=path: os.symlink("/tmp/mine", path),
            lambda path=path: torch.save([1], path),
        ):
            try:
                print(path, attempt())
            except Exception as error:
                print(path, type(error))
    library = ctypes.CDLL(f"{place}/lib/libtorch_cpu.so")
    print(library, library.mount(b"none", place.encode(), None, 32, None))


def answer():
    return 1
