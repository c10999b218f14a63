"""More points than a graph fits the limits for: a graph of some, and all others assigned to it."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from srsg import SRSG, NeighborGraph, PreparedClusterer, StabilitySearch, config_context
from srsg.counting.reproducibility import ScoredCounts
from srsg.persistence import load_model
from srsg.report.descriptions import descriptions
from srsg.report.facts import Facts
from srsg.running.config import in_seconds
from srsg.running.progress import SILENT, Progress, send_progress_to
from srsg.search import comparison, sampled, search
from srsg.search.comparison import Comparison
from srsg.search.sampled import Cost, Limits, Winner
from support.cli_runs import good, the_error

FIRST = 150
X, Y = make_blobs(900, 6, centers=3, random_state=0)
AFFINE = PreparedClusterer(SRSG(affine=True), scale="standard")


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr(sampled, "FIRST", FIRST)
    monkeypatch.setattr(search, "FIRST", FIRST)
    monkeypatch.setattr(sampled, "ASSIGNED_AT_ONCE", 100)


def searched(points=X, **limits):
    with config_context(**limits):
        return StabilitySearch({"affine": AFFINE}, 3, random_state=0).fit(points)


def memory_of(n_points):
    return Winner(SRSG(affine=True), X, ScoredCounts.given(3), None, 0, SILENT).memory_of(n_points)


@pytest.fixture(scope="module")
def exact():
    return searched()


def test_without_time_a_sample_labels_all_points():
    found = searched(max_time=1e-6)
    rows = found.approximation_.rows
    assert len(rows) == FIRST  # assigning by a larger sample would take longer
    assert found.best_estimator_.labels_.shape == (FIRST,)
    np.testing.assert_array_equal(found.labels_[rows], found.best_estimator_.labels_)
    others = np.setdiff1d(np.arange(len(X)), rows)
    np.testing.assert_array_equal(found.labels_[others], found.predict(X[others]))
    sure = found.best_estimator_.clusterer_.predict_confidence(
        found.best_estimator_.prepared(X[others])
    )
    np.testing.assert_array_equal(found.confidence_[others], sure)
    assert adjusted_rand_score(Y, found.labels_) == 1
    assert found.approximation_.agreement == 1
    again = searched(max_time=1e-6)
    np.testing.assert_array_equal(again.confidence_, found.confidence_)


def test_points_that_were_compared_anyway_are_never_sampled():
    assert searched(X[: 2 * FIRST], max_time=1e-6).approximation_ is None


def test_with_enough_time_the_labels_are_those_without_a_limit(exact):
    found = searched(max_time="1h")
    assert found.approximation_ is None
    assert exact.approximation_ is None
    np.testing.assert_array_equal(found.confidence_, exact.confidence_)
    np.testing.assert_array_equal(found.labels_, exact.labels_)


def test_too_little_memory_for_all_points_is_enough_for_some(monkeypatch):
    monkeypatch.setattr(sampled, "ENOUGH", 2.0)  # never: only memory stops the sample
    limit = 1.05 * memory_of(4 * FIRST)
    found = searched(max_memory=limit)
    assert len(found.approximation_.rows) == 4 * FIRST
    assert found.approximation_.memory > limit
    assert found.approximation_.n_compared == 2 * FIRST


def test_a_first_sample_too_large_for_the_memory_is_halved(monkeypatch):
    monkeypatch.setattr(sampled, "FIRST", 400)
    found = searched(max_memory=1.05 * memory_of(640)).approximation_
    assert (len(found.rows), found.n_compared) == (400, 200)


def test_labels_that_hardly_change_need_no_larger_sample():
    assert len(searched(max_memory=memory_of(800)).approximation_.rows) == 2 * FIRST


def test_sparse_points_are_sampled_too():
    points = sparse.csr_array(np.abs(np.repeat(np.eye(3, 8), 200, axis=0)) + 0)
    points = sparse.csr_array(points + sparse.random_array(points.shape, density=0.1, rng=0) / 9)
    with config_context(max_time=1e-6):
        found = StabilitySearch({"srsg": SRSG()}, 3, random_state=0).fit(points)
    assert adjusted_rand_score(np.repeat(range(3), 200), found.labels_) == 1
    assert found.approximation_ is not None


def test_ties_go_to_what_is_fitted_on_all_points_at_once(monkeypatch):
    points = X[:300]
    assert StabilitySearch(n_clusters=3, random_state=0).fit(points).best_name_ == "kmeans"
    monkeypatch.setattr(search, "FIRST", len(points))
    few = StabilitySearch(n_clusters=3, random_state=0).fit(points)
    assert few.best_name_ == "srsg"
    assert few.margin_ <= search.TIE


def test_own_candidates_keep_their_order_in_a_tie():
    own = {"srsg": AFFINE, "kmeans": KMeans(n_init=2)}
    assert StabilitySearch(own, 3, random_state=0).fit(X[:300]).best_name_ == "srsg"


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_the_progress_of_a_comparison_ends_at_its_total(n_clusters):
    done = Counter()

    class Counting(Progress):
        @contextmanager
        def stage(self, label, total):
            done[label, total] = 0
            yield SimpleNamespace(advance=lambda steps=1: done.update({(label, total): steps}))

    own = {"srsg": AFFINE, "kmeans": KMeans(n_init=2)}
    with send_progress_to(Counting()):
        StabilitySearch(own, n_clusters, random_state=0).fit(X[:200])
    ((total, steps),) = [(key[1], n) for key, n in done.items() if key[0] == "comparing 2 methods"]
    assert steps == total


def test_the_cost_curve_goes_through_both_times_and_is_never_straight():
    curve = Cost.through((1000, 2000), (1.0, 3.0), 3.0)
    assert [curve.at(n) for n in (1000, 2000, 4000)] == pytest.approx([1.0, 3.0, 10.0])
    # Times that seem to grow with the size alone, or more than its square, are noise.
    assert Cost.through((1000, 2000), (1.5, 3.0), 3.0).at(20_000) == pytest.approx(57.0)
    assert Cost.through((1000, 2000), (0.1, 3.0), 3.0).at(20_000) == pytest.approx(300.0)


@pytest.mark.parametrize("wrong", ["", "soon", "0", "-3s", "5 weeks", "inf", True, float("nan")])
def test_times_that_are_none(wrong):
    with pytest.raises(ValueError, match=r"max_time=.* is not a time"):
        in_seconds(wrong)


def test_command_line_says_what_was_approximated(tmp_path):
    table = tmp_path / "blobs.csv"
    lines = [",".join(map(str, row)) for row in X[:450].round(6).tolist()]
    table.write_text("\n".join(["a,b,c,d,e,f", *lines]) + "\n")
    names = ("-o", "o.csv"), ("--graph", "g.npz"), ("--model", "m.srsg"), ("--report", "r.html")
    files = [part for option, name in names for part in (option, tmp_path / name)]
    done = good("cluster", table, "-k", 3, "--time", "0.001s", *files)
    assert f"The graph has a random {FIRST} of 450 points" in done.stderr
    assert f"The graph has a random {FIRST} of 450 points" in (tmp_path / "r.html").read_text()
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 451
    graph = sparse.load_npz(tmp_path / "g.npz")
    assert graph.shape == (450, 450)
    assert np.count_nonzero(np.diff(graph.indptr)) == FIRST
    assert load_model(tmp_path / "m.srsg").fit_X_.shape == (FIRST, 6)
    summary = json.loads(good("cluster", table, "-k", 3, "--time", "1e-3", "--json", *files).stdout)
    assert summary["approximation"] == {"n_fitted": FIRST, "agreement": 1.0, "n_compared": FIRST}


def test_a_named_method_that_takes_longer_says_so(tmp_path):
    np.save(tmp_path / "x.npy", X)
    command = ["cluster", tmp_path / "x.npy", "-m", "knn", "-k", 3, "--store", tmp_path / "kept"]
    done = good(*command, "--time", "0.001s")
    assert re.search(r"knn takes about \d+ s and .* for all 900 rows: --method auto", done.stderr)
    assert "takes about" not in good(*command, "--time", "1h").stderr


def test_a_wrong_time_shows_before_the_data_are_read(tmp_path):
    assert "--time 'soon' is not a time" in the_error("cluster", tmp_path / "no", "--time", "soon")


def test_the_page_of_many_points_draws_some_of_every_cluster(monkeypatch):
    monkeypatch.setattr("srsg.report.facts.MOST_DRAWN", 10)
    points = np.vstack([X, np.full((2, 6), 99.0)])
    facts = Facts(KMeans(4, n_init=2, random_state=0).fit(points), points, y=[*Y, 3, 3])
    drawn = facts.drawn()
    assert facts.sizes.sum() == 902
    assert 10 <= len(drawn.X) < 80
    assert set(drawn.cluster) == set(range(4))
    assert len(drawn.row_ids) == len(drawn.X) == len(drawn.confidence.values) == len(drawn.classes)
    place = drawn.cluster.tolist().index(int(facts.cluster[-1]))
    assert drawn.row_ids[place] == "row 900"


def test_the_page_of_a_sample_describes_all_points_and_shows_rows_with_their_values():
    model = searched(max_time=1e-6)
    facts = Facts(model, X, feature_names=[f"column {j}" for j in range(6)])
    drawn = facts.drawn()
    assert len(drawn.X) == FIRST
    assert [cluster.size for cluster in drawn.explanation.clusters] == facts.sizes.tolist()
    traits = drawn.explanation.clusters[0].traits
    rows = re.findall(r'data-point="(\d+)">row (\d+)<.*?<td>(.*?)</td>', descriptions(drawn))
    assert len(rows) == 3 * 2 * 3  # clusters, typical and doubtful, rows of each
    assert all(int(row) == drawn.rows[int(point)] for point, row, _ in rows)
    column = facts.explanation.rules.index(traits[0].rule)
    first = [traits[0].rule.shown(X[int(row), column]) for _, row, _ in rows[:6]]
    assert [value for *_, value in rows[:6]] == first
    with pytest.raises(ValueError, match="The graph has 150 of 900 points"):
        facts.explanation.point(0)


@pytest.mark.parametrize(
    ("points", "ours", "most", "n_candidates"),
    [
        (X, True, 899, 100),
        (X, True, 900, None),
        (X, False, 899, None),
        (sparse.csr_array(X), True, 899, None),
    ],
    ids=["many", "few", "asked for", "sparse"],
)
def test_neighbours_of_very_many_points_come_from_an_index(
    points, ours, most, n_candidates, monkeypatch
):
    pytest.importorskip("faiss")
    monkeypatch.setattr(comparison, "MANY_POINTS", most)
    notes = SimpleNamespace(stage=SILENT.stage, note=(told := []).append)
    graphs = Comparison([("knn", NeighborGraph())], points, 0, notes, None, ours)
    found = graphs.fitted(0, ScoredCounts.given(3), "tree", Limits.starting_now())
    assert found.model.n_candidates == n_candidates
    assert len(told) == (n_candidates is not None)
    assert adjusted_rand_score(Y, found.labels) == 1
    monkeypatch.setattr(comparison, "find_spec", lambda name: None)
    assert graphs._over_candidates(NeighborGraph()).n_candidates is None
