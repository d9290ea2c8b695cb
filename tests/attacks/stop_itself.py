"""Stops itself and all that it can reach by SIGSTOP, in a cell and in each answer."""


def cell():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)


def answer():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)
