"""New points join a fitted graph: clusters keep their numbers, and what changed is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import normalized_mutual_info_score as nmi

from srsg import SMCE, SRSG, GraphClustering, L1Graph, NeighborGraph
from srsg.coding import extended
from srsg.cutting.cut import Clusters
from srsg.cutting.update import Update, with_old_numbers
from srsg.persistence import load_model, save_model
from support.estimators import CODE_ESTIMATORS

X, Y = load_digits(n_class=5, return_X_y=True)


@pytest.fixture
def parts_only(monkeypatch):
    """Parts are coded again, however many of the points they have."""
    monkeypatch.setattr(extended, "MOST", 1.0)


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_updates_agree_with_a_fit_of_all_points(estimator, parts_only, tmp_path):
    model = estimator(5, random_state=0).fit(X[:120])
    for start in (120, 160):
        before = model.labels_
        update = model.update(X[start : start + 40])
        np.testing.assert_array_equal(update.labels, model.labels_[start:])
        moved = np.flatnonzero(model.labels_[:start] != before)
        np.testing.assert_array_equal(update.moved, moved)
        assert len(moved) < start / 2  # numbers are kept
    assert model.graph_.n == len(model.confidence_) == len(model.explained_) == 200
    whole = estimator(5, random_state=0).fit(X[:200])
    assert nmi(whole.labels_, model.labels_) > 0.6
    assert (model.predict(X[:200]) == model.labels_).mean() > 0.8
    save_model(model, tmp_path / "model.srsg")
    loaded = load_model(tmp_path / "model.srsg")
    np.testing.assert_array_equal(loaded.predict(X[200:220]), model.predict(X[200:220]))


@pytest.mark.parametrize("estimator", [L1Graph, NeighborGraph])
def test_codes_are_nearly_those_of_a_fit(estimator, parts_only):
    model = estimator(5, random_state=0).fit(X[:300])
    old = model.codes_
    model.update(X[300:330])
    whole = estimator(5, random_state=0).fit(X[:330])
    # New points have the codes of a fit, but for points that are far around.
    difference = abs(model.codes_ - whole.codes_).sum(axis=1) / abs(whole.codes_).sum(axis=1)
    assert np.median(difference[300:]) < 1e-6
    assert difference.mean() < 0.05
    # And some of the old ones have kept theirs.
    same = abs(model.codes_[:300, :300] - old).max(axis=1).toarray().ravel() == 0
    assert same.mean() > 0.2


def test_an_update_of_most_points_is_a_fit():
    model = SRSG(5, random_state=0).fit(X[:60])
    update = model.update(X[60:200])
    whole = SRSG(5, random_state=0).fit(X[:200])
    assert abs(model.codes_ - whole.codes_).max() == 0
    assert nmi(whole.labels_, model.labels_) == pytest.approx(1)
    assert len(update.labels) == 140


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equal_points_and_rows_of_zeros(kind, parts_only):
    model = L1Graph(5, random_state=0).fit(kind(X[:100]))
    new = np.vstack([X[:3], X[100:105], X[100:102], np.zeros((1, 64))])
    update = model.update(kind(new))
    np.testing.assert_array_equal(model.first_equal_[100:103], [0, 1, 2])
    np.testing.assert_array_equal(model.first_equal_[108:110], [103, 104])
    assert model.first_equal_[110] == -1
    np.testing.assert_array_equal(update.labels[:3], model.labels_[:3])
    # Only copies: no code changes.
    codes = model.codes_.copy()
    model.update(kind(X[:2]))
    assert abs(model.codes_[: codes.shape[0], : codes.shape[1]] - codes).max() == 0


def test_a_new_cluster_gets_a_new_number():
    model = NeighborGraph("auto", random_state=0, assign_labels="tree").fit(X[Y < 4][:200])
    before = model.n_clusters_
    update = model.update(X[Y == 4][:80])
    assert model.n_clusters_ > before - 2
    counts = np.bincount(model.labels_)
    assert (counts > 0).all()
    assert (model.embedding_.argmax(axis=1) == model.labels_).mean() > 0.9
    for cluster in update.new:
        assert cluster >= before


def test_numbers_follow_the_points():
    before = np.array([0, 0, 0, 1, 1, 2, 2])
    vectors = np.eye(4)[[2, 2, 2, 0, 0, 1, 1, 3]]
    found = Clusters(np.array([2, 2, 2, 0, 0, 1, 1, 3]), vectors, np.ones(4), 4)
    now = with_old_numbers(before, found, by_cluster=True)
    np.testing.assert_array_equal(now.labels, [0, 0, 0, 1, 1, 2, 2, 3])
    np.testing.assert_array_equal(now.vectors.argmax(axis=1), now.labels)
    update = Update.of(before, now.labels)
    assert (update.new, update.gone, update.merged, update.split) == ([3], [], {}, {})
    assert update.labels.tolist() == [3]
    # Fewer clusters: the second is gone, and the third takes its number.
    fewer = Clusters(np.array([1, 1, 1, 1, 1, 0, 0, 0]), np.zeros((8, 2)), np.ones(2), 2)
    now = with_old_numbers(before, fewer, by_cluster=False)
    np.testing.assert_array_equal(now.labels, [0, 0, 0, 0, 0, 1, 1, 1])
    update = Update.of(before, now.labels)
    assert update.merged == {0: [0, 1]}
    assert update.moved.tolist() == [3, 4, 5, 6]
    assert update.gone == [2]
    split = Update.of(np.zeros(4, int), np.array([0, 0, 1, 1]))
    assert split.split == {0: [0, 1]}
    assert split.new == [1]


def test_weights_and_names_stay():
    model = L1Graph(5, random_state=0).fit(X[:80], sample_weight=np.arange(80) % 2 + 1)
    model.update(X[80:90])
    np.testing.assert_array_equal(model.graph_.equal.row_weights[80:], 1)
    assert model.graph_.lengths.shape == (90,)


def test_bad_updates_change_nothing():
    with pytest.raises(NotFittedError):
        L1Graph(3).update(X[:5])
    model = L1Graph(3, random_state=0).fit(X[:60])
    labels = model.labels_
    with pytest.raises(ValueError, match="features"):
        model.update(X[:5, :7])
    assert model.labels_ is labels
    for other in (SMCE(3).fit(X[:60]), GraphClustering(3).fit(np.ones((9, 9)))):
        new = X[60:63] if isinstance(other, SMCE) else np.ones((1, 9))
        with pytest.raises(ValueError, match="update needs a method of codes over unit points"):
            other.update(new)
