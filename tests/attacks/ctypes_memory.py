"""Reads and writes memory by ctypes and /proc: its own, its parent's, and that of every process it sees."""


def cell():
    import ctypes
    import os

    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        for name in ("mem", "maps", "environ", "root", "cwd", "fd", "stack", "syscall"):
            path = f"/proc/{pid}/{name}"
            try:
                print(path, os.listdir(path) if os.path.isdir(path) else os.read(os.open(path, os.O_RDONLY), 4096))
            except OSError as error:
                print(path, error)
    libc = ctypes.CDLL(None, use_errno=True)
    print([libc.ptrace(16, int(p), 0, 0) for p in os.listdir("/proc") if p.isdigit()])
    ctypes.c_int.from_address(id(True) + 24).value = 1
    ctypes.c_int.from_address(id(False) + 24).value = 1
