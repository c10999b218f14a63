"""Members of clusters in tables: small lines instead of pictures."""

from __future__ import annotations

import numpy as np

from srsg.report.charts import sparkline
from srsg.report.thumbnails import shrunk
from srsg.types import FloatArray

MOST_STEPS = 60
"""Steps of a line; in wider tables, neighbouring columns are averaged."""

N_TELLING = 4
"""Features that are named above the members of a cluster."""


class Profiles:
    """Every point as a line over the features, in standard deviations from their means.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.profiles import Profiles
    >>> profiles = Profiles(np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> profiles.z
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, X: FloatArray) -> None:
        spread = X.std(axis=0)
        self.z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        self.lines = shrunk(self.z, 1, min(X.shape[1], MOST_STEPS))
        # A few outliers must not flatten all other lines.
        self.limit = float(np.percentile(np.abs(self.lines), 99.5)) or 1.0

    def drawn(self, point: int, mean: FloatArray) -> str:
        """The line of a point over that of its cluster's mean."""
        lines = (
            '<path class="zero" d="M0 20H100"/>'
            + sparkline(mean, -self.limit, self.limit, "mean")
            + sparkline(self.lines[point], -self.limit, self.limit, "own")
        )
        return f'<svg viewBox="0 0 100 40" preserveAspectRatio="none">{lines}</svg>'

    def telling(self, members: np.ndarray, names: list[str]) -> list[str]:
        """The features in which the members differ most from all points, and by how much."""
        mean = self.z[members].mean(axis=0)
        first = np.argsort(-np.abs(mean), kind="stable")[:N_TELLING]
        signed = (f"{mean[j]:+.1f}".replace("-", "\N{MINUS SIGN}") for j in first)
        return [f"{names[j]} {amount}" for j, amount in zip(first, signed, strict=True)]
