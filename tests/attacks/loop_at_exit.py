"""Loops for ever in a thread, at exit, and in a finaliser, and keeps the process from ending."""


def cell():
    import atexit
    import threading
    import weakref

    def loop():
        while True:
            pass

    class Here:
        pass

    here = Here()
    weakref.finalize(here, loop)
    atexit.register(loop)
    threading.Thread(target=loop).start()
    raise SystemExit
