"""The changelog, the package and the command name the same version."""

import re
from pathlib import Path

from click.testing import CliRunner

from autograder import cli
from rushlight import __version__

ROOT = Path(__file__).parents[2]
VERSIONS = re.findall(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_newest_version_of_the_changelog_is_the_packages():
    assert VERSIONS[0] == __version__


def test_the_command_says_this_version():
    assert CliRunner().invoke(cli.app, ["--version"]).output == f"rushlight {__version__}\n"


def test_no_version_is_in_it_twice_and_the_newest_is_first():
    numbers = [tuple(map(int, version.split("."))) for version in VERSIONS]
    assert numbers == sorted({*numbers}, reverse=True)
