"""Formulas on nbgrader's pages, the feedback and the formgrader's, as MathML, which browsers show by themselves.

nbgrader itself uses a script from another host, which a class without a network cannot load: see also the templates in
`jupyter/`. A student's text stays as it was typed, because the converter writes text into the page unescaped, and its links
and pictures are text too.
"""

from __future__ import annotations

from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from ..model import is_added


class Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return convert(body.strip())

    def block_math(self, body: str) -> str:
        return convert(body.strip(), display="block")


class StudentRenderer(IPythonRenderer):
    """Addresses are shown, not linked: who marks has rights on the server, and some of its pages act when they are opened."""

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return f"{text} ({escape(url)})"

    image = link


@pass_context
def markdown2html(context: Context | dict[str, NotebookNode], source: str) -> str:
    """nbconvert's filter of that name."""
    cell = context.get("cell")  # None where a comment is shown
    renderer = IPythonRenderer if cell is None else Renderer if _is_given(cell) else StudentRenderer
    return MarkdownWithMath(renderer=renderer(escape=False)).render(source)


def _is_given(cell: NotebookNode) -> bool:
    """Whether a cell's text is the lab's own."""
    return not is_added(cell) and not cell.metadata.get("nbgrader", {}).get("solution")
