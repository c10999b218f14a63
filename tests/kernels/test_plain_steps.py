"""Steps, pulls and places on tiny data: what other tests of the kernels do not come to."""

from __future__ import annotations

import numpy as np
import pytest

from srsg.coding import l1_codes, laplacian_codes
from srsg.kernels import density, direct, fpgd_sp, lasso, smce, votes
from srsg.kernels.graphs import spread_out
from srsg.kernels.votes import Votes
from srsg.points import unit_points
from srsg.running import ThreadEngine
from support.kernels import from_python

ENGINE = ThreadEngine(1)
power_bound, stable_step = (
    from_python(getattr(fpgd_sp, name)) for name in ("power_bound", "stable_step")
)
smallest_positive_coefficient = from_python(votes.smallest_positive_coefficient)
settle = from_python(smce.settle)
coordinate_sweep, objective, to_first_zero = map(
    from_python, (lasso.coordinate_sweep, direct.objective, direct.to_first_zero)
)


# The step of Algorithm 1


@pytest.mark.parametrize(("n_moving", "few"), [(5, 64), (12, 4), (66, 64)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_step_is_cut_to_the_stable_bound(monkeypatch, n_moving, few, seed):
    """More than a few coordinates are too many for bisection alone; the compiler knows how many
    are few, plain Python is told. Those that do not move are longer."""
    monkeypatch.setattr(fpgd_sp, "BISECTED_UP_TO", few)
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((n_moving + 8, 6))
    atoms[:, 0] += 1  # one eigenvalue stands out
    moves = rng.permutation(len(atoms)) < n_moving
    atoms[~moves] *= 20
    gram = atoms @ atoms.T
    largest = np.linalg.eigvalsh(gram[moves][:, moves])[-1]
    bound = 0.5 / largest
    assert stable_step(gram, moves, 0.9 * bound) == 0.9 * bound
    for step in (1.1 * bound, 100 * bound):
        cut = stable_step(gram, moves, step)
        assert bound * (1 - 1e-5) <= cut <= bound * (1 + 1e-12)


def test_power_iterations_find_the_largest_eigenvalue_from_below():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((9, 3))
    atoms[:, 0] += 2
    gram, chosen = atoms @ atoms.T, np.array([0, 2, 3, 5, 8])
    largest = np.linalg.eigvalsh(gram[chosen][:, chosen])[-1]
    found = power_bound(gram, chosen)
    assert largest * (1 - 1e-9) <= found <= largest * (1 + 1e-14)


@pytest.mark.parametrize(
    ("voters", "counts", "smallest"),
    [(7, [1, 3, 5], 1), (6, [1, 2], 2), (5, [], 5), (5, [4, 5], 5), (4, [2, 1], 2)],
)
def test_the_smallest_positive_coefficient(voters, counts, smallest):
    each = Votes(np.arange(len(counts)), np.array(counts, np.int64), voters)
    assert smallest_positive_coefficient(each) == smallest


# Parts of the Lasso


def lasso_problem(seed=0, size=4):
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((size, 6))
    return atoms @ atoms.T, atoms @ rng.standard_normal(6), rng.standard_normal(size)


def test_the_objective_of_a_code():
    gram, b, z = lasso_problem()
    z[1] = 0.0
    expected = z @ gram @ z / 2 - b @ z + 0.3 * np.abs(z).sum()
    assert objective(gram, b, 0.3, z) == pytest.approx(expected, abs=1e-13)


def test_a_pass_of_coordinate_descent_tells_whether_a_sign_changed():
    gram, b, z = lasso_problem()
    for _ in range(300):
        gradient = b - gram @ z
        before = z.copy()
        changed = coordinate_sweep(gram, 0.3, z, gradient)
        assert changed == (np.sign(z) != np.sign(before)).any()
        np.testing.assert_allclose(gradient, b - gram @ z, atol=1e-12)
    violation = np.where(z != 0, np.abs(gradient - 0.3 * np.sign(z)), np.abs(gradient) - 0.3)
    assert violation.max() < 1e-9


def test_a_step_ends_at_the_first_zero():
    start, support = np.array([2.0, 5.0, -1.0, 3.0]), np.array([0, 2, 3])
    z = start.copy()
    to_first_zero(z, support, 3, np.array([-4.0, 4.0, 1.0]), 1.0)
    np.testing.assert_array_equal(z, [1.0, 5.0, 0.0, 3.25])
    # Too short to reach any zero, as after an overflow: the last one goes.
    z = start.copy()
    to_first_zero(z, support, 3, np.array([-4.0, 4.0, 1.0]), 0.1)
    np.testing.assert_array_equal(z, [2.0, 5.0, -1.0, 0.0])


# The Laplacian's codes, with and without the Gram matrix


def long_gap(x, z, atoms, lam, ridge, pull):
    """Primal minus dual objective of the plain l1 problem of longer vectors."""
    long_atoms = np.hstack([atoms, np.sqrt(ridge) * np.eye(len(z))])
    long_x = np.concatenate([x, pull / np.sqrt(ridge)])
    resid = long_x - z @ long_atoms
    worst = np.abs(long_atoms @ resid).max()
    scale = min(resid @ long_x / (resid @ resid), lam / 2 / worst)
    dual = 2 * scale * resid @ long_x - scale**2 * resid @ resid
    return resid @ resid + lam * np.abs(z).sum() - dual


@pytest.mark.parametrize("by_gram", [False, True])
@pytest.mark.parametrize(("lam", "gamma"), [(0.1, 0.3), (0.02, 0.02), (0.5, 2.0)])
def test_laplacian_codes_solve_every_problem(by_gram, lam, gamma):
    rng = np.random.default_rng(3)
    points = unit_points(
        np.repeat(rng.standard_normal((3, 5)), 4, axis=0) + 0.4 * rng.standard_normal((12, 5))
    )
    x = points.x
    start = l1_codes(points, lam, n_neighbors=3, engine=ENGINE)
    found = laplacian_codes(
        points,
        start.codes,
        start.neighbors,
        lam=lam,
        gamma=gamma,
        max_sweeps=80,
        tol=1e-14,
        laplacian="neighbors",
        gram_bytes=10**6 if by_gram else 0,
        engine=ENGINE,
    )
    Z = found.codes.toarray()
    S = np.zeros((12, 12))
    np.put_along_axis(S, start.neighbors, 1, axis=1)
    weights = gamma * (S + S.T)
    gradient = 2 * (x - Z @ x) @ x.T - 2 * (weights.sum(axis=1)[:, None] * Z - weights @ Z)
    violation = np.where(Z != 0, np.abs(gradient - lam * np.sign(Z)), np.abs(gradient) - lam)
    np.fill_diagonal(violation, 0)
    assert violation.max() < 1e-4
    assert found.kkt_violation.max() < 1e-9
    for i in range(12):
        others = np.delete(np.arange(12), i)
        pull = (weights[i] @ Z)[others]
        gap = long_gap(x[i], Z[i, others], x[others], lam, weights[i].sum(), pull)
        assert found.dual_gap[i] == pytest.approx(gap, abs=1e-4)
        assert found.dual_gap[i] < 1e-7


# Places of the points in a picture


def drawn(position, n_epochs=7, seed=3):
    position = position.copy()
    source, target = np.array([0, 1, 2, 4, 0]), np.array([1, 2, 3, 5, 3])
    spread_out(position, source, target, np.array([1.0, 1.0, 2.0, 1.5, 3.0]), n_epochs, seed)
    return position


def test_the_picture_has_no_preferred_axis_and_no_origin():
    rng = np.random.default_rng(0)
    position = rng.standard_normal((6, 2)) * [3, 1] + [0.5, 2.0]
    found = drawn(position)
    np.testing.assert_allclose(drawn(position[:, ::-1])[:, ::-1], found, atol=1e-12)
    np.testing.assert_allclose(drawn(-position), -found, atol=1e-12)
    np.testing.assert_allclose(drawn(position + 8.0) - 8.0, found, atol=1e-9)
    assert np.abs(drawn(position, seed=4) - found).max() > 1e-3


def test_points_without_an_edge_are_pushed_apart():
    """One edge, whose ends have the same place, and a third point beside them."""
    position = np.array([[0.0, 0.0], [0.0, 0.0], [0.6, 0.8]])
    spread_out(position, np.array([0]), np.array([1]), np.array([1.0]), 3, 0)
    assert np.linalg.norm(position[0] - position[2]) > 1.05
    np.testing.assert_array_equal(position[2], [0.6, 0.8])  # only the ends of edges move


def test_the_end_of_an_edge_moves_by_the_gradient_of_its_attraction():
    position = np.array([[0.5, -1.0], [2.0, 1.0]])
    difference = position[1] - position[0]
    spread_out(position, np.array([0]), np.array([1]), np.array([0.0]), 1, 0)
    expected = [2.0, 1.0] - 2 * difference / (1 + difference @ difference)
    np.testing.assert_allclose(position[1], expected, atol=1e-14)


# Codes that sum to one, and joined groups


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_multiplier_is_that_of_the_coordinates_that_stay(size):
    """Points along a line from the target: all but the nearest leave, one after another."""
    directions = np.outer(np.arange(1.0, size + 1), [1.0, 0.2])
    gram, penalty = directions @ directions.T + 1e-3 * np.eye(size), np.full(size, 0.1)
    c, sign = np.full(size, 1 / size), np.ones(size)
    multiplier, _ = settle(gram, penalty, c, sign, 0.0)
    np.testing.assert_allclose(c, np.eye(size)[0], atol=1e-12)
    assert multiplier == pytest.approx(gram[0, 0] + penalty[0])


def test_the_lower_peak_is_absorbed():
    """Five points on a line: the group of 1 takes in 0 and 2, and then that of 3 and 4."""
    ends = np.array([[0, 1], [1, 2], [3, 4], [2, 3]])
    radius, peaks = np.array([2.0, 1.0, 4.0, 1.5, 3.0]), np.empty(4, np.int64)
    density.absorbed_peaks(ends, np.array([0, 2, 1, 3]), radius, peaks)
    assert peaks.tolist() == [0, 4, 2, 3]
