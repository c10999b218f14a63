"""Made-up data: subspaces and manifolds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from srsg.datasets import (
    make_noisy_manifolds,
    make_trefoil_knots,
    make_union_of_subspaces,
)

seeds = st.integers(0, 2**32 - 1)


@given(
    n_subspaces=st.integers(1, 4),
    dimension=st.integers(1, 4),
    overlap=st.integers(0, 3),
    outliers=st.integers(0, 3),
    seed=seeds,
)
def test_subspaces_have_their_dimension_and_their_overlap(
    n_subspaces, dimension, overlap, outliers, seed
):
    overlap = min(overlap, dimension - 1)
    options = {
        "n_subspaces": n_subspaces,
        "dimension": dimension,
        "n_features": 40,
        "overlap": overlap,
        "outliers": outliers,
        "random_state": seed,
    }
    X, y = make_union_of_subspaces(8 * n_subspaces + 1, **options)
    assert X.shape == (8 * n_subspaces + 1 + outliers, 40)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    counts = [int((y == label).sum()) for label in (-1, *range(n_subspaces))]
    assert counts == [outliers, 9, *[8] * (n_subspaces - 1)]
    bases = [X[y == label].T for label in range(n_subspaces)]
    assert all(np.linalg.matrix_rank(basis) == dimension for basis in bases)
    for one, other in combinations(bases, 2):
        angles = subspace_angles(one, other)
        assert np.sum(angles[-dimension:] < 1e-6) == overlap
    again, _ = make_union_of_subspaces(8 * n_subspaces + 1, **options)
    np.testing.assert_array_equal(again, X)


def test_noise_on_subspaces_has_its_size():
    quiet, _ = make_union_of_subspaces(2000, outliers=3, random_state=0)
    noisy, _ = make_union_of_subspaces(2000, outliers=3, noise=0.1, random_state=0)
    assert np.std(noisy[:2000] - quiet[:2000]) == pytest.approx(0.1, rel=0.02)
    np.testing.assert_array_equal(noisy[2000:], quiet[2000:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap": 3}, "overlap=3 must be below dimension=3"),
        ({"overlap": -1}, "overlap=-1 must be at least 0"),
        ({"n_features": 5}, "n_features=5 must be at least 6"),
        ({"n_subspaces": 0}, "n_subspaces=0 must be at least 1"),
    ],
)
def test_subspaces_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        make_union_of_subspaces(10, **options)


@given(
    kind=st.sampled_from(["loops", "rolls"]),
    n_manifolds=st.integers(2, 4),
    gap=st.floats(0.1, 2.0),
    seed=seeds,
)
def test_manifolds_keep_their_distance(kind, n_manifolds, gap, seed):
    options = {"n_manifolds": n_manifolds, "kind": kind, "gap": gap, "random_state": seed}
    X, y = make_noisy_manifolds(101, **options)
    assert X.shape == (101, 50)
    assert np.linalg.matrix_rank(X) == 3
    counts = np.bincount(y)
    assert len(counts) == n_manifolds
    assert counts.max() - counts.min() <= 1
    for one, other in combinations(range(n_manifolds), 2):
        # Spirals are a little closer than along the radius, by the cosine of their slope.
        assert cdist(X[y == one], X[y == other]).min() > gap * (1 - 1e-9) * 0.98
    np.testing.assert_array_equal(make_noisy_manifolds(101, **options)[0], X)


def test_loops_are_exactly_a_gap_apart():
    X, y = make_noisy_manifolds(4000, gap=0.7, random_state=0)
    distances = cdist(X[y == 0], X[y == 1])
    assert distances.min() == pytest.approx(0.7, abs=1e-4)
    assert distances.min() >= 0.7 - 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "knots"}, "kind='knots' must be 'loops' or 'rolls'"),
        ({"gap": 0.0}, "gap=0.0 must be positive"),
        ({"n_features": 2}, "n_features=2 must be at least 3"),
    ],
)
def test_manifolds_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        make_noisy_manifolds(10, **options)


def test_noise_on_manifolds_has_its_size():
    for make in (make_noisy_manifolds, make_trefoil_knots):
        quiet, _ = make(400, random_state=0)
        noisy, _ = make(400, noise=0.1, random_state=0)
        assert np.std(noisy - quiet) == pytest.approx(0.1, rel=0.05)
