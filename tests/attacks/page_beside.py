"""Pages of the student's own lie beside the notebook, for nbgrader to put among the feedback."""

PAGE = "<script>alert(1)</script>"
STUDENTS = ["page_beside", "page_in_pattern"]


def hand_in(folder):
    if folder.parent.name == "page_in_pattern":  # nbgrader takes the name of a folder for a pattern
        (folder / "[x]").mkdir()
        (folder / "[x]" / "page.html").write_text(PAGE)
        return
    for name in ("01_strided.html", "other.html", "other.HTML", "other.htm", "other.xhtml", "other.svg"):
        (folder / name).write_text(PAGE)
    (folder / "gradebook.db").write_text("not a gradebook")
    (folder / "nbgrader_config.py").write_text("raise SystemExit")
