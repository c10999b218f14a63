"""What ``make test`` leaves out: other versions of Python and of the dependencies, coverage, docs.

``pip install nox`` and then ``nox``, or ``nox -s oldest``; what follows ``--`` goes to pytest.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import nox

nox.options.error_on_missing_interpreters = False

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
OLDEST_PYTHON = "3.11"

# What packages of several years ago say about the future, of each other or of us, is no error.
PATIENT = [
    f"-Wignore::{kind}"
    for kind in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
]


def oldest_versions() -> list[str]:
    """The minimum of every dependency in pyproject.toml as the only version allowed."""
    extras = PROJECT["optional-dependencies"]
    stated = [*PROJECT["dependencies"]]
    for extra in ("approximate", "cli", "dask", "data", "files", "plot"):
        stated += extras[extra]
    # A constraint names no extras: dask[array] is dask.
    return [each.replace(">=", "==").replace("[array]", "") for each in stated]


@nox.session
def lint(session: nox.Session) -> None:
    """Linters, types and the layers of the package."""
    session.install("--editable", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports", "--no-cache")


@nox.session(python=[OLDEST_PYTHON, "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """All tests, with the newest dependencies."""
    session.install("--upgrade", "--editable", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python=OLDEST_PYTHON)
def oldest(session: nox.Session) -> None:
    """The tests of the package with the oldest dependencies that pyproject.toml allows."""
    constraints = Path(session.create_tmp()) / "oldest.txt"
    constraints.write_text("\n".join(oldest_versions()) + "\n")
    tools = ["hypothesis", "playwright", "pytest"]
    session.install("--editable", ".[all]", *tools, "--constraint", str(constraints))
    session.run("pytest", *PATIENT, "--ignore=tests/project", *(session.posargs or ["tests"]))


@nox.session(python=OLDEST_PYTHON)
def coverage(session: nox.Session) -> None:
    """All tests, and the share of the code they run: no less than pyproject.toml says."""
    session.install("--editable", ".[test]", "coverage>=7.6")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "report", "--skip-covered")


@nox.session(python=OLDEST_PYTHON)
def docs(session: nox.Session) -> None:
    """The whole site: every example is run, and every page looked at in Chromium if it is there.

    ``nox -s docs -- FOLDER`` leaves the site in a folder.
    """
    session.install("--editable", ".[all,docs]", "playwright")
    site = Path(*(session.posargs or [session.create_tmp(), "site"]))
    session.run("sphinx-build", "-W", "--keep-going", "-E", "-b", "html", "docs", str(site))
    looks = ["--browser", str(site.parent / "pages")] if shutil.which("chromium") else []
    session.run("python", "-m", "tools.check_site", str(site), *looks)
