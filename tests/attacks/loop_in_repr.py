"""Returns what loops for ever when it is shown, counted, compared or thrown away."""


def cell():
    class Loop:
        def __del__(self):
            while True:
                pass

        __repr__ = __str__ = __len__ = __iter__ = __eq__ = __hash__ = _repr_html_ = __del__

    from IPython.display import display

    display(Loop())


def answer():
    class Loop(tuple):
        def __iter__(self):
            while True:
                pass

    return Loop()
