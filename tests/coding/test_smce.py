"""SMCE: certificates, an independent solver, knots, copies, the paper's numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from srsg import SMCE, cluster_graph
from srsg.coding import smce_codes
from srsg.cutting.embedding import diffusion_coordinates
from srsg.datasets import make_trefoil_knots, trefoil_knot
from srsg.metrics import clustering_accuracy, normalized_mutual_info
from support import plain
from support.estimators import same_bits

LAMS = [0.1, 1.0, 10.0, 100.0]


def problems(X, result):
    """Directions, relative distances and code of every point."""
    codes = result.codes.toarray()
    for i, neighbors in enumerate(result.neighbors):
        yield *plain.smce_problem(X, i, neighbors), codes[i, neighbors]


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("n_features", [2, 30])
def test_equal_to_plain_admm(lam, n_features):
    """In two dimensions the 12 directions depend on each other, in thirty they do not."""
    X = np.random.default_rng(0).standard_normal((40, n_features))
    result = smce_codes(X, lam, n_neighbors=12)
    np.testing.assert_array_equal(result.neighbors, plain.nearest_neighbors(X, 12))
    for Y, q, code in list(problems(X, result))[::8]:
        reference = plain.smce_admm(Y, q, lam)
        assert reference.sum() == pytest.approx(1, abs=1e-12)
        ours, theirs = (plain.smce_objective(Y, q, c, lam) for c in (code, reference))
        assert ours <= theirs + 1e-12
        assert ours == pytest.approx(theirs, abs=1e-6)
        if n_features == 30:  # else there may be many minimisers
            np.testing.assert_allclose(code, reference, atol=1e-5)


@given(
    seed=st.integers(0, 10**6),
    lam=st.sampled_from([0.001, *LAMS]),
    n_features=st.integers(2, 20),
    n_neighbors=st.integers(1, 18),
    scale=st.sampled_from([1e-170, 1.0, 1e170]),
)
def test_codes_are_optimal(seed, lam, n_features, n_neighbors, scale):
    X = np.random.default_rng(seed).standard_normal((20, n_features))
    result = smce_codes(X * scale, lam, n_neighbors=n_neighbors)
    np.testing.assert_array_equal(result.neighbors, plain.nearest_neighbors(X, n_neighbors))
    assert abs(result.codes.sum(axis=1) - 1).max() <= 1e-13
    assert result.dual_gap.max() <= 1e-9
    for Y, q, code in problems(X, result):
        assert plain.smce_violation(Y, q, code, lam) <= 1e-11


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("apart", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("n_features", [2, 20])
def test_points_that_nearly_coincide_are_certified(lam, apart, n_features):
    """Gram matrices that are singular but for rounding."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, n_features))
    result = smce_codes(np.vstack([X, X + apart * rng.standard_normal(X.shape)]), lam)
    assert result.dual_gap.max() <= 1e-12
    assert np.isfinite(result.codes.data).all()


@pytest.mark.parametrize("lam", [1e-12, 1e-4, *LAMS])
@pytest.mark.parametrize(
    "X",
    [
        np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2),
        np.outer(np.arange(40.0), np.ones(3)),
        load_breast_cancer().data[:200],
    ],
    ids=["grid", "line", "breast cancer"],
)
def test_ties_and_dependent_directions_are_certified(lam, X):
    result = smce_codes(X, lam)
    assert abs(result.codes.sum(axis=1) - 1).max() <= 1e-11
    assert np.isfinite(result.dual_gap).all()
    if lam > 1e-12:  # the penalty is below rounding there: no certificate, but codes all the same
        assert result.dual_gap.max() <= 1e-9


