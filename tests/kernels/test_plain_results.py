"""Every kernel on tiny data, against plain NumPy.

Small enough to run without the compiler (``NUMBA_DISABLE_JIT=1``), as ``tools.mutate`` does.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

from fuzz.invariants import l1_violation
from srsg.coding import (
    fpgd_sp,
    l1_codes,
    laplacian_codes,
    new_srsg_codes,
    omp_codes,
    ridge_codes,
    smce_codes,
    srsg_codes,
)
from srsg.coding.neighbors import best_of, nearest_neighbors
from srsg.cutting.embedding import agreement
from srsg.kernels import direct, linalg, problems
from srsg.kernels.arrays import (
    NO_PULL,
    Codes,
    KeptProblems,
    LeftOut,
    Neighbors,
    Pull,
    ScanBounds,
    SortedLists,
    padded,
)
from srsg.kernels.candidates import code_over_candidates, nearest_candidates
from srsg.kernels.codes import renew, residuals, support_distances
from srsg.kernels.correlations import nearest, violators
from srsg.kernels.graphs import chebyshev, dependency_levels, spread_out
from srsg.kernels.scattering import folded_products
from srsg.points import Points, unit_points
from srsg.running import ThreadEngine
from support import plain
from support.kernels import from_python

backward_solve, cholesky, forward_solve, gather, gram_matrix, null_direction, remove_row = (
    from_python(getattr(linalg, name))
    for name in (
        *("backward_solve", "cholesky", "forward_solve"),
        *("gather", "gram_matrix", "null_direction", "remove_row"),
    )
)
new_problem, keep, find_in_kept, part_of_kept = (
    from_python(getattr(problems, name))
    for name in ("new_problem", "keep", "find_in_kept", "part_of_kept")
)
minimise_on_support, drop_zeros = map(from_python, (direct.minimise_on_support, direct.drop_zeros))

ENGINES = [ThreadEngine(1), ThreadEngine(1, block_size=4)]


def points_like(kind, n=14, d=5, seed=0):
    """Points in general position, in few directions, or some of them equal."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    if kind == "low rank":
        x = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))
    elif kind == "equal":
        x[n // 2 :] = x[: n - n // 2]
        x[-1] = -x[0]
    elif kind == "clusters":
        x = np.repeat(rng.standard_normal((3, d)), 5, axis=0)[:n] + 0.2 * x
    elif kind == "float32":
        x = x.astype(np.float32)
    return unit_points(x)


KINDS = ["general", "low rank", "equal", "clusters", "float32"]


# Codes of the l1-graph


def plain_gap(x, z, atoms, lam, ridge=0.0):
    """Primal minus dual objective, with the residual scaled into the feasible set."""
    long_atoms = np.hstack([atoms, np.sqrt(ridge) * np.eye(len(z))])
    long_x = np.concatenate([x, np.zeros(len(z))])
    resid = long_x - z @ long_atoms
    worst = np.abs(long_atoms @ resid).max()
    scale = min(resid @ long_x / (resid @ resid), lam / 2 / max(worst, 1e-300))
    dual = 2 * scale * resid @ long_x - scale**2 * resid @ resid
    return resid @ resid + lam * np.abs(z).sum() - dual


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("lam", "ridge"), [(0.02, 0.0), (0.3, 0.1), (1.2, 0.0)])
def test_l1_codes_are_optimal_and_their_certificates_true(kind, lam, ridge):
    points = points_like(kind)
    x = points.x.astype(float)
    for engine in ENGINES:
        found = l1_codes(points, lam, ridge=ridge, n_neighbors=3, engine=engine)
        Z = found.codes.toarray()
        violation, _ = l1_violation(x, Z, lam, ridge)
        np.testing.assert_allclose(found.kkt_violation, violation, atol=1e-12)
        assert found.kkt_violation.max() <= 1e-10
        others = [np.delete(x, i, axis=0) for i in range(len(x))]
        gaps = [plain_gap(x[i], np.delete(Z[i], i), others[i], lam, ridge) for i in range(len(x))]
        np.testing.assert_allclose(found.dual_gap, gaps, atol=1e-10)
        assert found.codes.has_sorted_indices
        if kind != "equal":
            np.testing.assert_array_equal(found.neighbors, plain.nearest_neighbors(x, 3))


