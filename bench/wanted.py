"""Which names of PyTorch do programs use, and which of them does rushlight leave out?

Every script and notebook in a folder of repositories that imports PyTorch is parsed, never run. The names are those that follow
from its imports (`nn.Linear` is `torch.nn.Linear`), and the methods called that
`torch.Tensor` has and no type of Python or NumPy has. Printed is, for each name that rushlight lacks, how many programs use it.

    python bench/wanted.py FOLDER --at-least 3
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from IPython.core.inputtransformer2 import TransformerManager

from rushlight.course import as_torch

OTHERS = str, bytes, list, dict, set, int, float, Path, io.TextIOBase, np.ndarray, np.random.Generator
METHODS = {*dir(torch.Tensor)} - {name for kind in OTHERS for name in dir(kind)}


class Names(ast.NodeVisitor):
    """The names of PyTorch in a program. The cells of a notebook are visited one after the other."""

    def __init__(self) -> None:
        self.full: dict[str, str] = {}  # what was imported, by the program's own name
        self.found: set[str] = set()

    def visit_Import(self, node: ast.Import | ast.ImportFrom, module: str = "") -> None:
        for name in node.names:
            path = (module + name.name).removesuffix(".*")
            self.full[name.asname or name.name.partition(".")[0]] = (
                path if module or name.asname else path.partition(".")[0]
            )
            self.find(path)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node, "." * node.level + (node.module or "") + ".")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if path := self.path(node):
            self.find(path)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not self.path(node.func):
            self.find(f"torch.Tensor.{node.func.attr}")
        self.generic_visit(node)

    def path(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return self.full.get(node.id, "")
        owner = self.path(node.value) if isinstance(node, ast.Attribute) else ""
        return f"{owner}.{node.attr}" if owner else ""

    def find(self, path: str) -> None:
        if path.partition(".")[0] == "torch":
            self.found.add(path)


@cache
def has(framework: str, path: str) -> bool:
    """Whether a framework has a name, or a module of this name."""
    value, so_far = import_module(framework), framework
    for name in path.split(".")[1:]:
        so_far += f".{name}"
        try:
            value = getattr(value, name) if hasattr(value, name) else import_module(so_far)
        except Exception:  # some parts refuse to be imported on this machine
            return False
    return True


@cache
def left_out(path: str) -> str:
    """The first part of a name of PyTorch that rushlight does not have, or an empty string."""
    while not has("torch", path):
        path = path.rpartition(".")[0]
    parts = path.split(".")
    return next(
        (head for count in range(2, len(parts) + 1) if not has("rushlight", head := ".".join(parts[:count]))), ""
    )


def programs(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """The repository, and the names of PyTorch, of each program. Tests are no programs."""
    cell = TransformerManager()  # of IPython's magics
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ipynb")]):
        parts = path.relative_to(folder).parts
        if (
            path.is_file()
            and not {"test", "tests"} & {*parts}
            and not any(part.startswith((".", "_nb_")) for part in parts)
        ):
            names = Names()
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                for _, source in as_torch._read(str(path)):
                    source = cell.transform_cell(source) if isinstance(source, str) else source
                    with contextlib.suppress(SyntaxError):
                        names.visit(ast.parse(source))
            yield parts[0], names.found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-least", type=int, default=3, help="programs that use a name, for the name to be printed")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    repositories, wanted, whole, count = set(), Counter[str](), 0, 0
    for repository, names in programs(arguments.folder):
        if names:
            missing = {name for name in map(left_out, names) if name}
            repositories.add(repository)
            wanted.update(missing)
            count, whole = count + 1, whole + (not missing)
    print(
        f"{count:,} programs of {len(repositories)} repositories use PyTorch; rushlight has all their names in {whole:,}\n"
    )
    print("| name | programs |\n|---|---:|")
    for name, number in wanted.most_common():
        if number >= arguments.at_least:
            print(f"| `{name}` | {number} |")


if __name__ == "__main__":
    main()