@pytest.fixture(scope="module")
def gap():
    """The certificate by itself, for any code."""
    from srsg.kernels.compiled import kernel
    from srsg.kernels.smce import duality_gap

    @kernel(cache=False)
    def call(directions, penalty, c):
        return duality_gap(directions, penalty, 0.0, c)

    return lambda Y, q, c, lam: call(np.column_stack([Y, np.ones(len(Y))]), lam * q, c)


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_the_gap_bounds_the_distance_from_the_optimum(gap, lam):
    """The certificate must own up to a code that is not the best."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    for Y, q, code in problems(X, smce_codes(X, lam, n_neighbors=10)):
        best = plain.smce_objective(Y, q, code, lam)
        assert gap(Y, q, code, lam) <= 1e-12
        for size in (0.01, 1.0):
            rough = code + size * rng.standard_normal(10)
            rough /= rough.sum()
            excess = plain.smce_objective(Y, q, rough, lam) - best
            assert 1e-6 < excess <= gap(Y, q, rough, lam)


def test_the_gap_knows_the_constraints_of_both_signs(gap):
    """The best code without negative coefficients meets all but the other constraints."""
    X = np.random.default_rng(0).standard_normal((30, 6))
    worse = 0
    for Y, q, code in list(problems(X, smce_codes(X, 0.1, n_neighbors=10)))[:10]:
        positive = optimize.minimize(
            lambda c, Y=Y, q=q: plain.smce_objective(Y, q, c, 0.1),
            np.full(10, 0.1),
            bounds=[(0, None)] * 10,
            constraints={"type": "eq", "fun": lambda c: c.sum() - 1},
            method="SLSQP",
            tol=1e-12,
        ).x
        excess = plain.smce_objective(Y, q, positive, 0.1) - plain.smce_objective(Y, q, code, 0.1)
        assert gap(Y, q, positive, 0.1) >= excess - 1e-9
        worse += excess > 1e-3
    assert worse > 3


def test_neither_shift_nor_factor_nor_rotation_matters():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 8))
    rotation, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    reference = smce_codes(X)
    for same in (X + 10, X * 1e-3, X @ rotation, np.column_stack([X, np.zeros(60)])):
        result = smce_codes(same)
        np.testing.assert_allclose(result.codes.toarray(), reference.codes.toarray(), atol=1e-9)
        np.testing.assert_allclose(result.weights.toarray(), reference.weights.toarray(), atol=1e-9)


def test_neighbors_of_a_small_cloud_far_from_the_origin():
    X = 1e6 + 1e-3 * np.random.default_rng(4).standard_normal((50, 5))
    expected = plain.nearest_neighbors(X, 7)
    np.testing.assert_array_equal(smce_codes(X, n_neighbors=7).neighbors, expected)


@pytest.mark.parametrize("keep", [0.5, 0.95, 1.0])
def test_the_weights_are_those_published(keep):
    X = np.random.default_rng(5).standard_normal((40, 4))
    result = smce_codes(X, 0.1, n_neighbors=9, keep=keep)
    expected = np.zeros((40, 40))
    for i, code in enumerate(result.codes.toarray()):
        chosen = np.flatnonzero(code)
        ratio = code[chosen] / np.linalg.norm(X[chosen] - X[i], axis=1)
        weights = np.abs(ratio) / abs(ratio.sum())
        carried = 0.0
        for k in np.argsort(-weights):
            if carried < keep * weights.sum() * (1 - 1e-12):
                expected[i, chosen[k]] = weights[k]
            carried += weights[k]
    np.testing.assert_allclose(result.weights.toarray(), np.maximum(expected, expected.T))


@pytest.mark.parametrize(("n_samples", "noise"), [(200, 0.0), (201, 0.0), (400, 0.01)])
def test_trefoil_knots_are_told_apart_and_unrolled(n_samples, noise):
    X, y = make_trefoil_knots(n_samples, noise=noise, random_state=0)
    model = SMCE(2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    coordinates = model.embed(2)
    for knot in (0, 1):
        closed = coordinates[y == knot]
        turned = closed - closed.mean(axis=0)
        angle = np.unwrap(np.angle(turned @ [1, 1j]))
        steps = np.diff(angle)
        # Once around the centre, always in one direction: the order along the knot.
        assert (steps > 0).all() or (steps < 0).all()
        assert 1.9 * np.pi < abs(angle[-1] - angle[0]) < 2 * np.pi


def test_the_knots_are_disjoint_and_linked():
    X, y = make_trefoil_knots(400, n_features=3, random_state=1)
    a, b = X[y == 0], X[y == 1]
    assert np.linalg.norm(a[:, None] - b, axis=2).min() > 0.7
    # Gauss's integral: how often one curve winds around the other.
    along_a, along_b = (np.roll(k, -1, axis=0) - k for k in (a, b))
    between = (a + along_a / 2)[:, None] - (b + along_b / 2)
    volume = (np.cross(along_a[:, None], along_b) * between).sum(axis=2)
    linking = (volume / np.linalg.norm(between, axis=2) ** 3).sum() / (4 * np.pi)
    assert abs(linking) == pytest.approx(1, abs=0.01)


def test_knots_in_many_dimensions_keep_their_distances():
    X, y = make_trefoil_knots(60, n_features=50, random_state=2)
    own = trefoil_knot(30)
    distances = np.linalg.norm(own[:, None] - own, axis=2)
    for k in (0, 1):
        high = X[y == k]
        np.testing.assert_allclose(
            np.linalg.norm(high[:, None] - high, axis=2), distances, atol=1e-12
        )
    with pytest.raises(ValueError, match="n_features=2 must be at least 3"):
        make_trefoil_knots(n_features=2)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture(scope="module")
def fitted(digits):
    return SMCE(4, random_state=0).fit(digits[0])


def test_attributes(fitted, digits):
    X, y = digits
    assert fitted.codes_.shape == fitted.affinity_matrix_.shape == (300, 300)
    assert isinstance(fitted.codes_, sparse.csr_array)
    assert isinstance(fitted.affinity_matrix_, sparse.csr_array)
    assert not fitted.codes_.diagonal().any()
    assert (fitted.affinity_matrix_ != fitted.affinity_matrix_.T).nnz == 0
    np.testing.assert_array_equal(fitted.neighbors_, plain.nearest_neighbors(X, 15))
    assert fitted.dual_gap_.shape == (300,)
    assert fitted.dual_gap_.max() <= 1e-12
    assert fitted.embedding_.shape == (300, 4)
    assert fitted.n_features_in_ == 64
    assert clustering_accuracy(y, fitted.labels_) > 0.9


def test_same_bits_for_any_threads_and_kind_of_input(fitted, digits):
    X = digits[0]
    for n_jobs in (1, 2):
        assert same_bits(clone(fitted).set_params(n_jobs=n_jobs).fit(X), fitted)
    for same in (sparse.csr_array(X), np.asfortranarray(X), X.astype(int), X.tolist()):
        assert same_bits(clone(fitted).fit(same), fitted)
    assert same_bits(pickle.loads(pickle.dumps(fitted)), fitted)


def test_graph_first_labels_later(fitted, digits):
    graph = clone(fitted).fit_graph(digits[0])
    labels = cluster_graph(graph.affinity_matrix_, 4, neighbors=graph.neighbors_, random_state=0)
    np.testing.assert_array_equal(labels, fitted.labels_)
    with pytest.raises(NotFittedError):
        graph.embed()


def test_copies_share_their_cluster(fitted, digits):
    X = np.vstack([digits[0], digits[0][:50], digits[0][:50]])
    model = clone(fitted).fit(X)
    assert (model.labels_[300:].reshape(2, 50) == model.labels_[:50]).all()
    codes, affinity = model.codes_.toarray(), model.affinity_matrix_.toarray()
    np.testing.assert_array_equal(codes[:300, :300], fitted.codes_.toarray())
    np.testing.assert_array_equal(affinity[:300, :300], fitted.affinity_matrix_.toarray())
    np.testing.assert_array_equal(codes[300:350, :50], np.eye(50))
    np.testing.assert_array_equal(codes.sum(axis=1)[300:], 1)
    largest = fitted.affinity_matrix_.toarray()[:50].max(axis=1)
    np.testing.assert_array_equal(affinity[350:, :50], np.diag(largest))
    np.testing.assert_array_equal(affinity, affinity.T)
    np.testing.assert_array_equal(model.neighbors_[350:], fitted.neighbors_[:50])
    assert np.isfinite(model.embed(3)).all()


@pytest.mark.parametrize("n_different", [1, 2, 5])
def test_few_different_points(n_different):
    """Zeros of both signs are equal, and so are entries that vanish next to others."""
    rng = np.random.default_rng(0)
    X = np.tile(rng.standard_normal((n_different, 3)), (8, 1))
    X[:, 2] = np.resize([0.0, -0.0, 1e-200, 2e-300], len(X))
    model = SMCE(min(2, n_different), n_neighbors=6, random_state=0).fit(X)
    assert model.neighbors_.shape == (len(X), min(6, n_different - 1))
    assert np.isfinite(model.affinity_matrix_.data).all()
    labels = model.labels_.reshape(8, n_different)
    assert (labels == labels[0]).all()
    assert np.isfinite(model.embed(2)).all()


def test_rows_of_zeros_are_points_like_others(digits):
    X = digits[0].copy()
    X[7] = 0
    model = SMCE(4, random_state=0).fit(X)
    assert abs(model.codes_.sum(axis=1) - 1).max() <= 1e-13
    with pytest.warns(ConvergenceWarning, match="number of distinct points, 1"):
        assert SMCE(2, n_neighbors=2).fit_predict(np.zeros((5, 3))).shape == (5,)


def test_embedding_of_small_and_of_disconnected_clusters():
    path = sparse.csr_array(np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1))
    coordinates = diffusion_coordinates(path, 4)
    assert coordinates.shape == (3, 4)
    assert not coordinates[:, 2:].any()
    # Eigenvectors of the random walk: D^-1 W u is a multiple of u, the second of eigenvalue 0.
    walk = path.toarray() / path.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walk @ coordinates[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(walk @ coordinates[:, 1], -coordinates[:, 1], atol=1e-12)
    assert not diffusion_coordinates(sparse.csr_array((1, 1)), 2).any()
    two = sparse.csr_array(sparse.block_diag([path, path]))
    first = diffusion_coordinates(two, 2)[:, 0]
    assert np.ptp(first[:3]) < 0.1 * abs(first[0] - first[3])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": 0}, "'lam' parameter"),
        ({"lam": -1.0}, "'lam' parameter"),
        ({"weight_share": 0}, "'weight_share' parameter"),
        ({"weight_share": 1.1}, "'weight_share' parameter"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter"),
        ({"n_neighbors": 20}, "n_neighbors=20 must be smaller"),
        ({"n_clusters": 21}, "n_clusters=21 exceeds"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match=message):
        SMCE(**{"n_clusters": 2, **parameters}).fit(X)


def test_bad_number_of_coordinates_is_named(fitted):
    with pytest.raises(ValueError, match="'n_components' parameter"):
        fitted.embed(0)


@pytest.mark.parametrize(
    ("name", "n_classes", "accuracy", "nmi", "tolerance"),
    [
        ("COIL20", 8, 0.5365, 0.6786, 0.00005),
        ("Ionosphere", 2, 0.6809, 0.0871, 0.00005),
        ("UMIST", 4, 0.5203, 0.3314, 0.003),
    ],
)
def test_paper(paper_data, name, n_classes, accuracy, nmi, tolerance):
    X, y = paper_data(name, n_classes)
    model = SMCE(n_classes, lam=0.1, n_init=100, random_state=0).fit(X)
    assert model.dual_gap_.max() <= 1e-12
    assert clustering_accuracy(y, model.labels_) == pytest.approx(accuracy, abs=0.00005)
    assert normalized_mutual_info(y, model.labels_) == pytest.approx(nmi, abs=tolerance)


def test_paper_but_for_three_points(paper_data):
    """On four classes of COIL-20, 217 of 288 points where the paper has 220."""
    X, y = paper_data("COIL20", 4)
    labels = SMCE(4, lam=0.1, n_init=100, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) == pytest.approx(0.7639, abs=0.011)
