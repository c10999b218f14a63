"""Known labels and pairs are kept by every cut, and what is not kept is named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine

from srsg import NeighborGraph, PreparedClusterer, RidgeGraph, StabilitySearch
from srsg.constraints import Constraints
from srsg.cutting.constrained import kept_apart
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from srsg.points import EqualPoints
from support.estimators import ALL_ESTIMATORS, assert_same

X, y = (part[:150] for part in load_digits(n_class=4, return_X_y=True))
KNOWN = np.where(np.arange(150) % 25 < 1, y, -1)  # six rows
KNOWN[[int(np.flatnonzero(y == label)[3]) for label in range(4)]] = range(4)
GRAPH = RidgeGraph(4, random_state=0).fit(X)


def labelled(**known):
    """The labels of one graph that keep what is known."""
    return clone(GRAPH).set_params().fit(X, **known)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
@pytest.mark.parametrize("assign_labels", ["kmeans", "tree"])
def test_known_rows_have_their_class(estimator, assign_labels):
    model = estimator(4, assign_labels=assign_labels, random_state=0, n_jobs=1)
    model.fit(X[:100], known_labels=KNOWN[:100])
    given_rows = KNOWN[:100] >= 0
    np.testing.assert_array_equal(model.labels_[given_rows], KNOWN[:100][given_rows])
    np.testing.assert_array_equal(model.known_classes_, range(4))
    assert model.violated_constraints_ == []
    assert model.embedding_.shape == (100, 4)
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()


def test_labels_spread_to_their_neighbours():
    model = labelled(known_labels=KNOWN)
    unknown = KNOWN < 0
    assert np.mean(model.labels_[unknown] == y[unknown]) > 0.95


def test_y_is_never_used():
    """Clusterers ignore y: true labels in an unsupervised comparison would be a leak."""
    assert_same(clone(GRAPH).fit(X, y), GRAPH)


def test_names_may_be_texts():
    names = np.array(["zero", "one", "two", "three"], dtype=object)
    texts = np.where(KNOWN >= 0, names[KNOWN], None)
    model = labelled(known_labels=texts)
    assert model.known_classes_.tolist() == ["one", "three", "two", "zero"]
    expected = labelled(known_labels=KNOWN)
    assert clustering_accuracy(expected.labels_, model.labels_) == 1
    assert model.known_classes_[model.labels_[KNOWN == 0]].tolist() == ["zero"] * sum(KNOWN == 0)


def test_new_clusters_stay_possible():
    """Only two of four classes are known: the two others are found as clusters of their own."""
    partly = np.where(KNOWN < 2, KNOWN, -1)
    model = labelled(known_labels=partly)
    assert set(model.labels_) == {0, 1, 2, 3}
    assert clustering_accuracy(y, model.labels_) > 0.9
    assert np.mean(model.labels_[y == 1] == 1) > 0.8


def test_pairs_are_kept():
    alike, different = (
        np.flatnonzero(y == 0)[:2],
        [np.flatnonzero(y == 1)[0], np.flatnonzero(y == 2)[0]],
    )
    must, cannot = [(int(alike[0]), int(different[0]))], [tuple(map(int, alike))]
    model = labelled(must_link=must, cannot_link=cannot)
    assert model.labels_[must[0][0]] == model.labels_[must[0][1]]
    assert model.labels_[cannot[0][0]] != model.labels_[cannot[0][1]]
    assert model.violated_constraints_ == []


def test_pairs_in_a_tree():
    rows = np.flatnonzero(y == 0)[:2].tolist()
    model = RidgeGraph(4, assign_labels="tree").fit(X, cannot_link=[rows])
    assert model.labels_[rows[0]] != model.labels_[rows[1]]


def test_contradictions_are_named():
    with pytest.warns(UserWarning, match=r"1 constraint\(s\) are violated.*cannot_link 3, 4"):
        model = labelled(must_link=[(3, 4)], cannot_link=[(3, 4)])
    assert model.violated_constraints_ == [("cannot_link", 3, 4)]
    rows = np.flatnonzero(y == 0)[:3].tolist()
    apart = [(rows[0], rows[1]), (rows[1], rows[2]), (rows[0], rows[2])]
    with pytest.warns(UserWarning, match="violated"):
        model = clone(GRAPH).set_params(n_clusters=2).fit(X, cannot_link=apart)
    assert len(model.violated_constraints_) == 1


def test_equal_rows_with_two_classes():
    points = np.vstack([X, X[:1]])
    known = np.append(KNOWN, (KNOWN[0] + 1) % 4)
    with pytest.warns(UserWarning, match="known_labels 150"):
        model = clone(GRAPH).fit(points, known_labels=known)
    assert model.labels_[0] == model.labels_[150] == KNOWN[0]


def test_labels_later_are_those_of_a_fit():
    """The graph is built once, and labels may come one after the other."""
    later = clone(GRAPH).fit_graph(X).fit_labels(known_labels=KNOWN)
    assert_same(later, labelled(known_labels=KNOWN))
    np.testing.assert_array_equal(later.relabel(), later.labels_)
    more = later.relabel_each([4, 6])
    np.testing.assert_array_equal(more[:, 0], later.labels_)
    np.testing.assert_array_equal(more[KNOWN >= 0, 1], KNOWN[KNOWN >= 0])


def test_updates_keep_constraints():
    model = clone(GRAPH).fit(X[:120], known_labels=KNOWN[:120])
    model.update(X[120:])
    assert model.violated_constraints_ == []
    np.testing.assert_array_equal(
        model.labels_[:120][KNOWN[:120] >= 0], KNOWN[:120][KNOWN[:120] >= 0]
    )
    assert np.mean(model.labels_ == y) > 0.9


def test_at_least_as_many_clusters_as_classes():
    with pytest.raises(ValueError, match="n_clusters=3 is less than the 4 classes"):
        clone(GRAPH).set_params(n_clusters=3).fit(X, known_labels=KNOWN)
    model = NeighborGraph("auto", random_state=0).fit(
        X, known_labels=np.where(KNOWN >= 0, np.arange(150), -1)
    )
    assert model.n_clusters_ >= (KNOWN >= 0).sum()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"known_labels": KNOWN[:20]}, "known_labels must have one label for each of 150"),
        ({"known_labels": np.full(150, -1)}, "known_labels has no label"),
        ({"known_labels": np.full(150, -2)}, "the label -2: -1 is for"),
        ({"known_labels": np.full(150, 0.5)}, "whole numbers"),
        ({"must_link": [(0, 150)]}, r"must_link has the pair \(0, 150\)"),
        ({"must_link": [(3, 3)]}, r"must_link has the pair \(3, 3\)"),
        ({"cannot_link": [0, 1]}, "cannot_link must be pairs"),
        ({"cannot_link": [(0.5, 1)]}, "cannot_link must be pairs"),
        (
            {"known_labels": KNOWN, "must_link": [np.unique(KNOWN, return_index=True)[1][1:3]]},
            "must_link joins rows of the classes 0 and 1",
        ),
    ],
)
def test_other_constraints_are_refused(known, message):
    with pytest.raises(ValueError, match=message):
        labelled(**known)


def test_weights_and_constraints():
    weights = np.random.default_rng(0).integers(1, 4, 150)
    weighted = clone(GRAPH).fit(X, sample_weight=weights, known_labels=KNOWN)
    copies = clone(GRAPH).fit(np.repeat(X, weights, axis=0), known_labels=np.repeat(KNOWN, weights))
    first = np.concatenate(([0], np.cumsum(weights)[:-1]))
    np.testing.assert_array_equal(weighted.labels_, copies.labels_[first])
    np.testing.assert_allclose(weighted.embedding_, copies.embedding_[first], atol=1e-6)


def test_files_keep_constraints(tmp_path):
    names = np.where(KNOWN >= 0, np.array(["a", "b", "c", "d"])[KNOWN], "")
    model = labelled(known_labels=names, cannot_link=[(0, 1)])
    save_model(model, tmp_path / "model.srsg")
    loaded = load_model(tmp_path / "model.srsg")
    assert loaded.known_classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(loaded.relabel(5), model.relabel(5))
    np.testing.assert_array_equal(loaded.predict(X[:20]), model.predict(X[:20]))


def test_the_search_and_prepared_columns():
    points, classes = load_wine(return_X_y=True)
    known = np.where(np.arange(len(points)) % 12 == 0, classes, -1)
    model = PreparedClusterer(RidgeGraph(3, affine=True, random_state=0), scale="standard")
    model.fit(points, known_labels=known)
    assert np.mean(model.labels_ == classes) > 0.8
    candidates = {"ridge": model, "kmeans": KMeans()}
    search = StabilitySearch(candidates, n_clusters=3, random_state=0)
    search.fit(points, known_labels=known)
    assert search.results_["candidate"] == ["ridge"]
    np.testing.assert_array_equal(search.labels_, model.labels_)
    assert search.violated_constraints_ == []
    with pytest.raises(ValueError, match="no candidate builds a graph"):
        StabilitySearch({"kmeans": KMeans()}, n_clusters=3).fit(points, known_labels=known)


@settings(max_examples=25, deadline=None)
@given(
    known=st.lists(st.integers(-1, 3), min_size=150, max_size=150),
    must=st.lists(st.tuples(st.integers(0, 149), st.integers(0, 149)), max_size=4),
    cannot=st.lists(st.tuples(st.integers(0, 149), st.integers(0, 149)), max_size=4),
    assign_labels=st.sampled_from(["kmeans", "tree"]),
)
def test_nothing_is_violated_silently(known, must, cannot, assign_labels):
    must = [pair for pair in must if pair[0] != pair[1]]
    cannot = [pair for pair in cannot if pair[0] != pair[1]]
    sparse_known = [label if row % 10 == 0 else -1 for row, label in enumerate(known)]
    labels = sparse_known if max(sparse_known) >= 0 else None
    model = clone(GRAPH).set_params(n_clusters=5, assign_labels=assign_labels, n_init=1)
    model.graph_ = GRAPH.graph_
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit_labels(known_labels=labels, must_link=must, cannot_link=cannot)
        except ValueError as error:
            if "must_link joins rows of the classes" not in str(error):
                raise
            return
    if labels is None and not must and not cannot:
        return
    found, broken = model.labels_, set(model.violated_constraints_)
    for name, pairs, same in (("must_link", must, False), ("cannot_link", cannot, True)):
        for one, other in pairs:
            if (found[one] == found[other]) == same:
                assert (name, one, other) in broken
    classes = model.known_classes_.tolist()
    for row, label in enumerate(labels or []):
        if label >= 0 and classes[found[row]] != label:
            assert ("known_labels", row, classes.index(label)) in broken
    assert bool(broken) == any("violated" in str(each.message) for each in caught)
    assert not any(name == "must_link" for name, *_ in broken)


def test_an_edge_between_two_sides_is_cut():
    """A chain of two groups: the bridge loses most of its weight, whatever joins it."""
    path = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    found = kept_apart(path, np.array([[1, 4]]))
    assert found[2, 3] < found[0, 1]
    assert found[2, 3] == found[3, 2] < 0.6
    assert found[0, 1] == found[4, 5] == 1


def test_groups_are_sets_of_linked_points():
    equal = EqualPoints.from_first(np.array([0, 1, 0, 3, 4, -1]))
    given_pairs = Constraints.of(6, [-1, 1, -1, 1, 0, -1], [(2, 3)], [(0, 4), (0, 1), (4, 5)])
    groups = given_pairs.groups(equal)
    np.testing.assert_array_equal(groups.equal.owner, [0, 0, 0, 0, 1, -1])
    np.testing.assert_array_equal(groups.seeds, [1, 0])
    np.testing.assert_array_equal(groups.apart, [[0, 1]])
