"""The spectral step where others go wrong: disconnected graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence

from srsg import cluster_graph
from srsg.graph.embedding import spectral_embedding
from srsg.metrics import clustering_accuracy


def random_block(rng, size):
    """A connected sparse graph: a random tree and some more edges."""
    parents = [rng.integers(child) for child in range(1, size)]
    rows = np.concatenate([np.arange(1, size), rng.integers(size, size=size)])
    cols = np.concatenate([parents, rng.integers(size, size=size)])
    weights = rng.random(len(rows)) + 0.1
    graph = sparse.coo_array((weights, (rows, cols)), shape=(size, size))
    return graph + graph.T


def blocks(rng, n_blocks, size):
    graph = sparse.block_diag([random_block(rng, size) for _ in range(n_blocks)], format="csr")
    truth = np.repeat(np.arange(n_blocks), size)
    order = rng.permutation(len(truth))
    return sparse.csr_array(graph)[order][:, order], truth[order]


@pytest.mark.parametrize("n_blocks", [2, 10, 38, 100])
def test_disconnected_blocks_are_found_exactly(n_blocks):
    for seed in range(20):
        graph, truth = blocks(np.random.default_rng(seed), n_blocks, size=12)
        labels = cluster_graph(graph, n_blocks, random_state=seed)
        assert clustering_accuracy(truth, labels) == 1


@pytest.mark.parametrize("method", ["discretize", "cluster_qr"])
def test_other_ways_to_assign_labels(method):
    graph, truth = blocks(np.random.default_rng(0), 5, size=20)
    labels = cluster_graph(graph, 5, assign_labels=method, random_state=0)
    assert clustering_accuracy(truth, labels) == 1


@pytest.mark.parametrize("sizes", [[900], [700, 500, 30, 3, 1]])
def test_eigenvalues_equal_lapack(sizes):
    rng = np.random.default_rng(1)
    graph = sparse.csr_array(sparse.block_diag([random_block(rng, n) for n in sizes]))
    embedding = spectral_embedding(graph, 12)
    degree = graph.sum(axis=1)
    root = np.sqrt(np.where(degree > 0, degree, 1))
    dense = graph.toarray() / root / root[:, None] + np.diag(degree == 0)
    expected = linalg.eigvalsh(dense)[::-1][:12]
    np.testing.assert_allclose(embedding.eigenvalues, expected, atol=1e-8)
    assert embedding.n_components == len(sizes)
    assert np.isclose(embedding.eigenvalues, 1, atol=1e-12).sum() == len(sizes)


def test_repeated_eigenvalues_within_a_component_are_all_found():
    """Equal branches of a star: Lanczos alone finds few of the copies."""
    rng = np.random.default_rng(0)
    branch, n_branches = random_block(rng, 60).toarray(), 12
    size = 1 + 60 * n_branches
    graph = np.zeros((size, size))
    for k in range(n_branches):
        part = slice(1 + 60 * k, 61 + 60 * k)
        graph[part, part] = branch
        graph[0, 1 + 60 * k] = graph[1 + 60 * k, 0] = 0.01
    embedding = spectral_embedding(sparse.csr_array(graph), n_branches)
    degree = graph.sum(axis=1)
    expected = linalg.eigvalsh(graph / np.sqrt(np.outer(degree, degree)))[::-1][:n_branches]
    np.testing.assert_allclose(embedding.eigenvalues, expected, atol=1e-8)


def test_crowded_eigenvalues_are_left_to_lapack(monkeypatch):
    graph = sparse.csr_array(random_block(np.random.default_rng(0), 500))
    expected = spectral_embedding(graph, 4).eigenvalues

    def fail(*_):
        raise ArpackNoConvergence("No convergence", np.empty(0), np.empty((500, 0)))

    monkeypatch.setattr("srsg.graph.eigenvectors._leading_filtered", fail)
    np.testing.assert_allclose(spectral_embedding(graph, 4).eigenvalues, expected, atol=1e-9)


def test_rows_have_unit_length():
    graph, _ = blocks(np.random.default_rng(0), 3, size=20)
    vectors = spectral_embedding(graph, 5).vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)


def test_isolated_points_get_labels_but_no_cluster_of_their_own():
    graph, truth = blocks(np.random.default_rng(0), 3, size=40)
    with_isolated = sparse.csr_array(sparse.block_diag([graph, sparse.csr_array((4, 4))]))
    labels = cluster_graph(with_isolated, 3, random_state=0)
    assert labels.shape == (124,)
    assert clustering_accuracy(truth, labels[:120]) == 1


def test_bridges_join_the_components_that_belong_together():
    """Six components, two clusters: only the neighbours know which three belong together."""
    graph, truth = blocks(np.random.default_rng(0), 6, size=10)
    group = truth % 2
    rng = np.random.default_rng(1)
    neighbors = np.array([rng.choice(np.flatnonzero(group == g), 3) for g in group])
    bridged = cluster_graph(graph, 2, neighbors=neighbors, random_state=0)
    assert clustering_accuracy(group, bridged) == 1
    alone = cluster_graph(graph, 2, neighbors=neighbors, bridge=None, random_state=0)
    assert clustering_accuracy(group, alone) < 1


def test_more_components_than_clusters_still_labels_everything():
    graph, _ = blocks(np.random.default_rng(0), 8, size=5)
    labels = cluster_graph(graph, 3, random_state=0)
    assert set(labels) == {0, 1, 2}
    empty = sparse.csr_array((6, 6))
    assert cluster_graph(empty, 2, random_state=0).shape == (6,)


@pytest.mark.parametrize(
    ("affinity", "n_clusters", "message"),
    [
        (np.ones((2, 3)), 2, "square"),
        (-np.ones((3, 3)), 2, "negative"),
        (np.triu(np.ones((3, 3))), 2, "symmetric"),
        (np.ones((3, 3)), 4, "n_clusters=4 exceeds"),
        (np.full((3, 3), np.nan), 2, "affinity contains NaN"),
    ],
)
def test_bad_graphs_are_refused(affinity, n_clusters, message):
    with pytest.raises(ValueError, match=message):
        cluster_graph(affinity, n_clusters)


def test_unknown_way_to_assign_labels():
    with pytest.raises(ValueError, match="assign_labels"):
        cluster_graph(np.ones((3, 3)), 2, assign_labels="guess")
