"""The benchmarks: a quick run leaves results, and judges them by what was wanted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmarks(monkeypatch):
    """The package of the benchmarks, which is not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import __main__

    yield __main__
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_quick_run_leaves_results(benchmarks, tmp_path, capsys):
    benchmarks.main(["--quick", "--no-peers", "--out", str(tmp_path)])
    assert "codes and neighbours over one float64 product" in capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["machine"]["cores"] >= 1
    runs = results["cases"]["digits"]["runs"]
    assert runs["codes: srsg"]["violation"] < 1e-9
    assert sum(runs["clusters: SRSG.fit"]["stages"].values()) > 0
    assert not any(run["peer"] for run in runs.values())
    table = (tmp_path / "README.md").read_text()
    assert "SRSG.fit over one float64 product" in table
    assert "Where the time goes" in table
    for name in ("ratios.png", "growth.png"):
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 500
    assert str(ROOT) not in table + json.dumps(results)


def test_peers_solve_the_same_problems(benchmarks):
    """Those that are installed, on a few points."""
    case = benchmarks.all_datasets()["digits"].load(None).small(400)
    names = {"codes", "one sweep", "labels"}
    solvers = [s for s in benchmarks.all_solvers() if s.objective in names]
    there = [solver for solver in solvers if benchmarks.is_there(solver)]
    found = benchmarks.run_case(case, there, rounds=1, budget=0.05)["runs"]
    assert "codes: scikit-learn Lasso" in found
    for key, run in found.items():
        assert run.get("violation", 0) < 1e-6, key
        assert run.get("difference", 0) < 1e-9, key
    assert found["one sweep: Algorithm 1 at full length"]["scaled_from"] >= 1


def test_rows_are_judged_by_their_median(benchmarks):
    from benchmarks.comparisons import Row, of_case, of_large
    from benchmarks.timing import Spread

    assert Row("data", "what", Spread(2.0, 1.0, 9.0), at_most=2).met is True
    assert Row("data", "what", Spread(2.0, 1.0, 9.0), at_least=3).met is False
    assert Row("data", "what", Spread(2.0, 1.0, 9.0)).met is None

    def run(objective, solver, seconds, **figures):
        base = {"objective": objective, "solver": solver, "peer": False, "scaled_from": None}
        return {**base, "seconds": seconds, **figures}

    runs = {
        "codes: srsg": run("codes", "srsg", [1.0, 2.0, 3.0], violation=0.0),
        "product: float64": run("product", "float64", [1.0, 1.0, 1.0]),
        "codes: other": run("codes", "other", [10.0, 10.0, 10.0], violation=1e-7, peer=True),
        "codes: active sets": run(
            "codes", "active sets with SPAMS", [20.0] * 3, violation=1e-7, peer=True
        ),
        "codes: inexact": run("codes", "inexact", [1.0, 1.0, 1.0], violation=1e-2, peer=True),
    }
    rows = {row.what: row for row in of_case("COIL-100", {"runs": runs})}
    codes = rows["codes and neighbours over one float64 product"]
    assert (codes.figure, codes.at_most, codes.met) == (Spread(2.0, 1.0, 3.0), 3, True)
    fastest = rows["the fastest exact peer over ours (codes)"]
    assert fastest.figure.median == 5.0
    assert fastest.met is None
    active_sets = rows["active sets with SPAMS over ours (codes)"]
    assert (active_sets.figure.median, active_sets.at_least, active_sets.met) == (10.0, 20, False)
    large = {"n_points": 70_000, "fit": [30.0], "product": [2.0, 3.0], "memory_above": 5e9}
    assert [row.met for row in of_large(large)] == [True, False]


def test_memory_is_seen():
    # In a process of its own: another test's threads may free memory meanwhile.
    pytest.importorskip("psutil")
    program = """
import numpy as np
from benchmarks.large import memory_watched
with memory_watched(interval=60) as memory:
    held = np.ones(20_000_000)
print(memory["memory_above"])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    assert 150e6 < float(done.stdout) < 400e6


def test_unknown_part_is_refused(benchmarks, tmp_path):
    with pytest.raises(SystemExit, match="--only nothing: no such name; there are"):
        benchmarks.main(["--only", "nothing", "--out", str(tmp_path)])
