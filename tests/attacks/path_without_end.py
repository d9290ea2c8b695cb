"""Folders in folders, ten thousand letters deep: their path is longer than the system takes."""

import os


def hand_in(folder):
    place = os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(50):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
    finally:
        os.chdir(place)
