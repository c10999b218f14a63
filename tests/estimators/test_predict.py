"""New points: codes over the fitted ones, certified; clusters by the codes' mass."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import ElasticNet, Lasso, orthogonal_mp
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
)
from srsg.coding import l1_codes, new_smce_codes, new_srsg_codes, srsg_codes
from srsg.coding.coder import nearest_fitted
from srsg.coding.local_scaling import local_scaling_rows
from srsg.cutting.affinity import largest_codes
from srsg.explaining.fitted import cluster_shares, nearest_shares
from srsg.kernels.correlations import nearest, violators
from srsg.kernels.lasso import solve_working_sets
from srsg.points import unit_points
from srsg.running import ThreadEngine
from support import plain
from support.estimators import ALL_ESTIMATORS
from support.subspaces import near_planes


def accuracy_of_new(y, labels, y_new, predicted):
    """The share of new points in their class, clusters matched to classes on the fitted ones."""
    _, classes = np.unique(np.concatenate([y, y_new]), return_inverse=True)
    counts = confusion_matrix(labels, classes[: len(y)])
    match = dict(zip(*linear_sum_assignment(-counts), strict=True))
    fitted = np.mean([match[k] == c for k, c in zip(labels, classes[: len(y)], strict=True)])
    new = np.mean([match[k] == c for k, c in zip(predicted, classes[len(y) :], strict=True)])
    return fitted, new


def margin(share, count):
    """0.02, and two standard errors of a share of so few new points."""
    return 0.02 + 2 * np.sqrt(share * (1 - share) / count)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))  # by writer they come
    old, new = order[:300], order[300:]
    return X[old], y[old], X[new], y[new]


@pytest.fixture(scope="module", params=ALL_ESTIMATORS)
def fitted(request, digits):
    return request.param(4, random_state=0).fit(digits[0])


def test_shapes_and_shares(fitted, digits):
    _, _, new, _ = digits
    codes, shares = fitted.transform(new), fitted.predict_shares(new)
    assert isinstance(codes, sparse.csr_array)
    assert codes.shape == (420, 300)
    assert np.diff(codes.indptr).max() < 100
    assert shares.shape == (420, 4)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    labels = fitted.predict(new)
    np.testing.assert_array_equal(labels, shares.argmax(axis=1))
    votes = fitted.graph_.coder.votes(codes)
    np.testing.assert_allclose(shares, cluster_shares(votes, fitted.labels_, 4))


def test_fitted_points_keep_their_clusters(fitted, digits):
    np.testing.assert_array_equal(fitted.predict(digits[0]), fitted.labels_)
    np.testing.assert_array_equal(clone(fitted).fit_predict(digits[0]), fitted.labels_)


def test_new_points_are_told_apart_as_well_as_fitted_ones(fitted, digits):
    _, y, new, y_new = digits
    of_fitted, of_new = accuracy_of_new(y, fitted.labels_, y_new, fitted.predict(new))
    assert of_new > of_fitted - margin(of_new, len(new))


@pytest.mark.parametrize(("n_jobs", "size"), [(1, 256), (2, 256), (None, 7)])
def test_same_bits_for_any_threads_and_blocks(fitted, digits, block_size, n_jobs, size):
    codes = fitted.transform(digits[2])
    block_size(size)
    other = clone(fitted).set_params(n_jobs=n_jobs).fit(digits[0])
    for same in (other.transform(digits[2]), _in_parts(other, digits[2])):
        np.testing.assert_array_equal(same.indptr, codes.indptr)
        np.testing.assert_array_equal(same.indices, codes.indices)
        np.testing.assert_array_equal(same.data, codes.data)


def _in_parts(model, new):
    return sparse.csr_array(sparse.vstack([model.transform(part) for part in np.split(new, 12)]))


def test_sparse_frames_float32_and_pipelines(digits):
    X, _, new, _ = digits
    model = SRSG(4, random_state=0).fit(X)
    labels = model.predict(new)
    for same in (sparse.csr_array(new), new.tolist(), np.asfortranarray(new), 3 * new):
        np.testing.assert_array_equal(model.predict(same), labels)
    assert (model.predict(new.astype(np.float32)) == labels).mean() > 0.98
    single = SRSG(4, random_state=0).fit(X.astype(np.float32))
    assert single.fit_X_.dtype == np.float32
    assert (single.predict(new) == labels).mean() > 0.98
    frame, new_frame = pd.DataFrame(X).add_prefix("p"), pd.DataFrame(new).add_prefix("p")
    np.testing.assert_array_equal(clone(model).fit(frame).predict(new_frame), labels)
    pipeline = make_pipeline(MinMaxScaler((1, 2)), L1Graph(4, random_state=0)).fit(X)
    assert pipeline.predict(new).shape == (420,)
    assert list(model.get_feature_names_out()[:2]) == ["srsg0", "srsg1"]


# The codes


def lasso_code(A, x, lam):
    """``min ||x - A' z||^2 + lam |z|_1`` by scikit-learn."""
    model = Lasso(alpha=lam / (2 * len(x)), fit_intercept=False, tol=1e-14, max_iter=10**6)
    return model.fit(A.T, x).coef_


