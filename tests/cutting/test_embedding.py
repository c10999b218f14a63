"""The spectral step where others go wrong: disconnected graphs."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from srsg import cluster_graph
from srsg.cutting.eigenvectors import (
    LEAST_SHARED,
    TOLERANCE,
    _leading_filtered,
    _product,
    leading_eigenpairs,
)
from srsg.cutting.embedding import _normalized, normalized, spectral_embedding
from srsg.metrics import clustering_accuracy
from srsg.running import ThreadEngine


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


def star(branch, n_branches):
    """Equal branches that hang on one vertex by weak edges: as many equal eigenvalues but one."""
    size = branch.shape[0]
    graph = np.zeros((1 + size * n_branches,) * 2)
    for first in range(1, len(graph), size):
        part = slice(first, first + size)
        graph[part, part] = branch.toarray()
        graph[0, first] = graph[first, 0] = 0.01
    return graph


def test_repeated_eigenvalues_within_a_component_are_all_found():
    """Equal branches of a star: Lanczos alone finds few of the copies."""
    n_branches = 12
    graph = star(random_block(np.random.default_rng(0), 60), n_branches)
    embedding = spectral_embedding(sparse.csr_array(graph), n_branches)
    degree = graph.sum(axis=1)
    expected = linalg.eigvalsh(graph / np.sqrt(np.outer(degree, degree)))[::-1][:n_branches]
    np.testing.assert_allclose(embedding.eigenvalues, expected, atol=1e-8)


def normalized_dense(graph):
    degree = graph.sum(axis=1)
    return graph.toarray() / np.sqrt(np.outer(degree, degree))


@pytest.mark.parametrize("n_copies", [10, 38, 68])
def test_all_copies_of_an_eigenvalue_are_found(n_copies):
    """As one matrix, without a look at its components: each eigenvalue has as many copies."""
    block = random_block(np.random.default_rng(0), max(25, 1000 // n_copies))
    own = linalg.eigvalsh(normalized_dense(block))[::-1]
    matrix = normalized(sparse.csr_array(sparse.block_diag([block] * n_copies)))
    values, vectors = leading_eigenpairs(matrix, n_copies + 3)
    np.testing.assert_allclose(values[:n_copies], 1, atol=1e-12)
    np.testing.assert_allclose(values[n_copies:], own[1], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_copies + 3), atol=1e-10)
    assert abs(matrix @ vectors - vectors * values).max() <= TOLERANCE


@pytest.mark.parametrize("n_dimensions", [10, 38, 68])
def test_three_alike_components(n_dimensions):
    block = random_block(np.random.default_rng(0), 700)
    own = linalg.eigvalsh(normalized_dense(block))[::-1]
    embedding = spectral_embedding(sparse.csr_array(sparse.block_diag([block] * 3)), n_dimensions)
    expected = np.repeat(own, 3)[:n_dimensions]
    np.testing.assert_allclose(embedding.eigenvalues, expected, atol=1e-10)
    assert (embedding.eigenvalues[:3] == 1).all()


@pytest.mark.parametrize("n_dimensions", [5, 12, 40])
def test_copies_that_go_on_after_the_last_that_is_wanted(n_dimensions):
    """Of 59 copies some are wanted, any: there is no gap for the filter to end in."""
    matrix = normalized(sparse.csr_array(star(random_block(np.random.default_rng(0), 15), 60)))
    values, _, error = _leading_filtered(matrix, n_dimensions, ThreadEngine(1))
    expected = linalg.eigvalsh(matrix.toarray())[::-1][:n_dimensions]
    assert np.ptp(expected[1:]) < 1e-12
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert error <= TOLERANCE


def test_a_long_ring():
    """Eigenvalues 1e-5 apart and less, in pairs."""
    size = 3000
    ring = sparse.csr_array(
        (np.ones(2 * size), (np.tile(np.arange(size), 2), np.r_[1:size, 0, size - 1, : size - 1]))
    )
    values, _, error = _leading_filtered(normalized(ring), 9, ThreadEngine(1))
    turns = 2 * np.pi * np.repeat(np.arange(5), 2)[1:] / size
    np.testing.assert_allclose(values, np.cos(turns), atol=1e-12)
    assert error <= TOLERANCE


@pytest.mark.parametrize("kind", ["dense", "operator"])
def test_matrices_that_are_not_sparse(kind):
    matrix = normalized(sparse.csr_array(random_block(np.random.default_rng(0), 900)))
    other = matrix.toarray() if kind == "dense" else aslinearoperator(matrix)
    expected = linalg.eigvalsh(matrix.toarray())[::-1][:6]
    np.testing.assert_allclose(leading_eigenpairs(other, 6)[0], expected, atol=1e-12)


class WorkersElsewhere(ThreadEngine):
    """Tasks get copies of their input, as on the workers of a cluster."""

    def map(self, task, data, blocks, *, label):
        return [task(deepcopy(data), block) for block in blocks]


def test_products_come_back_from_workers_elsewhere():
    left, right = np.random.default_rng(0).standard_normal((2, 400, 400))
    found = _product(left, right, WorkersElsewhere(1))
    np.testing.assert_allclose(found, left @ right, atol=1e-10)


@pytest.mark.parametrize("transposed", [False, True])
def test_products_are_shared_out_row_by_row(transposed):
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((1501, 83)), rng.standard_normal((83, 71))
    if transposed:
        left, right = left.T, rng.standard_normal((1501, 71))
    assert left.size * right.shape[1] >= LEAST_SHARED
    one, three = (_product(left, right, ThreadEngine(n)) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one, left @ right, atol=1e-11)


def test_eigenvectors_are_the_same_on_any_number_of_threads():
    matrix = normalized(sparse.csr_array(random_block(np.random.default_rng(0), 900)))
    one, three = (leading_eigenpairs(matrix, 20, engine=ThreadEngine(n)) for n in (1, 3))
    np.testing.assert_array_equal(one[0], three[0])
    np.testing.assert_array_equal(one[1], three[1])


def test_crowded_eigenvalues_are_left_to_lapack(monkeypatch):
    graph = sparse.csr_array(random_block(np.random.default_rng(0), 700))
    expected = spectral_embedding(graph, 4).eigenvalues
    monkeypatch.setattr("srsg.cutting.eigenvectors.MOST_ROUNDS", 1)
    np.testing.assert_allclose(spectral_embedding(graph, 4).eigenvalues, expected, atol=1e-9)


def test_what_did_not_converge_is_said(monkeypatch):
    graph = sparse.csr_array(random_block(np.random.default_rng(0), 700))
    monkeypatch.setattr("srsg.cutting.eigenvectors.MOST_ROUNDS", 1)
    monkeypatch.setattr("srsg.cutting.eigenvectors.DENSE_IF_CROWDED", 0)
    with pytest.warns(ConvergenceWarning, match="4 leading eigenvectors .* residual"):
        spectral_embedding(graph, 4)


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


def test_only_an_isolated_vertex_gets_a_loop():
    W = sparse.csr_array(np.array([[0.0, 2, 0], [2, 0, 0], [0, 0, 0]]))
    np.testing.assert_allclose(_normalized(W).toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(_normalized(W[:2, :2]).toarray(), [[0, 1], [1, 0]])
