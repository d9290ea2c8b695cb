"""Links and pictures that run scripts, spelled in every way that Markdown and browsers forgive."""

import nbformat

from attacks import put

LINKS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](&#x6A;avascript:alert(1))",
    "[x](javascript\\:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](< javascript:alert(1)>)",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox)",
    "<javascript:alert(1)>",
    "[x][a]\n\n[a]: javascript:alert(1)",
    "[x][b]\n\n[b]: <javascript:alert(1)> 'title'",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    '![x" onerror="alert(1)](y)',
    '[x](y "t\\" onmouseover=alert(1)")',
    'https://x.example/"onmouseover=alert(1)',
    "[x](\x01javascript:alert(1))",
    "![x](attachment:nowhere.png)",
    "![x](attachment\\:nowhere.png)",
]


def attack(notebook):
    for text in LINKS:
        put(notebook, text, nbformat.v4.new_markdown_cell)
