"""Lets the renderer colour Markdown by lexers of the student's choice, on text that is hard for them."""

import nbformat

from attacks import put


def attack(notebook):
    for lexer in ("raku", "php", "html+jinja", "scala", "rst", "tcl", "mysql", "bash", "javascript", "cpp", "latex"):
        put(notebook, f"```{lexer}\n{'{%(<<<[[' * 2000}\n```", nbformat.v4.new_markdown_cell)
