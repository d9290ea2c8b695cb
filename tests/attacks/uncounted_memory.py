"""Takes memory that shows in no process: files in memory, System V segments, shared pages that it gives up after writing."""


def cell():
    import contextlib
    import ctypes
    import mmap
    import os

    libc, kept = ctypes.CDLL(None), []
    libc.shmat.restype, libc.shmat.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    libc.shmdt.argtypes = [ctypes.c_void_p]
    for _ in range(20):
        with contextlib.suppress(OSError):
            file = os.memfd_create("memory")
            for _ in range(60):
                os.write(file, bytes(1 << 20))
        with contextlib.suppress(OSError):
            kept.append(mmap.mmap(-1, 60 << 20))
            kept[-1].write(bytes(60 << 20))
            kept[-1].madvise(mmap.MADV_DONTNEED)
        if (segment := libc.shmget(0, 60 << 20, 0o1600)) >= 0:
            address = libc.shmat(segment, None, 0)
            ctypes.memset(address, 1, 60 << 20)
            libc.shmdt(address)
