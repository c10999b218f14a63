"""Codes that add up to one: sparse subspace clustering as published, for affine subspaces.

With the constraint, the residual is a combination of the directions from a point to the others, and
each problem is one of those that :mod:`srsg.coding.smce` solves. All pairs of the points are
compared for every code: this is for up to a few thousand points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from srsg.kernels.smce import code_on_plane
from srsg.points import blocks_of_rows
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.types import FloatArray, IntArray

PUBLISHED_ALPHA = 800.0
"""How far the weight of the loss is above the least at which codes are not all zero."""

ROWS_PER_BLOCK = 32
"""Codes that are found at once: a code takes long, and threads should share few of them too."""


@dataclass(frozen=True)
class AffineCodes:
    """Codes of points or of queries, with certificates.

    Attributes
    ----------
    codes : csr_array of shape (n, n) or (n_queries, n)
        Every row adds up to one.
    kkt_violation, dual_gap : ndarray of shape (n,) or (n_queries,)
        Largest violation of the optimality conditions, and the duality gap.
    """

    codes: sparse.csr_array
    kkt_violation: FloatArray
    dual_gap: FloatArray


def published_lam(x: FloatArray) -> float:
    """The rule of Elhamifar and Vidal (2013), ``2 / lambda`` in their notation.

    There ``|C|_1 + lambda / 2 ||Y - Y C||^2`` has ``lambda = 800 / min_i max_j |y_i' y_j|``.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.ssc import published_lam
    >>> published_lam(np.array([[20.0, 0.0], [20.0, 1.0], [0.0, 40.0]]))
    0.1
    """
    with serial_linear_algebra():
        products = np.abs(x @ x.T)
    np.fill_diagonal(products, 0.0)
    return float(2 * products.max(axis=1).min() / PUBLISHED_ALPHA)


def affine_codes(
    x: FloatArray,
    lam: float,
    *,
    ridge: float = 0.0,
    queries: FloatArray | None = None,
    engine: Engine | None = None,
) -> AffineCodes:
    """Code every point over the others, with codes that add up to one.

    The code minimises ``||x_i - X z||^2 + lam (|z|_1 + ridge / 2 |z|^2)`` with ``sum z = 1``.

    Parameters
    ----------
    x : ndarray of shape (n, n_features)
        The points, which all differ; at least two of them.
    lam : float
        Weight of the l1 norm.
    ridge : float
        Weight of the squared norm beside it. It spreads a code over points that are alike.
    queries : ndarray of shape (n_queries, n_features), optional
        New points, which are coded over all points. One that equals a point is coded by it alone.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    AffineCodes

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.ssc import affine_codes
    >>> line = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> affine_codes(line, 0.01).codes.toarray().round(3)
    array([[ 0.  ,  1.99, -0.99],
           [ 0.5 ,  0.  ,  0.5 ],
           [-0.99,  1.99,  0.  ]])
    """
    targets = x if queries is None else queries
    task = partial(_code, lam=lam, ridge=ridge, n_others=len(x) - (queries is None))
    blocks = blocks_of_rows(len(targets), ROWS_PER_BLOCK)
    found = (engine or ThreadEngine()).map(task, (x, queries), blocks, label="affine codes")
    codes, violation, gap = zip(*found, strict=True)
    return AffineCodes(
        sparse.csr_array(sparse.vstack(codes)), np.concatenate(violation), np.concatenate(gap)
    )


def _code(
    data: tuple[FloatArray, FloatArray | None],
    rows: IntArray,
    *,
    lam: float,
    ridge: float,
    n_others: int,
) -> tuple[sparse.csr_array, FloatArray, FloatArray]:
    x, queries = data
    targets = x[rows] if queries is None else queries[rows]
    distances = euclidean_distances(targets, x)
    if queries is None:
        distances[np.arange(len(rows)), rows] = np.inf
    # Nearest first, which is where the solver starts.
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_others]
    values, gap = np.zeros(order.shape), np.zeros(len(rows))
    codes = np.zeros(distances.shape)
    same = (targets[:, None] == x).all(axis=2) if queries is not None else codes != 0
    copies = same.any(axis=1)
    others = np.flatnonzero(~copies)
    part = values[others], gap[others]
    code_on_plane(x, targets[others], order[others], lam / 2, lam * ridge / 2, *part)
    values[others], gap[others] = part
    np.put_along_axis(codes, order, values, axis=1)
    codes[copies] = same[copies]
    violation = affine_violations(x, targets, codes, lam, ridge)
    violation[copies] = 0.0  # exact, whatever the penalty
    return sparse.csr_array(codes), violation, 2 * gap


def affine_violations(
    x: FloatArray,
    targets: FloatArray,
    codes: NDArray[np.floating],
    lam: float,
    ridge: float = 0.0,
) -> FloatArray:
    """How far codes are from the optimality conditions, by their best multiplier of ``sum z = 1``.

    No kernel is used: what is checked here was computed by kernels. A point that is at distance
    zero from the target is left out, since no point codes itself.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.ssc import affine_violations
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> affine_violations(line, line[1:2], np.array([[0.5, 0.0, 0.5]]), 0.01)
    array([0.])
    """
    found = np.zeros(len(targets))
    for i, (target, z) in enumerate(zip(targets, codes, strict=True)):
        directions = x - target
        gradient = 2 * directions @ (z @ directions) + lam * ridge * z
        # Each point allows an interval of multipliers: a single one if its coefficient is not zero.
        least = gradient + np.where(z != 0, lam * np.sign(z), -lam)
        most = gradient + np.where(z != 0, lam * np.sign(z), lam)
        others = directions.any(axis=1)
        # The middle between the largest lower and the smallest upper end is the best for all.
        found[i] = max(0.0, (least[others].max() - most[others].min()) / 2)
    return found
