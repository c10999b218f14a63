"""The benchmark of the search: it runs, goes on where it was, and judges what it found."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def selection(monkeypatch):
    """The script, which is not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import selection

    yield selection
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


@pytest.fixture
def arguments(tmp_path):
    files = ["--write", str(tmp_path / "page.md"), "--journal", str(tmp_path / "cells.jsonl")]
    return ["--only", "iris", "wine", "--seeds", "1", *files]


def test_two_tables_make_a_page(selection, arguments, tmp_path, monkeypatch):
    selection.main(arguments)
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    cells = {(cell["part"], cell["name"]): cell for cell in map(json.loads, lines)}
    assert set(cells) == {(p, n) for p in ("labels", "counts") for n in ("iris", "wine")}
    wine = cells["labels", "wine"]
    assert wine["chosen"] in wine["candidates"]
    assert wine["ac"]["kmeans, standardised"] > 0.9
    assert cells["counts", "iris"]["true"] == 3
    text = (tmp_path / "page.md").read_text()
    assert "| KEEL: mean AC at least .69 |" in text
    assert "| 2 of 20 tables |" in text
    assert "Not run, or failed: COIL20-4," in text
    assert str(ROOT) not in text

    # All is in the journal, apart from a line that a crash cut short: nothing is measured again.
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"part": "lab')
    monkeypatch.setattr(selection, "PARTS", dict.fromkeys(selection.PARTS, pytest.fail))
    selection.main(arguments)
    assert (tmp_path / "page.md").read_text() == text


def test_targets_are_judged(selection):
    from benchmarks.selection_page import page
    from benchmarks.selection_targets import labels_rows, log_error

    def cell(seed, chosen, ac):
        names = ("srsg", "ridge", "srsg, standardised, affine", "kmeans, standardised")
        return {
            "part": "labels",
            "name": "PIE-20",
            "seed": seed,
            "shape": [9, 5],
            "chosen": chosen,
            "candidates": ["srsg", "ridge"],
            "ac": dict(zip(names, ac, strict=True)),
        }

    cells = [cell(0, "ridge", [0.4, 0.6, 0.9, 0.1]), cell(1, "srsg", [0.4, 0.7, 0.9, 0.1])]
    row = labels_rows(cells)["PIE-20"]
    assert row.search == pytest.approx(0.5)
    assert row.best == pytest.approx(0.65)  # the affine form was no candidate
    assert "| PIE c = 20: AC at least 0.55 | least 0.500 | 1 of 1 rows | **no** |" in page(cells)
    assert log_error([{"three": [4, 2], "true": 8}]) == pytest.approx(0.6931, abs=1e-4)


def test_unknown_name_is_refused(selection, capsys):
    with pytest.raises(SystemExit):
        selection.main(["--only", "nothing"])
    assert "--only nothing: no such name" in capsys.readouterr().err
