"""Returns tensors of a subclass whose metadata change with every look at them."""


def answer():
    import rushlight as rl

    class Shifting(rl.Tensor):
        looks = 0

        def __init__(self):
            pass

        @property
        def shape(self):
            Shifting.looks += 1
            return [(), (2,), (2, 3), (3, 2)][Shifting.looks % 4]

        dtype = rl.int64
        stride = storage_offset = numpy = lambda self: self.shape

    return Shifting()
