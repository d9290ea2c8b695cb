"""JupyterLite beside the site: a lab's notebook in a browser, without a server and without the internet."""

import re
from http.server import SimpleHTTPRequestHandler

import pytest
from conftest import DESK, serving, watch
from course import Notebook
from test_jupyterlab import RIGHT, WRONG

from autograder.author.build import execute
from autograder.engine import practice
from autograder.model import Lab
from docs.programs.browser import lite, parts

NO_NETWORK = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"}  # a proxy that answers nothing


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of JupyterLite with lab 01a, below a path of its host."""
    if not parts.fetched(lite=True):
        pytest.skip("JupyterLite's parts are not here (`python docs/programs/browser/parts.py --lite` fetches them)")
    practice.record("01a_views")
    practice.record_outputs("01a_views", execute)
    host = tmp_path_factory.mktemp("host")
    (host / "favicon.ico").touch()
    lite.build(host / "course" / "lite", [Lab("01a_views")])
    yield from (f"{served}/course/lite" for served in serving(host, Quiet))


@pytest.fixture
def page(browser, problems, shots):
    page = browser.new_page(viewport=DESK, proxy=NO_NETWORK)
    page.set_default_timeout(300_000)
    watch(page, problems)
    yield page
    page.screenshot(path=shots / "lite.png")
    page.context.close()
    assert problems == []


@pytest.mark.sweep
def test_a_lab_gives_its_verdicts_in_jupyterlite_without_a_network(page, address):
    page.goto(f"{address}/lab/index.html?path=01a_views/01a_views.ipynb")
    lab = Notebook(page, "Python (Pyodide)")
    assert lab.run("import rushlight as rl").inner_text() == ""
    assert "not run: there is no torch here" in lab.run("import torch").inner_text()
    shown = lab.run("torch.empty_strided((1, 3)").inner_text().split("\n")
    assert (shown[0], shown[-1]) == ("True", "recorded from torch 2.13.0; there is no torch here")
    assert lab.run("rl.draw.strides(").locator("img, svg").first.is_visible()
    lab.run("def element_offset", WRONG)
    shown = lab.run('check("aten.strided.element_offset")').inner_text()
    for part in ("cases agree with torch", "yours", "torch's", "replay"):
        assert part in shown
    lab.run("def element_offset", RIGHT)
    headline, *more = lab.run('check("aten.strided.element_offset")').inner_text().strip().splitlines()
    assert re.fullmatch(r"✓ .*: all \d+ cases agree with torch", headline)
    assert "practice: these cases are public" in " ".join(more)
