"""The graph that SRSG clusters by default."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph, cluster_graph
from srsg.cutting.embedding import agreement, spectral_embedding, with_equal_degrees
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy


def random_graph(n_vertices, density, seed):
    weights = sparse.random_array((n_vertices, n_vertices), density=density, random_state=seed)
    weights.setdiag(0)
    return symmetrized(sparse.csr_array(weights))


@given(st.integers(2, 700), st.floats(0.005, 0.3), st.integers(0, 1000))
def test_agreement_is_its_formula_on_the_edges(n_vertices, density, seed):
    """Sizes on both sides of the block of rows that is computed at once."""
    graph = random_graph(n_vertices, density, seed)
    degree = graph.sum(axis=1)
    root = np.sqrt(np.where(degree > 0, degree, 1))
    steps = graph.toarray() / root / root[:, None]
    expected = np.where(steps > 0, (steps @ steps + steps / 2) ** 2, 0)
    agreed = agreement(graph)
    np.testing.assert_allclose(agreed.toarray(), expected, rtol=1e-10, atol=1e-300)
    assert abs(agreed - agreed.T).max() == 0


def test_agreement_takes_weight_off_edges_between_clusters():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 50)
    within = truth[:, None] == truth
    weights = np.where(rng.random((100, 100)) < np.where(within, 0.3, 0.05), 1.0, 0.0)
    graph = symmetrized(sparse.csr_array(weights * ~np.eye(100, dtype=bool)))
    before, after = (W.multiply(~within).sum() / W.sum() for W in (graph, agreement(graph)))
    assert after < 0.5 * before


@pytest.mark.parametrize("dense", [False, True])
def test_ratio_cut_has_the_eigenvectors_of_the_laplacian(dense):
    graph = random_graph(60, 0.2, 0)
    laplacian = np.diag(graph.sum(axis=1)) - graph.toarray()
    values, vectors = linalg.eigh(laplacian, subset_by_index=[0, 3])
    embedding = spectral_embedding(with_equal_degrees(graph.toarray() if dense else graph), 4)
    np.testing.assert_allclose(
        embedding.eigenvalues, 1 - values / graph.sum(axis=1).max(), atol=1e-10
    )
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(abs(rows), abs(embedding.vectors), atol=1e-7)


def test_unknown_cut():
    with pytest.raises(ValueError, match="cut must be 'normalized' or 'ratio', got 'min'"):
        cluster_graph(np.ones((4, 4)), 2, cut="min")


def test_srsg_clusters_the_agreement_of_both_graphs():
    X, y = load_digits(n_class=5, return_X_y=True)
    model = SRSG(5, random_state=0).fit(X)
    start = L1Graph(5).fit_graph(X).affinity_matrix_
    graph = agreement(sparse.csr_array(start + symmetrized(model.codes_)))
    labels = cluster_graph(graph, 5, cut="ratio", neighbors=model.neighbors_, random_state=0)
    np.testing.assert_array_equal(labels, model.labels_)
    assert abs(model.affinity_matrix_ - symmetrized(model.codes_)).max() == 0
    assert clustering_accuracy(y, labels) > 0.99


def test_srsg_of_the_paper_clusters_its_affinity_matrix():
    X, _ = load_digits(n_class=5, return_X_y=True)
    model = SRSG.paper(5, random_state=0).fit(X)
    labels = cluster_graph(model.affinity_matrix_, 5, neighbors=model.neighbors_, random_state=0)
    np.testing.assert_array_equal(labels, model.labels_)
    assert model.step_ == 0.01
    assert SRSG.paper(5, gamma=0.3).gamma == 0.3
