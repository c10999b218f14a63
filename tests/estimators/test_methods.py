"""The methods SRSG is compared with, each against an independent solution of its problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import ElasticNet, orthogonal_mp

import srsg
from srsg import (
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
)
from srsg.coding import l1_codes, laplacian_codes, omp_codes, smallest_empty_lam
from srsg.coding.local_scaling import local_scaling
from srsg.cutting.affinity import largest_codes, nearest_codes, unit_codes
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy, normalized_mutual_info
from srsg.points import Queries, unit_points
from support.subspaces import near_planes


@pytest.fixture(scope="module")
def points():
    return unit_points(load_digits().data[:200])


# Elastic net


@pytest.mark.parametrize(("lam", "l1_ratio"), [(0.1, 0.9), (0.5, 0.3), (0.02, 0.99)])
def test_elastic_net_equals_scikit_learn(points, lam, l1_ratio):
    X = points.x
    model = ElasticNetGraph(lam=lam, l1_ratio=l1_ratio).fit_graph(X)
    assert model.kkt_violation_.max() <= 1e-9
    assert model.dual_gap_.max() <= 1e-9
    for i in range(0, 200, 40):
        others = np.delete(np.arange(200), i)
        # scikit-learn halves the squared error and averages it over the features.
        peer = ElasticNet(
            alpha=lam / (2 * X.shape[1]),
            l1_ratio=l1_ratio,
            fit_intercept=False,
            tol=1e-14,
            max_iter=10**6,
        )
        expected = peer.fit(X[others].T, X[i]).coef_
        np.testing.assert_allclose(model.codes_[[i]].toarray()[0, others], expected, atol=1e-6)


def test_elastic_net_without_ridge_is_the_l1_graph(points):
    net = ElasticNetGraph(lam=0.1, l1_ratio=1.0).fit_graph(points.x)
    l1 = L1Graph(lam=0.1).fit_graph(points.x)
    assert (net.codes_ != l1.codes_).nnz == 0


def test_lam_divisor_counts_from_the_smallest_useful_weight(points):
    """Just above 1 every code has its first entry, at 1 none."""
    limit = smallest_empty_lam(points, 0.9)
    empty = l1_codes(points, limit * 0.9, ridge=limit * 0.05)
    assert empty.codes.nnz == 0
    model = ElasticNetGraph(lam_divisor=1.0001, l1_ratio=0.9).fit_graph(points.x)
    assert (np.diff(model.codes_.indptr) == 1).all()
    np.testing.assert_allclose(model.lam_, limit / 1.0001)


# Orthogonal matching pursuit


@pytest.mark.parametrize("n_nonzero", [1, 3, 8])
def test_omp_equals_scikit_learn(points, n_nonzero):
    codes = omp_codes(points, n_nonzero, tol=0.0).codes
    for i in range(0, 200, 20):
        others = np.delete(np.arange(200), i)
        expected = orthogonal_mp(points.x[others].T, points.x[i], n_nonzero_coefs=n_nonzero)
        np.testing.assert_allclose(codes[[i]].toarray()[0, others], expected, atol=1e-9)


def test_omp_stops_at_the_tolerance_and_at_dependent_points():
    X, _ = near_planes(0, n_points=30, n_features=6, noise=0.0)
    X = np.vstack([X, X[:3]])
    codes = omp_codes(unit_points(X), 5).codes
    # Planes: two other points of the plane, or one copy, leave nothing.
    assert np.diff(codes.indptr).max() <= 2
    np.testing.assert_allclose(codes @ X, X, atol=1e-6)
    assert set(np.diff(codes.indptr)[:3]) == {1}
    assert np.diff(omp_codes(unit_points(X), 5, tol=0.0).codes.indptr).max() <= 6


# Laplacian l1-graph


def proximal_gradient(X, i, pull, ridge, lam, n_steps=3000):
    """The problem of one point by plain accelerated proximal gradient, at full length."""
    A, n = X.T, len(X)
    step = 1 / (2 * (np.linalg.norm(A, 2) ** 2 + ridge))
    z = w = np.zeros(n)
    momentum = 1.0
    for _ in range(n_steps):
        gradient = 2 * (A.T @ (A @ w - X[i]) + ridge * w - pull)
        new = w - step * gradient
        new = np.sign(new) * np.maximum(np.abs(new) - step * lam, 0)
        new[i] = 0.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        w = new + (momentum - 1) / following * (new - z)
        z, momentum = new, following
    return z


def test_laplacian_solves_each_point_exactly_in_turn():
    X, _ = near_planes(0, n_points=20)
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=3)
    ours = laplacian_codes(
        points, l1.codes, l1.neighbors, lam=0.1, gamma=0.3, max_sweeps=2, tol=0.0
    )
    S = np.zeros((20, 20))
    np.put_along_axis(S, l1.neighbors, 1.0, axis=1)
    weights = 0.3 * (S + S.T)
    Z = l1.codes.toarray()
    for _ in range(2):
        for i in range(20):
            Z[i] = proximal_gradient(X, i, weights[i] @ Z, weights[i].sum(), 0.1)
    np.testing.assert_allclose(ours.codes.toarray(), Z, atol=1e-7)
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    expected = np.sum((X - Z @ X) ** 2) + 0.1 * np.abs(Z).sum() + 0.3 * (S * distances).sum()
    assert ours.objective[-1] == pytest.approx(expected, abs=1e-6)
    assert ours.kkt_violation.max() <= 1e-9
    assert ours.dual_gap.max() <= 1e-9


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.01, 0.2, 2.0]))
def test_laplacian_objective_never_rises(seed, gamma):
    X, _ = near_planes(seed, n_points=40)
    model = LaplacianL1Graph(gamma=gamma, n_neighbors=4).fit_graph(X)
    assert (np.diff(model.objective_history_) <= 1e-10).all()
    assert model.kkt_violation_.max() <= 1e-9
    assert model.dual_gap_.max() <= 1e-9


@pytest.mark.parametrize("lam", [0.02, 0.3])
def test_laplacian_sweeps_miss_no_violator(lam):
    """Points are not scanned in every sweep; where the sweeps end, all conditions hold."""
    X = load_digits().data[:60]
    points = unit_points(X)
    l1 = l1_codes(points, lam, n_neighbors=3)
    result = laplacian_codes(
        points, l1.codes, l1.neighbors, lam=lam, gamma=0.2, max_sweeps=500, tol=1e-14
    )
    assert result.converged
    S = np.zeros((60, 60))
    np.put_along_axis(S, l1.neighbors, 1.0, axis=1)
    weights = 0.2 * (S + S.T)
    Z = result.codes.toarray()
    slope = 2 * ((points.x - Z @ points.x) @ points.x.T + weights @ Z)
    slope -= 2 * weights.sum(axis=1, keepdims=True) * Z
    np.fill_diagonal(slope, 0.0)
    assert (abs(slope) <= lam + 1e-5).all()
    np.testing.assert_allclose(slope[Z != 0], lam * np.sign(Z[Z != 0]), atol=1e-5)


def test_laplacian_where_rounding_hides_all_bounds():
    """So small a lam is below the error of a scan: every point is looked at, and joins once."""
    points = unit_points(load_digits().data[:40])
    l1 = l1_codes(points, 1e-6, n_neighbors=3)
    result = laplacian_codes(points, l1.codes, l1.neighbors, lam=1e-6, gamma=0.2, max_sweeps=1)
    assert result.codes.has_canonical_format
    assert result.kkt_violation.max() <= 1e-9


def test_laplacian_of_the_codes():
    X = load_digits().data[:150]
    iterated = LaplacianL1Graph(3, laplacian="codes", max_sweeps=2).fit_graph(X)
    fixed = LaplacianL1Graph(3, max_sweeps=2).fit_graph(X)
    assert iterated.n_sweeps_ == 2
    assert (iterated.codes_ != fixed.codes_).nnz > 0


def test_the_path_to_a_code_leaves_no_trace(points):
    """Working sets that start with arbitrary points end in the same bits."""
    from srsg.coding.l1 import WorkingSets, solve_exactly
    from srsg.kernels.arrays import Codes, Penalty
    from srsg.running import ThreadEngine

    reference = l1_codes(points, 0.1).codes
    rng = np.random.default_rng(0)
    rows = np.arange(200)
    index = np.array([rng.choice(np.delete(rows, i), 30, replace=False) for i in rows])
    start = Codes(index, rng.standard_normal(index.shape), np.full(200, 30))
    penalty = Penalty(np.full(200, 0.05), np.zeros(200))
    start_sets = WorkingSets(rows, start, penalty)
    engine = ThreadEngine(2, block_size=64)
    solved = solve_exactly(points, Queries.of(points), start_sets, 0, 1e-10, engine)
    np.testing.assert_array_equal(solved.sets.codes.size, np.diff(reference.indptr))
    used = solved.sets.codes.used
    np.testing.assert_array_equal(solved.sets.codes.index[used], reference.indices)
    np.testing.assert_array_equal(solved.sets.codes.value[used], reference.data)


# What becomes of codes


def test_postprocessing():
    codes = sparse.csr_array(
        [[0.0, 3.0, -4.0, 1.0], [5.0, 0.0, 0.0, 0.0], [0.0] * 4, [2.0, 2.0, 2.0, 0]]
    )
    unit = unit_codes(codes).toarray()
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), [1, 1, 0, 1])
    kept = largest_codes(codes, 2).toarray()
    np.testing.assert_array_equal(kept, [[0, 3, -4, 0], [5, 0, 0, 0], [0] * 4, [2, 2, 0, 0]])
    graph = symmetrized(nearest_codes(codes, 1)).toarray()
    np.testing.assert_array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    assert graph[2].sum() == 0


@pytest.mark.parametrize("estimator", [ElasticNetGraph, OMPGraph])
def test_estimators_postprocess(points, estimator):
    plain_graph = estimator().fit_graph(points.x)
    codes = plain_graph.codes_
    assert (plain_graph.affinity_matrix_ != symmetrized(codes)).nnz == 0
    for change, expected in (
        ({"normalize": True}, symmetrized(unit_codes(codes))),
        ({"n_nonzero": 2}, symmetrized(largest_codes(codes, 2))),
        ({"code_neighbors": 3}, symmetrized(nearest_codes(codes, 3))),
    ):
        if "n_nonzero" in change and estimator is OMPGraph:
            continue  # there it is the length of the codes themselves
        graph = estimator(**change).fit_graph(points.x)
        assert (graph.affinity_matrix_ != expected).nnz == 0
        assert (graph.codes_ != codes).nnz == 0


# Spectral clustering with a local scale


def test_local_scaling_by_definition():
    X = np.random.default_rng(0).standard_normal((20, 3))
    affinity = local_scaling(X, 4)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    scale = np.sort(distances, axis=1)[:, 4]
    np.testing.assert_allclose(affinity, np.exp(-(distances**2) / np.outer(scale, scale)))


def test_local_scaling_of_coincident_points_is_finite():
    X = np.vstack([np.zeros((10, 2)), np.random.default_rng(0).standard_normal((10, 2)) + 5])
    model = LocalScalingSpectralClustering(2, random_state=0).fit(X)
    assert np.isfinite(model.affinity_matrix_).all()
    assert clustering_accuracy(np.repeat([0, 1], 10), model.labels_) == 1


@pytest.mark.parametrize(
    ("name", "n_classes", "accuracy", "nmi"),
    [
        ("UMIST", 4, 0.5691, 0.4351),
        ("Ionosphere", 2, 0.7350, 0.2155),
        ("Breast", 2, 0.8822, 0.4810),
    ],
)
def test_local_scaling_equals_the_paper(paper_data, name, n_classes, accuracy, nmi):
    X, y = load_breast_cancer(return_X_y=True) if name == "Breast" else paper_data(name, n_classes)
    model = LocalScalingSpectralClustering(n_classes, n_init=100, random_state=0)
    labels = model.fit_predict(X)
    assert clustering_accuracy(y, labels) == pytest.approx(accuracy, abs=0.00005)
    assert normalized_mutual_info(y, labels) == pytest.approx(nmi, abs=0.00005)


def test_k_means_equals_the_paper():
    X, y = load_breast_cancer(return_X_y=True)
    labels = KMeans(2, n_init=10, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) == pytest.approx(0.8541, abs=0.00005)
    assert normalized_mutual_info(y, labels) == pytest.approx(0.4223, abs=0.00005)


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        (ElasticNetGraph, {"l1_ratio": 0.0}, "'l1_ratio' parameter"),
        (ElasticNetGraph, {"lam_divisor": 1.0}, "'lam_divisor' parameter"),
        (ElasticNetGraph, {"n_nonzero": 0}, "'n_nonzero' parameter"),
        (OMPGraph, {"n_nonzero": 0}, "'n_nonzero' parameter"),
        (OMPGraph, {"max_residual": -1.0}, "'max_residual' parameter"),
        (OMPGraph, {"code_neighbors": -1}, "'code_neighbors' parameter"),
        (LaplacianL1Graph, {"tol": -1.0}, "'tol' parameter"),
        (LaplacianL1Graph, {"gamma": 0.0}, "'gamma' parameter"),
        (LaplacianL1Graph, {"laplacian": "guess"}, "'laplacian' parameter"),
        (LocalScalingSpectralClustering, {"scale_neighbor": 20}, "scale_neighbor=20 must be"),
    ],
)
def test_bad_parameters_are_named(estimator, parameters, message):
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match=message):
        estimator(2, **parameters).fit(X)


# The registry


def test_methods_are_listed_with_their_paper_settings():
    X, y = load_digits(n_class=2, return_X_y=True)
    methods = srsg.methods()
    for name, method in methods.items():
        model = method.paper(n_clusters=2, random_state=0)
        assert isinstance(model, method.estimator)
        labels = model.fit_predict(X[:60])
        assert name == "omp" or clustering_accuracy(y[:60], labels) > 0.9
        default = method.default(2).get_params()
        assert default == method.estimator(2, **method.settings).get_params()
        assert default["n_init"] == method.paper(2).n_init == srsg.registry.STARTS
    columns = {method.column for method in methods.values() if method.column}
    assert columns == {"KM", "SC", "l1-graph", "SMCE", "LR-l1-graph", "SRSG"}
