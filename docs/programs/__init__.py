"""The programs that make the site and its pictures. What they write, and what pages load, is beside the pages, in `docs/`.

- `hooks/` builds the pages: `mkdocs.yml` lists these files in the order in which MkDocs asks them.
- `figures/` computes the data of the moving figures, and draws the picture of each.
- `browser/` fetches the parts of the site that run Python in a browser, and builds JupyterLite.
- `images/` draws the pictures of the pages and of the README, or takes them in Chromium.
- `fonts/` makes the font of the formulas.
- `pictures.py` is Chromium, in which `figures/` and `images/` draw.

They import each other by their full names, as in `from docs.programs.hooks import languages`, because the installation of the
course has the repository on Python's path. A program is also a command: `python docs/programs/figures/build.py`.
"""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
FIGURES, IMAGES = DOCS / "figures", DOCS / "images"
