"""A time stamp that nbgrader cannot read, with the words in it by which a grader knows that it was interrupted."""


def hand_in(folder):
    (folder / "timestamp.txt").write_text("KeyboardInterrupt No space left on device database is locked")
