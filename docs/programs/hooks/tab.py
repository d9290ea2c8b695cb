"""Cells of the site's pages run in the reader's browser, on a Python that the site brings.

A lab's page has its exercises as editors (`docs/browser/tab.js`), if what this needs could be had when the site was built: the
parts that others have made (`docs.programs.browser.parts`), and torch's recorded answers to the lab's cases (`rushlight record`).
`share.js` shows a verdict to others, and `end.js` is the end of the lab, with a picture that `picture.js` draws. `path_end.js` is
the end of a path. A reading has the exercises that it names, folded, with the lab's hints and what it says of their helpers. The
page of the trained model (`docs/browser/talk.js`) shows a conversation that is recorded here, until the reader begins another.
"""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import re
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from nbformat import NotebookNode

from autograder import translation
from autograder.course import COURSE, READINGS
from autograder.engine import practice
from autograder.engine.card import card
from autograder.engine.check import BODY, exercise_of, find, global_names, is_milestone, is_on_torch, kind_of
from autograder.engine.verdict import DISAGREED, Verdict
from autograder.language import SPOKEN, speaking
from autograder.model import Lab, check_name, exercise_name, is_further, number_of
from autograder.notebook import pieces
from autograder.notebook.end import counterpart_of
from docs.programs.browser import packing, parts
from docs.programs.hooks.languages import LANGUAGE, plain, say, words
from docs.programs.hooks.models import with_models
from docs.programs.hooks.pages import ICON, ICON_PATH
from rushlight.course.grammar import BE, PRONOUNS, TIMES
from rushlight.course.short_names import long_form
from rushlight.course.talk import Conversation
from rushlight.course.trained import PROMPTS

if TYPE_CHECKING:
    from docs.programs.hooks.notebooks import Notebook

log = logging.getLogger("mkdocs.hooks.tab")

PLACE = "browser"  # in the site
PATHS = "paths.md"  # the page of the paths, which end with a picture, too
TALK = "talk.md"  # a page on which the trained model completes a text
SHOWN_FIRST = {"": "(glork) the door? yesterday she", "es": PROMPTS[-1]}  # what this page shows first, by language
MINIGPT = "12"  # the phase whose labs use the trained model
RANKS = "09"  # the phase whose programs start processes, which a browser does not
COURSE_FILES = (
    "rushlight/**/*",
    "autograder/*.py",
    "autograder/engine/*.py",
    "autograder/notebook/*.py",
    "autograder/checks/*.py",
    "autograder/checks/shared*/*.py",
)
LEFT_OUT = {"__pycache__", "stub", ".pyi"}  # folders, and what only type checkers read
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.js",
    parts.WASM,
    f"{parts.WASM}.zlib",
)  # the last one is for hosts that do not compress
GPT = COURSE / "rushlight/course/gpt.npz"  # only pages that use the trained model load it
HERE = words(
    "**Do it here.** Each exercise below is an editor. *Check* runs it in this page, on a Python that the first press loads "
    "({0} MB), and compares it on public cases with {1}: this is practice. Your answers stay in this browser. "
    "Until you write an exercise, rushlight's own function does its work, so you can skip it. *Download* gives you the notebook "
    "with your answers, to go on in JupyterLab or to hand in."
)
ANSWERS = words("recorded answers of torch")
SOME_EXACT = words("recorded answers of torch, or with an exact calculation ({0} of {1} checks)")
ON_TORCH = words(
    "**Not in this page.** This lab works on torch itself, and a browser has no torch. Do it in an installed course:"
)
STARTS_PROCESSES = words(
    "**Not in this page.** The programs of this lab start processes, and a browser starts none. Do it in an installed course:"
)
LOADS = words("The page loads {} MB when you press a button for the first time.")
GIVES = words("The checks of this page give {0} of the lab's {1} points.")
ELSEWHERE = words(
    "{} are for checks that need [an installed course](../../students.md#install): these have no *Check* here, "
    "and a line above the exercise says why."
)
BY_HAND = words("{} are for your written answer, which your instructor marks.")
IN_JUPYTER = re.compile(
    rf'^(?:<span lang="en">)?\*\*(?:How it works\.|{re.escape(words("How it works."))})\*\*.*?(?=\n\n|\Z)',
    re.MULTILINE | re.DOTALL,
)  # the paragraph that says how a lab works in JupyterLab
IF_MISSING = re.compile(r"^(import (?:rushlight as rl|torch)) +# .+", re.MULTILINE)  # what to do in JupyterLab
HOME: dict = {  # an exercise that is wrong, with its check
    "lab": "01a_views",
    "key": "home",
    "before": "import rushlight as rl\nfrom autograder import check, exercise",
    "cells": {
        "home-exercise": {"kind": "exercise", "exercise": "aten.strided.contiguous_strides", "binds": []},
        "home-check": {
            "kind": "check",
            "check": "aten.strided.contiguous_strides",
            "of": "aten.strided.contiguous_strides",
            "points": 0,
            "binds": [],
        },
    },
}
HOME_VERDICT = Verdict(  # a test holds that the page counts the same
    "aten.strided.contiguous_strides",
    DISAGREED,
    cases=93,
    agreed=69,
)