def test_l1_codes_of_new_points():
    points, new = points_like("general"), points_like("clusters", 6, seed=3)
    found = l1_codes(points, 0.1, queries=new, n_neighbors=4, engine=ENGINES[1])
    lasso = Lasso(0.1 / (2 * 5), fit_intercept=False, tol=1e-13, max_iter=100_000)
    for x, z in zip(new.x, found.codes.toarray(), strict=True):
        best = lasso.fit(points.x.T, x).coef_
        np.testing.assert_allclose(z, best, atol=1e-6)
    distances = ((new.x[:, None] - points.x[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.neighbors, np.argsort(distances, axis=1)[:, :4])


def test_dependent_points_give_a_minimiser():
    """Many codes are optimal; each has no more points than their directions."""
    points = points_like("low rank")
    found = l1_codes(points, 0.05, engine=ENGINES[0])
    assert np.diff(found.codes.indptr).max() <= 2


# Sweeps of Algorithm 2


@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize("settings", [(0.1, 0.05), (0.001, 0.3), (0.02, 2.0)])
def test_sweeps_are_those_of_the_plain_algorithm(kind, settings):
    gamma, step = settings
    points = points_like(kind, 12)
    start = l1_codes(points, 0.1, n_neighbors=4, engine=ENGINES[0])
    stop = "supports" if gamma > 0.01 else "objective"
    limits = {"max_sweeps": 4, "max_iter": 20, "tol": 1e-6, "stop": stop}
    found = srsg_codes(
        points, start.codes, start.neighbors, gamma=gamma, step=step, engine=ENGINES[0], **limits
    )
    Z, objectives = plain.srsg(
        points.x, start.codes.toarray(), start.neighbors, gamma, step, **limits
    )
    np.testing.assert_allclose(found.codes.toarray(), Z, atol=1e-9)
    np.testing.assert_allclose(found.objective, objectives, atol=1e-9)


def test_new_points_take_one_run_of_algorithm_1():
    points, new = points_like("clusters", 12), points_like("general", 4, seed=5)
    start = l1_codes(points, 0.1, n_neighbors=4, engine=ENGINES[0])
    fitted = srsg_codes(
        points, start.codes, start.neighbors, gamma=0.05, step=0.05, engine=ENGINES[0]
    )
    first = l1_codes(points, 0.1, queries=new, n_neighbors=4, engine=ENGINES[0])
    found = new_srsg_codes(
        points,
        fitted.codes,
        new,
        first.codes,
        first.neighbors,
        gamma=0.05,
        step=0.05,
        tol=0.0,
        engine=ENGINES[0],
    )
    used = fitted.codes.toarray() != 0
    for p in range(4):
        c = 4.0 - 2 * used[first.neighbors[p]].sum(axis=0)
        z0 = first.codes.toarray()[p]
        own_step = plain.stable_step(points.x, (z0 != 0) | (c <= 0), 0.05)
        z, _ = plain.fpgd_sp(points.x.T, new.x[p], c, 0.05, z0, own_step, 100, 0.0, [])
        np.testing.assert_allclose(found.toarray()[p], z, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_algorithm_1_on_few_coordinates(seed):
    rng = np.random.default_rng(seed)
    A, b, c = rng.standard_normal((4, 7)), rng.standard_normal(4), rng.integers(-2, 4, 7) * 1.0
    z0 = rng.standard_normal(7) * (rng.random(7) < 0.5)
    z0[2] = 0
    step = 0.4 / np.linalg.norm(A, 2) ** 2
    z, history = fpgd_sp(A, b, c, 0.2, z0, step=step, max_iter=30, tol=1e-9, fixed_zero=2)
    expected, touched = plain.fpgd_sp(A, b, c, 0.2, z0, step, 30, 1e-9, [2])
    np.testing.assert_allclose(z, expected, atol=1e-12)
    assert set(np.flatnonzero(touched)) <= set(history.active)
    resid = [np.sum((b - A[:, history.active] @ each) ** 2) for each in history.z]
    cost = [0.2 * c[support][c[support] > 0].sum() for support in history.support]
    np.testing.assert_allclose(history.objective, np.add(resid, cost), atol=1e-10)


def test_support_distances():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((9, 9)) * (rng.random((9, 9)) < 0.4)
    np.fill_diagonal(Z, 0)
    neighbors = np.array([rng.permutation(np.delete(np.arange(9), i))[:3] for i in range(9)])
    expected = sum(plain.support_distance(Z, i, j) for i in range(9) for j in neighbors[i])
    lists = Neighbors(np.arange(0, 28, 3), neighbors.ravel())
    assert support_distances(Codes.from_csr(sparse.csr_array(Z)), lists) == expected


# The Laplacian's codes


@pytest.mark.parametrize("kind", ["general", "clusters", "equal"])
@pytest.mark.parametrize("laplacian", ["neighbors", "codes"])
def test_laplacian_codes_solve_their_last_problem(kind, laplacian):
    points = points_like(kind, 10)
    lam, gamma = 0.1, 0.3
    start = l1_codes(points, lam, n_neighbors=3, engine=ENGINES[0])
    found = laplacian_codes(
        points,
        start.codes,
        start.neighbors,
        lam=lam,
        gamma=gamma,
        max_sweeps=60,
        tol=1e-13,
        laplacian=laplacian,
        engine=ENGINES[0],
    )
    assert found.kkt_violation.max() < 1e-9
    if laplacian == "codes":
        return
    # After many sweeps every point's own problem is solved at once.
    Z, x = found.codes.toarray(), points.x
    S = np.zeros((10, 10))
    for i, row in enumerate(start.neighbors):
        S[i, row] = 1
    weights = gamma * (S + S.T)
    gradient = 2 * (x - Z @ x) @ x.T - 2 * (weights.sum(axis=1)[:, None] * Z - weights @ Z)
    violation = np.where(Z != 0, np.abs(gradient - lam * np.sign(Z)), np.abs(gradient) - lam)
    np.fill_diagonal(violation, 0)
    assert violation.max() < 1e-4
    pairs = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    value = ((x - Z @ x) ** 2).sum() + lam * np.abs(Z).sum() + gamma * (S * pairs).sum()
    assert found.objective[-1] == pytest.approx(value, abs=1e-9)
    assert (np.diff(found.objective) <= 1e-10).all()


# Matching pursuit, ridge codes, SMCE


def plain_omp(x, i, n_nonzero, tol):
    chosen, z = [], np.zeros(len(x))
    resid = x[i].copy()
    for _ in range(n_nonzero):
        strength = np.abs(x @ resid)
        strength[[i, *chosen]] = -1
        if resid @ resid <= tol or strength.max() <= 1e-13:
            break
        chosen.append(int(np.argmax(strength)))
        fit = np.linalg.lstsq(x[chosen].T, x[i], rcond=None)[0]
        resid = x[i] - fit @ x[chosen]
        z[:] = 0
        z[chosen] = fit
    return z


@pytest.mark.parametrize("kind", ["general", "clusters", "low rank"])
@pytest.mark.parametrize("n_nonzero", [1, 3])
def test_matching_pursuit(kind, n_nonzero):
    points = points_like(kind)
    for engine in ENGINES:
        found = omp_codes(points, n_nonzero, tol=1e-6, n_neighbors=3, engine=engine)
        expected = [plain_omp(points.x, i, n_nonzero, 1e-6) for i in range(points.n)]
        np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-9)
        np.testing.assert_array_equal(found.neighbors, plain.nearest_neighbors(points.x, 3))


@pytest.mark.parametrize("kind", ["general", "clusters", "float32"])
@pytest.mark.parametrize("n_nonzero", [1, 4, 13])
def test_ridge_codes_are_the_largest_entries(kind, n_nonzero):
    points = points_like(kind)
    x = points.x.astype(float)
    P = np.linalg.inv(x @ x.T + 0.1 * np.eye(14))
    full = -P / np.diag(P)[:, None]
    np.fill_diagonal(full, 0)
    order = np.argsort(-np.abs(full), axis=1)[:, :n_nonzero]
    expected = np.zeros_like(full)
    np.put_along_axis(expected, order, np.take_along_axis(full, order, axis=1), axis=1)
    np.fill_diagonal(expected, 0)
    for engine in ENGINES:
        found = ridge_codes(points, 0.1, n_nonzero=n_nonzero, engine=engine)
        np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-9)
        assert found.residual.max() < 1e-9


@pytest.mark.parametrize("lam", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_smce_codes_are_optimal(lam, seed):
    x = np.random.default_rng(seed).standard_normal((10, 3))
    if seed == 2:  # on a line, with neighbours in opposite directions
        x = np.linspace(0, 1, 10)[:, None] * np.ones(3) + 0.01 * x
    found = smce_codes(x, lam, n_neighbors=5, engine=ENGINES[0])
    Z = found.codes.toarray()
    for i, neighbors in enumerate(found.neighbors):
        Y, q = plain.smce_problem(x, i, neighbors)
        c = Z[i, neighbors]
        assert c.sum() == pytest.approx(1, abs=1e-10)
        assert plain.smce_violation(Y, q, c, lam) < 1e-9
        assert 0 <= found.dual_gap[i] < 1e-8
    np.testing.assert_array_equal(found.neighbors, plain.nearest_neighbors(x, 5))


# Candidates


def test_nearest_candidates():
    points = points_like("general")
    candidates = np.array([[3, 7, 1, 9, -1], [2, 5, 13, 0, 8]])
    found = np.empty((2, 3), np.int64)
    nearest_candidates(points.x, points.x[[4, 6]], candidates, found)
    for own, row, chosen in zip([4, 6], candidates, found, strict=True):
        row = row[row >= 0]
        order = np.argsort(((points.x[row] - points.x[own]) ** 2).sum(axis=1))
        np.testing.assert_array_equal(chosen, row[order][:3])


@pytest.mark.parametrize("lam", [0.02, 0.2])
def test_codes_over_candidates_are_optimal_on_them(lam):
    points = points_like("clusters", 14)
    candidates = [np.setdiff1d(np.arange(14), [i, (i + 3) % 14]) for i in range(14)]
    # One of them in the code at the start, and a candidate again.
    start = Codes(np.array([own[:1] for own in candidates]), np.ones((14, 1)), np.ones(14, int))
    codes, resid, joined = code_over_candidates(
        points.x, points.x, start, np.array(candidates), lam / 2
    )
    dense = codes.to_csr(14).toarray()
    np.testing.assert_allclose(resid, points.x - dense @ points.x, atol=1e-14)
    weight = np.abs(dense)
    new = [1 - row[own[0]] / row.sum() for row, own in zip(weight, candidates, strict=True)]
    np.testing.assert_allclose(joined, new, atol=1e-12)
    for i, own in enumerate(candidates):
        atoms, z = points.x[own], codes.to_csr(14).toarray()[i, own]
        gradient = 2 * atoms @ (points.x[i] - z @ atoms)
        violation = np.where(z != 0, np.abs(gradient - lam * np.sign(z)), np.abs(gradient) - lam)
        assert violation.max() < 1e-11


# Lists, codes, small linear algebra


def test_nearest_in_a_shard():
    points = points_like("general")
    shard = points.x[4:]
    own = np.array([0, 6, -1])
    targets = np.vstack([points.x[[0, 6]], points.x[5]])
    products = (targets @ shard.T).astype(np.float32)
    bounds = ScanBounds(4, 0.0, 1e-6, LeftOut.nothing(*products.shape))
    found = nearest(shard, targets, own, products, bounds, 4)
    for p in range(3):
        distances = ((shard - targets[p]) ** 2).sum(axis=1)
        if own[p] >= 4:
            distances[own[p] - 4] = np.inf
        np.testing.assert_array_equal(found.index[p], np.argsort(distances)[:4] + 4)
        np.testing.assert_allclose(found.key[p], np.sort(distances)[:4])
        assert found.size[p] == 4


def test_lists_of_shards_are_merged_with_ties_by_index():
    one = SortedLists(np.array([[2, 5, 0]]), np.array([[0.1, 0.4, np.inf]]), np.array([2]))
    two = SortedLists(np.array([[1, 9, 7]]), np.array([[0.4, 0.4, 0.5]]), np.array([3]))
    best = best_of([one, two])
    assert best.index.tolist() == [[2, 1, 5]]
    assert best.key.tolist() == [[0.1, 0.4, 0.4]]
    assert best.size.tolist() == [3]
    few = best_of([one._replace(size=np.array([1]))] * 2)
    assert few.size.tolist() == [2]


@pytest.mark.parametrize("most", [2, 5])
@pytest.mark.parametrize("pulled", [False, True])
def test_violators_are_the_worst(most, pulled):
    points = points_like("general")
    resid, own, half_lam = points.x[[3, 8]] * 0.9, np.array([3, 8]), np.array([0.2, 0.5])
    codes = Codes(np.array([[5, 0], [1, 2]]), np.zeros((2, 2)), np.array([1, 2]))
    products = (resid @ points.x.T).astype(np.float32)
    bounds = ScanBounds(0, 1e-10, points.correlation_error, LeftOut.nothing(*products.shape))
    most = np.array([most, most])
    pulls = np.zeros((3, points.n))
    rows = np.array([2, 1])
    if pulled:
        pulls[1:, [0, 4, 7]] = [[0.3, -0.8, 0.1], [-0.2, 0.6, 0.9]]
        csr = sparse.csr_array(pulls)
        pull = Pull(csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data)
    else:
        pull = NO_PULL
    about = own, resid, products, codes, half_lam, pull, rows, bounds, most, 5
    found, outside = violators(points.x, *about)
    for p in range(2):
        strength = np.abs(points.x @ resid[p] + pulls[rows[p]])
        strength[[own[p], *codes.index[p, : codes.size[p]]]] = 0
        worst = np.argsort(-strength)[: most[p]]
        worst = worst[strength[worst] > half_lam[p]]
        assert found.index[p, : found.size[p]].tolist() == worst.tolist()
        if strength.max() > half_lam[p]:
            assert outside[p] == pytest.approx(strength.max(), abs=1e-14)


def test_codes_lose_zeros_and_keep_their_values():
    codes = Codes(
        np.array([[7, 2, 5, 1], [3, 0, 0, 0]]),
        np.array([[1.0, 0.0, -2.0, 3.0], [0.0, 9.0, 9.0, 9.0]]),
        np.array([4, 1]),
    )
    copy = renew(codes, np.zeros((2, 0), np.int64), np.zeros(2, np.int64))
    assert copy.size.tolist() == [3, 0]
    assert copy.index[0, :3].tolist() == [1, 5, 7]
    assert copy.value[0, :3].tolist() == [3.0, -2.0, 1.0]
    joining, count = np.array([[9, 4], [8, 6]]), np.array([2, 0])
    more = renew(codes, joining, count)
    assert more.size.tolist() == [5, 0]
    assert more.index[0].tolist()[:5] == [7, 5, 1, 9, 4]
    assert more.value[0].tolist()[:3] == [1.0, -2.0, 3.0]
    done = renew(codes, joining, np.array([0, 1]))
    assert done.index[0, :3].tolist() == [1, 5, 7]
    assert done.value[0, :3].tolist() == [3.0, -2.0, 1.0]
    assert done.index[1, :1].tolist() == [8]
    assert padded(np.array([[1, 2, 3]]), 2).tolist() == [[1, 2]]
    both = Codes.concatenate([codes, copy])
    assert both.index.shape == (4, 4)
    assert both.to_csr(8).toarray()[2].tolist() == [0, 3, 0, 0, 0, -2, 0, 1]
    assert copy.resized(copy.longest).index.shape == (2, 3)


def test_residuals():
    points = points_like("general")
    rng = np.random.default_rng(1)
    Z = sparse.csr_array(rng.standard_normal((14, 14)) * (rng.random((14, 14)) < 0.3))
    out = residuals(points.x, points.x, Codes.from_csr(Z, spare=2))
    np.testing.assert_allclose(out, points.x - Z @ points.x, atol=1e-13)


def test_cholesky_and_its_solves():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((6, 8))
    gram, support = gram_matrix(atoms), np.array([4, 0, 3])
    np.testing.assert_allclose(gram, atoms @ atoms.T, atol=1e-13)
    np.testing.assert_array_equal(gather(atoms, np.array([2, 5, 1]), 2), atoms[[2, 5]])
    factor, rhs = np.zeros((3, 3)), np.array([1.0, -2.0, 0.5])
    assert cholesky(gram, support, 3, factor) == 3
    part = gram[support][:, support]
    np.testing.assert_allclose(factor @ factor.T, part, atol=1e-13)
    forward_solve(factor, 3, rhs)
    backward_solve(factor, 3, rhs)
    np.testing.assert_allclose(part @ rhs, [1.0, -2.0, 0.5], atol=1e-12)


def test_a_dependent_point_is_found_and_gives_a_direction():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((4, 6))
    atoms[2] = 2 * atoms[0] - atoms[1]
    gram, factor = gram_matrix(atoms), np.zeros((4, 4))
    assert cholesky(gram, np.arange(4), 4, factor) == 2
    for gradient in (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, -4.0])):
        direction = np.empty(3)
        null_direction(factor, 2, gradient, direction)
        np.testing.assert_allclose(direction @ atoms[:3], 0, atol=1e-12)
        assert abs(direction[2]) == 1
        assert gradient @ direction <= 0


