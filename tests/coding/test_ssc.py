"""Codes that add up to one, against an independent solution, and the graph as published."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear
from sklearn.base import clone

from srsg import L1Graph
from srsg.coding.ssc import affine_codes, affine_violations, published_lam
from srsg.cutting.affinity import strong_codes
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from support.estimators import assert_same

WEIGHT = 1e4
"""Of the row that stands for the constraint in the independent solution."""


def affine_planes(n_each=25, n_features=12, noise=0.01, seed=0):
    """Points near three planes that miss the origin."""
    rng = np.random.default_rng(seed)
    parts = [
        5 * rng.standard_normal(n_features)
        + rng.standard_normal((n_each, 2)) @ rng.standard_normal((2, n_features))
        for _ in range(3)
    ]
    X = np.vstack(parts) + noise * rng.standard_normal((3 * n_each, n_features))
    return X, np.repeat(np.arange(3), n_each)


def plain_code(x, others, lam):
    """``min ||x - X z||^2 + lam |z|_1``, ``sum z = 1``, by positive and negative parts.

    With ``z = p - n`` the norm is ``sum p + sum n``. Where the sum of z is one it is
    ``1 + 2 sum n``, a linear term, which completes a square of one more row.
    """
    n = len(others)
    A = np.hstack([others.T, -others.T])
    constraint = np.r_[np.ones(n), -np.ones(n)]
    # c'v + ||A v - x||^2 = ||L v - b||^2 + const, with L'L = A'A + w c c' regularised a little.
    H = A.T @ A + WEIGHT * np.outer(constraint, constraint)
    linear = A.T @ x + WEIGHT * constraint - lam / 2
    values, vectors = np.linalg.eigh(H)
    keep = values > 1e-13 * values.max()
    # On the range of H only: the rest of the linear term is what the bounds have to hold.
    root = np.sqrt(np.where(keep, values, 1e-13 * values.max()))
    L = root[:, None] * vectors.T
    b = (vectors.T @ linear) / root
    v = lsq_linear(L, b, bounds=(0, np.inf), method="bvls", tol=1e-14, max_iter=2000).x
    return v[:n] - v[n:]


def objective(x, others, z, lam, ridge=0.0):
    return ((x - z @ others) ** 2).sum() + lam * (np.abs(z).sum() + ridge / 2 * (z**2).sum())


@pytest.mark.parametrize("lam", [0.001, 0.1, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_independent_solution_is_better(lam, seed):
    X, _ = affine_planes(6, seed=seed)
    found = affine_codes(X, lam)
    Z = found.codes.toarray()
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-12)
    assert not Z.diagonal().any()
    assert found.kkt_violation.max() < 1e-9 * (1 + lam)
    assert found.dual_gap.max() < 1e-9
    for i in range(0, len(X), 4):
        others = np.delete(np.arange(len(X)), i)
        z = plain_code(X[i], X[others], lam)
        assert z.sum() == pytest.approx(1, abs=1e-2)
        z /= z.sum()
        mine = objective(X[i], X[others], Z[i, others], lam)
        theirs = objective(X[i], X[others], z, lam)
        assert mine <= theirs + 1e-9
        assert theirs == pytest.approx(mine, rel=1e-2)


@pytest.mark.parametrize("ridge", [0.0, 0.01, 0.3, 30.0])
def test_no_small_change_lowers_the_objective(ridge):
    X, _ = affine_planes(8)
    lam = published_lam(X)
    found = affine_codes(X, lam, ridge=ridge)
    assert found.kkt_violation.max() < 1e-9 * (1 + lam)
    assert found.dual_gap.max() < 1e-9
    Z = found.codes.toarray()
    rng = np.random.default_rng(0)
    for i, z in enumerate(Z):
        least = objective(X[i], X, z, lam, ridge)
        for _ in range(30):
            a, b = rng.choice(np.delete(np.arange(len(X)), i), 2, replace=False)
            for size in (1e-5, 1e-3, 1e-1):
                moved = z.copy()
                moved[a] += size
                moved[b] -= size
                assert objective(X[i], X, moved, lam, ridge) >= least - 1e-12


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_certificates_see_codes_that_are_wrong(ridge):
    X, _ = affine_planes(6)
    Z = affine_codes(X, 0.1, ridge=ridge).codes.toarray()
    assert affine_violations(X, X, Z, 0.1, ridge).max() < 1e-9
    a, b = np.flatnonzero(Z[3])[:2]
    Z[3, a] += 0.01
    Z[3, b] -= 0.01
    assert affine_violations(X, X, Z, 0.1, ridge)[3] > 1e-3


def test_a_tiny_ridge_changes_little():
    """Two solvers: one coordinate at a time, and Newton's method on the dual."""
    X, _ = affine_planes(8)
    plain = affine_codes(X, 0.1).codes.toarray()
    np.testing.assert_allclose(affine_codes(X, 0.1, ridge=1e-6).codes.toarray(), plain, atol=1e-3)


