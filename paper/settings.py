"""The settings that are compared. They answer different questions and are never mixed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

from srsg.registry import Method

Setting = Literal["paper", "default", "tuned"]

SETTINGS: Mapping[Setting, str] = {
    "paper": "paper's settings",
    "default": "defaults",
    "tuned": "tuned with the labels",
}
"""The paper's protocol; the defaults; and the best of the paper's range, which can only be found
with the labels, so that no user without labels can have it."""


GRIDS: dict[str, tuple[Mapping[str, float], ...]] = {
    "l1": tuple({"lam": lam} for lam in (0.1, 0.2, 0.5, 1.0)),
    "lr-l1": tuple(
        {"lam": lam, "gamma": gamma} for lam, gamma in product((0.1, 0.5), (0.1, 0.2, 0.5))
    ),
}
"""Weights in [0.1, 1], the range in which the paper tunes these two methods."""

MOST_POINTS = 4500
"""With more points, coarser grids are used: with minutes per fit, the others would take longer than
all the rest."""

COARSE_GRIDS: Mapping[str, tuple[Mapping[str, float], ...]] = GRIDS | {
    "lr-l1": tuple({"lam": lam, "gamma": 0.2} for lam in (0.1, 0.5)),
}


def candidates(method: Method, setting: Setting, n_clusters: int, n_points: int = 0) -> list[Any]:
    """The estimators of a setting: one, or all of a grid, or none.

    Examples
    --------
    >>> from paper.settings import candidates
    >>> from srsg.registry import methods
    >>> candidates(methods()["l1"], "paper", 4)
    [L1Graph(n_clusters=4)]
    >>> [model.lam for model in candidates(methods()["l1"], "tuned", 4)]
    [0.1, 0.2, 0.5, 1.0]
    >>> candidates(methods()["sc"], "tuned", 4)
    []
    >>> [len(candidates(methods()["lr-l1"], "tuned", 4, n_points=n)) for n in (1000, 10_000)]
    [6, 2]
    """
    if setting == "paper":
        return [method.paper(n_clusters)]
    if setting == "default":
        return [method.default(n_clusters)]
    grids = GRIDS if n_points <= MOST_POINTS else COARSE_GRIDS
    return [method.paper(n_clusters, **weights) for weights in grids.get(method.name, ())]
