"""What a release needs: one version, a changelog, dependencies with true minima."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The release tool on copies of the files that it checks."""
    monkeypatch.syspath_prepend(str(ROOT))
    from tools import release

    for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "output", lambda *_: "")
    return release


def test_version_changelog_and_citation_agree(release):
    assert release.problems(draft=True) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("CHANGELOG.md", r"^## .*$", "## 99.0.0 (2030-01-01)"),
        ("CITATION.cff", r"^version: .*$", "version: 99.0.0"),
        ("pyproject.toml", r'^version = ".*"$', 'version = "99.0.0"'),
    ],
)
def test_other_versions_are_found(release, name, old, new):
    path = release.ROOT / name
    path.write_text(re.sub(old, new, path.read_text(), count=1, flags=re.MULTILINE))
    found = release.problems(draft=True)
    assert len(found) == (2 if name == "pyproject.toml" else 1)
    assert name == "pyproject.toml" or found[0].startswith(name)


def test_a_release_has_a_date(release):
    path = release.ROOT / "CHANGELOG.md"
    head = f"## {release.version()}"
    path.write_text(re.sub(rf"^{head} .*$", f"{head} (unreleased)", path.read_text(), flags=re.M))
    assert release.problems(draft=False)[0].startswith("CHANGELOG.md must begin")
    path.write_text(path.read_text().replace("(unreleased)", "(2026-12-01)"))
    assert release.problems(draft=False) == []


def test_changes_that_are_not_committed_are_found(release, monkeypatch):
    monkeypatch.setattr(release, "output", lambda *_: " M README.md")
    assert "not committed" in release.problems(draft=False)[-1]


def test_every_dependency_has_a_minimum():
    """Which `nox -s oldest` installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        stated += [each for each in extra if not each.startswith("srsg[")]
    for each in stated:
        assert re.fullmatch(r"[\w-]+(\[\w+\])?>=[\d.]+", each), each