@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_row_leaves_a_factor(place):
    atoms = np.random.default_rng(0).standard_normal((6, 8))
    gram, factor, expected = gram_matrix(atoms), np.zeros((6, 6)), np.zeros((5, 5))
    cholesky(gram, np.arange(6), 6, factor)
    remove_row(factor, place, 6)
    cholesky(gram, np.delete(np.arange(6), place), 5, expected)
    np.testing.assert_allclose(np.tril(factor[:5, :5]), expected, atol=1e-13)


@pytest.mark.parametrize("zeros", [[3], [0, 19], [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("known", [20, 12])
def test_zeros_leave_support_and_factor(zeros, known):
    """By updates where few leave, by computing the rows again where many do."""
    atoms = np.random.default_rng(0).standard_normal((24, 30))
    gram, factor, z = gram_matrix(atoms), np.zeros((24, 24)), np.ones(24)
    support = np.random.default_rng(1).permutation(24)[:20]
    cholesky(gram, support, known, factor)
    z[support[zeros]] = 0
    left = np.delete(support, zeros)
    room = support.copy()
    count, known_after = drop_zeros(z, room, 20, known, factor)
    np.testing.assert_array_equal(room[:count], left)
    expected = np.zeros((24, 24))
    cholesky(gram, left, known_after, expected)
    found = np.tril(factor[:known_after, :known_after])
    np.testing.assert_allclose(found, expected[:known_after, :known_after], atol=1e-12)
    inside = sum(place < known for place in zeros)
    assert known_after == (known - inside if 8 * inside <= known else min(zeros))


@pytest.mark.parametrize("rank", [4, 30])
def test_a_support_shrinks_to_a_minimiser_with_its_signs(rank):
    """Dependent points leave, and so does whatever would change its sign."""
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 30))
    gram, b, z = gram_matrix(atoms), atoms @ rng.standard_normal(30), rng.standard_normal(20)
    start = z.copy()
    room = np.empty(20, np.int64), np.empty((20, 20)), np.empty(20)
    minimise_on_support(gram, b, 0.1, z, *room)
    used = np.flatnonzero(z)
    assert 0 < len(used) <= min(rank, 19)
    np.testing.assert_array_equal(np.sign(z[used]), np.sign(start[used]))
    np.testing.assert_allclose((b - gram @ z)[used], 0.1 * np.sign(z[used]), atol=1e-9)


def test_a_part_of_a_kept_problem():
    points = points_like("general")
    kept, places = KeptProblems.empty(2, 3), np.empty(2, np.int64)
    active, part = np.array([1, 5, 9]), np.array([1, 9])
    assert not find_in_kept(kept, 1, part[:0], places)  # nothing is kept yet
    keep(kept, 1, active, new_problem(points.x, points.x, 0, active))
    assert find_in_kept(kept, 1, part, places)
    gram, b, power = part_of_kept(kept, 1, places)
    np.testing.assert_allclose(gram, points.x[part] @ points.x[part].T, atol=1e-14)
    np.testing.assert_allclose(b, points.x[part] @ points.x[0], atol=1e-14)
    assert power == pytest.approx(1.0)
    assert not find_in_kept(kept, 1, np.array([1, 6]), places)
    assert find_in_kept(kept, 1, part[:0], places)
    # A larger one has no room, and leaves nothing that would be taken for it.
    more = np.array([1, 2, 5, 9])
    keep(kept, 1, more, new_problem(points.x, points.x, 0, more))
    assert not find_in_kept(kept, 1, part, places)


# Graphs and features


def test_agreement_on_a_small_graph():
    rng = np.random.default_rng(0)
    W = np.maximum(rng.random((8, 8)) - 0.4, 0)
    W = np.triu(W, 1) + np.triu(W, 1).T
    graph = sparse.csr_array(W)
    one, other = (agreement(graph, engine=engine).toarray() for engine in ENGINES)
    np.testing.assert_array_equal(one, other)
    scale = 1 / np.sqrt(W.sum(axis=1))
    N = scale[:, None] * W * scale
    np.testing.assert_allclose(one, np.where(W > 0, (N @ N + N / 2) ** 2, 0), atol=1e-12)


def test_chebyshev_polynomials():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((7, 7)))
    A = np.where(A + A.T > 0.8, A + A.T, 0)
    matrix = sparse.csr_array(A)
    starts, columns = matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32)
    center, half_width = 0.3, 2.0
    B = (A - center * np.eye(7)) / half_width
    v = rng.standard_normal((7, 3))
    polynomials = [v, B @ v]
    for _ in range(4):
        polynomials.append(2 * B @ polynomials[-1] - polynomials[-2])
    for steps in (0, 1, 4):
        found = chebyshev(starts, columns, matrix.data, v.copy(), B @ v, steps, center, half_width)
        np.testing.assert_allclose(found, polynomials[steps + 1], atol=1e-10)


