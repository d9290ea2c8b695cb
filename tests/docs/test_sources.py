"""Every file and every name that a page or a docstring mentions exists: in this tree, or in PyTorch.

The wheel of PyTorch has its Python files and its headers. The names of many C++ files are in its libraries, where errors say in
which file they were raised. `sources.txt` has the rest.
"""

import importlib
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import torch
from sweep import in_one_test

ROOT = Path(__file__).parents[2]
TORCH = Path(torch.__file__).parent
PAGES = [*ROOT.glob("phases/*/reading.md"), *ROOT.glob("solutions/*/*.md"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
MODULES = [*ROOT.glob("rushlight/**/*.py"), *ROOT.glob("autograder/**/*.py")]
FILE = re.compile(r"`([\w/.*-]+\.(?:py|h|cpp|cc|cu|cuh|yaml))`")
NAME = re.compile(r"`((?:torch|torchgen|rushlight|rl|autograder)(?:\.\w+)+)(?:\(\))?`")
# PyTorch's files that no wheel has, files that a build generates, files of other projects, and examples of paths
ELSEWHERE = set((ROOT / "tests" / "docs" / "sources.txt").read_text(encoding="utf-8").split())


def text_of(page):
    """The text of a page without its code, or of a module."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL) if page.suffix == ".md" else text


@cache
def tracked(folder):
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


def of_wheel(path):
    """The file of the wheel that has this path in PyTorch's repository, or None."""
    packaged = TORCH.parent / "torchgen" / "packaged"
    for place in (
        TORCH.parent / path,
        TORCH / "include" / path,
        TORCH / "include" / path.removeprefix("aten/src/"),
        packaged / path.removeprefix("aten/src/"),
        packaged / path.removeprefix("tools/"),
    ):
        if place.is_file():
            return place
    return None


@cache
def endings():
    """All paths that there are, and the ends of each: a page may name a file without its folder."""
    packages = [path for package in (TORCH, TORCH.parent / "torchgen") for path in package.rglob("*.*")]
    paths = {path.relative_to(TORCH.parent).as_posix() for path in packages} | tracked(".") | ELSEWHERE
    for library in (TORCH / "lib").glob("lib*.so"):
        paths |= set(compiled_into(library))
    return {path[match.end() :] for path in paths for match in re.finditer("^|/", path)}


def compiled_into(library):
    """The source files that a library's messages name. To split its hundreds of megabytes would take long."""
    content = library.read_bytes()
    for ending in (b".cpp\0", b".cc\0", b".cu\0"):
        at = content.find(ending)
        while at >= 0:
            text = content[content.rfind(b"\0", 0, at) + 1 : at + len(ending) - 1]
            if text.isascii():
                yield text.decode()
            at = content.find(ending, at + 1)


@in_one_test
@pytest.mark.parametrize("page", [*PAGES, *MODULES])
def test_files_that_are_named_exist(page):
    named = FILE.findall(text_of(page))
    assert {path for path in named if not of_wheel(path) and path not in endings()} == set()


def test_the_list_of_files_that_are_elsewhere_has_no_more_than_are_named():
    named = {path for page in [*PAGES, *MODULES] for path in FILE.findall(text_of(page))}
    assert [path for path in ELSEWHERE if not any(path.endswith(name) for name in named) or of_wheel(path)] == []


@in_one_test
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name == "reading.md"], ids=lambda page: page.parent.name
)
def test_a_reading_names_files_of_rushlight_that_exist(page):
    lists = re.findall(r"^In rushlight: (.*)$|^\| [^|]* \| [^|]* \| (`\w[^|]*`) \|$", text_of(page), re.MULTILINE)
    named = [path for parts in lists for path in FILE.findall(parts[0])]
    assert [path for path in named if not any(file.endswith(f"/{path}") for file in tracked("rushlight"))] == []


PLACEHOLDERS = {"torch.ops.hidden.fused_linear.default", "rushlight.x.y", "rushlight.onnx"}
ENDINGS = (".py", ".h", ".yaml", ".json", ".toml", ".ipynb")
GENERIC = ("rl.ops.", "rl.name")  # operators that a program registers


def resolves(name):
    """Whether a dotted name leads to a module or to an attribute."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if part in getattr(value, "__annotations__", ()):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


def test_names_of_pytorch_and_of_the_course_lead_somewhere():
    named = {name for page in [*PAGES, *MODULES] for name in NAME.findall(text_of(page)) if not name.endswith(ENDINGS)}
    unknown = {name for name in named if not resolves(re.sub(r"^rl\b", "rushlight", name))}
    assert {name for name in unknown if not name.startswith(GENERIC)} <= PLACEHOLDERS


def test_the_source_of_a_docstring_has_the_name():
    """In the files of the wheel. A sentence after a semicolon, without a file of its own, may speak of something else."""
    absent = []
    for page in sorted(MODULES):
        for sentence in re.findall(r"Source: (.*?)(?:\"\"\"|\n\s*\n|\.\s)", text_of(page), re.DOTALL):
            for clause in sentence.split(";"):
                named = [path for path in FILE.findall(clause) if of_wheel(path)]
                names = [re.split(r"[.:]+", name)[-1] for name in re.findall(r"`([\w.:~]+?)(?:\(\))?`", clause)]
                names = [name for name in names if name not in {path.rpartition(".")[2] for path in named}]
                texts = [of_wheel(path).read_text(errors="replace") for path in named]
                if len(named) == len(FILE.findall(clause)) > 0:
                    absent += [
                        f"{page.name}: {name} in {named}" for name in names if not any(name in text for text in texts)
                    ]
    assert absent == []
