"""Values over sweeps and over parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from srsg.plot.axes import new_axes
from srsg.plot.colors import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX*"


def objective(history: ArrayLike, ax: Axes | None = None) -> Axes:
    """The objective at the start and after every sweep.

    Parameters
    ----------
    history : array-like of shape (n_sweeps + 1,)
        ``objective_history_`` of an estimator that sweeps.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from srsg.plot import objective
    >>> objective([30.0, 21.0, 20.5]).get_xlabel()
    'sweep'
    """
    ax = ax or new_axes()
    heights = np.asarray(history, float)
    ax.plot(heights, "o-", color="C0", markersize=4, linewidth=1)
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="sweep", ylabel="objective")
    return ax


def sensitivity(
    values: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    parameter: str,
    score: str = "accuracy",
    ax: Axes | None = None,
) -> Axes:
    """How scores depend on a parameter, one line per method.

    Parameters
    ----------
    values : array-like of shape (m,)
        Values of the parameter, in increasing order. The axis is logarithmic if they span more
        than a factor of fifty.
    scores : mapping of str to array-like of shape (m,) or (m, n_runs)
        Scores of each method at these values. Several runs are drawn as their mean, over a band
        from the smallest to the largest. A single number is drawn as a horizontal line.
    parameter, score : str
        Names for the axes.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from srsg.plot import sensitivity
    >>> scores = {"SRSG": [0.7, 0.8, 0.78], "K-means": 0.6}
    >>> ax = sensitivity([0.01, 0.1, 1.0], scores, parameter="gamma")
    >>> ax.get_xscale(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('log', ['SRSG', 'K-means'])
    """
    ax = ax or new_axes()
    x = np.asarray(values, float)
    for place, (name, given) in enumerate(scores.items()):
        heights = np.asarray(given, float)
        if heights.ndim == 0:
            heights = np.full(len(x), heights)
        if len(heights) != len(x):
            raise ValueError(f"scores[{name!r}] has {len(heights)} entries for {len(x)} values.")
        runs = heights.reshape(len(x), -1)
        color = palette(place + 1)[-1]
        marker = MARKERS[place % len(MARKERS)]
        ax.plot(x, runs.mean(axis=1), f"{marker}-", color=color, markersize=5, label=name)
        if runs.shape[1] > 1:
            band = runs.min(axis=1), runs.max(axis=1)
            ax.fill_between(x, *band, color=color, alpha=0.15, linewidth=0)
    if x.min() > 0 and x.max() > 50 * x.min():
        ax.set_xscale("log")
    ax.set(xlabel=parameter, ylabel=score)
    ax.legend(frameon=False)
    return ax