BIND = """\
from autograder.engine.check import function_of
for name in {}:
    try:
        globals()[name.rpartition(".")[2]] = function_of(name)
    except (LookupError, ImportError):
        pass
"""  # an answer may call the other exercises of its lab
BAR = "<div data-tab-bar></div>"  # the place of the bar in a lab
ASKS = re.compile(r"^```python\n(?=from autograder import ask\n)", re.MULTILINE)  # code in a lab's text
RECORDED = re.compile(r'READINGS / "recorded" / "(\w+)" / "([\w.]+)"')  # in a check
ANNOUNCES = re.compile(r"(?<=[.?!])\s(?:(?![.?!]\s).)*:$", re.DOTALL)  # a last sentence, of what is below it
MENTIONED = re.compile(r"`(\w+)`")
FOLDS = re.compile(
    r"(?:<details><summary>[^<:]*</summary>.*?</details>\n*)+", re.DOTALL
)  # rules and hints, which begin a cell
EXERCISE = re.compile(r"<!-- exercise: (\w+) ([\w.]+) -->")  # in a reading, where it names one of a lab
LISTED = tomllib.loads((Path(parts.__file__).with_name("lacking.toml")).read_text(encoding="utf-8"))
LACKED = {check: entry["reason"] for entry in LISTED.values() for check in entry["checks"]}

# what a browser's Python lacks, or cannot start: torch and its relatives, a compiler, processes, threads, and the readings' files
LACKING = re.compile(
    r"\b(torch|torchgen|functorch|on_torch|distributed|cpp_extension|autograder\.patient|os\.fork|subprocess|multiprocessing|threading"
    r"|psutil|networkx|sympy|READINGS|ROOT|SOURCES)\b"
)
DRAWS = re.compile(r"\b(draw|matplotlib|pyplot|display)\b")  # a cell that is folded as a picture's may only print
CHANGES = {"add", "append", "backward", "clear", "extend", "insert", "load_state_dict", "pop", "remove", "setdefault"}
CHANGES |= {"step", "update", "zero_grad"}  # methods that change their object; others are called `add_`


def on_files(files: Files, config: MkDocsConfig) -> None:
    place = config.extra["browser"] = parts.fetch()
    if place is None:
        log.info("the cells of this site cannot be run in it")
        return
    for name in (*PYODIDE, *_drawing()):
        files.append(File.generated(config, f"{PLACE}/pyodide/{name}", abs_src_path=str(place / name)))
    for path in place.glob("codemirror/*.js"):
        files.append(File.generated(config, f"{PLACE}/codemirror/{path.name}", abs_src_path=str(path)))
    archives = _archives(place, Path(config.site_dir).parent / PLACE)
    config.extra["bytes"] = sum(map(len, archives.values())) + (place / f"{parts.WASM}.zlib").stat().st_size
    archives |= {code: packing.archive(_read(_of_language(code))) for code in translation.languages()}
    config.extra["version"] = hashlib.sha256(b"".join(archives.values())).hexdigest()[:16]
    archives |= {f"labs/{lab}": packing.archive(_read(_of_lab(lab))) for lab in labs(config)}
    for name, content in archives.items():
        files.append(File.generated(config, f"{PLACE}/{name}.zlib", content=content))
    files.append(File.generated(config, f"{PLACE}/pyodide/pyodide-lock.json", content=_lock(place)))
    files.append(File.generated(config, f"{PLACE}/{GPT.name}", abs_src_path=str(GPT)))


