"""Scaling and filling in: said, saved with the model, and applied to new points."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_wine

from srsg import L1Graph
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model
from srsg.running.progress import COMPILING, SILENT, Progress, announce_compiling
from support.cli_runs import good, run, the_error

X, Y = load_wine(return_X_y=True)
NAMES = load_wine().feature_names


def write(path, values, y=Y):
    lines = [",".join([*NAMES, "kind"])]
    for row, kind in zip(values, y, strict=True):
        lines.append(",".join(["" if np.isnan(v) else repr(float(v)) for v in row] + [str(kind)]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    return write(tmp_path_factory.mktemp("wine") / "wine.csv", X)


@pytest.fixture(scope="module")
def gaps(tmp_path_factory):
    values = X.copy()
    values[::9, 2] = np.nan
    return write(tmp_path_factory.mktemp("gaps") / "gaps.csv", values)


def accuracy(done):
    return float(re.search(r"AC ([\d.]+)", done.stderr)[1])


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_the_scale_is_saved_and_applied_to_new_points(tmp_path, wine, scale):
    model, labels = tmp_path / "m.srsg", tmp_path / "l.npy"
    asked = ("-k", 3, "-m", "l1", "--labels", "kind", "--scale", scale)
    done = good("cluster", wine, *asked, "--model", model, "-o", labels)
    loaded = load_model(model)
    assert (loaded.scale, loaded.impute) == (scale, None)
    assert loaded.clusterer_.affine is (scale == "standard")
    assert ("a constant coordinate was added" in done.stderr) == (scale == "standard")
    assert "outweighs" not in done.stderr
    again = good("predict", model, wine, "--labels", "kind", "-o", tmp_path / "p.npy")
    assert accuracy(again) > 0.9
    assert (np.load(tmp_path / "p.npy") == np.load(labels)).mean() > 0.95
    assert "wine.csv" not in again.stdout


def test_options_of_affine_are_obeyed(tmp_path, wine):
    model = tmp_path / "m.srsg"
    asked = ("-k", 3, "-m", "l1", "--labels", "kind", "-o", tmp_path / "l.npy", "--model", model)
    good("cluster", wine, *asked, "--scale", "standard", "--no-affine")
    assert load_model(model).clusterer_.affine is False
    good("cluster", wine, *asked, "--affine")
    assert load_model(model).affine is True
    line = the_error("cluster", wine, "-k", 3, "-m", "kmeans", "--affine", code=2)
    assert "--affine is not an option of the method kmeans" in line


def test_unequal_scales_are_told_unless_they_were_asked_for(wine):
    words = "column proline outweighs others: --scale standard"
    for command in (("cluster", "-m"), ("compare", "--methods")):
        asked = (command[0], wine, "--labels", "kind", "-k", 3, command[1], "kmeans")
        assert words in good(*asked).stderr
        assert words not in good(*asked, "--scale", "none").stderr
        auto = good(*asked, "--scale", "auto")
        assert "columns have different units and are standardised" in auto.stderr


def test_scaling_reaches_the_methods_that_are_compared(wine):
    done = good("compare", wine, "--labels", "kind", "--methods", "kmeans", "--scale", "standard")
    assert float(re.search(r"kmeans +([\d.]+)", done.stdout)[1]) > 0.9
    raw = good("compare", wine, "--labels", "kind", "--methods", "kmeans")
    assert float(re.search(r"kmeans +([\d.]+)", raw.stdout)[1]) < 0.75


@pytest.mark.parametrize("how", ["median", "knn"])
def test_what_fills_gaps_is_saved_and_applied_to_new_points(tmp_path, gaps, how):
    model = tmp_path / "m.srsg"
    asked = ("-k", 3, "-m", "l1", "--labels", "kind", "--scale", "standard", "--impute", how)
    done = good("cluster", gaps, *asked, "--model", model, "-o", tmp_path / "l.csv")
    assert "note: 20 missing values in 20 of 178 rows filled in" in done.stderr
    assert accuracy(done) > 0.9
    assert load_model(model).impute == how
    again = good("predict", model, gaps, "--labels", "kind", "-o", tmp_path / "p.csv")
    assert "20 missing values in 20 of 178 rows filled in as when the model" in again.stderr
    assert accuracy(again) > 0.9
    dropped = good("predict", model, gaps, "--labels", "kind", "--drop-missing", "-q")
    assert len(dropped.stdout.splitlines()) == 159


def test_every_row_may_have_a_gap(tmp_path):
    values = X.copy()
    values[np.arange(len(X)), np.arange(len(X)) % X.shape[1]] = np.nan
    table = write(tmp_path / "gaps.csv", values)
    asked = ("-k", 3, "-m", "l1", "--labels", "kind", "--scale", "standard", "--impute", "knn")
    assert "in 178 of 178 rows filled in" in good("cluster", table, *asked).stderr


def test_models_without_an_imputer_refuse_gaps(tmp_path, wine, gaps):
    model = tmp_path / "m.srsg"
    good("cluster", wine, "-k", 3, "-m", "l1", "--labels", "kind", "--model", model, "-q")
    line = the_error("predict", model, gaps, "--labels", "kind")
    assert "20 of 178 rows have missing" in line
    # The advice is no option of srsg predict.
    assert line.endswith("leave missing ones to an imputer: srsg cluster --impute median.")


def test_a_report_on_points_that_were_filled_in(tmp_path, gaps):
    page = tmp_path / "page.html"
    asked = ("-k", 3, "-m", "l1", "--labels", "kind", "--impute", "median", "--scale", "standard")
    good("cluster", gaps, *asked, "--report", page, "-q")
    assert "<html" in page.read_text()


@pytest.mark.parametrize(
    "arguments", [("--scale", "huge"), ("--impute", "zero"), ("--append", "-o", "l.npy")]
)
def test_options_that_are_not_known(wine, arguments):
    assert run("cluster", wine, "-k", 3, *arguments).exit_code in (1, 2)


def test_append_is_refused_before_the_work(tmp_path, wine, monkeypatch):
    def refuse(*_):
        raise AssertionError("it worked before it checked")

    monkeypatch.setattr(L1Graph, "fit", refuse)
    np.save(tmp_path / "x.npy", X)
    line = the_error("cluster", tmp_path / "x.npy", "-k", 3, "-m", "l1", "--append")
    assert "--append: columns can only be appended to a table" in line
    taken = tmp_path / "taken.csv"
    taken.write_text(wine.read_text().replace("alcohol", "cluster", 1))
    line = the_error("cluster", taken, "-k", 3, "-m", "l1", "--labels", "kind", "--append")
    assert "--append: the table has a column called 'cluster' already" in line


class Recorder(Progress):
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)


def test_compiling_is_announced_once_and_loading_is_not():
    from numba import njit

    def add(x):
        return x + 1

    recorder = Recorder()
    with announce_compiling(recorder):
        assert recorder.notes == []
        one, two = njit(add), njit(lambda x: x - 1)
        assert one(1) == 2
        assert two(1) == 0
    assert recorder.notes == [COMPILING]
    with announce_compiling(recorder):
        assert one(1) == 2  # compiled before
    assert recorder.notes == [COMPILING]
    with announce_compiling(SILENT):
        assert njit(add)(1) == 2


def test_verbose_fits_announce_compiling(monkeypatch, capsys):
    """As a fit sees it whose kernels are not in the cache."""
    from contextlib import contextmanager

    from srsg.estimators import base

    @contextmanager
    def cold(progress):
        progress.note(COMPILING)
        yield

    monkeypatch.setattr(base, "announce_compiling", cold)
    L1Graph(3, verbose=True, random_state=0).fit(X[:60])
    assert COMPILING in capsys.readouterr().err


def test_accuracy_is_that_of_the_labels_written(tmp_path, wine):
    done = good(
        *("cluster", wine, "-k", 3, "-m", "kmeans", "--scale", "minmax", "--labels", "kind"),
        *("-o", tmp_path / "l.npy"),
    )
    found = clustering_accuracy(Y, np.load(tmp_path / "l.npy"))
    assert accuracy(done) == pytest.approx(found, abs=1e-4)


def test_columns_of_weights_and_known_classes(tmp_path):
    """They are no features; the classes are kept and named, and blanks are unknown."""
    kinds = np.array(["barolo", "grignolino", "barbera"])[Y]
    lines = [",".join([*NAMES, "times", "kind"])]
    for place, (row, kind) in enumerate(zip(X, kinds, strict=True)):
        known = kind if place % 10 == 0 else ""
        lines.append(",".join([*map(repr, row.tolist()), str(1 + place % 3), known]))
    table, model = tmp_path / "wine.csv", tmp_path / "wine.srsg"
    table.write_text("\n".join(lines) + "\n")
    columns = ["--weights", "times", "--known", "kind"]
    options = ["-k", 3, "--scale", "standard", "-o", tmp_path / "labels.csv"]
    ran = good("cluster", table, "--method", "ridge", *columns, *options, "--model", model)
    assert "cluster 0 is barbera, 1 is barolo, 2 is grignolino" in ran.stderr
    fitted = load_model(model).clusterer_
    assert fitted.n_features_in_ == 13
    np.testing.assert_array_equal(fitted.graph_.equal.row_weights, 1 + np.arange(len(X)) % 3)
    given = np.arange(len(X)) % 10 == 0
    assert (fitted.known_classes_[fitted.labels_[given]] == kinds[given]).all()
    error = the_error("cluster", table, "--method", "kmeans", "--known", "kind", "-k", 3, code=2)
    assert "--known is not an option of the method kmeans" in error
    error = the_error("cluster", table, "--method", "ridge", "--weights", "kind", "-k", 3)
    assert "column kind is to have weights, and is no numbers" in error