@given(seed=st.integers(0, 10**6), lam=st.sampled_from([0.01, 0.1, 0.5, 1.5]))
def test_l1_codes_of_new_points_are_optimal(seed, lam):
    X, _ = near_planes(seed, n_points=48, n_features=12)
    old, new = X[::2], X[1::2]
    result = l1_codes(unit_points(old), lam, queries=unit_points(new), n_neighbors=3)
    codes = result.codes.toarray()
    gradient = 2 * (new - codes @ old) @ old.T
    violation = np.where(
        codes != 0, np.abs(gradient - lam * np.sign(codes)), np.maximum(0, np.abs(gradient) - lam)
    )
    assert violation.max() <= 1e-9
    assert result.kkt_violation.max() <= 1e-9
    assert result.dual_gap.max() <= 1e-9
    for i in (0, 7):
        np.testing.assert_allclose(codes[i], lasso_code(old, new[i], lam), atol=1e-6)
    distances = np.linalg.norm(new[:, None] - old[None], axis=2)
    np.testing.assert_array_equal(result.neighbors, np.argsort(distances, axis=1)[:, :3])


def test_predicted_codes_equal_those_of_scikit_learn(digits):
    X, _, new, _ = digits
    old, unit = unit_points(X).x, unit_points(new).x
    l1 = L1Graph(4, lam=0.2).fit_graph(X).transform(new)
    laplacian = LaplacianL1Graph(4, lam=0.2, max_sweeps=1, tol=1.0).fit_graph(X).transform(new)
    net = ElasticNetGraph(4, lam=0.2, l1_ratio=0.5).fit_graph(X).transform(new)
    omp = OMPGraph(4, n_nonzero=3).fit_graph(X).transform(new)
    model = ElasticNet(
        alpha=0.2 / 128, l1_ratio=0.5, fit_intercept=False, tol=1e-14, max_iter=10**6
    )
    for i in range(3):
        expected = lasso_code(old, unit[i], 0.2)
        np.testing.assert_allclose(l1[[i]].toarray()[0], expected, atol=1e-6)
        np.testing.assert_allclose(laplacian[[i]].toarray()[0], expected, atol=1e-6)
        expected = model.fit(old.T, unit[i]).coef_
        np.testing.assert_allclose(net[[i]].toarray()[0], expected, atol=1e-6)
        expected = orthogonal_mp(old.T, unit[i], n_nonzero_coefs=3)
        np.testing.assert_allclose(omp[[i]].toarray()[0], expected, atol=1e-9)


@pytest.mark.parametrize("step", [0.001, 0.02, 0.4])
def test_srsg_codes_of_new_points_are_algorithm_1_at_full_length(step):
    X, _ = near_planes(3, n_points=80, n_features=10)
    old, new = X[:60], X[60:]
    points, queries = unit_points(old), unit_points(new)
    l1 = l1_codes(points, 0.1, n_neighbors=5)
    codes = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01).codes
    start = l1_codes(points, 0.1, queries=queries, n_neighbors=5)
    found = new_srsg_codes(
        points, codes, queries, start.codes, start.neighbors, gamma=0.1, step=step
    ).toarray()
    for i, x in enumerate(new):
        c = 5 - 2.0 * (codes[start.neighbors[i]].toarray() != 0).sum(axis=0)
        z0 = start.codes[[i]].toarray()[0]
        own_step = plain.stable_step(old, (z0 != 0) | (c <= 0), step)
        while True:
            z, touched = plain.fpgd_sp(old.T, x, c, 0.1, z0, own_step, 100, 1e-5, [])
            safe = plain.stable_step(old, touched, own_step)
            if safe >= own_step:
                break
            own_step = safe
        np.testing.assert_allclose(found[i], z, atol=1e-9)


def test_smce_codes_of_new_points_are_optimal(digits):
    X, _, new, _ = digits
    codes = new_smce_codes(X, new, 10.0, n_neighbors=8).toarray()
    np.testing.assert_allclose(codes.sum(axis=1), 1)
    for x, code in zip(new[:20], codes, strict=False):
        nearest = np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")[:8]
        directions, q = plain.smce_problem(np.vstack([X, x]), len(X), nearest)
        assert not np.delete(code, nearest).any()
        assert plain.smce_violation(directions, q, code[nearest], 10.0) < 1e-9
    np.testing.assert_array_equal(new_smce_codes(X, X[5:7]).toarray(), np.eye(300)[5:7])


def test_smce_refuses_points_too_far_away(digits):
    model = SMCE(4, random_state=0).fit(digits[0])
    far = digits[2][:5].copy()
    far[3] *= 1e200
    with pytest.raises(ValueError, match=r"too far from the fitted points.*rows 3"):
        model.predict(far)


def test_local_scaling_rows_are_the_kernel(digits):
    X, _, new, _ = digits
    rows = local_scaling_rows(X, new, 4).toarray()
    distances = np.linalg.norm(new[:, None] - X[None], axis=2)
    among = np.sort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 4]
    for i, d in enumerate(distances):
        nearest = np.argsort(d, kind="stable")[:4]
        assert set(np.flatnonzero(rows[i])) == set(nearest)
        expected = np.exp(-(d[nearest] ** 2) / (d[nearest[-1]] * among[nearest]))
        np.testing.assert_allclose(rows[i, nearest], expected)


