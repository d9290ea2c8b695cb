"""A wheel has the course's files too: the labs, the readings, and the files of a class repository. `pyproject.toml` names them.
What `rushlight record` has written is added."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CourseFiles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":  # which works in the repository, where they are
            names = [*self.config["course"], *self.config["class-repository"]]
            names += ["recordings"] if Path(self.root, "recordings").is_dir() else []
            build_data["force_include"].update({name: f"autograder/shipped/{name}" for name in names})
