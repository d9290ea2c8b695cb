"""Formulas on nbgrader's pages, the feedback and the formgrader's, as MathML, which browsers show by themselves.

nbgrader itself uses a script from another host, which a class without a network cannot load: see also the templates in
`jupyter/`. A student's text stays as it was typed, because the converter writes text into the page unescaped, and its links
are text too. Of its pictures only those are shown that the notebook itself has.
"""

from __future__ import annotations

from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from ..model import is_added
from .pictures import data_uri


class Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return convert(body.strip())

    def block_math(self, body: str) -> str:
        return convert(body.strip(), display="block")


class StudentRenderer(IPythonRenderer):
    """Addresses are shown, not linked: who marks has rights on the server, and some of its pages act when they are opened."""

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return f"{text} ({escape(url)})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        picture = data_uri(self.attachments.get(url.rpartition(":")[2]))
        return f'<img alt="{escape(text)}" src="{picture}">' if picture else self.link(text, url)


@pass_context
def markdown2html(context: Context | dict[str, NotebookNode], source: str) -> str:
    """nbconvert's filter of that name."""
    cell = context.get("cell")  # None where a comment is shown
    renderer = IPythonRenderer if cell is None else Renderer if _is_given(cell) else StudentRenderer
    attachments = cell.get("attachments", {}) if cell is not None else {}
    return MarkdownWithMath(renderer=renderer(escape=False, attachments=attachments)).render(source)


def _is_given(cell: NotebookNode) -> bool:
    """Whether a cell's text is the lab's own."""
    return not is_added(cell) and not cell.metadata.get("nbgrader", {}).get("solution")
