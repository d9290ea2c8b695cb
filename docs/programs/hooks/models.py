"""The model answers to a lab's written questions, with the points that an answer should have, in the lab's page.

No instructor marks the answer of a reader who learns alone. The page has the model answers of the labs' sources, hidden, and its
script shows one below an answer of some length (`docs/browser/tab.js`). A class repository has no sources of labs, so its site has
no model answers. They are in English in each language.
"""

from __future__ import annotations

import re

import nbformat

from autograder.course import SOURCES
from docs.programs.hooks.languages import LANGUAGE, words

ANSWER = re.compile(r'<!-- #region question="([\w-]+)".*?-->\n(.*?)<!-- #endregion -->', re.DOTALL)
WRITTEN = re.compile(r'^<div data-cell="question-([\w-]+)".*?^</div>$', re.DOTALL | re.MULTILINE)


def with_models(markdown: str, lab: str) -> str:
    """The text of a lab's page, with the model answer below each place for a written answer."""
    from docs.programs.hooks.notebooks import prose  # which imports the module that uses this one

    source = SOURCES / lab / f"{lab}.md"
    if not source.is_file():
        return markdown
    models = dict(ANSWER.findall(source.read_text(encoding="utf-8")))
    title = words("A model answer, and the points that it has")
    language = f' lang="en"><summary lang="{LANGUAGE}">' if LANGUAGE else "><summary>"

    def below(place: re.Match) -> str:
        text = prose(nbformat.v4.new_markdown_cell(models[place[1]]))
        head = f'<details data-model="question-{place[1]}" markdown="1" hidden{language}{title}</summary>'
        return f"{place[0]}\n\n{head}\n\n{text}\n\n</details>"

    return WRITTEN.sub(below, markdown)
