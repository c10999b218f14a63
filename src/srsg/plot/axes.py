"""The Axes that pictures are drawn on if the caller gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srsg.files.errors import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes() -> Axes:
    """The Axes of a new figure, or a one-line error that says what is missing."""
    return needed("matplotlib.pyplot", "srsg.plot needs matplotlib", "plot").subplots()[1]
