"""A page of the student's own lies beside the notebook, for nbgrader to put among the feedback."""


def hand_in(folder):
    (folder / "01_strided.html").write_text("<script>alert(1)</script>")
    (folder / "other.html").write_text("<script>alert(1)</script>")
    (folder / "gradebook.db").write_text("not a gradebook")
    (folder / "nbgrader_config.py").write_text("raise SystemExit")
