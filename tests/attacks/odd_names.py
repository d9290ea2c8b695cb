"""Folders of students whose names are patterns, formats, markup, options, or end in a blank."""

STUDENTS = [
    "ünï cødé",
    "o'neil; drop table student",
    "<img src=x onerror=alert(1)>",
    "{student_id}",
    "[bold]",
    "--force",
    "*",
    "honest_righ?",
    "trailing ",
    "new\nline",
]
