"""The step s of Algorithm 1: it decides how hard SRSG cuts."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from srsg.points import Points


def theorem_step(points: Points, gamma: float, n_neighbors: int) -> float:
    """The largest step of Theorem 3.2, ``s < min(2 tau / G^2, 1 / L_f)``.

    Here ``L_f = 2 sigma_max(X)^2``; the gradient ``2 X' r`` is at most ``G = 2 sigma_max(X)`` as
    long as residuals are no longer than the unit points themselves; and tau is gamma times the
    smallest positive ``c``, which is 1 for an odd number of neighbours and 2 for an even one.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.solvers.steps import theorem_step
    >>> points = unit_points([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(theorem_step(points, gamma=0.1, n_neighbors=5), 6)
    0.05
    """
    smallest_c = 1 if n_neighbors % 2 else 2
    lipschitz = 2 * _largest_singular_value(points) ** 2
    # G^2 = 2 L_f, so 2 tau / G^2 = tau / L_f. The bound is strict.
    return min(gamma * smallest_c, 1.0) / lipschitz * (1 - 1e-9)


def _largest_singular_value(points: Points) -> float:
    if min(points.x.shape) <= 100:
        return float(np.linalg.norm(points.x.astype(np.float64), 2))
    # A fixed start: a random one would give other bits each time.
    start = np.ones(min(points.x.shape))
    value = svds(points.x, 1, v0=start, return_singular_vectors=False, tol=1e-10)[0]
    return float(value) * (1 + 1e-8)  # an iterative value may fall short


def auto_step(codes: sparse.csr_array, lam: float) -> float:
    """``max(m^2 / 2, lam^2)`` with m the mean magnitude of the non-zeros of the l1 codes.

    The thresholds ``sqrt(2 s gamma c)`` are then in proportion to what they are compared with.
    Where the non-zeros are few and large, that is their mean magnitude: at ``gamma = 0.1``, a
    coefficient that none of five neighbours shares is dropped if it is below 0.7 m. Where they are
    many and small, most are below lam, which is within the error of the l1 norm: it makes every
    coefficient too small by about lam / 2. There, a coefficient that no neighbour shares is dropped
    if it is below lam.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.solvers.steps import auto_step
    >>> auto_step(sparse.csr_array([[0.0, 0.5], [-0.5, 0.0]]), lam=0.1)
    0.125
    """
    sizes = np.abs(codes.data[codes.data != 0])
    mean = float(sizes.mean()) if sizes.size else 0.0
    # At lam = 2 the codes of unit vectors are empty, so a larger lam makes no difference.
    return max(mean**2 / 2, min(lam, 2.0) ** 2)