def test_a_ridge_spreads_codes_over_points_that_are_alike():
    X, _ = affine_planes(8)
    entries = [affine_codes(X, 0.1, ridge=ridge).codes.nnz for ridge in (0.0, 0.3, 3.0)]
    assert entries == sorted(entries)
    assert entries[0] < entries[-1]


def test_a_ridge_needs_exact_affine_codes():
    with pytest.raises(ValueError, match="ridge requires affine='exact'"):
        L1Graph(3, ridge=0.3).fit(affine_planes()[0])


def test_the_published_weight():
    X = np.random.default_rng(0).standard_normal((20, 5))
    products = np.abs(X @ X.T - np.diag((X**2).sum(axis=1)))
    weight = 800 / products.max(axis=1).min()
    assert published_lam(X) == pytest.approx(2 / weight)
    model = L1Graph.ssc(3).fit_graph(X)
    assert model.lam_ == pytest.approx(2 / weight)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.7, 1.0])
def test_strong_entries_carry_the_share(share):
    codes = sparse.random_array((30, 30), density=0.4, rng=np.random.default_rng(0), format="csr")
    codes = sparse.csr_array(codes - 0.5 * codes.T)
    kept = strong_codes(codes, share).toarray()
    for given, found in zip(codes.toarray(), kept, strict=True):
        weight = np.sort(np.abs(given))[::-1]
        count = min(
            np.searchsorted(np.cumsum(weight), share * weight.sum()) + 1, (weight > 0).sum()
        )
        assert (found != 0).sum() == pytest.approx(count, abs=share == 1.0)
        assert np.abs(found).max() == 1
        np.testing.assert_allclose(found[found != 0], (given / weight[0])[found != 0])
        assert np.abs(given[found == 0]).max() <= np.abs(given[found != 0]).min()


def test_affine_subspaces_are_found_and_saved(tmp_path):
    X, y = affine_planes()
    model = L1Graph.ssc(3, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    assert model.kkt_violation_.max() < 1e-9
    assert model.kkt_quantiles_[1.0] == model.kkt_violation_.max()
    expected = symmetrized(strong_codes(model.codes_, 0.7))
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), expected.toarray())
    np.testing.assert_array_equal(model.fit_X_, X)
    new = affine_planes(noise=0.011)[0]
    np.testing.assert_array_equal(model.predict(new), model.labels_)
    np.testing.assert_allclose(model.transform(new).sum(axis=1), 1)
    save_model(model, tmp_path / "planes.srsg")
    loaded = load_model(tmp_path / "planes.srsg")
    assert_same(loaded, model)
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


def test_a_fitted_point_is_coded_by_itself_alone():
    X, _ = affine_planes(6)
    model = L1Graph.ssc(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X[[2, 9]]).toarray(), np.eye(18)[[2, 9]])


def test_neither_shift_nor_size_matters_for_exact_codes():
    X, _ = affine_planes(6)
    expected = affine_codes(X, 0.1).codes.toarray()
    np.testing.assert_allclose(affine_codes(X + 3, 0.1).codes.toarray(), expected, atol=1e-9)
    for factor in (2.0**-300, 2.0**300):
        model = L1Graph(3, lam=0.1 * factor**2, affine="exact").fit_graph(factor * X)
        np.testing.assert_allclose(model.codes_.toarray(), expected, atol=1e-9)


def test_duplicates_change_no_code():
    X, _ = affine_planes(6)
    copies = np.r_[:18, 3:9, [2] * 5]
    model = L1Graph.ssc(3, random_state=0).fit(X[copies])
    alone = L1Graph.ssc(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.codes_[:18, :18].toarray(), alone.codes_.toarray())
    np.testing.assert_array_equal(model.labels_, model.labels_[copies])
    with pytest.warns(UserWarning, match="exceeds the number of distinct points"):
        L1Graph.ssc(2, n_neighbors=1).fit(np.ones((4, 3)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_bits_for_any_threads(n_jobs, tmp_path):
    X, _ = affine_planes()
    expected = L1Graph.ssc(3, random_state=0).fit(X)
    model = clone(expected).set_params(n_jobs=n_jobs, store=tmp_path)
    for _ in range(2):  # the second one from the store
        assert_same(model.fit(X), expected)


def test_weight_share_of_ordinary_codes():
    X, _ = affine_planes()
    model, plain = (L1Graph(3, weight_share=share).fit_graph(X) for share in (0.7, None))
    np.testing.assert_array_equal(model.codes_.toarray(), plain.codes_.toarray())
    expected = symmetrized(strong_codes(plain.codes_, 0.7))
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), expected.toarray())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": "auto"}, "lam='auto' requires affine='exact'"),
        ({"affine": "exact", "n_candidates": 10}, "set n_candidates=None"),
        ({"affine": "nearly"}, "'affine' parameter"),
        ({"weight_share": 0.0}, "'weight_share' parameter"),
    ],
)
def test_errors_name_the_argument(parameters, message):
    with pytest.raises(ValueError, match=message):
        L1Graph(3, **parameters).fit(affine_planes(6)[0])
