"""Raises exceptions whose class, name and text raise, recurse or never end."""


def answer():
    class Meta(type):
        __name__ = property(lambda cls: 1 / 0)
        __mro__ = property(lambda cls: [])

    class Bite(IndexError, metaclass=Meta):
        def __str__(self):
            return "x" * 10**6 + str(self)

        __repr__ = __str__

    raise Bite
