"""Folders of students whose names clear the terminal, reverse text, are formulas of a spreadsheet, or are no UTF-8."""

STUDENTS = [
    "\x1b[2J\x1b[31mclear",
    "right\u202eto left",
    "=cmd|' calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(1+1)",
    'comma, quote" and more',
    "not utf-8 \udce9",
]
