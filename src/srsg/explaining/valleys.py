"""Whether clusters lie apart: the valleys of density between them.

Any cloud of points can be cut into clusters, and in the same way again and again. But clusters that
are real have a valley between them: along the line from one centre to the other, the points are
rarer in the middle than near both centres. Points without clusters, whatever their covariance and
their tails, have a single peak along every line.

The middle third of the line between the medians of two clusters is compared with the stretches on
both sides of it, which reach a sixth of the line beyond the medians. If there were no valley, the
middle would be at least as dense as the sparser of the two: a binomial test gives the p-value.
Three things keep it honest. A point has no part in the
centres by which it is placed. Of the other clusters, those points count that are nearer to the
middle of the line than to their own centre: to leave all others out would dig a valley by itself.
And a valley counts only below three quarters of the outer density, because the labels were chosen
with these very points in view.

Lines are drawn in three spaces: that of the points; the same with its principal axes scaled to
similar lengths, where clusters differ in directions of little variance; and that of the squares and
products of the columns, where subspaces through one origin are apart. ``benchmarks/structure.py``
measures how often noise has a valley: the level is 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve
from scipy.stats import binom, false_discovery_control

from srsg.types import FloatArray, IntArray

LEVEL = 0.05
"""The share of data sets without clusters in which clusters may be found."""

MOST_POINTS = 1500
"""Of more points, a random sample of this many is looked at."""

SHALLOW = 0.75
"""A valley with more than this share of the density on its sides is no valley: labels that follow
the chance gaps of noise reach about 0.8."""

EDGES = np.array([-1 / 6, 1 / 3, 2 / 3, 7 / 6])
"""The two stretches and the middle between them, with the medians at 0 and 1. Stretches that began
at the medians would have three fifths of the points: of pairs of blobs five sigmas apart, with 50
points each on a line, 81 % would be found instead of 96 %. In more columns, where labels are
wrong more often, fewer are."""

N_SPACES = 3
"""Spaces in which valleys are looked for."""

FEWEST_FEATURES = 4
"""With fewer columns, the squares of noise without clusters have two peaks."""


def valley_p_value(points: Any, labels: IntArray) -> float:
    """How likely the valleys between clusters are if there are none.

    One clear valley is enough, and so are many faint ones between clusters of few points. In each
    space, the smaller of two p-values counts: that of Simes (1986) for all pairs of clusters, and
    that of a single test for the pairs of each cluster and its nearest.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, n_features)
        Different points, as they were given.
    labels : ndarray of shape (n,)
        Their clusters.

    Returns
    -------
    float
        1 if there are no two clusters of at least two points.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.valleys import valley_p_value
    >>> points = np.random.default_rng(0).standard_normal((200, 2))
    >>> labels = (points[:, 0] > 0).astype(int)
    >>> valley_p_value(points, labels) > 0.5
    True
    >>> points[:, 0] += 6 * labels
    >>> valley_p_value(points, labels) < 0.001
    True
    """
    rows = some_rows(len(labels))
    labels = np.unique(labels[rows], return_inverse=True)[1]
    return min(_p_value(*space, labels) for space in _spaces(points[rows]))


def some_rows(n_points: int) -> IntArray:
    """The points that are looked at: all, or a random sample that is always the same."""
    if n_points <= MOST_POINTS:
        return np.arange(n_points)
    return np.sort(np.random.RandomState(0).choice(n_points, MOST_POINTS, replace=False))


def _spaces(points: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The inner products of the points in each space, and the leverage of each point."""
    n_points, n_features = points.shape
    # So that squares of huge numbers stay finite.
    scaled = points.astype(np.float64) / (float(abs(points).max()) or 1.0)
    if not sparse.issparse(scaled):
        scaled = scaled - scaled.mean(axis=0)
    plain = scaled @ scaled.T
    plain = _centred(plain.toarray() if sparse.issparse(plain) else plain)
    squares = plain.diagonal()
    yield plain, np.zeros(n_points)
    # Axes much longer than the average come out alike, those much shorter stay short.
    ridge = max(squares.sum(), np.finfo(float).tiny) / min(n_points, n_features)
    even = solve(plain + ridge * np.eye(n_points), plain, assume_a="pos")
    yield (even + even.T) / 2, even.diagonal()
    if n_features >= FEWEST_FEATURES:
        lengths = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        yield _centred((plain / lengths / lengths[:, None]) ** 2), np.zeros(n_points)


def _centred(products: FloatArray) -> FloatArray:
    """The inner products after the mean point has become the origin."""
    means = products.mean(axis=0)
    return products - means - means[:, None] + means.mean()


def _p_value(products: FloatArray, leverage: FloatArray, labels: IntArray) -> float:
    member = np.eye(labels.max() + 1)[labels]
    sizes = member.sum(axis=0)
    # Inner products of each point with each centre, in which it has no part itself. The leverage
    # takes it out of the scaling of the axes, too.
    own = products.diagonal()[:, None] * member
    to_centres = (products @ member - own) / np.maximum(sizes - member, 1)
    to_centres /= 1 - leverage[:, None]
    between = member.T @ to_centres / sizes[:, None]
    along, apart = {}, np.full(between.shape, np.inf)
    for a, b in combinations(np.flatnonzero(sizes > 1).tolist(), 2):
        along[a, b] = _along_line(to_centres, between, labels, a, b)
        apart[a, b] = apart[b, a] = between[a, a] + between[b, b] - between[a, b] - between[b, a]
    if not along:
        return 1.0
    left, middle, right = np.array([*along.values()]).T
    poorer = np.minimum(left, right)
    in_middle = SHALLOW * (EDGES[2] - EDGES[1]) / (EDGES[1] - EDGES[0])
    in_middle /= 1 + in_middle
    each = binom.cdf(middle, middle + poorer, in_middle)
    nearest = {tuple(sorted(pair)) for pair in enumerate(apart.argmin(axis=1))}
    pooled = np.array([pair in nearest for pair in along])
    middle, poorer = middle[pooled].sum(), poorer[pooled].sum()
    together = binom.cdf(middle, middle + poorer, in_middle)
    return float(min(false_discovery_control(each).min(), together))


def _along_line(
    to_centres: FloatArray, between: FloatArray, labels: IntArray, a: int, b: int
) -> NDArray[np.intp]:
    """How many points lie around the median of a cluster, in the middle, and around the other's."""
    # The nearer a centre, the larger its nearness; that of the middle of the line beside them.
    nearness = 2 * to_centres - between.diagonal()
    nearness[:, [a, b]] = -np.inf
    pair = to_centres[:, [a, b]]
    counted = pair.sum(axis=1) - between[np.ix_([a, b], [a, b])].sum() / 4 > nearness.max(axis=1)
    place = pair[:, 1] - pair[:, 0]
    low, high = np.median(place[labels == a]), np.median(place[labels == b])
    if low >= high:
        return np.array([0, 1, 0])
    return np.histogram(place[counted], low + (high - low) * EDGES)[0]
