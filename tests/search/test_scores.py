"""Stability and consensus, against values worked out by hand and scikit-learn's measure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score

from srsg.metrics import adjusted_mutual_info
from srsg.search.resampling import MAX_POINTS, draw_resamples
from srsg.search.scores import SampleLabels, consensus, score_candidates, stability_of_points

RNG = np.random.default_rng(0)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 2**16))
def test_adjusted_mutual_info_is_close_to_the_exact_one(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(n_rows, size=600)
    b = np.where(rng.random(600) < 0.5, a % n_columns, rng.integers(n_columns, size=600))
    exact = adjusted_mutual_info_score(a, b, average_method="max")
    assert adjusted_mutual_info(a, b) == pytest.approx(exact, abs=0.02)


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
    labels = SampleLabels([first, second], [])
    assert stability_of_points(labels, samples) == pytest.approx(1)
    shuffled = SampleLabels([first, RNG.permutation(second)], [])
    assert stability_of_points(shuffled, samples) < 0.3


def test_consensus_is_the_mean_agreement_with_the_others():
    truth = np.arange(300) % 3
    same = SampleLabels([truth], [])
    other = SampleLabels([RNG.integers(3, size=300)], [])
    found = consensus([same, same, other])
    low = adjusted_mutual_info(truth, other.points[0])
    np.testing.assert_allclose(found, [(1 + low) / 2, (1 + low) / 2, low])
    assert consensus([same]).tolist() == [0]


def test_without_halves_features_do_not_count():
    resamples = draw_resamples(100, 8, 3, 0.7, 0, np.random.RandomState(0))
    labels = SampleLabels([rows % 2 for rows in resamples.points], [])
    scores = score_candidates([labels, labels], resamples)
    assert np.isnan(scores.features).all()
    np.testing.assert_allclose(scores.total, scores.points + scores.consensus)
    np.testing.assert_allclose(scores.points, 1)


def test_samples_of_many_points_come_from_a_few_thousand():
    drawn = draw_resamples(50_000, 30, 2, 0.9, 1, np.random.RandomState(0))
    assert len(drawn.base) == MAX_POINTS
    for rows in drawn.points:
        assert len(rows) == round(0.9 * MAX_POINTS)
        assert np.isin(rows, drawn.base).all()
        assert (np.diff(rows) > 0).all()
    first, second = drawn.halves[0]
    assert sorted([*first, *second]) == list(range(30))
