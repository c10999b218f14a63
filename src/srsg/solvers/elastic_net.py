"""How much the elastic net of a point must weigh for its code not to be empty."""

from __future__ import annotations

import numpy as np

from srsg.engines import Engine, ThreadEngine
from srsg.kernels.codes import Codes
from srsg.kernels.correlations import strongest
from srsg.points import Points, Queries, blocks_of_rows
from srsg.types import FloatArray, IntArray


def smallest_empty_lam(
    points: Points,
    l1_ratio: float = 1.0,
    *,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> FloatArray:
    """For every point the smallest lam at which its code is empty.

    At ``lam * l1_ratio = 2 max_j |x_j' x_i|`` no other point is worth its price. With
    ``queries``, the same for each of these, to which all points are others.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.solvers import smallest_empty_lam
    >>> smallest_empty_lam(unit_points([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]))
    array([1.2, 1.6, 1.6])
    """
    engine = engine or ThreadEngine()
    coded = Queries.of(points, queries)
    blocks = blocks_of_rows(len(coded), engine.block_size)
    found = engine.map(_largest, coded, blocks, label="largest correlations")
    return 2 * np.concatenate(found) / l1_ratio


def _largest(queries: Queries, rows: IntArray) -> FloatArray:
    points, block = queries.points, queries[rows]
    targets = block.x.astype(np.float64)
    empty = np.zeros((len(rows), 0), np.int64)
    nothing = Codes(empty, empty.astype(float), np.zeros(len(rows), np.int64))
    index, strength = np.empty(len(rows), np.int64), np.empty(len(rows))
    strongest(
        points.x,
        block.own,
        targets,
        points.correlations(targets),
        nothing,
        points.correlation_error,
        index,
        strength,
    )
    return strength