def _archives(place: Path, above: Path) -> dict[str, bytes]:
    """What each page loads, by name: the standard library, numpy, and the course. A site in another language takes them from the
    site above it."""
    made = {name: above / f"{name}.zlib" for name in ("stdlib", "numpy", "course")}
    if LANGUAGE and all(path.exists() for path in made.values()):
        return {name: path.read_bytes() for name, path in made.items()}
    [wheel] = place.glob("numpy-*.whl")
    numpy, course = packing.numpy(wheel), _read(_course())
    stdlib = packing.unzipped(place / "python_stdlib.zip", packing.STDLIB)
    compiled = packing.bytecode(place, numpy | course)
    library = {path.removeprefix(packing.STDLIB): data for path, data in packing.in_place(stdlib, compiled).items()}
    return {
        "stdlib": zlib.compress(packing.zipped(library), 9),
        "numpy": packing.archive(packing.in_place(numpy, compiled)),
        "course": packing.archive(packing.beside(course, compiled)),
    }


def _drawing() -> list[str]:
    """The files of Matplotlib and of what it needs."""
    return [part["file"] for part in parts.PARTS if part["group"] == "matplotlib"]


def _lock(place: Path) -> str:
    """What Pyodide must know of Matplotlib and what it needs, besides numpy, which is there."""
    lock = json.loads((place / "pyodide-lock.json").read_bytes())
    lock["packages"] = {name: about for name, about in lock["packages"].items() if about["file_name"] in _drawing()}
    for about in lock["packages"].values():
        about["depends"] = [name for name in about["depends"] if name != "numpy"]
    return json.dumps(lock)


def _read(paths: Iterator[tuple[str, Path]]) -> dict[str, bytes]:
    return {f"course/{name}": path.read_bytes() for name, path in paths}


def labs(config: MkDocsConfig) -> list[str]:
    """The labs whose pages run."""
    return [name for phase in config.extra["phases"] for lab in phase.labs if runs(name := lab.path.stem)]


def runs(lab: str) -> bool:
    """Whether a lab runs in a browser: nothing is against it, and its answers are recorded."""
    return not why_not(lab) and practice.fresh(lab) is not None


def why_not(lab: str) -> str:
    """Why a lab cannot run in a browser, as its page says it, or nothing."""
    return STARTS_PROCESSES if lab[:2] == RANKS else ON_TORCH if is_on_torch(lab) else ""


def _course() -> Iterator[tuple[str, Path]]:
    """The framework, the grader's part of a notebook, the checks that labs share, and PyYAML."""
    for pattern in COURSE_FILES:
        for path in COURSE.glob(pattern):
            if path.is_file() and LEFT_OUT.isdisjoint((path.parent.name, path.suffix)) and path.name != GPT.name:
                yield path.relative_to(COURSE).as_posix(), path
    spec = find_spec("yaml")
    assert spec is not None and spec.origin is not None
    for path in Path(spec.origin).parent.glob("*.py"):
        yield f"yaml/{path.name}", path


def _of_language(code: str) -> Iterator[tuple[str, Path]]:
    """What verdicts say in a language."""
    for path in (translation.FOLDER / code / f"{name}.po" for name in SPOKEN):
        if path.exists():
            yield path.relative_to(COURSE).as_posix(), path


