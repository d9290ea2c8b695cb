"""Leaves fifty processes that do nothing but take the machine's time, in every subject, while others are graded."""

STUDENTS = ["a_spinner"]  # so that it runs beside the honest ones


def cell():
    import os

    for _ in range(50):
        if os.fork() == 0:
            os.setsid()  # a share of the machine of its own, where the kernel divides it by sessions
            while True:
                pass


def answer():
    while True:
        pass
