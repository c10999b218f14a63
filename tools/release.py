"""Builds what is released, and tries it: ``make release`` (``make release DRAFT=1`` to rehearse).

The version stands in ``pyproject.toml`` only. The changelog must have a dated section for it,
``CITATION.cff`` must name it, and nothing may be uncommitted. Both files are built twice and must
be the same, bit for bit. The wheel is built from the source distribution, so that nothing can be
missing there, and tried by the README in an empty environment of each Python that ``--python``
names, or of this one.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from hashlib import sha256
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
    """The source distribution, and the wheel built from it: twice, with equal hashes."""
    os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    hashes = []
    for folder in (ROOT / "dist" / "again", ROOT / "dist"):
        output(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        files = sorted(path for path in folder.iterdir() if path.is_file())
        hashes.append({path.name: sha256(path.read_bytes()).hexdigest() for path in files})
    shutil.rmtree(ROOT / "dist" / "again")
    if hashes[0] != hashes[1]:
        raise SystemExit(f"error: two builds differ: {hashes}")
    for name, digest in hashes[1].items():
        print(f"{digest}  {name}")
    return sorted((ROOT / "dist").iterdir())


def try_out(wheel: Path, interpreter: str) -> None:
    """Install the wheel into an empty environment, and use it from elsewhere.

    First the library alone, whose command says what it lacks, with the Python of the README; then
    with the command line, and the README's own command.
    """
    readme = (ROOT / "README.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        output(interpreter, "-m", "venv", folder)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        python = programs / "python"
        install = [python, "-m", "pip", "install", "--quiet"]
        output(*install, wheel)
        check_version(output(python, "-c", TRIAL, cwd=Path(folder)))
        for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
            print(output(python, "-c", block, cwd=Path(folder)))
        command = [programs / "srsg", "--version"]
        refused = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if not refused.returncode or "pip install 'srsg[cli]'" not in refused.stderr:
            raise SystemExit("error: without the cli extra, srsg does not say what it needs.")
        output(*install, f"{wheel}[cli]")
        check_version(output(*command, cwd=Path(folder)).removeprefix("srsg "))
        for line in re.findall(r"^srsg (cluster .*)$", readme, re.MULTILINE):
            words = line.replace("docs/", f"{ROOT / 'docs'}/").split()
            output(programs / "srsg", *words, cwd=Path(folder))
        print(f"{output(python, '--version')}: tried")


def check_version(told: str) -> None:
    if told != version():
        raise SystemExit(f"error: the installed package says it is {told!r}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draft", action="store_true", help="also before the day of the release")
    parser.add_argument("--python", nargs="+", default=[sys.executable], metavar="PROGRAM")
    options = parser.parse_args()
    draft = options.draft
    found = problems(draft)
    if found:
        raise SystemExit("\n".join(f"error: {problem}" for problem in found))
    source, wheel = sorted(build(), key=lambda path: path.suffix)
    for interpreter in options.python:
        try_out(wheel, interpreter)
    print(f"{source.name} and {wheel.name} are in dist/, installed and tried.")
    if not draft:
        print(f"Next: git tag v{version()}, git push --tags; the release workflow publishes it")


if __name__ == "__main__":
    main()
