"""A lab in its page: seconds from the first press to the first verdict, and of each check after it, in Chromium on this machine.

The site must be there: `rushlight docs` builds it into `site/`. It is served as a static host does it, compressed, with a time for
which a browser may keep each file. *Cold* is a browser that has never been here, and *warm* is the same browser, started again.
Then the right answers are uploaded into the page of each lab, and every check is pressed: printed are the checks that do not pass,
and the seconds of those that do, from the press to the verdict. With `--slow 4` all processes of the browser run for a quarter of
the time.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import BrowserContext, Page, sync_playwright

from bench.marking import right

ROOT = Path(__file__).parents[1]
CHROMIUM = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
FIRST = "01a_views", "aten-strided-contiguous_strides"
RUNS = 'id="tab"'  # what the page of a lab that runs has
PHASES = "01", "02", "03", "04", "05"
IDLE = "!document.querySelector('.tab-bar.busy')"
SAID = """(button) => {
    const cell = cells.find(({ buttons }) => buttons?.contains(button));
    return (cell.checked ?? cell).outputs.innerText;
}"""
SLICE = 0.005  # seconds for which a slow browser runs at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="*", help="labs such as 04a_history; by default those of phases 01 to 05")
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--slow", type=float, default=1.0, help="how many times slower the browser is")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    paths = sorted(arguments.site.glob("phases/*/[0-9]*.html"))
    pages = {path.stem: path for path in paths if RUNS in path.read_text("utf-8")}
    if FIRST[0] not in pages:
        print(f"no lab runs in {arguments.site}: `rushlight docs` builds a site in which they do")
        return
    labs = arguments.labs or [name for name in pages if name[:2] in PHASES]
    print(
        f"load of the machine: {os.getloadavg()[0]:.1f} for {os.cpu_count()} processors; {arguments.slow:g} times slower"
    )
    with serving(arguments.site) as (address, sent), sync_playwright() as playwright:

        def open_at(place: str) -> BrowserContext:
            path = next(filter(None, map(shutil.which, CHROMIUM)))
            return playwright.chromium.launch_persistent_context(place, executable_path=path, args=["--no-sandbox"])

        def url(lab: str) -> str:
            return f"{address}/{pages[lab].relative_to(arguments.site).as_posix()}"

        times: dict[str, list[float]] = {"cold": [], "warm": []}
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
                for way in times:
                    with open_at(place) as browser, slowed(arguments.slow):
                        sent.clear()
                        seconds, before = first_verdict(browser.pages[0], url(FIRST[0]), sent)
                        times[way].append(seconds)
                        if len(times["cold"]) == 1:
                            loaded = (sent.total() - before) / 1e6
                            print(f"{way}: {before / 1e6:.2f} MB before the first press, {loaded:.2f} MB after it")
        for way, seconds in times.items():
            print(f"first verdict, {way}: {', '.join(f'{each:.1f}' for each in seconds)} s")
        every: list[float] = []
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
            open_at(place) as browser,
            slowed(arguments.slow),
        ):
            for lab in labs:
                passed = checks(browser.pages[0], url(lab), lab)
                every += passed
        if every:
            print(f"{len(every)} checks pass: median {statistics.median(every):.2f} s, at most {max(every):.1f} s")


def first_verdict(page: Page, url: str, sent: Counter[str]) -> tuple[float, int]:
    """Seconds from the first press to the first verdict, and the bytes that had come before the press."""
    lab, cell = FIRST
    page.set_default_timeout(600_000)
    page.goto(url, wait_until="networkidle")
    upload(page, lab)  # of an exercise that nobody has touched the page speaks without Python
    page.wait_for_load_state("networkidle")
    before, start = sent.total(), time.perf_counter()
    page.locator(f'[data-cell="{cell}"] + .buttons').get_by_text("Check", exact=True).click()
    page.locator(f'[data-cell="check-{cell}"] + .outputs .rich').wait_for()
    seconds = time.perf_counter() - start
    page.wait_for_timeout(8000)  # what it keeps for the next visit
    return seconds, before


def checks(page: Page, url: str, lab: str) -> list[float]:
    """Upload the right answers of a lab, press each check, and print those that fail. Returns the seconds of those that pass."""
    page.set_default_timeout(600_000)
    page.goto(url)
    upload(page, lab)
    seconds, failed = [], []
    buttons = page.locator(".buttons button.main")
    for number in range(buttons.count()):
        button = buttons.nth(number)
        start = time.perf_counter()
        button.click()
        page.wait_for_function(IDLE)
        took = time.perf_counter() - start
        text = button.evaluate(SAID)
        if text.startswith("✓"):
            seconds += [took] if number else []  # the first one loads Python
        else:
            failed.append(f"    {button.get_attribute('aria-label')}: {text[:200]!r}")
    print(f"{lab}: {page.locator('.tab-bar b').inner_text()}", *failed, sep="\n", flush=True)
    return seconds


def upload(page: Page, lab: str) -> None:
    """Put the right answers of a lab into its page."""
    with tempfile.NamedTemporaryFile(suffix=".ipynb") as file:
        Path(file.name).write_text(right(lab), encoding="utf-8")
        page.locator(".tab-bar input[type=file]").set_input_files(file.name)
        page.get_by_text("answers read from").wait_for()


@contextmanager
def slowed(times: float) -> Iterator[None]:
    """Within: the processes of browsers that this one has started stand still for most of the time."""
    over = threading.Event()

    def cycle() -> None:
        while not over.is_set():
            mine = [process for process in psutil.Process().children(recursive=True) if "chrom" in process.name()]
            for signal_, seconds in ((signal.SIGSTOP, SLICE * (times - 1)), (signal.SIGCONT, SLICE)) * 50:
                for process in mine:
                    with suppress(psutil.NoSuchProcess):
                        process.send_signal(signal_)
                time.sleep(seconds)

    thread = threading.Thread(target=cycle)
    if times > 1:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if times > 1:
            thread.join()


@contextmanager
def serving(site: Path) -> Iterator[tuple[str, Counter[str]]]:
    """The address at which a folder is served, and the bytes that have been sent, by path."""
    sent: Counter[str] = Counter()

    @cache
    def packed(path: Path) -> bytes:
        return gzip.compress(path.read_bytes(), 6)

    class Host(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = site / urlsplit(self.path).path.lstrip("/")
            there = path.is_file()
            body = packed(path) if there else b""
            self.send_response(200 if there else 404)
            self.send_header("Content-Type", guess_type(path.name)[0] or "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=600")
            if there:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            if self.command == "GET":
                with suppress(ConnectionError):
                    self.wfile.write(body)
                sent[path.name] += len(body)

        do_HEAD = do_GET

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", sent
        server.shutdown()


if __name__ == "__main__":
    main()