def _of_lab(lab: str) -> Iterator[tuple[str, Path]]:
    """A lab's checks, torch's recorded answers, and the readings' recordings that the checks name."""
    folder = COURSE / "autograder/checks"
    checks = [*(folder / lab).glob("*.py")]
    shared = [path for path in (folder / f"shared_{lab[:2]}.py",) if path.exists()]
    named = {
        match.groups() for path in checks + shared for match in RECORDED.finditer(path.read_text(encoding="utf-8"))
    }
    recordings = [READINGS.joinpath("recorded", *names) for names in sorted(named)]
    for path in [*checks, practice.FOLDER / f"{lab}.zip", *recordings]:
        yield path.relative_to(COURSE).as_posix(), path


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page whose cells run has a script, and what this needs to know of them."""
    if page.file.src_uri == TALK:
        loads = LOADS.format(_megabytes(config)) if config.extra["browser"] else ""
        return markdown.replace("<!-- loads -->", loads) + _script("talk", _about_talk(config), page, config)
    if page.file.src_uri == PATHS and config.extra["browser"] and runs(HOME["lab"]):
        return markdown + _script("path_end", _about_picture(*labs(config)), page, config, "picture", "path_end")
    if page.is_homepage:
        markdown = markdown.replace("<!-- verdict -->", _home_verdict())
    about = _about(page, config) if config.extra["browser"] else {}
    if not about:
        names = {lab.page: lab.path.stem for phase in config.extra["phases"] for lab in phase.labs}
        said = why_not(names.get(page.file.src_uri, "")) if config.extra["browser"] else ""
        return EXERCISE.sub("", markdown).replace(BAR, f"{said}\n{{: .of-screen }}" if said else "")
    markdown = EXERCISE.sub(partial(_here, about, page, config), markdown)
    unseen = [id for id in about["cells"] if f'data-cell="{id}"' not in markdown and "own" in about["cells"][id]]
    blocks = (f'<div data-cell="{id}" hidden><pre><code></code></pre></div>' for id in unseen)
    markdown = "\n\n".join([*blocks, markdown])
    if "notebook" in about:
        here = HERE.format(_megabytes(config), _answers(about["lab"]))
        markdown = for_page(markdown).replace(BAR, f"{here} {_gives(about['lab'])}\n{{: .of-screen }}\n\n{BAR}")
        markdown = with_models(markdown, about["lab"])
    scripts = (
        ["share", "tab", "picture", "end"] if "notebook" in about else ["share", "tab"] if "labs" in about else ["tab"]
    )
    return markdown + _script("tab", about, page, config, *scripts)


def _megabytes(config: MkDocsConfig) -> int:
    """What the first press loads."""
    return ceil(config.extra["bytes"] / 1e6)


def for_page(markdown: str) -> str:
    """The text of a lab, with what is for JupyterLab alone folded, or left out."""
    head = f'<details class="folded" markdown="1"><summary>{words("How it works in JupyterLab")}</summary>'
    return IN_JUPYTER.sub(lambda said: f"{head}\n\n{said[0]}\n\n</details>", IF_MISSING.sub(r"\1", markdown), 1)


def _script(name: str, about: dict, page: Page, config: MkDocsConfig, *scripts: str) -> str:
    """The scripts of a page, after what the one that is called `name` must know."""
    base = get_relative_url(f"{PLACE}/", page.url)
    about = (
        about
        | {"base": base, "version": config.extra.get("version"), "bytes": config.extra.get("bytes")}
        | ({"language": LANGUAGE} if LANGUAGE else {})
    )
    text = json.dumps(about, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    tags = "".join(f'<script src="{base}{each}.js" defer></script>\n' for each in scripts or [name])
    return f'\n\n<script type="application/json" id="{name}">{text}</script>\n{tags}'


def _about(page: Page, config: MkDocsConfig) -> dict:
    """What the script of a page must know. Empty for a page without cells that run."""
    if page.is_homepage:
        return HOME | {"next": _next(page, config)} if runs(HOME["lab"]) else {}
    for phase in config.extra["phases"]:
        gpt = {"gpt": True} if phase.name[:2] == MINIGPT else {}
        for lab in phase.labs:
            name = lab.path.stem
            if lab.page == page.file.src_uri:
                if not runs(name):
                    return {}
                about = {"lab": name, "notebook": lab.path.name, "cells": cells(lab.read())}
                _, about["points"], about["here"] = points_of(name)
                return about | _of_end(lab, page, config) | gpt
        if phase.reading and page.file.src_uri in {phase.reading.page, *(part.page for part in phase.reading.parts)}:
            return {"key": f"reading {phase.name}", "cells": _of_page(phase.reading, page.file.src_uri), **gpt}
    return {}


def _of_end(lab: Notebook, page: Page, config: MkDocsConfig) -> dict:
    """What the end of a lab says: its title, torch's version, what it gives the labs after it on each path, which of its pieces a
    training step runs, and the next lab."""
    from docs.programs.hooks.paths import GIVES  # which imports this module

    labs = [lab for phase in config.extra["phases"] for lab in phase.labs]
    name, following = lab.path.stem, labs[labs.index(lab) + 1 :]
    about = {
        "number": number_of(name),
        "title": plain(lab.title),
        **_about_picture(name),
        "paths": {path: gives[number_of(name)] for path, gives in GIVES.items() if number_of(name) in gives},
        "step": {stage: own for stage, called in _stages(config).items() if (own := _in_short(called, lab.exercises))},
    }
    if following:
        about["after"] = {
            "number": number_of(following[0].path.stem),
            **_way_to(following[0], following[0].title, page),
        }
        phase = next(phase for phase in config.extra["phases"] if following[0] in phase.labs)
        if phase.labs[0] is following[0] and phase.reading:
            about["after"]["before"] = _way_to(
                phase.reading, words("the reading of phase {}").format(phase.name[:2]), page
            )
    return about


def _way_to(notebook: Notebook, title: str, page: Page) -> dict[str, str]:
    way = {"link": _to(notebook.page, page), "said": words("Next: {}").format(plain(title))}
    return way if notebook.is_translated else way | {"hreflang": "en"}


def _about_picture(*labs: str) -> dict:
    """What a picture must know: torch's version, which labs compare with exact calculations too, and the icon."""
    return {
        "torch": practice.torch_of(labs[0]).rpartition(".")[0],
        "exact": [lab for lab in labs if any(_exact(lab))],
        "icon": ICON_PATH.findall(ICON.read_text(encoding="utf-8")),
    }


