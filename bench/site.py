"""The site as a reader's browser has it: how long it takes to build, what its pages weigh, and how they appear.

For each page and each scheme, light and dark: requests and bytes until the page is still, and until its end has been read;
Chromium's largest contentful paint, layout shift (0.1 and less is good) and blocking time; blocks that are cut off, and blocks that
a reader must move sideways, on a desk and on a phone. With `--axe`, what axe finds wrong for readers with other needs. The file is
in the npm package `axe-core`: `npm pack axe-core && tar xf axe-core-*.tgz`, then `--axe package/axe.min.js`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).parents[1]
PAGES = ["index.html", "phases/04_autograd/reading_04b.html", "phases/12_minigpt/reading_12d.html"]
PAGES += ["phases/01_strided/01a_views.html", "api/aten/strided.html", "api/operators.html"]
CHROMIUM = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"

OBSERVE = """
    window.seen = { paint: 0, shift: 0, blocked: 0 };
    const each = (type, f) => new PerformanceObserver((l) => l.getEntries().forEach(f)).observe({ type, buffered: true });
    each("largest-contentful-paint", (entry) => (seen.paint = entry.startTime));
    each("layout-shift", (entry) => (seen.shift += entry.hadRecentInput ? 0 : entry.value));
    each("longtask", (entry) => (seen.blocked += Math.max(0, entry.duration - 50)));
"""
READ = """async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
        scrollTo(0, y);
        await new Promise((done) => setTimeout(done, 30));
    }
}"""
BLOCKS = """() => {
    const [cut, moved] = [[], []];
    for (const block of document.querySelectorAll("article :is(pre, code, table, math, img, svg, div)")) {
        if (!block.checkVisibility() || block.scrollWidth <= block.clientWidth + 1 || !block.clientWidth) continue;
        const way = getComputedStyle(block).overflowX;
        if (way === "hidden" || way === "clip") cut.push(block.outerHTML.slice(0, 70));
        if (way === "auto" || way === "scroll") moved.push(block.outerHTML.slice(0, 70));
    }
    return [cut, moved];
}"""
AXE = """async () => (await axe.run()).violations.map((each) => [each.id, each.impact, each.nodes.length, each.nodes[0].html])"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", default=PAGES, help="pages of the site")
    parser.add_argument("--site", type=Path, help="a site that is built already")
    parser.add_argument("--axe", type=Path, help="axe.min.js")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        site = arguments.site or build(Path(place))
        weigh(site)
        look(site, arguments.pages, arguments.axe)


def build(place: Path) -> Path:
    """The site, built as `make docs` does it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", place]
    print(f"load of the machine: {os.getloadavg()[0]:.1f} for {os.cpu_count()} processors")
    started, used = time.perf_counter(), os.times()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    now = os.times()
    processor = now.children_user + now.children_system - used.children_user - used.children_system
    print(f"build: {time.perf_counter() - started:.0f} s, {processor:.0f} s of a processor")
    return place


def weigh(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file()]
    pages = [path for path in files if path.suffix == ".html"]
    print(f"{len(pages)} pages, {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB")
    if (index := site / "search" / "search_index.json").exists():
        data = index.read_bytes()
        print(f"index of the search: {len(data) / 1e6:.2f} MB, {len(gzip.compress(data)) / 1e6:.2f} MB by gzip")


def look(site: Path, pages: list[str], axe: Path | None) -> None:
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        print("no chromium here (`sh system.sh chromium` brings it)")
        return
    from playwright.sync_api import sync_playwright

    print(
        f"\n{'page':36}{'':7}{'requests':>10}{'kB':>7}{'all kB':>8}{'paint ms':>10}{'shift':>7}{'blocked ms':>12}",
        end="",
    )
    print(f"{'cut off':>9}{'moved':>7}{'phone':>7}{'axe':>5}")
    with serving(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        reports = [visit(browser, f"{address}/", page, scheme, axe) for page in pages for scheme in ("light", "dark")]
        browser.close()
    print(*dict.fromkeys(line for lines in reports for line in lines), sep="\n")


def visit(browser, address: str, name: str, scheme: str, axe: Path | None) -> list[str]:
    """Print the figures of one page; returns what is amiss, a line each."""
    with browser.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.add_init_script(OBSERVE)
        answers: list = []
        page.on("response", lambda answer: answers.append(answer))
        page.goto(address + name, wait_until="networkidle")
        page.wait_for_timeout(500)  # observers answer late
        requests, early = len(answers), _bytes(answers)
        seen = page.evaluate("seen")
        page.evaluate(READ)
        page.wait_for_load_state("networkidle")
        whole, shift = _bytes(answers), page.evaluate("seen.shift")
        cut, moved = page.evaluate(BLOCKS)
        wrong = []
        if axe:
            page.evaluate("scrollTo(0, 0)")
            page.evaluate(axe.read_text(encoding="utf-8"))
            wrong = page.evaluate(AXE)
        page.set_viewport_size({"width": 390, "height": 900})
        cut_on_phone, moved_on_phone = page.evaluate(BLOCKS)
    print(
        f"{name:36}{scheme:7}{requests:10}{early / 1e3:7.0f}{whole / 1e3:8.0f}{seen['paint']:10.0f}{shift:7.3f}", end=""
    )
    print(f"{seen['blocked']:12.0f}{len(cut) + len(cut_on_phone):9}{len(moved):7}{len(moved_on_phone):7}", end="")
    print(f"{sum(count for _, _, count, _ in wrong) if axe else '-':>5}", flush=True)
    lines = [f"{name}: cut off: {text}" for text in cut + cut_on_phone]
    return lines + [f"{name} ({scheme}): {id}, {impact}: {count}, such as {html}" for id, impact, count, html in wrong]


def _bytes(answers: list) -> int:
    return sum(int(answer.headers.get("content-length", 0)) for answer in answers)


@contextmanager
def serving(site: Path):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    main()
