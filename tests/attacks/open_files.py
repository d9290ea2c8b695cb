"""Opens files, sockets and pipes until no more can be had, then goes on."""


def cell():
    import os

    try:
        while True:
            os.pipe()
    except OSError as error:
        print(error)
