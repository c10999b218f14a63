"""Nearest neighbours against all distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsg.coding import l1_codes
from srsg.coding.neighbors import nearest_neighbors
from srsg.graph import neighbor_graph
from srsg.points import unit_points
from support import plain
from support.subspaces import near_planes


@given(seed=st.integers(0, 10**6), n_neighbors=st.integers(1, 9), dtype=st.sampled_from("fd"))
def test_equal_to_brute_force(seed, n_neighbors, dtype):
    X, _ = near_planes(seed, n_points=30)
    points = unit_points(X.astype(dtype))
    expected = plain.nearest_neighbors(points.x.astype(np.float64), n_neighbors)
    np.testing.assert_array_equal(nearest_neighbors(points, n_neighbors), expected)
    np.testing.assert_array_equal(
        l1_codes(points, 0.1, n_neighbors=n_neighbors).neighbors, expected
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ties_go_by_index(dtype):
    rng = np.random.default_rng(0)
    X = np.tile(rng.standard_normal((4, 700)), (5, 1)).astype(dtype)
    expected = [[j for j in range(i % 4, 20, 4) if j != i] for i in range(20)]
    np.testing.assert_array_equal(nearest_neighbors(unit_points(X), 4), expected)


def test_points_closer_than_float32_can_tell():
    rng = np.random.default_rng(1)
    base = rng.standard_normal(300)
    offsets = rng.permutation(20) * 1e-9
    X = base + offsets[:, None] * rng.standard_normal(300)
    points = unit_points(X)
    expected = plain.nearest_neighbors(points.x, 3)
    np.testing.assert_array_equal(nearest_neighbors(points, 3), expected)


def test_neighbor_graph_has_a_row_a_point():
    neighbors = np.array([[2, 1], [0, 2], [1, 0]])
    assert (neighbor_graph(neighbors).toarray() == 1 - np.eye(3)).all()
