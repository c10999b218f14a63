"""The order of blocks: points that share what they are coded over come together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from srsg.coding.l1 import MOST_ROUNDS, l1_codes, locality_order
from srsg.kernels.arrays import Codes
from srsg.points import unique_indices, unit_points
from srsg.running import ThreadEngine


def sets(index):
    index = np.asarray(index)
    return Codes(index, np.zeros(index.shape), np.full(len(index), index.shape[1]))


@pytest.fixture(scope="module")
def shuffled():
    """Working sets of 400 points of 20 classes in no order, each over 8 of its class."""
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.repeat(np.arange(20), 20))
    mates = [np.flatnonzero(classes == each) for each in classes]
    index = [rng.permutation(some[some != i])[:8] for i, some in enumerate(mates)]
    return sets(index)


def rows_needed(index, order, block):
    blocks = np.split(order, range(block, len(order), block))
    return sum(len(unique_indices(rows, index[rows].ravel())) for rows in blocks)


@pytest.mark.parametrize("new", [False, True])
def test_a_block_needs_few_points(shuffled, new):
    own = np.full(400, -1) if new else np.arange(400)
    order = locality_order(own, shuffled, 400, 20)
    assert sorted(order) == list(range(400))
    assert rows_needed(shuffled.index, np.arange(400), 40) > 2400
    assert rows_needed(shuffled.index, order, 40) < 900  # 400 would be the least


@given(st.integers(1, 30), st.integers(0, 4), st.randoms(use_true_random=False))
def test_any_working_sets_have_an_order(n_points, width, random):
    index = [[random.randrange(n_points) for _ in range(width)] for _ in range(n_points)]
    codes = sets(np.array(index, dtype=np.int64).reshape(n_points, width))
    order = locality_order(np.arange(n_points), codes, n_points, 4)
    assert sorted(order) == list(range(n_points))


def test_new_vectors_that_share_nothing_are_given_up_soon(monkeypatch):
    rounds = []

    def counted(*args, **options):
        rounds.append(1)
        return connected_components(*args, **options)

    monkeypatch.setattr("srsg.coding.l1.connected_components", counted)
    order = locality_order(np.full(40, -1), sets(np.arange(1200).reshape(40, 30)), 1200, 20)
    assert sorted(order) == list(range(40))
    assert len(rounds) == MOST_ROUNDS


def test_the_order_changes_no_bit(monkeypatch):
    points = unit_points(np.random.default_rng(1).standard_normal((150, 12)))
    expected = l1_codes(points, 0.1, engine=ThreadEngine(block_size=16))
    monkeypatch.setattr("srsg.coding.l1.locality_order", lambda own, *_: np.arange(len(own))[::-1])
    found = l1_codes(points, 0.1, engine=ThreadEngine(block_size=16))
    assert (found.codes != expected.codes).nnz == 0
    np.testing.assert_array_equal(found.dual_gap, expected.dual_gap)
