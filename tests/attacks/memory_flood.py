"""Takes memory without end: in one process, in many, in files without names and in pipes."""


def cell():
    import os

    files, held = [], []
    for _ in range(6):
        if os.fork() == 0:
            break
    try:
        while True:
            if len(files) < 6:
                files.append(os.memfd_create("flood"))
                os.write(files[-1], bytes(20 << 20))
            held.append(bytearray(100 << 20))
    except (MemoryError, OSError) as error:
        print(error)


def answer():
    return bytearray(1 << 40)
