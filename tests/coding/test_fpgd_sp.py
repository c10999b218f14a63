"""Algorithm 1: equal to full length, and Theorem 3.2 holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsg.coding import fpgd_sp, l1_codes, theorem_step
from srsg.points import unit_points
from support import plain
from support.subspaces import near_planes


def random_problem(seed, n=30, d=15):
    """Unit atoms, a unit target, an l1-like start, penalties of both signs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, n))
    A /= np.linalg.norm(A, axis=0)
    b = A[:, :5] @ rng.standard_normal(5)
    b /= np.linalg.norm(b)
    c = rng.choice([5.0, 3.0, 1.0, -1.0, -3.0], size=n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    z0 = np.where(rng.random(n) < 0.4, rng.standard_normal(n) * 0.3, 0.0)
    z0[0] = 0.0
    return A, b, c, z0


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([1e-4, 0.01, 0.1, 1.0]),
    share=st.sampled_from([0.05, 0.5, 0.99]),
    tol=st.sampled_from([0.0, 1e-6]),
)
def test_equal_to_full_length(seed, gamma, share, tol):
    """Small gamma lets coordinates in that did not start; they must come in here too."""
    A, b, c, z0 = random_problem(seed)
    step = share / (2 * np.linalg.norm(A, 2) ** 2)
    expected, touched = plain.fpgd_sp(A, b, c, gamma, z0, step, 60, tol, 0)
    z, history = fpgd_sp(A, b, c, gamma, z0, step=step, max_iter=60, tol=tol, fixed_zero=0)
    np.testing.assert_array_equal(z != 0, expected != 0)
    np.testing.assert_allclose(z, expected, atol=1e-12)
    assert set(np.flatnonzero(touched)) <= set(history.active)
    np.testing.assert_array_equal(history.support[-1], np.flatnonzero(z))


def test_coordinates_do_enter_when_the_threshold_is_low():
    """The property above would be idle if no coordinate ever had to be let in."""
    A, b, c, z0 = random_problem(1)
    step = 0.9 / (2 * np.linalg.norm(A, 2) ** 2)
    z, _ = fpgd_sp(A, b, c, 1e-4, z0, step=step, max_iter=60, fixed_zero=0)
    entered = (z != 0) & (z0 == 0) & (c > 0)
    assert entered.any()


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.05, 0.5, 2.0]))
def test_theorem(seed, gamma):
    """Under the theorem's step the support shrinks and the objective falls as 1 / k(k+1)."""
    A, b, c, z0 = random_problem(seed, n=20, d=40)
    sigma = np.linalg.norm(A, 2)
    penalized = c > 0
    tau = gamma * c[penalized].min()
    # The residual of m^(k) stays below that of the start and of zero; verified below.
    largest_residual = max(np.linalg.norm(b - A @ z0), np.linalg.norm(b))
    G = 2 * sigma * largest_residual
    step = 0.999 * min(2 * tau / G**2, 1 / (2 * sigma**2))
    _, history = fpgd_sp(A, b, c, gamma, z0, step=step, max_iter=400)

    z, v = (np.zeros((401, 20)) for _ in range(2))
    z[:, history.active], v[:, history.active] = history.z, history.v
    k = np.arange(1, 401)
    alpha = (2 / (k + 1))[:, None]
    m = (1 - alpha) * z[:-1] + alpha * v[:-1]
    gradient = 2 * (m @ A.T - b) @ A
    assert np.linalg.norm(gradient, axis=1).max() <= G

    supports = (z != 0) & penalized
    assert (supports[1:] <= supports[:-1]).all()

    final = supports[-1]
    k0 = max(1, np.flatnonzero((supports != final).any(axis=1)).max(initial=-1) + 1) + 1
    moving = final | ~penalized
    z_star = np.zeros(20)
    z_star[moving] = np.linalg.lstsq(A[:, moving], b, rcond=None)[0]
    F_star = np.sum((b - A @ z_star) ** 2) + gamma * c[final].sum()
    F = history.objective
    U = k0 * (k0 - 1) * (F[k0 - 1] - F_star) + np.sum((v[k0 - 1] - z_star) ** 2) / (step / 2)
    gap = F[k0:] - F_star
    later = np.arange(k0, 401)
    assert (gap >= -1e-12).all()
    assert (gap <= U / (later * (later + 1)) + 1e-12).all()


def test_theorem_step_keeps_the_gradient_within_its_bound():
    """The step takes residuals to be at most one; along real runs they are."""
    X, _ = near_planes(0, n_points=60, n_features=10)
    points = unit_points(X)
    codes = l1_codes(points, 0.1, n_neighbors=5)
    step = theorem_step(points, 0.1, 5)
    assert step < 1 / (2 * np.linalg.norm(X, 2) ** 2)
    for i in range(60):
        used = (codes.codes[codes.neighbors[i]].toarray() != 0).sum(axis=0)
        z0 = codes.codes[[i]].toarray()[0]
        _, history = fpgd_sp(X.T, X[i], 5 - 2 * used, 0.1, z0, step=step, fixed_zero=i)
        residuals = X[i] - history.z @ X[history.active]
        assert np.linalg.norm(residuals, axis=1).max() <= 1


def test_divergence_is_an_error():
    A, b, c, z0 = random_problem(0)
    with pytest.raises(ValueError, match=r"step=50.* too large"):
        fpgd_sp(A, b, c, 0.1, z0, step=50.0, max_iter=2000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.ones(3)}, "A must have shape"),
        ({"b": np.ones(3)}, "b must have shape"),
        ({"c": np.ones(3)}, "c must have shape"),
        ({"z0": np.ones(3)}, "z0 must have shape"),
        ({"b": np.full(15, np.nan)}, "b contains NaN"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"step": 0.0}, "step must be positive"),
        ({"max_iter": 0}, "max_iter must be positive"),
    ],
)
def test_bad_arguments_are_named(change, message):
    A, b, c, z0 = random_problem(0)
    arguments = {"A": A, "b": b, "c": c, "gamma": 0.1, "z0": z0, "step": 0.01, **change}
    with pytest.raises(ValueError, match=message):
        fpgd_sp(**arguments)
