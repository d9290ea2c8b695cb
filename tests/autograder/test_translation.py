"""A translation is data: catalogues that are in step with their texts, and texts whose paragraphs are looked up in them."""

import re

import nbformat
import pytest

from autograder import translation
from autograder.author import translate

TEXTS = translate.texts()
SPACES = re.compile(r"\s+|^\s*#+ ", re.MULTILINE)
PAGE = """\
---
title: A page
---

# A page

A paragraph with `code`
in two lines.
{: .notes }

- an item that
  goes on
- `alone`

!!! note "A title"
    The text of a box.

        code in it

| part | what |
|---|---|
| `x` | a row |

    print("code")

```text
words in a fence
```

<details><summary>Hint</summary>The text of a hint.</details>

<!-- names: a term, terms; on: 04 -->

$$a + b$$
"""
EXERCISE = '''\
# ★★☆ · about 12 minutes · further
@exercise(rl.strided)
def transpose(self, dim0, dim1):
    """A view with two dimensions exchanged.

        >>> transpose(x, 0, 1).stride()
        (1, 3)

    Args:
        dim0, dim1: may be equal, and a second line
            goes on.

    Raises:
        IndexError: out of range.
    """
    # YOUR CODE HERE
    raise NotImplementedError()
'''


def text_of(name, say):
    """A text with what `say` says, and all its cells if it is a notebook."""
    path = TEXTS[name]
    if path.suffix == ".md":
        return translation.markdown(path.read_text(encoding="utf-8"), say)
    nb = nbformat.read(path, as_version=4)
    return "\n\n".join(cell.source for cell in translation.notebook(nb, say).cells)


@pytest.mark.parametrize("name", TEXTS)
def test_without_a_translation_a_text_is_as_it_was_and_with_one_it_loses_nothing(name):
    path = TEXTS[name]
    whole = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        whole = "\n\n".join(cell.source for cell in nbformat.reads(whole, as_version=4).cells)
    assert text_of(name, lambda message, kind: None) == whole
    said = text_of(name, lambda message, kind: f"¿{message}?")
    assert SPACES.sub("", re.sub("[¿?]", "", said.replace("\n# ", "\n"))) == SPACES.sub(
        "", re.sub("[¿?]", "", whole.replace("\n# ", "\n"))
    )


def test_each_piece_of_a_page_is_a_message_and_code_is_none():
    said = []
    translation.markdown(PAGE, lambda message, kind: said.append((kind, message)))
    assert said == [
        ("heading", "A page"),
        ("paragraph", "A paragraph with `code` in two lines."),
        ("item", "an item that goes on"),
        ("title", "A title"),
        ("paragraph", "The text of a box."),
        ("row", "| part | what |"),
        ("row", "| `x` | a row |"),
        ("paragraph", "Hint"),
        ("paragraph", "The text of a hint."),
        ("names", "names: a term, terms; on: 04"),
    ]


def test_a_contract_is_translated_and_what_a_student_writes_is_not():
    known = {
        "about {} minutes · further": "unos {} minutos · adicional",
        "A view with two dimensions exchanged.": "Una vista con dos dimensiones intercambiadas.",
        "may be equal, and a second line goes on.": "pueden ser iguales.",
    }
    said = translation.code(EXERCISE, lambda message, kind: known.get(message))
    assert said == EXERCISE.replace("about 12 minutes · further", "unos 12 minutos · adicional").replace(
        "A view with two dimensions exchanged.", "Una vista con dos dimensiones intercambiadas."
    ).replace("may be equal, and a second line\n            goes on.", "pueden ser iguales.")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A page of its own, and no catalogue."""
    page = tmp_path / "page.md"
    page.write_text("# One\n\nThe first paragraph of the page.\n\nThe second, which says more than the first.\n")
    monkeypatch.setattr(translation, "FOLDER", tmp_path / "translations")
    monkeypatch.setattr(translate, "texts", lambda: {"docs/page": page})
    for function in translate.messages, translate.common, translation.catalogue:
        function.cache_clear()
    yield page
    for function in translate.messages, translate.common, translation.catalogue:
        function.cache_clear()


def test_a_paragraph_that_changes_is_fuzzy_and_is_shown_in_english(folder):
    assert [*translate.renew("fr", ["docs/page"])]
    path = translation.FOLDER / "fr" / "docs" / "page.po"
    text = (
        path.read_text()
        .replace('page."\nmsgstr ""', 'page."\nmsgstr "Le premier."')
        .replace('One"\nmsgstr ""', 'One"\nmsgstr "Un"')
    )
    path.write_text(text)
    assert translate.status("fr")["docs/page"] == translate.Counts(2, 0, 1)
    assert not translate.stale("fr")
    say = translation.catalogue("fr", "docs/page")
    assert translation.markdown(folder.read_text(), lambda message, kind: say.get(message)).startswith(
        "# Un\n\nLe premier.\n\nThe sec"
    )
    folder.write_text(folder.read_text().replace("The first", "The very first"))
    translate.messages.cache_clear(), translate.common.cache_clear(), translation.catalogue.cache_clear()
    assert translate.stale("fr") == [path]
    assert [*translate.renew("fr")] == [path] and not translate.stale("fr")
    assert translate.status("fr")["docs/page"] == translate.Counts(1, 1, 1)
    assert "#, fuzzy" in path.read_text() and "Le premier." in path.read_text()
    say = translation.catalogue("fr", "docs/page")
    said = translation.markdown(folder.read_text(), lambda message, kind: say.get(message))
    assert said.startswith("# Un\n\nThe very first paragraph of the page.\n")


def test_a_text_that_does_not_exist_has_no_catalogue(folder):
    with pytest.raises(LookupError, match="no text 'docs/pages'"):
        [*translate.renew("fr", ["docs/pages"])]


@pytest.mark.parametrize(
    ("message", "translated", "kind"),
    [
        ("call `x.t()`", "llama a `x.T`", "code"),
        ("see [views](reading.md#views)", "véase [vistas](reading.md)", "links"),
        ("the sum $a + b$", "la suma $a - b$", "formulas"),
        ("a <code>x</code>", "un x", "tags"),
        ("the *sizes* say", "los tamaños dicen", "emphasis"),
        ("| a | b |", "| a b |", "cells"),
        ("38,400 numbers", "3 840 números", "numbers"),
        ("names: a term; on: 04", "names: un término; on: 05", "keys"),
    ],
)
def test_a_translation_that_loses_code_a_link_or_a_number_is_broken(message, translated, kind):
    assert any(kind in line for line in translate.broken(message, translated))


@pytest.mark.parametrize(
    ("message", "translated"),
    [
        ("**Time.** `x` has 38,400 numbers, *all* of them", "**Tiempo.** `x` tiene 38 400 números, *todos*"),
        ("names: a term; on: 04", "names: un término, otro; on: 04"),
        ("asked: OOM", "asked: OOM, sin memoria"),
        ("| `x` | a row |", "| `x` | una fila |"),
    ],
)
def test_a_translation_that_keeps_them_is_not(message, translated):
    assert translate.broken(message, translated) == []


@pytest.mark.parametrize("language", translation.languages())
def test_the_catalogues_of_the_course_are_in_step_and_whole(language):
    assert translate.stale(language) == []
    assert [*translate.all_broken(language)] == []
