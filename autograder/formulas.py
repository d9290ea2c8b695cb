"""Formulas on nbgrader's pages, the feedback and the formgrader's, as MathML, which browsers show by themselves.

nbgrader itself uses a script from another host, which a class without a network cannot load: see also the templates in
`jupyter/`. A student's text stays as it was typed, because the converter writes text into the page unescaped.
"""

from __future__ import annotations

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode


class Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return convert(body.strip())

    def block_math(self, body: str) -> str:
        return convert(body.strip(), display="block")


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """nbconvert's filter of that name."""
    renderer = Renderer if _is_given(context.get("cell")) else IPythonRenderer
    return MarkdownWithMath(renderer=renderer(escape=False)).render(source)


def _is_given(cell: NotebookNode | None) -> bool:
    """Whether a cell's text is the lab's own. (It is None where a comment is shown.)"""
    if cell is None or cell.id.startswith("added-"):
        return False
    return not cell.metadata.get("nbgrader", {}).get("solution")
