"""Starts ranks that leave their group, stop the process that would end them, and go on with children of their own."""

LAB = "06_custom_ops"
EXERCISES = ("custom_ops.fused_linear",)


def cell():
    import os
    import signal
    import time

    from rushlight.distributed import run_ranks

    def stay():
        os.kill(os.getppid(), signal.SIGSTOP)
        os.setsid()
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(3600)
        time.sleep(3600)

    try:
        run_ranks(stay, 4, timeout=3.0)
    except BaseException as error:
        print(type(error), error)


def answer():
    from rushlight.distributed import run_ranks

    return run_ranks(lambda: 1, 4)