def test_levels():
    graph = sparse.csr_array(
        np.array(
            [[0, 1, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]
        )
    )
    level = np.empty(5, np.int64)
    dependency_levels(graph.indptr, graph.indices, np.arange(5), level)
    assert level.tolist() == [0, 1, 0, 1, 2]
    # Within a group a point comes after those it waits for, so it need not wait for a level.
    dependency_levels(graph.indptr, graph.indices, np.array([0, 0, 1, 1, 1]), level)
    assert level.tolist() == [0, 0, 0, 0, 1]


def test_the_layout_pulls_edges_together_and_keeps_the_centre_of_a_pair():
    position = np.array([[0.0, 0.0], [30.0, 4.0]])
    ends = np.array([0]), np.array([1])
    spread_out(position, *ends, np.array([1.0]), 60, 0)
    assert 20 < np.linalg.norm(position[0] - position[1]) < 28
    np.testing.assert_allclose(position.mean(axis=0), [15.0, 2.0], atol=0.01)
    # An edge that is not due in time pulls nothing.
    twice = np.array([[0.0, 0.0], [2.0, 1.0]])
    spread_out(twice, *ends, np.array([5.0]), 5, 0)
    np.testing.assert_array_equal(twice, [[0.0, 0.0], [2.0, 1.0]])


def test_points_that_coincide_are_not_pushed():
    position = np.zeros((3, 2))
    spread_out(position, np.array([0, 1]), np.array([1, 2]), np.ones(2), 5, 3)
    np.testing.assert_array_equal(position, 0)


def test_products_are_folded():
    rng = np.random.default_rng(0)
    spectra, filters = rng.standard_normal((2, 4, 8)), rng.standard_normal((3, 4, 8))
    out = np.full((2, 3, 2, 4), np.nan)
    folded_products(spectra, filters, out)
    products = spectra[:, None] * filters[None]
    expected = products.reshape(2, 3, 2, 2, 2, 4).sum(axis=(2, 4))
    np.testing.assert_allclose(out, expected, atol=1e-13)


def test_neighbours_in_float32_and_with_ties():
    x = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1], [0.6, 0.8]])
    found = nearest_neighbors(Points(x), 4, engine=ENGINES[1])
    np.testing.assert_array_equal(found, plain.nearest_neighbors(x, 4))
