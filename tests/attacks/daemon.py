"""Leaves processes behind: forked twice, in sessions of their own, deaf to signals, holding the pipes open."""


def cell():
    import os
    import signal
    import time

    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in range(1, 32):
                    if number not in (signal.SIGKILL, signal.SIGSTOP):
                        signal.signal(number, signal.SIG_IGN)
                while True:
                    time.sleep(1)
            os._exit(0)
