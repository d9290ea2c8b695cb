"""Lab 01a in numbers, as pages, tables and messages show them. So a new exercise of the lab breaks no test of these."""

import copy

from autograder.classroom import sample
from autograder.model import Lab, exercise_name

LAB = sample.LAB
WORTH = Lab(LAB).points  # each check's points
POINTS, BY_HAND = sum(WORTH.values()), Lab(LAB).written_points
ALL = POINTS + BY_HAND
CHECKS, EXERCISES = len(WORTH), len(Lab(LAB).exercises)

_released = copy.deepcopy(Lab(LAB).release.nodes)
_written = {exercise_name(cell) for cell in sample.fill(_released, sample.answers(_released), until=0.5)}
_left = {*WORTH} & {*Lab(LAB).exercises} - _written
_left |= {check for check in WORTH if check.rpartition(".")[0] in _left}  # checks of a part of an exercise
LEFT = len(_left)  # the checks of the exercises that `sample.half_done` leaves out
HALF = sum(points for check, points in WORTH.items() if check not in _left)  # its points: its milestone passes


def of(points: float, all_points: float = POINTS) -> str:
    """`14 of 28 points`, the points of the checks."""
    return f"{points:g} of {all_points:g} points"
