"""Pages and programs of the student's own lie beside the notebook, for nbgrader to put among the feedback."""

PAGE = "<script>alert(1)</script>"
STUDENTS = ["page_beside", "page_in_pattern"]


def hand_in(folder):
    if folder.parent.name == "page_in_pattern":  # nbgrader takes the name of a folder for a pattern
        (folder / "[x]").mkdir()
        (folder / "[x]" / "page.html").write_text(PAGE)
        return
    (folder / "more").mkdir()
    for name in ("01a_views.html", ".html", ".hidden.html", "more/page.html", "random.py", "no_kind"):
        (folder / name).write_text(PAGE)
    for kind in ("HTML", "htm", "html~", "html ", "shtml", "xhtml", "xht", "mht", "mhtml", "xml", "xsl", "svg", "svgz"):
        (folder / f"other.{kind}").write_text(PAGE)
    for kind in (
        "hta",
        "htc",
        "js",
        "vbs",
        "wsf",
        "url",
        "lnk",
        "desktop",
        "swf",
        "pdf",
        "exe",
        "bat",
        "ps1",
        "txt.html",
    ):
        (folder / f"other.{kind}").write_text(PAGE)
    (folder / "gradebook.db").write_text("not a gradebook")
    (folder / "nbgrader_config.py").write_text("raise SystemExit")
