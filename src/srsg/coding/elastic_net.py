"""The smallest weight of the l1 norm at which a point's code is empty."""

import numpy as np

from srsg.kernels.arrays import Codes
from srsg.kernels.correlations import strongest
from srsg.points import Points, Queries, Rows, dense_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray


def smallest_empty_lam(
    points: Points,
    l1_ratio: float = 1.0,
    *,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> FloatArray:
    """For every point, the smallest lam at which its code is empty.

    It is where ``lam * l1_ratio = 2 max_j |x_j' x_i|``: no other point is worth its cost. Queries
    may use all points.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.coding import smallest_empty_lam
    >>> smallest_empty_lam(unit_points([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]))
    array([1.2, 1.6, 1.6])
    """
    engine = engine or ThreadEngine()
    blocks = Queries.of(points, queries).blocks(engine.block_size)
    found = engine.map(_largest, points, blocks, label="largest correlations")
    return 2 * np.concatenate(found) / l1_ratio


def _largest(points: Points, block: Queries) -> FloatArray:
    vectors = dense_rows(block.vectors(Rows(points.x))).astype(np.float64)
    # The residual of an empty code is the point itself, so this is the first scan of the l1 codes.
    correlations, error = points.correlations(vectors), points.correlation_error
    empty = Codes.empty(len(block))
    _, strength = strongest(points.for_kernels, block.own, vectors, correlations, empty, error)
    return strength
