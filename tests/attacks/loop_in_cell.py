"""Loops for ever in a cell, deaf to interrupts and alarms."""


def cell():
    import signal

    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
