"""A folder has the notebook's name."""

from attacks import LAB


def hand_in(folder):
    (folder / f"{LAB}.ipynb").unlink()
    (folder / f"{LAB}.ipynb").mkdir()
