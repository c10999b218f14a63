"""Numbers of clusters by what two halves of the points both find."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs

from srsg import (
    SMCE,
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    OMPGraph,
    RidgeGraph,
    config_context,
)
from srsg.counting import counts
from srsg.counting.eigengaps import estimate_n_clusters
from srsg.counting.reproducibility import (
    OtherCount,
    ScoredCounts,
    best_jaccard,
    carry_labels,
    counts_to_try,
    effective_number,
    reproducibility_score,
    search_counts,
)
from srsg.datasets import make_trefoil_knots, make_union_of_subspaces
from srsg.estimators.base import scored_counts
from support.estimators import counted

LABELS = arrays(np.int64, 30, elements=st.integers(-1, 4))


def subspaces(n_points=240, n_subspaces=4, seed=0, noise=0.0):
    return make_union_of_subspaces(
        n_points,
        n_subspaces=n_subspaces,
        dimension=3,
        n_features=20,
        noise=noise,
        random_state=seed,
    )[0]


def plain_jaccard(first, second):
    """Set by set."""

    def sets(labels):
        return [set(np.flatnonzero(labels == label)) for label in np.unique(labels)]

    return [
        max((len(own & other) / len(own | other) for other in sets(second)), default=0.0)
        for own in sets(first)
    ]


@given(LABELS, LABELS)
def test_jaccard_equals_that_of_sets(first, second):
    ours, theirs = best_jaccard(first, second)
    np.testing.assert_allclose(ours, plain_jaccard(first, second))
    np.testing.assert_allclose(theirs, plain_jaccard(second, first))


@given(LABELS, LABELS)
def test_score_counts_clusters_found_less_dissolved(carried, own):
    reached = carried >= 0
    pairs = (carried[reached], own[reached]), (own[reached], carried[reached])
    plain = sum(2 * index - 1 for pair in pairs for index in plain_jaccard(*pair)) / 2
    assert reproducibility_score(carried, own) == pytest.approx(plain)
    # Names of clusters do not matter.
    renamed = np.where(carried >= 0, (carried * 7 + 3) % 5, -1)
    assert reproducibility_score(renamed, own) == pytest.approx(plain)


def test_same_labels_score_their_number_and_random_ones_less_than_nothing():
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=2000)
    assert reproducibility_score(labels, labels) == 5
    assert reproducibility_score(rng.permutation(labels), labels) < -2
    nobody = np.full(2000, -1)
    assert reproducibility_score(nobody, labels) == 0


@given(st.integers(0, 10**6), st.booleans())
def test_labels_are_carried_by_the_heaviest_edges(seed, dense):
    rng = np.random.default_rng(seed)
    weights = rng.random((12, 9)) * (rng.random((12, 9)) < 0.2)
    labels = rng.integers(3, size=9)
    carried = carry_labels(weights if dense else sparse.csr_array(weights), labels, 3)
    for row, label in zip(weights, carried, strict=True):
        votes = [row[labels == own].sum() for own in range(3)]
        assert label == (int(np.argmax(votes)) if any(votes) else -1)


@given(st.integers(2, 5000), st.integers(1, 40))
def test_numbers_to_try(n_half, least):
    counts = counts_to_try(n_half, least)
    most = min(n_half // 5, int(3 * np.sqrt(n_half)), 130)
    assert counts == sorted(set(counts))
    if max(least, 2) > most:
        assert not counts
        return
    assert counts[0] == max(least, 2)
    assert counts[-1] <= most < 1.08 * counts[-1] + 2
    small = [count for count in counts if count <= 12]
    assert small == list(range(counts[0], min(12, most) + 1))


def test_search_finds_the_number_between_two_that_were_tried():
    asked = []

    def score(count):
        asked.append(count)
        return 10 - abs(count - 37) / 10

    found = search_counts(score, counts_to_try(1000))
    assert found.n_clusters == 37
    assert found.best(3) == [37, 36, 38]
    assert len(asked) == len(set(asked)) == len(found.counts) == len(found.scores)


def test_search_stops_early_but_not_before_a_score_above_one():
    counts = counts_to_try(2000)
    rises_and_falls = search_counts(lambda count: 4 - abs(count - 4), counts)
    assert rises_and_falls.n_clusters == 4
    assert rises_and_falls.counts.max() == 13
    weak = search_counts(lambda count: 0.5 if count == 2 else -count / 10, counts)
    assert weak.counts.max() == counts[-1]
    # A plateau at half of the best goes on: more clusters may still come.
    late = search_counts(lambda count: 40.0 if count > 90 else 4.0 if count == 4 else 2.0, counts)
    assert late.n_clusters > 90


def test_small_components_beside_a_large_one_prove_nothing():
    assert effective_number(np.array([30, 30, 30])) == pytest.approx(3)
    assert counts._share_the_points(np.array([72, 72, 60, 40]))
    assert not counts._share_the_points(np.array([72, 1080]))
    assert not counts._share_the_points(np.array([500]))


def test_nothing_found():
    nothing = search_counts(lambda count: -count / 2, [2, 3, 4])
    assert (nothing.n_clusters, nothing.structure_found) == (2, False)


@pytest.mark.parametrize("estimator", [SRSG, L1Graph, RidgeGraph, OMPGraph])
def test_subspaces_are_exact(estimator):
    model = estimator("auto", random_state=0, n_jobs=1).fit(subspaces())
    assert model.n_clusters_ == 4
    assert model.structure_found_
    assert model.best_counts(1) == [4]


@pytest.mark.parametrize("n_subspaces", [3, 5])
def test_halves_find_subspaces_that_noise_joins(n_subspaces):
    X = subspaces(300, n_subspaces, noise=0.05)
    model = SRSG("auto", random_state=0).fit(X)
    assert len(model.cluster_counts_) > 5  # a connected graph: the halves decided
    assert model.n_clusters_ == n_subspaces
    assert model.cluster_count_scores_.max() == pytest.approx(n_subspaces, abs=0.5)


@pytest.mark.parametrize(
    "estimator", [SRSG(affine=True), RidgeGraph(), LocalScalingSpectralClustering()]
)
@pytest.mark.parametrize("seed", range(2))
def test_noise_has_no_structure(estimator, seed):
    X = np.random.default_rng(seed).standard_normal((300, 30))
    estimator.set_params(n_clusters="auto", random_state=seed)
    model = estimator.fit(X)
    assert not model.structure_found_
    assert model.cluster_count_scores_.max() <= 0


def test_result_depends_on_the_seed_only():
    X = subspaces(noise=0.3)
    models = [SRSG("auto", random_state=3, n_jobs=n_jobs).fit(X) for n_jobs in (1, 3)]
    with config_context(max_memory="4MB"):
        models.append(SRSG("auto", random_state=3, n_jobs=2).fit(X))
    for model in models[1:]:
        for name in ("cluster_counts_", "cluster_count_scores_", "labels_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(models[0], name))
    np.testing.assert_array_equal(models[0].relabel("auto", random_state=3), models[0].labels_)
    again = models[0].count_clusters()
    np.testing.assert_array_equal(again.scores, models[0].cluster_count_scores_)
    other = SRSG("auto", random_state=4).fit(X)
    assert not np.array_equal(other.cluster_count_scores_, models[0].cluster_count_scores_)


def test_counting_leaves_the_estimator_and_its_user_alone():
    X = subspaces(120, noise=0.1)
    model = SRSG(4, max_sweeps=1, random_state=0)
    with pytest.warns(UserWarning, match="max_sweeps"):
        model.fit(X)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # those of the halves are nobody's business
        model.count_clusters()
    assert vars(model) == before


def test_a_sample_decides_where_points_are_many(monkeypatch):
    X = subspaces(300, noise=0.05)
    monkeypatch.setattr(counts, "MAX_POINTS", 200)
    sizes = []
    code = L1Graph.coder.code
    monkeypatch.setattr(
        L1Graph.coder,
        "code",
        lambda self, points, run: sizes.append(points.n) or code(self, points, run),
    )
    assert L1Graph("auto", random_state=0).fit(X).n_clusters_ == 4
    assert sizes == [300, 200, 100, 100, 100, 100]


def test_copies_of_points_are_in_one_half():
    """Else noise twice over would be found again."""
    X = np.random.default_rng(0).standard_normal((120, 30))
    once = counted(RidgeGraph(), X)
    twice = counted(RidgeGraph(), np.vstack([X, X]))
    assert not once.structure_found
    np.testing.assert_allclose(twice.scores, once.scores)


@pytest.mark.parametrize("n_points", [12, 24])
def test_too_few_points_to_halve_leave_it_to_the_graph(n_points):
    X = subspaces(n_points, n_subspaces=2)
    model = L1Graph("auto", lam=0.01, n_neighbors=5, random_state=0).fit(X)
    expected = estimate_n_clusters(model.affinity_matrix_)
    assert model.cluster_counts_.tolist() == [model.n_clusters_] == [expected.n_clusters]
    assert model.structure_found_ == (expected.n_components > 1)


def test_neighbors_that_a_half_does_not_have():
    X = np.random.default_rng(0).standard_normal((60, 10))
    model = SRSG("auto", n_neighbors=40, random_state=0).fit(X)
    assert len(model.cluster_counts_) == 1
    assert not model.structure_found_


@pytest.mark.parametrize("n_points", [200, 400])
def test_rings_are_whole(n_points):
    X, _ = make_trefoil_knots(n_points, random_state=0)
    model = SMCE("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 2


def test_best_counts_need_several():
    model = L1Graph(4).fit(subspaces(60))
    with pytest.raises(ValueError, match=r"n_clusters=4 was given"):
        model.best_counts()


def test_others_are_clearly_different_and_the_best_of_their_side():
    counts = [2, 4, 7, 8, 9, 10, 12, 30]
    scores = np.array([0.3, 0.5, 0.89, 0.9, 0.88, 0.4, 0.7, 0.2])
    found = ScoredCounts.of(counts, scores)
    assert found.others() == [(4, 0.5), (12, 0.7)]
    assert found.sure
    scores[6] = 0.8
    assert not ScoredCounts.of(counts, scores).sure
    assert ScoredCounts.of([3], np.array([3.0])).others() == []
    assert not ScoredCounts.of([2, 4], np.array([0.0, -1.0])).sure


def test_what_merges_and_what_falls_apart():
    chosen = np.repeat([0, 1, 2], 10)
    fewer, more = np.repeat([1, 0, 0], 10), np.repeat([0, 1, 2, 3], [10, 10, 6, 4])
    fewer[0] = 0  # most members decide
    assert OtherCount.of(0.5, fewer, chosen).parts == {0: [1, 2]}
    assert OtherCount.of(0.5, more, chosen).parts == {2: [2, 3]}
    assert OtherCount.of(0.5, more, chosen).n_clusters == 4


def test_an_estimator_has_other_numbers():
    X, _ = make_union_of_subspaces(
        300, n_subspaces=5, dimension=4, n_features=100, noise=0.08, random_state=0
    )
    model = NeighborGraph("auto", random_state=0, assign_labels="tree").fit(X)
    below = [other for other in model.other_counts_ if other.n_clusters < model.n_clusters_]
    above = [other for other in model.other_counts_ if other.n_clusters > model.n_clusters_]
    for other in below + above:
        assert len(np.unique(other.labels)) == other.n_clusters
        # A tree is nested, so that clusters merge or fall apart whole.
        changed = sum(len(parts) - 1 for parts in other.parts.values())
        assert changed == abs(other.n_clusters - model.n_clusters_)
    assert below or above
    given = clone(model).set_params(n_clusters=3).fit(X)
    with pytest.raises(ValueError, match="n_clusters=3 was given"):
        _ = given.other_counts_


@pytest.mark.parametrize(("spread", "sure"), [(0.3, True), (4.0, False)])
def test_a_table_is_sure_if_its_clusters_are_found_again(spread, sure):
    """Groups that overlap may have most evidence for their number, and yet it is not sure."""
    X, _ = make_blobs(120, n_features=6, centers=3, cluster_std=spread, random_state=0)
    model = SRSG("auto", affine=True, random_state=0).fit(X)
    assert scored_counts(model).sure is sure


def test_numbers_a_quarter_larger_or_smaller_are_clearly_different():
    scores = np.array([0.5, 0.9, 0.6])
    assert ScoredCounts(5, np.array([4, 5, 6]), scores, True).others() == [(4, 0.5)]
    assert ScoredCounts(4, np.array([3, 4, 5]), scores, True).others() == [(3, 0.5), (5, 0.6)]
