"""The smallest weight of the l1 norm at which a point's code is empty."""

from srsg.coding.neighbors import most_correlated
from srsg.points import Points
from srsg.running import Engine
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
    largest = most_correlated(points, 1, queries=queries, engine=engine)
    return 2 * abs(largest).max(axis=1).toarray().ravel() / l1_ratio
