"""Crashes the interpreter by recursion in C, by broken code objects and by bad pointers."""


def cell():
    import ctypes

    ctypes.string_at(1)


def answer():
    code = (lambda: 0).__code__
    exec(code.replace(co_code=bytes(200), co_stacksize=0))
