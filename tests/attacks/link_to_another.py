"""The notebook is a link to that of the student who has everything right."""

from attacks import HONEST, LAB


def hand_in(folder):
    (folder / f"{LAB}.ipynb").unlink()
    (folder / f"{LAB}.ipynb").symlink_to(folder.parents[1] / HONEST[0] / LAB / f"{LAB}.ipynb")