def _to(source: str, page: Page, kind: str = ".html") -> str:
    """The address of another page, or of its notebook, from a page: that of the same language."""
    return get_relative_url(f"{LANGUAGE}/" * bool(LANGUAGE) + source.removesuffix(".md") + kind, page.url)


def _in_short(called: list[str], exercises: list[str]) -> list[str]:
    return [piece.rpartition(".")[2] for piece in called if piece in exercises]


def _stages(config: MkDocsConfig) -> dict[str, list[str]]:
    """By stage of a training step of the MiniGPT, the pieces that it calls. They are kept until the course changes."""
    path = Path(config.config_file_path).parent / "build" / "site" / "step.json"
    with suppress(OSError, ValueError, KeyError):
        return json.loads(path.read_text(encoding="utf-8"))[config.extra["version"]]
    stages = pieces.stages()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({config.extra["version"]: stages}), encoding="utf-8")
    return stages


def _here(about: dict, page: Page, config: MkDocsConfig, mark: re.Match) -> str:
    """An exercise of a lab in a reading, folded, where the reading first names it. What the script must know goes into `about`."""
    from docs.programs.hooks.notebooks import code, prose  # which imports this module

    lab = next(lab for phase in config.extra["phases"] for lab in phase.labs if lab.path.stem == mark[1])
    nb, known, of_lab = _read_once(lab.path, lab.path.stat().st_mtime_ns)
    told = {id: each for id, each in known.items() if mark[2] in (each.get("exercise"), each.get("of"))}
    checks = [each for each in told.values() if "of" in each]
    if about["cells"].keys() & told.keys() or all("lacks" in each or find(each["check"]).prediction for each in checks):
        return ""  # it is above, or does not run here, or its programs are in the lab
    about["cells"] |= {id: each | {"lab": mark[1]} for id, each in told.items()}
    notebook = _to(lab.page, page, ".ipynb")
    about.setdefault("labs", {})[mark[1]] = of_lab | {"number": number_of(mark[1]), "notebook": notebook}
    about |= {"gpt": True} if mark[1][:2] == MINIGPT else {}
    blocks = "\n\n".join(code(cell) for cell in nb.cells if cell.id in told)
    said = words("Do it here: {0}, of lab {1}").format(f"<code>{mark[2].rpartition('.')[2]}</code>", number_of(mark[1]))
    above, below = (prose(nbformat.v4.new_markdown_cell(text)) for text in explained(nb, mark[2]))
    return (
        f'<details class="here" markdown="1"><summary>{said}</summary>\n\n{above}\n\n{blocks}\n\n{below}\n\n</details>'
    )