def test_postprocessing_counts_for_new_points(digits):
    X, _, new, _ = digits
    model = ElasticNetGraph(4, n_nonzero=1, random_state=0).fit(X)
    kept = largest_codes(model.transform(new), 1)
    np.testing.assert_array_equal(model.predict(new), model.labels_[kept.indices])


# Empty codes


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
def test_an_empty_code_falls_back_to_the_nearest_points(estimator):
    X = np.abs(np.random.default_rng(0).standard_normal((40, 6)))
    X[:20, 3:] *= 0.01
    X[20:, :3] *= 0.01
    model = estimator(2, lam=0.5, random_state=0).fit(np.hstack([X, np.zeros((40, 1))]))
    new = np.array([[0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 1.0]])
    assert model.transform(new).nnz == 0
    shares = model.predict_shares(new)
    five = nearest_fitted(model.graph_, unit_points(new).x, 5, ThreadEngine())
    nearest = nearest_shares(five, model.labels_, 2)
    np.testing.assert_array_equal(shares, nearest)
    assert model.predict(new)[0] == model.labels_[0]


def test_a_kernel_that_underflows_falls_back_too():
    X = np.vstack([np.repeat([[0.0, 0.0]], 9, axis=0), np.repeat([[9.0, 9.0]], 9, axis=0)])
    model = LocalScalingSpectralClustering(2, random_state=0).fit(X)
    assert model.transform([[1.0, 1.0]]).nnz == 0
    assert model.predict([[1.0, 1.0]])[0] == model.labels_[0]


# Errors


@pytest.mark.parametrize(
    "method", ["predict", "predict_shares", "predict_confidence", "novelty_score", "transform"]
)
@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_not_fitted(estimator, method, digits):
    with pytest.raises(NotFittedError):
        getattr(estimator(4), method)(digits[0])


def test_a_graph_alone_transforms_but_does_not_predict(digits):
    model = L1Graph(4, random_state=0).fit(digits[0]).fit_graph(digits[2])
    assert model.transform(digits[0]).shape == (300, 420)
    assert not hasattr(model, "labels_")
    with pytest.raises(NotFittedError):
        model.predict(digits[0])


def test_bad_new_points_are_named(fitted, digits):
    new = digits[2].copy()
    with pytest.raises(ValueError, match="63 features"):
        fitted.predict(new[:, :-1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.predict(new[0])
    new[7, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.predict(new)
    new[7] = 0
    if isinstance(fitted, SMCE | LocalScalingSpectralClustering):
        assert fitted.predict(new).shape == (420,)
    else:
        with pytest.warns(UserWarning, match="rows 7"):
            labels = fitted.predict(new)
        assert labels[7] == np.bincount(fitted.labels_).argmax()


def test_the_fitted_points_are_a_copy(digits):
    for estimator in (SMCE, LocalScalingSpectralClustering):
        X = digits[0].copy()
        model = estimator(4, random_state=0).fit(X)
        labels = model.predict(digits[2])
        X[:] = 1
        np.testing.assert_array_equal(model.predict(digits[2]), labels)


@pytest.mark.parametrize("sparse_points", [False, True])
def test_a_model_that_is_mapped_from_a_file_needs_no_kernels_of_its_own(tmp_path, sparse_points):
    X = load_digits().data[:60]
    X = sparse.csr_array(np.hstack([X, np.zeros((60, 200))])) if sparse_points else X
    model = L1Graph(3, random_state=0).fit(X)
    codes = model.transform(X[:5]).toarray()
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    kernels = (nearest, violators, solve_working_sets)
    before = [len(kernel.signatures) for kernel in kernels]
    np.testing.assert_array_equal(mapped.transform(X[:5]).toarray(), codes)
    assert [len(kernel.signatures) for kernel in kernels] == before


# The paper's data


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
@pytest.mark.parametrize(
    ("name", "n_classes"),
    [
        *(("COIL20", 8), ("COIL100", 8), ("YaleB", 8), ("PIE", 4), ("UMIST", 8)),
        *(("Heart", 2), ("Ionosphere", 2), ("Breast", 2)),
    ],
)
def test_fitted_points_of_the_paper_keep_their_clusters(paper_data, estimator, name, n_classes):
    X, _ = paper_data(name, n_classes)
    model = estimator(n_classes, n_init=1, random_state=0).fit(X)
    assert (model.predict(X) == model.labels_).mean() >= 0.99


def test_new_digits_of_mnist(paper_data):
    X, y = paper_data("MNIST")
    chosen = np.random.default_rng(0).permutation(len(X))[:1500]
    old, new = chosen[:1000], chosen[1000:]
    model = SRSG(10, random_state=0).fit(X[old])
    of_fitted, of_new = accuracy_of_new(y[old], model.labels_, y[new], model.predict(X[new]))
    assert of_new > of_fitted - margin(of_new, len(new))
