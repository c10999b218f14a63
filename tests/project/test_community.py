"""What reviewers and newcomers look for: files that parse, agree with each other and exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OTHER_YAML = [
    *(ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"),
    *(ROOT / name for name in (".readthedocs.yaml", "conda/recipe.yaml", "CITATION.cff")),
    ROOT / ".pre-commit-config.yaml",
]


def read(path):
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("path", [*WORKFLOWS, *OTHER_YAML], ids=lambda path: path.name)
def test_yaml_parses(path):
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_complete(path):
    flow = read(path)
    assert True in flow  # YAML reads the key `on` so
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "@" in step.get("uses", "@")


def test_workflows_run_sessions_and_commands_that_exist():
    nox, make = (ROOT / "noxfile.py").read_text(), (ROOT / "Makefile").read_text()
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    sessions = re.findall(r"nox -s ([\w.${} -]+?)(?: -- |$)", text, re.MULTILINE)
    assert len(sessions) >= 6
    for session in sessions:
        assert f"def {session.split('-')[0]}(" in nox
    for target in re.findall(r"run: make (\w+)", text):
        assert re.search(rf"^{target}:", make, re.MULTILINE)
    versions = read(ROOT / ".github/workflows/tests.yml")["jobs"]["newest"]["strategy"]["matrix"]
    assert all(f'"{version}"' in nox for version in versions["python"])


def test_all_places_name_one_version_and_the_same_dependencies():
    recipe, meta = (
        read(ROOT / "conda/recipe.yaml"),
        json.loads((ROOT / "codemeta.json").read_text()),
    )
    assert recipe["context"]["version"] == meta["version"] == PROJECT["version"]
    stated = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]}
    wanted = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert wanted - {"python>=3.11"} == stated
    assert all(
        each.split(">")[0] in meta["softwareRequirements"] for each in PROJECT["dependencies"]
    )


def test_the_papers_references_are_cited_and_listed():
    paper, listed = ((ROOT / "paper/joss" / f"paper.{end}").read_text() for end in ("md", "bib"))
    assert set(re.findall(r"@(\w+\d{4}\w+)", paper)) == set(
        re.findall(r"^@\w+\{(\w+),", listed, re.M)
    )
    for heading in ("Summary", "Statement of need", "State of the field"):
        assert f"\n# {heading}\n" in paper


def test_evidence_of_the_checklists_exists():
    page = (ROOT / "docs/about/checklists.md").read_text()
    named = {
        name for name in re.findall(r"(?<!\})`([\w./-]+)`", page) if "/" in name or "." in name
    }
    assert len(named) > 20
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing
    lines = re.findall(r"^\| (.) \| .+ \| (.+) \|$", page, re.MULTILINE)
    assert len([mark for mark, _ in lines if mark == "☑"]) > 20
