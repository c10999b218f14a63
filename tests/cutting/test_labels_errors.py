"""Odd graphs and numbers get an answer, or an error that names the argument."""

from __future__ import annotations

import numpy as np
import pytest

from srsg import LocalScalingSpectralClustering, cluster_graph
from srsg.counting.eigengaps import estimate_n_clusters
from srsg.estimators.cluster_graph import check_neighbors

X = np.random.default_rng(0).standard_normal((60, 5))


def test_a_graph_with_nan_is_named():
    graph = np.ones((9, 9))
    graph[2, 3] = graph[3, 2] = np.nan
    with pytest.raises(ValueError, match="graph contains NaN"):
        estimate_n_clusters(graph)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 2.0**40])
def test_local_scaling_of_huge_and_tiny_numbers(scale):
    reference = LocalScalingSpectralClustering(2, random_state=0).fit(X)
    scaled = LocalScalingSpectralClustering(2, random_state=0).fit(X * scale)
    np.testing.assert_allclose(scaled.affinity_matrix_, reference.affinity_matrix_, rtol=1e-9)
    np.testing.assert_array_equal(scaled.predict(X[:9] * scale), reference.predict(X[:9]))


def test_discretize_that_fails_is_a_clear_error(monkeypatch):
    def fail(*arguments, **options):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("srsg.cutting.cut.discretize", fail)
    with pytest.raises(ValueError, match="assign_labels='discretize'"):
        cluster_graph(np.ones((9, 9)), 3, assign_labels="discretize")


def test_neighbours_are_numbers_of_vertices():
    given = np.array([[1], [0], [1]], np.int32)
    found = check_neighbors(given, 3)
    np.testing.assert_array_equal(found, given)
    assert found.dtype == np.int64
    assert check_neighbors(np.empty((3, 0), int), 3).shape == (3, 0)
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match="neighbors must be from 0 to 2"):
            check_neighbors([[1], [0], [wrong]], 3)
    for shape in ([1, 0, 1], [[1], [0]], [[1.0], [0.0], [1.0]]):
        with pytest.raises(ValueError, match="neighbors must be integers"):
            check_neighbors(shape, 3)
