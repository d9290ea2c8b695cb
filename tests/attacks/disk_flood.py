"""Fills every folder that it may write, by large files and by small ones."""


def cell():
    import os

    for place in ("/tmp", "/dev/shm", "/", "/dev", "/packages", "/edition", "/var/tmp"):
        for number in range(20):
            try:
                with open(f"{place}/{number}", "wb") as file:
                    file.write(bytes(60 << 20))
            except OSError as error:
                print(place, error)
                break
        try:
            for number in range(2000):
                os.mkdir(f"{place}/d{number}")
        except OSError:
            pass
