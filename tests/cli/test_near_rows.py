"""Rows that nearly repeat another are counted, whatever their units, and told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from srsg.cli import inspection as near_rows
from srsg.cli.inspection import count_near_rows, inspect_table
from srsg.files import Table
from support.cli_runs import good

rng = np.random.default_rng(0)
DISTINCT = rng.standard_normal((60, 6))
NOISE = rng.standard_normal((240, 6))


def copies(size, n_columns=6):
    """Four copies of every row, changed by noise of this size."""
    return (np.repeat(DISTINCT, 4, axis=0) + size * NOISE)[:, :n_columns]


@pytest.mark.parametrize("size", [1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize("units", [1.0, 10.0 ** np.arange(-3, 3)])
def test_noisy_copies_are_counted(size, units):
    assert count_near_rows(copies(size) * units) == 240


@pytest.mark.parametrize("size", [0.0, 1e-12, 0.1])
def test_equal_rows_and_other_rows_are_not(size):
    assert count_near_rows(copies(size)) == 0


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, load_breast_cancer])
def test_ordinary_data_has_none(load):
    assert count_near_rows(load().data) == 0


def test_more_columns_than_directions():
    wide = np.random.default_rng(1).standard_normal((50, 300))
    noise = np.random.default_rng(2).standard_normal((20, 300))
    assert count_near_rows(np.vstack([wide, wide[:20] + 1e-5 * noise])) == 40


def test_many_rows_are_estimated_from_a_sample(monkeypatch):
    monkeypatch.setattr(near_rows, "MOST_LOOKED_AT", 50)
    assert count_near_rows(copies(1e-6)) == 240


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_numbers_of_any_size(factor):
    with np.errstate(all="raise", under="ignore"):
        count_near_rows(copies(1e-6) * factor)


def facts(X):
    return {fact.about: fact for fact in inspect_table(Table(X, np.arange(len(X))))}


def test_info_counts_them():
    found = facts(copies(1e-6))["near-duplicates"]
    assert found.found == "240 rows nearly equal to another"
    assert "round the columns" in found.advice
    assert facts(copies(0.1))["near-duplicates"].found == "none"
    assert facts(copies(1e-6, 3))["near-duplicates"].found.startswith("not counted")


@pytest.mark.parametrize(
    "command",
    [("cluster", "-m", "l1"), ("cluster", "-m", "kmeans"), ("compare", "--methods", "l1")],
)
def test_commands_tell(tmp_path, command):
    path = tmp_path / "near.csv"
    np.savetxt(path, copies(1e-6), delimiter=",", header="a,b,c,d,e,f", comments="")
    name, *options = command
    done = good(name, path, "-k", 3, *options)
    told = "240 of 240 rows nearly repeat another" in " ".join(done.stderr.split())
    assert told == ("kmeans" not in command)
    np.savetxt(path, copies(1e-6).round(4), delimiter=",", header="a,b,c,d,e,f", comments="")
    assert "nearly repeat" not in good(name, path, "-k", 3, *options).stderr
