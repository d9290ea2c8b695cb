"""A wheel has the course's files too: the labs, the readings, and what a class repository is made of."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = (
    *("labs", "phases", ".gitignore"),
    # what `autograder/release.py` copies
    *("LICENSE", "Makefile", "constraints.txt", "hatch_build.py", "nbgrader_config.py", "pyproject.toml", "system.sh"),
    *(".dockerignore", "container/Dockerfile", "container/jupyter_server_config.py", ".devcontainer/devcontainer.json"),
    *("binder/apt.txt", "binder/requirements.txt", "binder/runtime.txt"),
)


class CourseFiles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":  # which works in the repository, where they are
            build_data["force_include"].update({name: f"autograder/shipped/{name}" for name in FILES})
