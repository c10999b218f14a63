"""The benchmark of families: it runs, goes on where it was, and its page says what was found."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def families(monkeypatch):
    """The script, which is not installed, with two small sets only."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import families, families_data

    def small(folder):
        return [each for each in families_data.sources(folder) if each[1] in ("iris", "wine")]

    monkeypatch.setattr(families, "sources", small)
    yield families
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


@pytest.fixture
def arguments(tmp_path):
    files = ["--write", str(tmp_path / "page.md"), "--journal", str(tmp_path / "cells.jsonl")]
    return ["--seeds", "2", "--methods", "kmeans", "ward", "l1", "srsg", "search", *files]


def test_two_tables_make_a_page(families, arguments, tmp_path, monkeypatch):
    families.main(arguments)
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    cells = {(c["name"], c["method"], c["seed"]): c for c in map(json.loads, lines)}
    assert len(lines) == len(cells) == 2 * (4 * 2 + 1)  # Ward has nothing random
    search = cells["wine", "search", 0]
    assert search["candidates"][search["chosen"]] == search["ac"]
    assert search["candidates"].keys() == set(search["of"])
    mean = np.mean([cells["wine", "kmeans", seed]["ac"] for seed in (0, 1)])
    text = (tmp_path / "page.md").read_text()
    assert f"| wine: 178 x 13, 3 | {mean:.3f} |" in text.replace("*", "")
    assert "| best candidate in hindsight |" in text
    assert "no data folder was given" in text
    assert str(ROOT) not in text

    # All is in the journal, apart from a line that a crash cut short: nothing is measured again.
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"name": "wi')
    again = partial(pytest.fail, "measured again")
    for name, method in families.METHODS.items():
        monkeypatch.setitem(families.METHODS, name, replace(method, run=lambda *_: again()))
    families.main(arguments)
    assert (tmp_path / "page.md").read_text() == text


def test_one_tool_that_fails_does_not_end_the_run(families, arguments, tmp_path, monkeypatch):
    def broken(sample, seed):
        raise RuntimeError("out of ideas")

    monkeypatch.setitem(families.METHODS, "kmeans", families.Method("K-means", broken))
    families.main([*arguments, "--methods", "kmeans", "ward"])
    cells = map(json.loads, (tmp_path / "cells.jsonl").read_text().splitlines())
    assert {cell["method"] for cell in cells} == {"ward"}


def cell(family, accuracies, points, features):
    """A search between two candidates, and the terms of their scores."""
    return {
        "method": "search",
        "family": family,
        "ac": accuracies[0],
        "of": ["one", "two"],
        "candidates": dict(zip(["one", "two"], accuracies, strict=True)),
        "stability_points": points,
        "stability_features": features,
    }


def test_a_rule_is_judged_on_the_family_that_was_left_out(families):
    from benchmarks.families_choice import choices, left_out

    found = choices(
        [
            cell("a", [0.9, 0.5], points=[1.0, 0.0], features=[0.0, 0.5]),
            cell("b", [0.5, 0.9], points=[0.0, 1.0], features=[0.5, 0.0]),
            cell("c", [1.0, 0.0], points=[0.0, 1.0], features=[0.5, 0.0]),
        ]
    )
    # On a and b points choose best, on c worst. Over all three the first candidate would be best.
    assert left_out(found)[2] == ("stability_points", 0.0)
    assert found[2].by("stability_features") == found[2].by("always one") == 1.0


def test_a_search_without_the_accuracy_of_a_candidate_is_not_judged(families):
    from benchmarks.families_choice import choices

    incomplete = cell("a", [0.9, 0.5], [1.0, 0.0], [1.0, 0.0])
    del incomplete["candidates"]["two"]
    assert choices([incomplete]) == []
