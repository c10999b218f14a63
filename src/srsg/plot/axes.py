"""What the pictures share: an Axes to draw on, and the clusters of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from srsg.explaining.unwrapping import clusterer_of
from srsg.files.errors import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes() -> Axes:
    """The Axes of a new figure, or a one-line error if matplotlib is missing."""
    return needed("matplotlib.pyplot", "srsg.plot needs matplotlib", "plot").subplots()[1]


def clusters_of(model: Any) -> tuple[NDArray, NDArray[np.intp]]:
    """Names of the clusters of a fitted model, and the position of each point's cluster in them."""
    return np.unique(clusterer_of(model).labels_, return_inverse=True)
