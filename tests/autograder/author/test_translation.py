"""A translation is data: catalogues that are in step with their texts, and texts whose paragraphs are looked up in them."""

import io
import re
import tomllib
import unicodedata

import nbformat
import pytest
from sweep import sweep

from autograder import translation
from autograder.author import translate
from autograder.engine.card import card
from autograder.engine.verdict import Verdict
from autograder.language import ENGLISH, language, language_of, speak, speaking

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

```text
x ──► the long way   (2, 3)
      the short one  x.t()
```

```text
def f(x):
    return x   # the end of it
```

<details><summary>Hint</summary>The text of a hint.</details>

<!-- names: a term, terms; on: 04 -->

<!-- on: 04; not: term of office -->

<!-- on: 04 -->

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


@pytest.mark.parametrize("name", sweep(TEXTS, every=10))
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
        ("diagram", "x ──► the long way   (2, 3)\n      the short one  x.t()"),
        ("tag", "Hint"),
        ("tag", "The text of a hint."),
        ("names", "names: a term, terms; on: 04"),
        ("names", "on: 04; not: term of office"),
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
    held = 'class Held:\n    """A saved tensor."""\n'
    assert translation.code(held, lambda message, kind: "Un tensor guardado.") == held.replace(
        "A saved tensor.", "Un tensor guardado."
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A page of its own, and no catalogue."""
    page = tmp_path / "page.md"
    page.write_text("# One\n\nThe first paragraph of the page.\n\nThe second, which says more than the first.\n")
    monkeypatch.setattr(translation, "FOLDER", tmp_path / "translations")
    monkeypatch.setattr(translate, "texts", lambda: {"docs/page": page})
    monkeypatch.setattr(translate, "CODE", {})
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


def test_other_points_and_minutes_of_a_lab_leave_its_translation_as_it_is():
    message = "**Time.** About {} minutes for {} exercises ({} points)."
    said = {message: "**Temps.** Environ {} minutes pour {} exercices ({} points)."}
    for counts in ("101", "7", "24"), ("90", "6", "22.5"):
        text, asked = message.format(*counts), []
        assert translation.markdown(text, lambda text, kind: asked.append(text) or said.get(text)) == said[
            message
        ].format(*counts)
        assert asked == [message]


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
        ("on: 04; not: term of office", "on: 04", "keys"),
        ("{count} of {whole:g} cases", "{count} de {todos:g} casos", "placeholders"),
    ],
)
def test_a_translation_that_loses_code_a_link_or_a_number_is_broken(message, translated, kind):
    assert any(kind in line for line in translate.broken(message, translated))


@pytest.mark.parametrize(
    ("message", "translated"),
    [
        ("**Time.** `x` has 38,400 numbers, *all* of them", "**Tiempo.** `x` tiene 38 400 números, *todos*"),
        ("names: a term; on: 04", "names: un término, otro; on: 04"),
        ("on: 04; not: term of office", "on: 04; not: fin del término, a término"),
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


# What code says ------------------------------------------------------------------------------------------------------

SAYS = b"""
def observed(result):
    call = {"of a case": lambda: 1}
    return {"as it was": result, "one": {"a number": 1}["a number"]}


def told(own, names):
    speak("a text", own=own)
    phrase(f"yours {own}, torch's {names[0]}" if own else "a sentence "
           "in two parts")
    raise LookupError(phrase("in a phrase"))


def about(case, mine, theirs):
    '''A docstring.'''
    if field(mine, "the name of a part"):
        return TABLE[case]
    return f"a hint on {case.name}" if mine["an entry of it"] == "a name of it" else "a hint in words"


TABLE = {"a key of it": "a hint in a table"}
program("a.check", hint=about)
program("a.check", hint=explained(shape="the shape is wrong"), show="no text for a reader")
"""
FRENCH = {
    "yours {own}, torch's {other}": "le tien {own}, celui de torch {other}",
    "{which} raises {kind} ({message}), {other} does not": "{which} lève {kind} ({message}), pas {other}",
    "{agreed} of {cases} cases agree with {judge}": "{agreed} cas sur {cases} s'accordent avec {judge}",
    "{agreed}; the smallest that does not:": "{agreed}; le plus petit autre:",
    "{0} and {1}": "{0} et {1}",
    "{0} of {1} and {2}": "{0} de {1} et {2}",
    "item [{place}]: {words}": "élément [{place}]: {words}",
    "{note} is slow": "{note} est lent",
    "yours": "le tien",
    "hint": "indice",
    "not attempted": "pas essayé",
    "as it was": "comme avant",
}


def test_what_code_says_are_the_texts_of_calls_and_what_a_hint_may_be():
    said = [text for _, _, text, _ in translate._python(io.BytesIO(SAYS), translate.FUNCTIONS, (), {})]
    assert sorted(said) == sorted(
        ["a text", "yours {own}, torch's {3}", "a sentence in two parts", "in a phrase", "in a phrase"]
        + ["a hint on {name}", "a hint in words", "a hint in a table", "the shape is wrong"]
    )
    said_by_checks = [text for _, _, text, _ in translate._python(io.BytesIO(SAYS), (), (), {})]
    assert "as it was" in said_by_checks and not {"one", "a number", "of a case", "a key of it"} & {*said_by_checks}


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("view[0]: yours (2, 3), torch's (3, 2)", "view[0]: le tien (2, 3), celui de torch (3, 2)"),
        ("yours raises ValueError (a, b), torch does not", "le tien lève ValueError (a, b), pas torch"),
        ("view: torch raises E (a), yours does not", "view: torch lève E (a), pas le tien"),
        ("not attempted; not attempted is slow", "pas essayé; pas essayé est lent"),
        ("not attempted and this", "pas essayé et this"),
        ("a hint on this and that", "a hint on this and that"),
        ("not attempted by chance", "not attempted by chance"),
        ("values of the graph and the rest of it", "values of the graph and the rest of it"),
        ("x: item [2, 0]: yours 1, torch's 2", "x: élément [2, 0]: le tien 1, celui de torch 2"),
        ("; : and ; " * 500, "; : and ; " * 500),
    ],
)
def test_a_sentence_with_its_values_is_found_by_its_pattern(english, said, french):
    french(FRENCH)
    with speaking("fr"):
        assert speak(english) == said
    assert speak(english) == english


def test_a_number_is_written_as_in_the_language(french):
    french({"{count:,} calls": "{count:,} appels", "{part:.1f} of {count}": "{part:.1f} de {count}"})
    with speaking("fr"):
        numbers = [speak("{count:,} calls", count=count) for count in (1234, 12345)]
        assert numbers == ["1234 appels", "12\u202f345 appels"]
        assert speak("{part:.1f} of {count}", part=0.5, count="1.5") == "0,5 de 1.5"
    assert speak("{count:,} calls", count=12345) == "12,345 calls"


def test_a_verdict_is_shown_in_another_language_and_its_data_are_english(french):
    french(FRENCH)
    verdict = Verdict("a.check", "disagreed", 8, 6, message="yours 1, torch's 2", case={}, mine="1", theirs="2")
    verdict.hint = "a text without a translation"
    verdict.mine = "as it was: True\nnot as it was: True"
    before, english = verdict.as_dict(), str(verdict) + card(verdict)
    with speaking("fr"):
        for shown in str(verdict), card(verdict):
            assert "a.check: 6 cas sur 8" in shown.replace("&#x27;", "'") and "le tien" in shown and "indice" in shown
            assert "comme avant: True" in shown and "not as it was: True" in shown
            assert "cases agree" not in shown and "yours" not in shown and "a text without a translation" in shown
        assert verdict.as_dict() == before
    assert str(verdict) + card(verdict) == english and "6 of 8 cases agree with torch" in english


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"LANGUAGE": "fr", "LANG": "C"}, "fr"),
        ({"LANGUAGE": "xx:fr_CA.UTF-8:en"}, "fr"),
        ({"LANGUAGE": "en:fr"}, "en"),
        ({"LANGUAGE": "", "LANG": "fr_FR.UTF-8"}, "fr"),
        ({"LANGUAGE": "", "LC_ALL": "C", "LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANGUAGE": "../fr"}, "en"),
        ({}, "en"),
    ],
)
def test_the_environment_asks_for_a_language_as_gettext_reads_it(variables, code, french, monkeypatch):
    french(FRENCH)
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == code
    with speaking(ENGLISH):
        assert language() == ENGLISH


def test_a_notebook_whose_metadata_are_no_language_is_english():
    for about in ({}, {"rushlight": None}, {"rushlight": {"language": 7}}, {"rushlight": {}}):
        assert language_of({"metadata": about}) == ENGLISH
    assert language_of({"metadata": {"rushlight": {"language": "fr"}}}) == "fr"


def without_accents(text):
    return "".join(each for each in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(each) != "Mn")


@pytest.mark.sweep
@pytest.mark.parametrize("language", translation.languages())
def test_a_term_is_the_same_word_everywhere(language):
    """In at least nine of ten messages: in some, the English word is a verb, or a name in quotes. A term with several meanings has
    a word for each."""
    chosen = tomllib.loads((translation.FOLDER / language / "terms.toml").read_text(encoding="utf-8"))
    code = re.compile(r"`[^`]*`|\{\w*\}|<code>.*?</code>|<[^>]*>|\([^()]*\)")
    known = {code.sub("", english): said for english, said in everything(language).items()}
    for term, words in chosen.items():
        used = re.compile(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])", re.IGNORECASE)
        said = [without_accents(each) for english, each in known.items() if used.search(english)]
        begins = [without_accents(word.split()[0])[:5] for word in ([words] if isinstance(words, str) else words)]
        assert sum(any(begin in each for begin in begins) for each in said) >= 0.9 * len(said) or len(said) < 10, term


def everything(language):
    return {
        english: said
        for name in translate.names(language)
        for english, said in translation.catalogue(language, name).items()
    }


def test_the_labels_of_a_drawing_are_translated_around_their_values_and_names_and_code_stay():
    style = "#p .c1{font-family: 'DejaVu Sans Mono', monospace}"
    labels = ["time in ms", "relu", "12 rows of (3, 4)", "a view in int8", "or resize out=", "out="]
    labels += [f'class="c1">{label}' for label in ("relu", "a kernel", "step 2", "buf0", "x.t()")] + ["x < y, or not"]
    texts = "".join(f"<text {label if 'class' in label else '>' + label}</text>" for label in labels)
    said = translation.drawing(
        f"<svg><style>{style}</style>{texts}</svg>".replace("x < y", "x &lt; y"),
        lambda text, kind: None if text == "relu" else text.upper(),
    )
    assert re.findall(r">([^<>]+)</text>", said) == [
        *("TIME IN MS", "relu", "12 ROWS OF (3, 4)", "A VIEW IN INT8", "OR RESIZE OUT=", "out="),
        *("relu", "A KERNEL", "STEP 2", "buf0", "x.t()", "x &lt; y, or not"),
    ]


def test_the_text_that_stands_for_a_figure_is_translated_and_its_picture_stays():
    shown = nbformat.v4.new_output("display_data", {"image/png": "iVBO"}, metadata={"image/png": {"alt": "A line up."}})
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("plot()", outputs=[shown])])
    said = translation.notebook(nb, lambda text, kind: {"A line up.": "Una línea que sube."}.get(text))
    (output,) = said.cells[0].outputs
    assert output.metadata["image/png"]["alt"] == "Una línea que sube." and output.data == shown.data


def test_of_a_printed_table_the_headings_and_words_are_translated_and_names_and_values_stay():
    printed = (
        "| program | int8 | torch: contiguous | torch.addmm |  | `x` in backward |\n|---|---|---|---|---|---|\n"
        "| weight.t() | relu | one row of it | AutocastCPU, CPU |  | 2 of 3 |\n| copied | a \\| b | mm | yes | x | -1 |"
    )
    asked = []
    said = translation.table(printed, lambda text, kind: asked.append(text) or f"<{text}>" * (text != "relu"))
    words = ["program", "torch: contiguous", "`x` in backward", "relu", "one row of it", "copied", "yes"]
    assert asked == words
    for word in words[:3] + words[4:]:
        printed = printed.replace(f"| {word} |", f"| <{word}> |")
    assert said == printed


def test_what_scripts_say_is_found_also_behind_a_template():
    for path in (path for pattern in translate.CODE["figures"] for path in translate.COURSE.glob(pattern)):
        source = re.sub(r"(?m)^ *//.*", "", path.read_text(encoding="utf-8")) if path.suffix == ".js" else ""
        said = (text.replace('\\"', '"') for text in re.findall(r'\bwords\("((?:[^"\\]|\\.)*)"', source))
        assert {*filter(translation.has_words, said)} <= {*translate.said_in(path, "figures")}, path.name