def explained(nb: NotebookNode, exercise: str) -> tuple[str, str]:
    """What a lab says of an exercise that its cell does not: the paragraphs above it that introduce the imported names of its
    docstring with their arguments, and its rules and hints below it."""
    begins = [i for i, cell in enumerate(nb.cells) if exercise_name(cell)]
    at = next(i for i in begins if exercise_name(nb.cells[i]) == exercise)
    end = next((i for i in begins if i > at), None)
    above, below = (
        [cell.source for cell in part if cell.cell_type == "markdown"] for part in (nb.cells[:at], nb.cells[at:end])
    )
    imported = {name.asname or name.name for node in ast.parse(imports(nb)).body for name in node.names}
    own = nb.cells[at].source
    names = {name for name in imported.intersection(MENTIONED.findall(own)) if f"`{name}(" not in own}
    paragraphs = "\n\n".join(above).split("\n\n")
    said = {next((i for i, said in enumerate(paragraphs) if f"`{name}(" in said), -1) for name in names} - {-1}
    return "\n\n".join(ANNOUNCES.sub("", paragraphs[i]) for i in sorted(said)), next(
        (folds[0] for folds in map(FOLDS.match, below) if folds), ""
    )


@cache  # readings name the exercises of a lab many times
def _read_once(path: Path, changed: int) -> tuple[NotebookNode, dict[str, dict], dict]:
    """A lab's notebook, what the script must know of its cells, and what it must know of the lab on another page."""
    nb = translation.notebook(nbformat.read(path, as_version=4), say(f"labs/{path.stem}"))
    known, (points, of, here) = cells(nb), points_of(path.stem)
    names = [each["exercise"] for each in known.values() if "exercise" in each]
    return nb, known, {"imports": f"{imports(nb)}\n{BIND.format(names)}", "points": points, "of": of, "here": here}


def points_of(lab: str) -> tuple[dict[str, float], float, float]:
    """The points of each check of a lab, of all of the lab, with those that a person gives, and of the checks that run here."""
    about = Lab(lab)
    return about.points, about.all_points, points_here(about)


def points_here(lab: Lab) -> float:
    """The points of the checks of a lab that run in a browser."""
    return sum(worth for check, worth in lab.points.items() if check not in LACKED)


def _exact(lab: str) -> list[bool]:
    """Of each check of a lab that runs here and has points: whether it compares with an exact calculation, and not with torch."""
    return [not find(check).asks_torch for check in Lab(lab).points if check not in LACKED]


def _answers(lab: str) -> str:
    """What the checks of a lab's page compare with."""
    exact = _exact(lab)
    return SOME_EXACT.format(sum(exact), len(exact)) if any(exact) else ANSWERS


def _gives(lab: str) -> str:
    """How many of a lab's points its page can give, and what the others are for."""
    points, of, here = points_of(lab)
    elsewhere, by_hand = sum(points.values()) - here, of - sum(points.values())
    said = [GIVES.format(f"{here:g}", f"{of:g}")]
    said += [ELSEWHERE.format(f"{elsewhere:g}")] if elsewhere else []
    said += [BY_HAND.format(f"{by_hand:g}")] if by_hand else []
    return " ".join(said)


