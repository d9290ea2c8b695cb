"""The map of phases shows what the code does."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"functions", "variable_type"}
BACKWARDS = {("01", "03")}  # the page says so: what makes and converts tensors runs on kernels


def phases():
    """The modules of each phase, as the pages of the API list them."""
    for node in ast.parse((ROOT / "docs/hooks/api.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "PHASES":
            return ast.literal_eval(node.value)


def imports(path):
    """The modules of rushlight that a module imports when it is imported, by their first name."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rushlight":
            names = [alias.name for alias in node.names] if node.module == "rushlight" else [node.module.split(".")[1]]
            yield from names


def test_an_arrow_leads_to_every_phase_from_those_that_its_modules_import():
    drawn = {
        tuple(edge.split()) for edge in re.findall('data-edge="([^"]+)"', (ROOT / "docs/images/map.svg").read_text())
    }
    drawn |= {("02", "01")}  # this one has a head at either end
    reached = set(drawn)
    for _ in drawn:
        reached |= {(a, d) for a, b in reached for c, d in drawn if b == c}
    phase = {name: number for number, names in phases().items() if number.isdigit() for name in names.split()}
    used = set()
    for name, number in phase.items():
        files = [ROOT / "rushlight" / f"{name}.py", *(ROOT / "rushlight" / name).rglob("*.py")]
        for path in files:
            if path.exists() and name not in GENERATED:
                used |= {(phase[other], number) for other in imports(path) if other in phase and phase[other] != number}
    assert {edge for edge in used if edge[::-1] not in BACKWARDS} <= reached
