"""The number of clusters: exact where the graph says it, and the evidence kept."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse

from srsg import SMCE, SRSG, ElasticNetGraph, L1Graph, NeighborGraph, cluster_graph
from srsg.counting.counts import N_SPLITS, _by_graph_alone, count_clusters
from srsg.counting.eigengaps import estimate_n_clusters
from srsg.cutting.cut import CutOptions
from srsg.datasets import make_trefoil_knots, make_union_of_subspaces
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from srsg.running import ThreadEngine
from srsg.running.progress import Progress


def independent_subspaces(seed, n_subspaces, dimension, n_points):
    """Points on subspaces whose dimensions add up, free of noise."""
    return make_union_of_subspaces(
        n_subspaces * n_points,
        n_subspaces=n_subspaces,
        dimension=dimension,
        n_features=n_subspaces * dimension + 3,
        random_state=seed,
    )


@given(
    seed=st.integers(0, 10**6),
    n_subspaces=st.integers(2, 8),
    dimension=st.integers(2, 4),
    share=st.integers(8, 14),
    lam=st.sampled_from([0.0001, 0.001, 0.01]),
)
def test_exact_on_independent_subspaces(seed, n_subspaces, dimension, share, lam):
    X, y = independent_subspaces(seed, n_subspaces, dimension, share * dimension)
    for estimator in (L1Graph, SRSG):
        model = estimator("auto", lam=lam, random_state=0).fit(X)
        assert model.n_clusters_ == n_subspaces
        assert clustering_accuracy(y, model.labels_) == 1


@pytest.mark.parametrize("estimator", [L1Graph, ElasticNetGraph, SRSG])
def test_evidence(estimator):
    X, _ = independent_subspaces(1, 3, 4, 30)
    model = estimator("auto", lam=0.05, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert len(model.cluster_counts_) == len(model.cluster_count_scores_)
    assert (np.diff(model.cluster_counts_) > 0).all()
    assert (np.abs(model.cluster_count_scores_) <= model.cluster_counts_).all()
    assert model.best_counts(2)[0] == 3
    assert model.structure_found_
    assert model.embedding_.shape == (90, 3)
    assert model.predict_shares(X).shape == (90, 3)
    np.testing.assert_array_equal(model.relabel("auto", random_state=0), model.labels_)
    given_number = estimator(5, lam=0.05, random_state=0).fit(X)
    assert given_number.n_clusters_ == 5
    assert not hasattr(given_number, "cluster_counts_")


def blocks(sizes, weight=0.0, seed=0):
    """Dense blocks, joined by a weak random graph."""
    rng = np.random.default_rng(seed)
    W = linalg.block_diag(*(rng.random((n, n)) + 0.5 for n in sizes))
    W += weight * rng.random(W.shape)
    np.fill_diagonal(W, 0)
    return W + W.T


@pytest.mark.parametrize("weight", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_blocks_with_weak_links(weight, form):
    sizes = [30, 40, 25, 60, 35]
    count = estimate_n_clusters(form(blocks(sizes, weight)))
    assert count.n_clusters == 5
    assert count.n_components == (1 if weight else 5)
    assert count.eigengaps[1:].argmax() == 3


def test_loops_change_nothing():
    """A lazy walk is slower, not different."""
    W = blocks([30, 40, 25], 0.05)
    loops = 4 * W.sum(axis=1).mean() * np.eye(len(W))
    assert estimate_n_clusters(W + loops).n_clusters == 3


def test_tiny_components_do_not_count():
    W = sparse.block_diag([blocks([40] * 3), np.ones((2, 2)), sparse.csr_array((3, 3))])
    count = estimate_n_clusters(sparse.csr_array(W.toarray()))
    assert (count.n_clusters, count.n_components) == (3, 3)
    labels = cluster_graph(W, "auto", random_state=0)
    assert labels.shape == (125,)
    assert len(set(labels)) == 3


def ring(n):
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


@pytest.mark.parametrize("n", [20, 60, 150])
def test_rings_are_whole(n):
    """Rings come apart easily, yet are components."""
    graph = sparse.csr_array(linalg.block_diag(*[ring(n)] * 3))
    assert estimate_n_clusters(graph).n_clusters == 3


def test_linked_knots():
    X, y = make_trefoil_knots(random_state=0)
    model = SMCE("auto", random_state=0).fit(np.vstack([X, X[:20]]))
    assert model.n_clusters_ == 2
    assert clustering_accuracy(y, model.labels_[:200]) == 1


def test_bounds():
    W = blocks([10] * 12)
    assert estimate_n_clusters(W, max_clusters=5).n_clusters == 12  # components come first
    joined = blocks([10] * 12, 0.01)
    assert estimate_n_clusters(joined).n_clusters == 12
    assert estimate_n_clusters(joined, max_clusters=6).n_clusters <= 6
    assert estimate_n_clusters(np.ones((2, 2))).n_clusters == 1  # two vertices have no gap
    assert estimate_n_clusters(np.ones((3, 3))).n_clusters == 2


def test_a_graph_without_edges_is_refused():
    with pytest.raises(ValueError, match=r"no edges.*give n_clusters"):
        cluster_graph(np.zeros((5, 5)), "auto")
    with pytest.raises(ValueError, match="no edges"):
        L1Graph("auto", lam=2.0).fit(np.random.default_rng(0).standard_normal((20, 4)))


def test_a_range_limits_the_number(tmp_path):
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    free = L1Graph("auto", random_state=0).fit(X)
    assert L1Graph((2, 5), random_state=0).fit(X).n_clusters_ == free.n_clusters_ == 3
    model = L1Graph((4, 6), random_state=0).fit(X)
    assert model.n_clusters_ in (4, 5, 6)
    assert model.labels_.max() + 1 == model.n_clusters_
    assert set(model.cluster_counts_) <= {4, 5, 6}
    save_model(model, tmp_path / "m.srsg")
    assert load_model(tmp_path / "m.srsg").n_clusters == (4, 6)
    for wrong in ((6, 4), (1, 3), (3,), (3.0, 4)):
        with pytest.raises(ValueError, match=r"n_clusters=\(.* must be a range"):
            L1Graph(wrong).fit(X)
    with pytest.raises(ValueError, match="exceeds the number of points"):
        L1Graph((61, 70)).fit(X)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="'n_clusters' parameter"):
        L1Graph("many").fit(np.eye(20))


@pytest.mark.parametrize("n_classes", [4, 6, 8])
def test_coil20(paper_data, n_classes):
    X, _ = paper_data("COIL20", n_classes)
    assert SRSG("auto", affinity="codes", random_state=0).fit(X).n_clusters_ == n_classes


def test_as_many_eigengaps_are_looked_at_as_the_documentation_says():
    def looked_at(n):
        ring = sparse.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n), format="lil")
        ring[0, -1] = ring[-1, 0] = 1.0
        return len(estimate_n_clusters(sparse.csr_array(ring)).eigengaps)

    assert looked_at(30) == 15  # half of the vertices
    assert looked_at(100) == 20
    assert looked_at(441) == 21  # the square root


def test_components_decide_alone_and_eigengaps_only_guess():
    blocks = [np.kron(np.eye(k), np.ones((8, 8))) for k in (1, 2, 3)]
    for k, graph in enumerate(blocks, 1):
        found = _by_graph_alone(graph, ThreadEngine(1))
        assert found.structure_found == (k > 1)
        assert found.scores.tolist() == [k if k > 1 else 0.0]


def test_a_stage_of_counting_ends_when_all_its_steps_are_done():
    """The search may stop early, but it never does more than it said."""
    steps = {}

    class Noted(Progress):
        @contextmanager
        def stage(self, label, total):
            steps["total"] = total
            yield SimpleNamespace(advance=lambda n=1: steps.update(done=steps.get("done", 0) + n))

    X = np.random.default_rng(0).standard_normal((60, 6))
    graph = NeighborGraph(n_neighbors=5).fit_graph(X).graph_
    count_clusters(graph, CutOptions(), 0, ThreadEngine(1, Noted()))
    assert 2 * N_SPLITS < steps["done"] <= steps["total"]
