"""A time stamp of many megabytes, over which a parser of dates takes hours."""


def hand_in(folder):
    (folder / "timestamp.txt").write_text("1 " * (20 << 20))
