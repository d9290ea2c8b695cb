"""Cells that are quick the first time and slow when they are run again after a death, so that the class waits for replays."""

from attacks import exercise_cells, put


def attack(notebook):
    put(notebook, "import sys, time, os")
    for number in range(60):
        put(notebook, f"held = [{number}]; time.sleep(1.3 * ('seen' in globals() or 'check' not in dir()))")
        put(notebook, "time.sleep(1.2 if time.monotonic() % 4 < 2 else 0)")
    for cell in exercise_cells(notebook):
        cell.source = "import os\nos._exit(1)"