def _next(page: Page, config: MkDocsConfig) -> dict:
    """Where the answer of home's exercise is at home: its cell in the lab, which begins where the reader goes on."""
    lab = next(lab for phase in config.extra["phases"] for lab in phase.labs if lab.path.stem == HOME["lab"])
    exercise = HOME["cells"]["home-exercise"]["exercise"]
    cell = next(cell for cell in lab.read().cells if exercise_name(cell) == exercise)
    link = f"{_to(lab.page, page)}#{lab.sections[exercise]}"
    number = lab.exercises.index(exercise) + 1
    said = words("That was exercise {0} of lab {1}: go on").format(number, number_of(HOME["lab"]))
    worth, of, here = points_of(HOME["lab"])
    points = worth[HOME["cells"]["home-check"]["check"]]
    return {
        "lab": HOME["lab"],
        "cell": cell.id,
        "own": translation.code(cell.source, say(lab.name)),
        "link": link,
        "number": number_of(HOME["lab"]),
        "exercise": number,
        "said": said,
        "points": points,
        "of": of,
        "here": here,
    }


def _home_verdict() -> str:
    """What home says of its exercise before the reader runs it: how many cases agree, and none that does not."""
    with speaking(LANGUAGE):
        shown = card(HOME_VERDICT)
    label = f'<p class="notes">{words("An example, recorded: what <em>Check</em> says of this function")}</p>'
    return f'<div class="rich verdict">{label}{shown}</div>'


def _of_page(reading: Notebook, page: str) -> dict[str, dict]:
    """What the script must know of the cells of a reading, or of one of its parts, after the set-up cells of the parts before."""
    nb, here, shown = reading.read(), page, {}
    about, begins = cells(nb), {part.first: part.page for part in reading.parts}
    first = next((part.first for part in reading.parts if part.page == page), 0)
    for position, cell in enumerate(nb.cells):
        here = begins.get(position, here)
        if cell.id in about and here == page:
            shown[cell.id] = about[cell.id]
        elif cell.id in about and position < first and "setup" in cell.metadata.get("tags", ()):
            shown[cell.id] = {"own": cell.source} | about[cell.id] | {"kind": "torch"}
    return shown


def _about_talk(config: MkDocsConfig) -> dict:
    """What the script of the model's page must know. Exercises of the phase that have passed need the imports of their labs."""
    found = [lab for phase in config.extra["phases"] if phase.name[:2] == MINIGPT for lab in phase.labs]
    return {
        "runs": bool(config.extra["browser"]),
        "prompts": PROMPTS,
        "forms": [{"times": TIMES[code], "who": PRONOUNS[code]} for code in TIMES],
        "be": BE,
        "labs": {lab.path.stem: imports(lab.read()) for lab in found},
        "recorded": conversation(),
    }


def conversation() -> dict:
    """The steps in which the model continues a sentence of the page's language, the same in each build."""
    text = SHOWN_FIRST.get(LANGUAGE, SHOWN_FIRST[""])
    talk = Conversation(text)
    begun, steps = talk.begin(), []
    while not talk.ended:
        step = talk.step()
        del step["seconds"]
        steps.append(step)
    return {"text": text, "begun": begun, "steps": steps}


