"""Containers, workflows and the ways to a rented machine: what they name exists, and versions agree with the course's."""

import ast
import json
import os
import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from autograder import cli
from autograder.cli import students
from autograder.course import set_environment

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "container/Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "container/compose.yaml").read_text())
DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
WORKFLOWS = {path.name: path.read_text() for path in sorted(ROOT.glob(".github/workflows/*.yml"))}
HUB = "jupyterhub_config.py", "students.py", "teachers.py"
HUB_SCRIPTS = {name: (ROOT / "container/hub" / name).read_text() for name in ("install.sh", "start.sh")}
INDEX = re.search(r"PIP_EXTRA_INDEX_URL=(\S+)", (ROOT / "docs/anywhere.md").read_text())[1]


def pythons():
    """The Python versions that the course allows, such as 3.11."""
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    return [f"3.{minor}" for minor in range(int(low), int(high))]


def test_every_python_of_the_course_is_tested():
    assert yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["tests"]["strategy"]["matrix"]["python"] == pythons()


def test_every_python_that_is_named_is_one_of_the_course():
    named = [(ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-")]
    named += re.findall(r"python:(3\.\d+)", DEVCONTAINER["image"])
    named += [each for text in WORKFLOWS.values() for each in re.findall(r'python-version: "(.+)"', text)]
    assert len(named) >= 5 and {*named} <= {*pythons()}


def test_binder_has_the_jupyter_settings_of_rushlight_lab(monkeypatch):
    names = "JUPYTER_CONFIG_PATH", "JUPYTER_PATH"
    for name in names:
        monkeypatch.delenv(name, raising=False)
    given = subprocess.check_output([ROOT / "binder/start", "env"], text=True).splitlines()
    set_environment(of_student=True)
    assert [line for line in sorted(given) if line.startswith(names)] == [
        f"{name}={os.environ[name]}" for name in names
    ]


def test_the_parts_of_everything_are_counted_right():
    job = yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["everything"]
    shards = job["strategy"]["matrix"]["shard"]
    assert shards == [*range(1, len(shards) + 1)]
    assert job["steps"][-1]["run"] == f"make test-all SHARD=${{{{ matrix.shard }}}}/{len(shards)}"


def test_all_take_torch_from_the_index_that_the_pages_name():
    places = [*WORKFLOWS.values(), DOCKERFILE, json.dumps(DEVCONTAINER), (ROOT / "binder/requirements.txt").read_text()]
    found = {url for text in places for url in re.findall(r"https://download\.pytorch\.org[\w/.]*", text)}
    assert found == {INDEX}


def test_the_targets_of_make_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    texts = [*WORKFLOWS.values(), json.dumps(DEVCONTAINER)]
    named = [target for text in texts for target in re.findall(r'(?:run: |")make ([a-z-]+)', text)]
    assert len(named) >= 4 and {*named} <= {*targets}


def test_the_commands_of_the_course_exist():
    texts = [*WORKFLOWS.values(), DOCKERFILE, json.dumps(DEVCONTAINER), *HUB_SCRIPTS.values()]
    named = [words for text in texts for words in re.findall(r"(?:bin/|^ +)rushlight ([^\"\n]+)", text, re.M)]
    named += re.findall(r"docker run --rm rushlight (.+)", "".join(texts))
    named.append(json.loads(re.search(r"^CMD (.+)", DOCKERFILE, re.MULTILINE)[1])[0])
    assert len(named) >= 11
    for words in named:
        command, *options = words.replace("$LABS", "01").split()
        cli.app.commands[command].make_context(command, options)


def test_what_an_image_copies_exists_and_is_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [
        source
        for line in re.findall(r"^COPY (.+)", DOCKERFILE, re.MULTILINE)
        if "--from=" not in line
        for source in [word for word in line.split() if not word.startswith("--")][:-1]
    ]
    assert len(copied) >= 8
    for source in copied:
        assert (ROOT / source).exists(), source
        assert not {source, source.split("/")[0]} & {*ignored}, source


def test_what_git_ignores_gets_into_no_image():
    git, docker = ((ROOT / name).read_text().splitlines() for name in (".gitignore", ".dockerignore"))
    bare = {line.removeprefix("**/").rstrip("/") for line in docker}
    assert {line.strip("/") for line in git} <= bare  # in .dockerignore, a name without `**/` is at the top


def test_what_a_wheel_needs_is_there_where_an_image_makes_it():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    files = [name for names in wheel["hooks"]["custom"].values() for name in names]
    ignored = {*(ROOT / ".dockerignore").read_text().splitlines()}
    assert len(files) > 10 and not [name for name in files if {name, name.split("/")[0]} & ignored]


def test_what_compose_names_exists():
    hub = COMPOSE["services"]["hub"]
    context = (ROOT / "container" / hub["build"]["context"]).resolve()
    assert (context / hub["build"]["dockerfile"]).samefile(ROOT / "container/Dockerfile")
    assert f" AS {hub['build']['target']}\n" in DOCKERFILE
    assert {volume.split(":")[0] for volume in hub["volumes"]} == {*COMPOSE["volumes"]}
    assert {secret["source"] for secret in hub["secrets"]} == {*COMPOSE["secrets"]}
    assert all(f"<{secret['target']} " in HUB_SCRIPTS["start.sh"] for secret in hub["secrets"])


def test_the_hub_in_a_container_has_limits_and_as_many_processes_as_the_judge_on_the_page():
    hub, page = COMPOSE["services"]["hub"], (ROOT / "docs/jupyterhub.md").read_text()
    assert {"mem_limit", "pids_limit", "cpu_shares"} <= {*hub}
    assert f"TasksMax={hub['pids_limit']}\n" in page


def test_the_list_of_passwords_is_ignored_by_git():
    path = Path("container", COMPOSE["secrets"]["users"]["file"])
    assert f"{path}" in (ROOT / ".gitignore").read_text().splitlines()


def statements(text):
    return {ast.unparse(statement) for statement in ast.parse(text).body}


def test_the_hub_in_a_container_is_the_hub_of_the_page():
    page = (ROOT / "docs/jupyterhub.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    hub, students, teachers = (statements((ROOT / "container/hub" / path).read_text()) for path in HUB)
    for block in map(statements, blocks):
        assert block <= hub or block in (students, teachers)
    assert len(blocks) >= 3


def test_the_hub_in_a_container_hides_from_students_what_the_page_hides():
    page, script = ((ROOT / name).read_text() for name in ("docs/jupyterhub.md", "container/hub/install.sh"))
    hidden = {*re.findall(r"@jupyter/nbgrader:([\w-]+)", page)}
    assert {*re.search(r"for extension in (.+);", script)[1].split()} == hidden != set()
    assert re.search(r"jupyter (server extension disable --\S+ \S+)", page)[1] in script


def test_the_exchange_of_the_hub_in_a_container_is_that_of_the_page():
    page = (ROOT / "docs/jupyterhub.md").read_text()
    commands = re.findall(r"^\$ ((?:chmod|install) .*/srv/exchange.*)$", page, re.M)
    assert len(commands) == 2
    assert all(command in script for command in commands for script in HUB_SCRIPTS.values())


@pytest.mark.parametrize("name", HUB_SCRIPTS)
def test_a_script_of_the_hub_is_one(name):
    subprocess.run(["sh", "-n", ROOT / "container/hub" / name], check=True)


def test_the_hub_in_a_container_has_the_judge_of_the_page_which_starts_again_when_it_ends(tmp_path):
    unit = dict(re.findall(r"^(\w+)=(.+)$", (ROOT / "docs/jupyterhub.md").read_text(), re.M))
    programs, said = tmp_path / "srv/rushlight/.venv/bin", tmp_path / "said"
    programs.mkdir(parents=True)
    programs.joinpath("rushlight").write_text(f'echo "$0 $* XDG_CACHE_HOME=$XDG_CACHE_HOME" >>{said}')
    programs.joinpath("jupyterhub").write_text(f"until [ $(wc -l <{said}) -ge 2 ]; do command sleep 0.1; done")
    programs.joinpath("sleep").write_text("")  # between two judges
    for program in programs.iterdir():
        program.write_text(f"#!/bin/sh\n{program.read_text()}\n")
        program.chmod(0o755)
    said.touch()
    (tmp_path / "users").touch()
    script = HUB_SCRIPTS["start.sh"].replace("/srv/", f"{tmp_path}/srv/").replace("/root/users", f"{tmp_path}/users")
    hub = subprocess.Popen(
        ["sh", "-c", script], env={"PATH": f"{programs}:{os.environ['PATH']}"}, start_new_session=True
    )
    try:
        assert hub.wait(60) == 0
    finally:
        os.killpg(hub.pid, signal.SIGKILL)
    expected = f"{tmp_path}{unit['ExecStart']} {unit['Environment']}"
    assert unit["Restart"] == "always" and said.read_text().splitlines()[:2] == [expected] * 2


def test_the_address_of_a_container_is_one_that_opens_outside_it(tmp_path, monkeypatch):
    import socket

    class Server:
        pid = 7

        def poll(self):
            return None

    said = {"url": f"http://{socket.gethostname()}:8888/", "hostname": "0.0.0.0", "token": "secret"}
    (tmp_path / "jpserver-7.json").write_text(json.dumps(said))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    assert (
        students._address_of_new(Server(), "lab/tree/a.ipynb") == "http://localhost:8888/lab/tree/a.ipynb?token=secret"
    )
