"""Starts ranks that leave their group, stop the process that would end them, and go on with children of their own."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import os
    import signal
    import time

    from rushlight.distributed import run_ranks

    def stay():
        os.setsid()
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(3600)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(3600)

    def enough(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, enough)
    signal.alarm(4)
    try:
        run_ranks(stay, 4)
    except BaseException as error:
        print(type(error), error)


def answer():
    return 1
