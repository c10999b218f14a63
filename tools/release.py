"""Builds what is released, and tries it: ``make release`` (``make release DRAFT=1`` to rehearse).

The version stands in ``pyproject.toml`` only. The changelog must have a dated section for it,
``CITATION.cff`` must name it, and nothing may be uncommitted. The wheel is built from the source
distribution, so that nothing can be missing there, and tried in an empty environment.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]

TRIAL = """
from sklearn.datasets import load_digits
import srsg
from srsg.metrics import clustering_accuracy
X, y = load_digits(n_class=3, return_X_y=True)
accuracy = clustering_accuracy(y[:150], srsg.SRSG(3, random_state=0).fit_predict(X[:150]))
assert accuracy > 0.95, accuracy
print(srsg.__version__)
"""


def version() -> str:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def problems(draft: bool) -> list[str]:
    """What stands against a release of the files as they are."""
    found = []
    number = re.escape(version())
    changelog = (ROOT / "CHANGELOG.md").read_text()
    dated = r"\d{4}-\d\d-\d\d"
    wanted = f"(?:{dated}|unreleased)" if draft else dated
    if not re.search(rf"\A# Changelog\n\n## {number} \({wanted}\)\n\n- ", changelog):
        found.append(f"CHANGELOG.md must begin with a section '## {version()} (year-month-day)'.")
    if not re.search(rf"^version: {number}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE):
        found.append(f"CITATION.cff must have 'version: {version()}'.")
    if not draft and output("git", "status", "--porcelain"):
        found.append("There are changes that are not committed.")
    return found


def output(*command: object, cwd: Path = ROOT) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(map(str, command))} failed.")
    return done.stdout.strip()


def build() -> list[Path]:
    """The source distribution, and the wheel built from it."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    output(sys.executable, "-m", "build", "--outdir", ROOT / "dist", ROOT)
    return sorted((ROOT / "dist").iterdir())


def try_out(wheel: Path) -> None:
    """Install the wheel into an empty environment, and use it from elsewhere.

    First the library alone, whose command says what it lacks; then with the command line.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        python = programs / "python"
        install = [python, "-m", "pip", "install", "--quiet"]
        output(*install, wheel)
        check_version(output(python, "-c", TRIAL, cwd=Path(folder)))
        command = [programs / "srsg", "--version"]
        refused = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if not refused.returncode or "pip install 'srsg[cli]'" not in refused.stderr:
            raise SystemExit("error: without the cli extra, srsg does not say what it needs.")
        output(*install, f"{wheel}[cli]")
        check_version(output(*command, cwd=Path(folder)).removeprefix("srsg "))


def check_version(told: str) -> None:
    if told != version():
        raise SystemExit(f"error: the installed package says it is {told!r}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draft", action="store_true", help="also before the day of the release")
    draft = parser.parse_args().draft
    found = problems(draft)
    if found:
        raise SystemExit("\n".join(f"error: {problem}" for problem in found))
    source, wheel = sorted(build(), key=lambda path: path.suffix)
    try_out(wheel)
    print(f"{source.name} and {wheel.name} are in dist/, installed and tried.")
    if not draft:
        print(f"Next: git tag v{version()}, git push --tags, twine upload dist/*")


if __name__ == "__main__":
    main()
