"""How all pictures of the evaluation look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which colour-blind readers can tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GRAY = "#0072B2", "#D55E00", "#CC79A7", "#8C8C8C"

COMPETITORS = {
    "kmeans": (ORANGE, ":"),
    "sc": (SKY, "--"),
    "l1": (GREEN, "-."),
    "smce": (PURPLE, ":"),
    "lr-l1": (BLACK, "--"),
}
"""Colour and dashes of the methods that SRSG is compared with."""

OURS = {
    "paper": (BLUE, "o", "SRSG, else as in the paper"),
    "default": (VERMILION, "D", "SRSG, else by default"),
}
"""Colour, marker and label of the settings of SRSG."""

_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "figure.dpi": 100,
    "font.size": 10,
    "grid.color": "#E4E4E4",
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.dpi": 140,
}


@contextmanager
def new_figure(path: Path, width: float, height: float) -> Iterator[Figure]:
    """A figure that is written to ``path`` at the end."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        # No date and no version inside: the same results give the same file.
        figure.savefig(path, metadata={"Software": None})
