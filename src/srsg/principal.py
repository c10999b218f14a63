"""Principal axes of the points: most of every point in few numbers.

A scan compares vectors with all points by a matrix product. Along the leading principal axes, this
product is smaller. The part that it leaves out is bounded: by the inequality of Cauchy and Schwarz,
the inner product of two vectors is that of their leading parts, up to the product of the norms of
their residuals. Points that the bound cannot rule out are compared in full: nothing is lost.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.kernels.arrays import LeftOut
from srsg.types import FloatArray

POINTS_PER_FEATURE = 16
"""With fewer points, and fewer vectors to compare with them, axes cost more than they save."""

MOST_KEPT = 0.75
"""With more axes than this share of the features, the product is hardly smaller."""

SAMPLE = 8192
"""Points that are enough to find the axes: any axes are right, and these save about as much as
those of all points."""

MEAN_REST = 0.04
"""The mean squared norm of the residuals, as a share of the correlation above which points count.
Shorter residuals take more axes, longer ones leave more points to compare in full. Measured on
MNIST with 20,000 and with 70,000 points."""

LONGEST_REST = 0.25
"""A vector is compared in full if the bound for a typical point exceeds this share of the
correlation above which points count: it would rule out too few."""


@dataclass(frozen=True)
class PrincipalAxes:
    """Leading principal axes of some points, which are not centred, and the points along them.

    Attributes
    ----------
    axes : ndarray of shape (n_features, n_axes)
        Orthonormal columns.
    scores : ndarray of shape (n_axes, n)
        The points along the axes, in float32. One axis after the other, because that makes products
        faster.
    rest : ndarray of shape (n,)
        The norm of each point's residual, which the axes leave out, rounded up.
    longest : float
        A vector with a longer residual is better compared in full.
    """

    axes: FloatArray
    scores: NDArray[np.float32]
    rest: NDArray[np.float32]
    longest: float

    @classmethod
    def of(
        cls,
        axes: FloatArray,
        scores: NDArray[np.float32],
        rest: NDArray[np.float32],
        strength: float,
    ) -> Self:
        """Axes for a search for absolute correlations above ``strength``."""
        typical = np.sqrt(np.mean(np.square(rest, dtype=np.float64)))
        return cls(axes, scores, rest, LONGEST_REST * strength / float(typical))

    def correlations(
        self, vectors: NDArray[np.floating], room: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], LeftOut]:
        """Inner products of the vectors with every point along the axes, and the norms left out.

        They are written to ``room``, if given.
        """
        scores, rest = along(self.axes, vectors)
        return np.matmul(scores, self.scores, out=room), LeftOut(rest, self.rest)


def bytes_of_axes(n_points: int, n_features: int) -> float:
    """A bound on the memory that axes and the search for them take.

    Examples
    --------
    >>> from srsg.principal import bytes_of_axes
    >>> bytes_of_axes(70_000, 784)
    240606464.0
    """
    # The points along the axes, in float32; the sample, and matrices for its axes, in float64.
    scores = 4 * MOST_KEPT * n_points * n_features
    return scores + 8 * n_features * (min(SAMPLE, n_points) + 5 * n_features)


def principal_axes(x: NDArray[np.floating], strength: float) -> FloatArray | None:
    """The leading principal axes of unit vectors, or None if that would be nearly all of them.

    Parameters
    ----------
    x : ndarray of shape (n, n_features)
        Unit vectors.
    strength : float
        Absolute correlations above this one have to be found.

    Returns
    -------
    ndarray of shape (n_features, n_axes) or None

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.principal import principal_axes
    >>> plane = np.linspace(0, 3, 99)
    >>> x = np.column_stack([np.cos(plane), np.sin(plane), 0 * plane, 0 * plane])
    >>> principal_axes(x, 0.05).shape
    (4, 2)
    """
    n, n_features = x.shape
    sample = x[:: -(-n // SAMPLE)].astype(np.float64, copy=False)
    power, axes = np.linalg.eigh(sample.T @ sample)  # the weakest axis first
    n_left_out = int(np.sum(np.cumsum(power) <= strength * MEAN_REST * len(sample)))
    if n_features - n_left_out > MOST_KEPT * n_features:
        return None
    return np.ascontiguousarray(axes[:, n_left_out:])


def along(
    axes: FloatArray, vectors: NDArray[np.floating]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors along the axes, in float32, and the norms of their residuals, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.principal import along
    >>> scores, rest = along(np.array([[1.0], [0.0]]), np.array([[3.0, 4.0]]))
    >>> scores, rest.round(3)
    (array([[3.]], dtype=float32), array([4.], dtype=float32))
    """
    vectors = vectors.astype(np.float64, copy=False)
    scores = vectors @ axes
    power = np.einsum("ij,ij->i", vectors, vectors)
    # Both sums and the axes are rounded, each term by at most half a unit in the last place.
    rounding = 4 * (vectors.shape[1] + 8) * np.finfo(np.float64).eps * power
    rest = np.maximum(power - np.einsum("ij,ij->i", scores, scores), 0.0) + rounding
    return scores.astype(np.float32), np.sqrt(rest).astype(np.float32)
