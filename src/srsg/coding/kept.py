"""What a coder has made of points, as named arrays for a file, and back.

Compiled loops and SciPy read codes and neighbours without checking bounds, so nothing that comes
from a file is used before it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.graph import LEARNT, Coded
from srsg.running.checking import Rule, checked_csr, csr_arrays, require, rules_of_csr
from srsg.types import IntArray

if TYPE_CHECKING:
    from srsg.coding.coder import Coder

MATRICES = ("codes", "init_codes", "affinity")
"""The sparse ones."""

CODED: dict[str, Rule] = {
    **rules_of_csr("codes"),
    **rules_of_csr("init_codes"),
    **rules_of_csr("affinity"),
    "kernel": Rule("float", ("n", "n")),
    "neighbors": Rule("int", ("n", None), least=-1, below="n"),
    **LEARNT,
}
"""Rules for the arrays of a :class:`~srsg.graph.Coded`; a dense affinity is a kernel."""


def rules_of_coded(coder: Coder) -> dict[str, Rule]:
    """Rules for the arrays that a coder makes."""
    return {name: rule for name, rule in CODED.items() if name.partition("/")[0] in coder.results}


def sizes_of_coded(coder: Coder, n_points: int) -> dict[str, int]:
    """The sizes that these rules name."""
    if "certified" in coder.results:  # perhaps not all points: the array itself tells
        return {"n": n_points}
    return {"n": n_points, "certified": n_points}


def arrays_of_coded(coded: Coded) -> dict[str, NDArray]:
    """The arrays of what a coder has made."""
    arrays: dict[str, Any] = {"neighbors": coded.neighbors, **coded.learnt}
    for name in MATRICES:
        matrix = getattr(coded, name)
        if sparse.issparse(matrix):
            arrays |= csr_arrays(name, matrix)
        elif matrix is not None:
            arrays["kernel"] = matrix
    return {name: np.asarray(array) for name, array in arrays.items() if array is not None}


def coded_from_arrays(coder: Coder, first_equal: IntArray, arrays: Mapping[str, NDArray]) -> Coded:
    """What a coder has made of some points, from arrays that keep its rules.

    Parameters
    ----------
    coder : Coder
        The method.
    first_equal : ndarray of shape (n,)
        For every point, the first that equals it; -1 for rows of zeros.
    arrays : mapping
        Arrays by name.

    Raises
    ------
    InvalidArrayError
        If an array is nothing that the coder makes.
    """
    shape, names = 2 * first_equal.shape, [name for name in MATRICES if name in coder.results]
    matrices: dict[str, Any] = {name: checked_csr(name, arrays, shape) for name in names}
    graph = matrices.pop("affinity", arrays.get("kernel"))
    if graph is not None:
        name = "kernel" if "kernel" in arrays else "affinity"
        require(not (graph != graph.T).max(), name, "is not symmetric")
        require(graph.min() >= 0, name, "has values below 0")
    for name, codes in matrices.items():
        require(not codes.diagonal().any(), name, "has a point that codes itself")
    neighbors = arrays.get("neighbors")
    if neighbors is not None:
        _check_neighbors(neighbors, first_equal)
    learnt = {name: arrays[name] for name in coder.results if name in LEARNT}
    scalars = {name: array.item() for name, array in learnt.items() if array.ndim == 0}
    return Coded(
        matrices.get("codes"), neighbors, graph, matrices.get("init_codes"), learnt | scalars
    )


def _check_neighbors(neighbors: IntArray, first_equal: IntArray) -> None:
    rows = np.flatnonzero(first_equal >= 0)
    used = neighbors[rows]
    other = (used >= 0) & (first_equal[used] >= 0) & (used != rows[:, None])
    require(other.all(), "neighbors", "has rows of zeros, or a point as its own neighbour")
    require(np.diff(np.sort(used)).all(), "neighbors", "has a point twice")
