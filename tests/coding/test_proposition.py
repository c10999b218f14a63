"""Proposition A.1: a critical point of the simplified objective (7) is nearly one of (6)."""

from __future__ import annotations

import numpy as np
import pytest

from srsg.coding import fpgd_sp


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
def test_a_small_shift_makes_it_nearly_critical(epsilon):
    """Coordinates with c < 0 that are zero are set to epsilon: where the shifted point is not zero,
    F is smooth, and its gradient is at most ``L_f |C| epsilon`` long. Where it is zero, c is
    positive, and any number is a subgradient."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 12))
    A[:, 3] = 0.0
    A[19] = 0.0
    A[19, 3] = 1.0  # orthogonal to all others and to b: its best coefficient is zero
    A /= np.linalg.norm(A, axis=0)
    b = A[:, [0, 1, 2]] @ np.array([1.0, -0.7, 0.4]) + 0.01 * (np.arange(20) < 19)
    c = np.array([1, 1, -1, -2, 3, 3, 3, 1, 1, 1, -1, 1], float)
    lipschitz = 2 * np.linalg.norm(A, 2) ** 2
    start = np.linalg.lstsq(A, b)[0]
    start[3] = 0.0
    z, _ = fpgd_sp(A, b, c, 0.01, start, step=0.9 / lipschitz, max_iter=200_000)
    shrunk = (c > 0) & (z == 0)
    assert shrunk.any()
    assert z[3] == 0

    def gradient(point):
        return 2 * A.T @ (A @ point - b)

    assert np.abs(gradient(z)[~shrunk]).max() < 1e-9  # critical for (7)
    negative = (c < 0) & (z == 0)
    shifted = z + epsilon * negative
    subgradient = np.where(shifted != 0, gradient(shifted), 0.0)
    assert np.linalg.norm(subgradient) <= lipschitz * negative.sum() * epsilon + 1e-9
    assert np.linalg.norm(subgradient) > 0.1 * epsilon  # it is not zero either
