"""Whether certificates of codes are true, judged by the codes and points alone."""

from typing import Any

import numpy as np
from scipy import sparse

from srsg.coding.approximate import N_CERTIFIED
from srsg.points import Points, row_slices
from srsg.running import Engine
from srsg.types import FloatArray, IntArray

ROWS_PER_BLOCK = 64
"""Codes that are compared with all points at once, as dense vectors."""

ROUNDING = {"d": 1e-9, "f": 1e-4}
"""How far two computations of a violation may differ, by the type of the points."""


def certificates_hold(
    points: Points,
    codes: sparse.csr_array,
    claimed: FloatArray,
    rows: IntArray,
    *,
    lam: FloatArray | float,
    ridge: FloatArray | float = 0.0,
    engine: Engine,
) -> bool:
    """Whether the codes of some points violate the optimality conditions as much as is claimed.

    It takes one matrix product of their residuals with all points, and no kernel: what is checked
    here was computed by kernels.

    Parameters
    ----------
    points : Points
    codes : csr_array of shape (n, n)
    claimed : ndarray of shape (n_rows,)
        Largest violation for each of the rows.
    rows : ndarray of shape (n_rows,)
        Which codes to check.
    lam, ridge : float or ndarray of shape (n,)
        Weights of the l1 norm and of the squared l2 norm.
    engine : Engine
        Where to run.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running import ThreadEngine
    >>> from srsg.points import unit_points
    >>> from srsg.coding.l1 import l1_codes
    >>> from srsg.coding.certified import certificates_hold
    >>> points, engine = unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), ThreadEngine(1)
    >>> found, every = l1_codes(points, 0.1), np.arange(3)
    >>> certificates_hold(points, found.codes, found.kkt_violation, every, lam=0.1, engine=engine)
    True
    >>> changed = 1.5 * found.codes
    >>> certificates_hold(points, changed, found.kkt_violation, every, lam=0.1, engine=engine)
    False
    """
    lam_of, ridge_of = (np.broadcast_to(part, points.n) for part in (lam, ridge))

    def holds(x: sparse.csr_array | FloatArray, part: slice) -> bool:
        mine = rows[part]
        resid = x[mine] - codes[mine] @ x
        products = x @ resid.T  # rows of x first: the product is dense if x is
        gradient = 2 * np.asarray(products.toarray() if sparse.issparse(products) else products).T
        z = codes[mine].toarray()
        gradient -= 2 * ridge_of[mine, None] * z
        weight = lam_of[mine, None]
        violation = np.where(
            z != 0, np.abs(gradient - weight * np.sign(z)), np.abs(gradient) - weight
        )
        violation[np.arange(len(mine)), mine] = 0.0  # no point codes itself
        found = np.maximum(0.0, violation.max(axis=1))
        # Rounding grows with the numbers that the gradient is made of.
        scale = 1 + np.abs(z).sum(axis=1) * (1 + ridge_of[mine]) + lam_of[mine]
        return bool((np.abs(found - claimed[part]) <= ROUNDING[points.dtype.char] * scale).all())

    blocks = row_slices(len(rows), ROWS_PER_BLOCK)
    return all(engine.quiet().map(holds, points.x, blocks, label="certificates of a kept graph"))


def codes_are_certified(
    codes: sparse.csr_array | None,
    learnt: Any,
    points: Points,
    run: Engine,
    *,
    lam: FloatArray | float,
    ridge: FloatArray | float = 0.0,
) -> bool:
    """Whether codes from a store have the violations that came with them.

    Points on the workers of a cluster are not checked.
    """
    if points.in_shards:
        return True
    if codes is None or "kkt_violation" not in learnt:
        return False
    violation = learnt["kkt_violation"]
    rows: IntArray = learnt.get("certified", np.arange(points.n))
    if len(violation) != len(rows):
        return False
    # A sample of a large graph: to check all codes would take a scan, and a graph is kept so that
    # another fit needs none.
    some = np.linspace(0, len(rows) - 1, min(len(rows), N_CERTIFIED)).astype(np.int64)
    return certificates_hold(
        points, codes, violation[some], rows[some], lam=lam, ridge=ridge, engine=run
    )
