"""Whether the search answers a newcomer: how many questions have the right section first, and how soon.

`questions.txt` and `questions_es.txt` have questions that were written before the search's answers to them were looked at, and the
sections that answer each. A section is a page and an anchor, such as `students#install`. The pages of a phase begin with its
number, and `*` stands for any text.
"""

from __future__ import annotations

import argparse
import shutil
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import site

QUESTIONS = {"": "questions.txt", "es/": "questions_es.txt"}  # by the site of a language
ASK = """async (questions) => {
    const index = await (await fetch("search/search_index.json")).json();
    const worker = new Worker(JSON.parse(document.getElementById("__config").textContent).search);
    const ask = (type, data) => new Promise((answered) => {
        worker.onmessage = (event) => answered(event.data.data);
        worker.postMessage({ type, data });
    });
    await ask(0, { ...index, options: {} });
    const found = {}, begun = performance.now();
    for (const each of questions) found[each] = (await ask(2, each)).items.map(([first]) => first.location);
    return [found, (performance.now() - begun) / questions.length];
}"""
READY = "!/^(Initializing|Inicializando)/.test(document.querySelector('.md-search-result__meta').textContent.trim())"
FIRST = "document.querySelector('.md-search-result__item') && performance.now() - window.turned"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, help="a site that is built already, with all its pages")
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        measure(arguments.site or site.build(Path(place)))


def measure(folder: Path) -> None:
    path = next(filter(None, map(shutil.which, site.CHROMIUM)), None)
    if path is None or not (folder / "search").exists():
        print("no chromium here (`sh system.sh chromium` brings it)" if path is None else f"no search in {folder}")
        return
    from playwright.sync_api import sync_playwright

    with site.serving(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        for below, name in QUESTIONS.items():
            page.goto(f"{address}/{below}students.html", wait_until="load")
            page.wait_for_function(READY)  # else the page's own first question is between these
            ask(page, name)
        for wait in (0, 8_000):  # milliseconds that a reader has read
            page.goto(f"{address}/phases/04_autograd/reading_04b.html", wait_until="load")
            page.wait_for_timeout(wait)
            page.evaluate("window.turned = performance.now()")
            page.get_by_role("textbox", name="Search").fill("how does autograd work")
            seen = page.wait_for_function(FIRST).json_value()
            print(f"first result {seen:.0f} ms after a question, {wait / 1000:.0f} s after the page is there")
        browser.close()


def ask(page, name: str) -> None:
    """Ask the questions of a file, and print those whose right section is not first."""
    lines = [
        line
        for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
        if line[:1] not in ("", "#")
    ]
    questions = {question: answers.split(", ") for question, _, answers in (line.partition(" | ") for line in lines)}
    found, mean = page.evaluate(ASK, [*questions])
    wrong = {each: found[each][:3] for each, answers in questions.items() if not answered(found[each][:1], answers)}
    for question, places in wrong.items():
        print(f"{question}: {', '.join(places) or 'nothing'}")
    print(
        f"{len(questions) - len(wrong)} of {len(questions)} questions have the right section first, {mean:.0f} ms a question"
    )


def answered(places: list[str], answers: list[str]) -> bool:
    return any(fnmatch(place, address(answer)) for place in places for answer in answers)


def address(answer: str) -> str:
    """The pattern of a location: `00*#the-map` is a section of phase 00, and `students` the page or a section of it."""
    page, mark, anchor = answer.partition("#")
    page = f"phases/{page[:2]}_*{page[2:]}" if page[:2].isdigit() else page
    page = page if page.endswith(("*", ".html")) else f"{page}.html"
    return f"{page}*#{anchor}" if mark and not page.endswith(".html") else f"{page}#{anchor}" if mark else f"{page}*"


if __name__ == "__main__":
    main()
