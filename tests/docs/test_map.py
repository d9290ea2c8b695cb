"""The map of phases shows what the code does."""

import ast
import re
from itertools import pairwise
from pathlib import Path

from autograder.engine.check import is_on_torch
from autograder.model import Course
from autograder.paths import _NEEDS
from docs.programs.hooks import schemes
from docs.programs.hooks.narrow import narrow

ROOT = Path(__file__).resolve().parents[2]
BOX = re.compile(r'data-phase="(\d\d)" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"')
BACKWARDS = {("01", "03")}  # the page says so: what makes and converts tensors runs on kernels


def phases():
    """The modules of each phase, as the pages of the API list them."""
    for node in ast.parse((ROOT / "docs/programs/hooks/api.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "PHASES":
            return ast.literal_eval(node.value)


def imports(path):
    """The modules of rushlight that a module imports when it is imported, and what it imports from them, by their full names."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rushlight":
            yield from (f"{node.module}.{alias.name}".removeprefix("rushlight.") for alias in node.names)


def phase_of(name, phases):
    """The phase of a module, or of what is in it: the one that names it, or the nearest package that it is in."""
    named = [(each, number) for number, names in phases.items() for each in names.split() if each != "aten"]
    around = [(each, number) for each, number in named if f"{name}.".startswith(f"{each}.")]
    return max(around, key=lambda found: len(found[0]), default=(None, None))[1]


def reached(*kinds):
    """The pairs of phases that arrows of these kinds lead from one to the other, over phases between them, too."""
    drawing = (schemes.IMAGES / "map.svg").read_text()
    drawn = {tuple(edge.split()) for kind in kinds for edge in re.findall(f'data-{kind}="([^"]+)"', drawing)}
    drawn |= {("02", "01")}  # this one has a head at either end
    pairs = set(drawn)
    for _ in drawn:
        pairs |= {(a, d) for a, b in pairs for c, d in drawn if b == c}
    return pairs


def test_an_arrow_leads_to_every_phase_from_those_that_its_modules_import():
    found, used = {number: names for number, names in phases().items() if number.isdigit()}, set()
    for path in (ROOT / "rushlight").rglob("*.py"):
        number = phase_of(".".join(path.relative_to(ROOT / "rushlight").with_suffix("").parts), found)
        if number and "generated" not in path.parts and path.name != "__init__.py":
            others = {phase_of(name, found) for name in imports(path)} - {None, number}
            used |= {(other, number) for other in others}
    assert {edge for edge in used if edge[::-1] not in BACKWARDS} <= reached("edge")


def test_an_arrow_leads_to_every_phase_from_those_that_the_page_and_its_labs_say_it_needs():
    page = (ROOT / "docs/map.md").read_text(encoding="utf-8")
    needed = {
        (other, number)
        for number, row in re.findall(r"^\| (\d\d) ·[^|]+\|(.+)\|$", page, re.MULTILINE)
        for other in re.findall(r"\b(\d\d)[a-e]?\b", row)
    }
    for lab in Course().released_labs():
        needs = _NEEDS.search(lab.source.read_text(encoding="utf-8"))[0]
        needed |= {(other, lab.phase) for other in re.findall(r"(?<!section )\b(\d\d)[a-e]?\b", needs)}
    assert len(needed) > 50
    assert {pair for pair in needed if len({*pair}) == 2 and "00" not in pair} - reached("edge", "idea") == set()


def test_no_arrow_crosses_a_box():
    drawing = (schemes.IMAGES / "map.svg").read_text()
    crossed = []
    for line in re.findall(r'<path data-\w+="[^"]+" d="M([^"]+)"', drawing):
        points = [tuple(map(float, point.split())) for point in line.split(" L")]
        for (x0, y0), (x1, y1) in pairwise(points):
            along = [(x0 + part / 100 * (x1 - x0), y0 + part / 100 * (y1 - y0)) for part in range(101)]
            for number, *box in BOX.findall(drawing):
                left, top, width, height = map(float, box)
                inside = any(left + 2 < x < left + width - 2 and top + 2 < y < top + height - 2 for x, y in along)
                crossed += [(line, number)] if inside else []
    assert not crossed


def test_an_arrow_ends_at_every_phase_but_00_which_no_phase_needs():
    drawing = (schemes.IMAGES / "map.svg").read_text()
    boxes = BOX.findall(drawing)
    lines = re.findall(r'<path.* d="M(.+?)"(?: marker-(start))?', drawing)
    ends = [line.split("L")[-1] for line, _ in lines] + [line.split(" L")[0] for line, start in lines if start]
    points = [tuple(map(int, end.split())) for end in ends if "z" not in end]

    def is_end(x, y, width, height):
        return any(x - 4 <= left <= x + width + 4 and y - 4 <= top <= y + height + 4 for left, top in points)

    assert len(boxes) == 16
    assert [number for number, *box in boxes if not is_end(*map(int, box))] == ["00"]


def test_a_phase_is_in_the_colour_of_real_torch_only_if_all_its_labs_work_on_it():
    drawing = (schemes.IMAGES / "map.svg").read_text()
    fills = dict(re.findall(r'data-phase="(\d\d)".* fill="(\S+)"', drawing))
    of_torch = {number for number, fill in fills.items() if fill == fills["00"]}
    assert all(is_on_torch(lab.name) for lab in Course().released_labs() if lab.phase in of_torch)
    assert len({fills[number] for number in ("00", "01", "14")}) == 3
    for fill in {*fills.values()}:
        parts = bytes.fromhex(schemes.dark(fill)[1:])
        assert max(parts) - min(parts) >= 16, "a grey in the dark"


def test_the_drawing_for_a_phone_has_a_box_to_press_for_each_phase():
    drawing = (schemes.IMAGES / "map.svg").read_text()
    assert len(schemes.BOX.findall(drawing)) == len(schemes.BOX.findall(narrow(drawing))) == 16
    legend = [float(y) for y in re.findall(r"translate\(\S+ (\S+)\)\">(?:used in|on |GPU)", narrow(drawing))]
    steps = [below - above for above, below in zip(legend, legend[1:])]
    assert len(legend) == 5 and max(steps) - min(steps) < 1, legend
