"""The Axes that pictures are drawn on if the caller gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes() -> Axes:
    """The Axes of a new figure, or a one-line error that says what is missing."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "srsg.plot needs matplotlib: pip install 'srsg[plot]'."
        ) from error
    return plt.subplots()[1]