def imports(nb: NotebookNode) -> str:
    """The imports of a notebook that run here."""
    parts = [part for cell, part in zip(nb.cells, portable(nb)) if cell.cell_type == "code"]
    nodes = [node for part in parts for node in ast.parse(part).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(dict.fromkeys(map(ast.unparse, nodes)))


def cells(nb: NotebookNode) -> dict[str, dict]:
    """What the page must know of each cell of code and each written answer, by its id: its kind, the names that it binds or whose
    objects it changes, and what it is for. Of a cell that does not run here, the part that does is run for cells below."""
    told = {}
    for cell, part in zip(nb.cells, portable(nb)):
        if cell.cell_type == "markdown":
            told |= {cell.id: {"kind": "written", "own": cell.source}} if cell.metadata.get("nbgrader") else {}
            told |= {cell.id: {"kind": "plain", "binds": []}} if ASKS.search(cell.source) else {}
        if cell.cell_type != "code":
            continue
        statements = ast.parse(part).body
        binds = set().union(*(global_names(ast.unparse(each))[0] | _changed(each) for each in statements))
        about = told[cell.id] = {"kind": "plain", "binds": sorted(binds)}
        if part != cell.source:
            about |= {"kind": "torch", "own": part}
        elif "figure" in cell.metadata.get("tags", ()):
            about |= {"kind": "drawing"} if DRAWS.search(part) else {"prints": True}
        elif exercise := exercise_name(cell):
            about |= {"kind": "exercise", "exercise": exercise}
            about |= {"piece": True} if kind_of(exercise) == BODY else {}
            about |= {"further": True} if is_further(cell) else {}
            about |= {"counterpart": where} if (where := counterpart_of(part)) else {}
        elif check := check_name(cell):
            points = cell.metadata.get("nbgrader", {}).get("points", 0)
            about |= {"kind": "check", "check": check, "points": points}
            about |= {} if is_milestone(check) else {"of": exercise_of(check)}
            about |= {"lacks": words(LACKED[check])} if check in LACKED else {}
    return told


# What runs in a browser ----------------------------------------------------------------------------------------------


def runnable(nb: NotebookNode) -> list[bool]:
    """Whether a cell is code, all of which runs in a browser."""
    return [cell.cell_type == "code" and part == cell.source for cell, part in zip(nb.cells, portable(nb))]


def portable(nb: NotebookNode) -> list[str]:
    """The code of each cell without the statements that need what a browser lacks. Empty for Markdown.

    A statement needs it if a tag of the cell says so, or if it names it. So does a statement that uses a name that such a
    statement binds, or an object that such a statement changes. An exercise and its check always run.
    """
    lacking, imported, parts = set[str](), set[str](), []
    for cell in nb.cells:
        if cell.cell_type != "code" or cell.source.startswith("%%"):  # a patient is another process
            parts.append("")
            continue
        lines: list[str | None] = cell.source.split("\n")
        whole = not {"torch", "compiler", "triton"}.isdisjoint(cell.metadata.get("tags", ()))
        for statement in ast.parse(cell.source).body:
            bound, used = global_names(ast.unparse(statement))
            imported |= bound if isinstance(statement, ast.Import | ast.ImportFrom) else set()
            needs_more = lacking & (used - _targets(statement)) or any(map(LACKING.search, _names(statement)))
            if whole or needs_more and "rushlight" not in cell.metadata:
                lacking |= bound | _changed(statement) - imported
                first = min(node.lineno for node in [statement, *getattr(statement, "decorator_list", ())])
                last = statement.end_lineno or first  # which `ast.parse` always knows
                lines[first - 1 : last] = [None] * (last - first + 1)
            else:
                lacking -= bound
        parts.append("\n".join(line for line in lines if line is not None))
    return parts


def _names(statement: ast.stmt) -> Iterator[str]:
    """The names in a statement, with dots: `on_torch.trace` for `rl.trace`, and of an import the module's and what it gives."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute | ast.Name):
            name = _dotted(node)
            yield long_form(name.removeprefix("rl.")) if name.startswith("rl.") else name


def _dotted(node: ast.expr) -> str:
    """`a.b.c` for `a.b[0].c`."""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _targets(statement: ast.stmt) -> set[str]:
    """The names that the loops and the handlers of a statement bind before they use them."""
    nodes = [*ast.walk(statement)]
    loops = [inner for node in nodes if isinstance(node, ast.For) for inner in ast.walk(node.target)]
    handlers = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    return handlers | {node.id for node in loops if isinstance(node, ast.Name)}


def _changed(statement: ast.stmt) -> set[str]:
    """The names whose objects a statement changes."""
    changed = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed.append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed += [node.func] if node.func.attr in CHANGES or node.func.attr.endswith("_") else []
    return {_dotted(node).partition(".")[0] for node in changed}
