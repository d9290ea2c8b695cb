"""Other notebooks lie beside the right one, under its name in other letters, and under names with markup and formats."""

import shutil

from attacks import LAB


def hand_in(folder):
    for name in (f"{LAB.upper()}.ipynb", "<script>.ipynb", "{student_id}.ipynb", "*.ipynb", f"{LAB}.ipynb.ipynb"):
        shutil.copy(folder / f"{LAB}.ipynb", folder / name)
    (folder / "sub").mkdir()
    shutil.copy(folder / f"{LAB}.ipynb", folder / "sub" / f"{LAB}.ipynb")
