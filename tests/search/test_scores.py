"""Stability and consensus, against values worked out by hand and scikit-learn's measure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score

from srsg.metrics import adjusted_mutual_info
from srsg.search.stability import (
    MAX_POINTS,
    consensus,
    draw_rounds,
    scores_of,
    stability_of,
)

RNG = np.random.default_rng(0)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 2**16))
def test_adjusted_mutual_info_is_the_exact_one(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(n_rows, size=600)
    b = np.where(rng.random(600) < 0.5, a % n_columns, rng.integers(n_columns, size=600))
    exact = adjusted_mutual_info_score(a, b, average_method="max")
    assert adjusted_mutual_info(a, b) == pytest.approx(exact)


@given(st.integers(2, 60), st.integers(0, 2**16))
def test_unrelated_labels_score_about_zero_for_any_number_of_clusters(n_clusters, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(n_clusters, size=(2, 3000))
    assert abs(adjusted_mutual_info(a, b)) < 0.03


def test_one_cluster_tells_nothing():
    assert adjusted_mutual_info(np.zeros(9), np.arange(9) % 3) == 0
    assert adjusted_mutual_info(np.zeros(9), np.zeros(9)) == 0


def test_stability_compares_only_points_that_both_samples_have():
    samples = [np.arange(0, 60), np.arange(30, 90)]
    truth = np.arange(90) % 3
    first, second = truth[:60].copy(), (truth[30:] + 1) % 3  # other names
    first[:30] = 0  # not in the other sample
    labels = np.column_stack([second, RNG.permutation(second)])
    same, shuffled = stability_of([np.column_stack([first, first]), labels], samples)
    assert same == pytest.approx(1)
    assert shuffled < 0.3


def test_consensus_is_the_mean_agreement_with_the_others():
    truth = np.arange(300)[:, None] % 3
    other = RNG.integers(3, size=(300, 1))
    found = consensus([[truth], [truth], [other]])
    low = adjusted_mutual_info(truth[:, 0], other[:, 0])
    np.testing.assert_allclose(found, [[(1 + low) / 2, (1 + low) / 2, low]])
    assert consensus([[truth]]).tolist() == [[0]]


def test_without_halves_features_do_not_count():
    samples, _ = draw_rounds((100, 8), 2, np.random.RandomState(0), table=True)
    labels = [sample.rows[:, None] % 2 for sample in samples]
    scores = scores_of([labels, labels], samples)
    assert np.isnan(scores.features).all()
    np.testing.assert_allclose(scores.total, scores.points + scores.consensus)
    np.testing.assert_allclose(scores.points, 1)


def test_scores_of_tables_are_means_over_the_numbers_of_clusters():
    samples, _ = draw_rounds((100, 8), 2, np.random.RandomState(0), table=True)
    rng = np.random.default_rng(0)
    both = [rng.integers(3, size=(len(sample.rows), 2)) for sample in samples]
    each = [scores_of([[labels[:, [k]] for labels in both]] * 2, samples) for k in (0, 1)]
    for found, one, two in zip(scores_of([both, both], samples), *each, strict=True):
        np.testing.assert_allclose(found, (one + two) / 2)


def test_with_many_features_every_candidate_is_scored_at_its_own_number():
    samples, second = draw_rounds((100, 8), 2, np.random.RandomState(0), table=False)
    assert not second
    truth = np.arange(100) % 4
    good = [np.column_stack([RNG.integers(3, size=len(rows)), truth[rows]]) for rows, _ in samples]
    bad = [labels[:, ::-1] for labels in good]
    scores = scores_of([good, bad], samples, own=[1, 1])
    assert np.isnan(scores.consensus).all()
    np.testing.assert_allclose([scores.points[0], scores.features[0], scores.total[0]], [1, 1, 2])
    assert scores.total[1] < 0.2
    swapped = scores_of([good, bad], samples, own=[0, 0])
    assert swapped.total.argmax() == 1


def test_sparse_features_are_not_halved():
    samples, _ = draw_rounds((100, 8), 2, np.random.RandomState(0), table=False, halve=False)
    assert all(sample.columns is None for sample in samples)
    labels = [sample.rows[:, None] % 2 for sample in samples]
    scores = scores_of([labels, labels], samples, own=[0, 0])
    assert np.isnan(scores.features).all()
    np.testing.assert_allclose(scores.total, 1)


def test_samples_of_many_points_come_from_a_few_thousand():
    first, _ = draw_rounds((50_000, 30), 2, np.random.RandomState(0), table=False)
    assert [sample.columns is None for sample in first] == [True, True, True, False, False]
    base = first[0].rows
    assert len(base) == MAX_POINTS
    for rows, _ in first[1:3]:
        assert len(rows) == round(0.75 * MAX_POINTS)
        assert np.isin(rows, base).all()
        assert (np.diff(rows) > 0).all()
    one, other = first[3:]
    assert sorted([*one.columns, *other.columns]) == list(range(30))


def test_nearly_all_points_in_one_cluster_are_no_answer():
    """A few outliers that every sample finds again would be the most stable clusters of all."""
    samples, _ = draw_rounds((100, 8), 2, np.random.RandomState(0), table=False)
    outliers = [(rows < 3).astype(int)[:, None] for rows, _ in samples]
    parts = [RNG.permutation(2)[rows % 2][:, None] for rows, _ in samples]
    scores = scores_of([outliers, parts], samples, own=[0, 0])
    np.testing.assert_allclose(scores.total, [0, 2])
