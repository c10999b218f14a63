"""The order of a sweep on several threads: no point before those it waits for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from srsg.coding import sweeps
from srsg.coding.sweeps import make_waves, neighbor_lists


def graph_of(kind, n_points, rng):
    """Neighbours by their kind: points in the order of their clusters, or in any order."""
    if kind == "chains":
        rows = np.repeat(np.arange(n_points), 4)
        columns = rows + np.tile([-2, -1, 1, 2], n_points)
    else:
        rows = np.repeat(np.arange(n_points), 5)
        columns = rng.integers(0, n_points, len(rows))
    inside = (columns >= 0) & (columns < n_points) & (columns != rows)
    edges = (np.ones(inside.sum()), (rows[inside], columns[inside]))
    return sparse.csr_array(edges, shape=(n_points, n_points))


def unmet(waves, graph):
    """Pairs of a point and a neighbour before it that is not solved when the point's turn comes."""
    wave_of, part_of, place = (np.empty(graph.shape[0], int) for _ in range(3))
    for w, wave in enumerate(waves):
        for p, part in enumerate(wave):
            wave_of[part], part_of[part], place[part] = w, p, np.arange(len(part))
    edges = sparse.coo_array(graph)
    late, early = edges.row, edges.col
    waits = early < late
    before = wave_of[early] < wave_of[late]
    beside = (wave_of[early] == wave_of[late]) & (part_of[early] == part_of[late])
    return int((waits & ~before & ~(beside & (place[early] < place[late]))).sum())


@given(
    st.sampled_from(["chains", "any"]),
    st.integers(1, 1500),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_every_point_comes_once_and_after_those_it_waits_for(kind, n_points, n_threads, seed):
    graph = graph_of(kind, n_points, np.random.default_rng(seed))
    waves = make_waves(neighbor_lists(graph), n_threads)
    order = np.concatenate([part for wave in waves for part in wave])
    np.testing.assert_array_equal(np.sort(order), np.arange(n_points))
    assert not unmet(waves, graph)
    longest = max(len(part) for wave in waves for part in wave)
    assert 0 < longest <= sweeps.POINTS_PER_CALL


def share_of_threads(graph):
    waves = make_waves(neighbor_lists(graph), 2)
    return sum(len(part) for wave in waves if len(wave) > 1 for part in wave) / graph.shape[0]


def test_threads_share_points_in_any_order():
    assert share_of_threads(graph_of("any", 6000, np.random.default_rng(0))) > 0.9


def test_threads_share_points_in_the_order_of_their_clusters():
    clusters = sparse.block_diag([graph_of("chains", 60, None)] * 100, format="csr")
    assert share_of_threads(sparse.csr_array(clusters)) > 0.9


def test_one_chain_cannot_be_shared():
    assert share_of_threads(graph_of("chains", 3000, None)) == 0
