"""Thresholding-based subspace clustering, against a plain computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from srsg import TSCGraph
from srsg.datasets import make_union_of_subspaces
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy

X = load_digits(n_class=4).data[:120]


def plain_weights(points, vectors, n_neighbors, own=None):
    """``exp(-2 arccos |x_j' x_i|)`` of the largest ``|x_j' x_i|``, ties by index."""
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (points, vectors)]
    cosines = np.minimum(np.abs(unit[1] @ unit[0].T), 1)
    if own is not None:
        cosines[np.arange(len(vectors)), own] = -1
    chosen = np.argsort(-cosines, axis=1, kind="stable")[:, :n_neighbors]
    weights = np.zeros(cosines.shape)
    angles = np.arccos(np.take_along_axis(cosines, chosen, axis=1))
    np.put_along_axis(weights, chosen, np.exp(-2 * angles), axis=1)
    return weights


def both_signs(n_points, n_features, seed=0):
    return np.random.default_rng(seed).standard_normal((n_points, n_features))


@pytest.mark.parametrize("n_neighbors", [1, 4, 49])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_weights_equal_a_plain_computation(n_neighbors, kind):
    points = both_signs(50, 40) * (both_signs(50, 40, seed=1) > 0.8)  # some are orthogonal
    model = TSCGraph(3, n_neighbors=n_neighbors, random_state=0).fit_graph(kind(points))
    expected = plain_weights(points, points, n_neighbors, own=np.arange(50))
    np.testing.assert_allclose(model.codes_.toarray(), expected, atol=1e-7)
    assert (model.affinity_matrix_ != symmetrized(model.codes_)).nnz == 0
    assert np.diff(model.codes_.indptr).max() == n_neighbors


def test_new_points_equal_a_plain_computation():
    points, new = both_signs(40, 5), both_signs(9, 5, seed=1)
    model = TSCGraph(3, n_neighbors=6, random_state=0).fit(points)
    expected = plain_weights(points, new, 6)
    np.testing.assert_allclose(model.transform(new).toarray(), expected, atol=1e-7)
    shares = np.array([expected[:, model.labels_ == k].sum(axis=1) for k in range(3)]).T
    np.testing.assert_array_equal(model.predict(new), shares.argmax(axis=1))


def test_a_fitted_point_is_coded_by_itself_alone():
    model = TSCGraph(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(3 * X[[5, 40]]).toarray(), np.eye(120)[[5, 40]])


def test_duplicates_change_no_weight():
    model = TSCGraph(4, n_neighbors=5, random_state=0).fit(np.vstack([X, X[10:30], 2 * X[:3]]))
    np.testing.assert_array_equal(model.first_equal_, np.r_[:120, 10:30, :3])
    alone = TSCGraph(4, n_neighbors=5, random_state=0).fit(X)
    assert (model.codes_[:120, :120] != alone.codes_).nnz == 0
    assert (model.codes_[120:] != model.codes_[np.r_[10:30, :3]]).nnz == 0
    np.testing.assert_array_equal(model.labels_[120:], model.labels_[np.r_[10:30, :3]])


@pytest.mark.parametrize("dimension", [1, 3])
def test_a_mirror_image_is_as_near_as_the_point(dimension):
    """On lines through the origin, half of the points are on the other side."""
    points, y = make_union_of_subspaces(
        120, n_subspaces=3, dimension=dimension, n_features=30, noise=0.1, random_state=0
    )
    model = TSCGraph(3, n_neighbors=6, random_state=0).fit(points)
    assert clustering_accuracy(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(-points), model.labels_)
