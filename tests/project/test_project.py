"""The project itself: linters, documentation, imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("few_digits")
def test_python_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert "edges" in capsys.readouterr().out


def test_commands_of_the_readme_exist():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"(?:^|`)make (\w+)", readme, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_readmes_own_table_is_clustered(tmp_path):
    (command,) = re.findall(r"^srsg (cluster .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "srsg", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "k-means" in done.stderr.lower() or "srsg" in done.stderr.lower()
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert len((tmp_path / "labels.csv").read_text().splitlines()) > 100


def run_example(name, picture, cwd):
    """What an example prints; its first picture is saved."""
    command = [
        sys.executable,
        "-m",
        "tools.example_picture",
        ROOT / "examples" / name,
        cwd / picture,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_affinity_example_leaves_a_picture(tmp_path):
    assert "graphs.png" in run_example("plot_affinity.py", "graphs.png", cwd=tmp_path)
    assert (tmp_path / "graphs.png").stat().st_size > 10_000


def test_trefoil_example_leaves_a_picture(tmp_path):
    assert "accuracy 1.0000" in run_example("plot_trefoil_knots.py", "knots.png", cwd=tmp_path)
    assert (tmp_path / "knots.png").stat().st_size > 10_000


def test_labels_spread_better_over_the_sparse_graphs(tmp_path):
    printed = run_example("plot_few_labels.py", "labels.png", cwd=tmp_path)
    shares = dict(re.findall(r"^  (.+?) +(0\.\d{4})$", printed, re.MULTILINE))
    assert shares["SRSG"] > shares["l1-graph"] > shares["scikit-learn's LabelSpreading"]


def test_import_loads_nothing_heavy():
    program = "import srsg, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "srsg" in loaded
    assert not loaded & {"numpy", "numba", "sklearn", "matplotlib", "scipy"}


def test_public_names():
    import srsg

    for name in srsg.__all__:
        assert getattr(srsg, name) is not None
        assert name in dir(srsg)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = srsg.Nothing


def test_tested_versions_are_those_that_the_package_asks_for():
    from packaging.version import Version

    from tools.constraints import ROOT, bounds

    lines = (ROOT / "constraints.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines)
    assert tested.keys() == bounds().keys()
    assert all(Version(tested[name]) >= Version(least) for name, least in bounds().items())
