"""A fitted graph that new points join, at a cost that grows with the new points.

New points change few codes: their own, and those of the fitted points near them. So the method
codes only a part of all points: the new ones, the fitted ones that they are made of or that are
their nearest neighbours, and the points that these in turn were made of. In it, the new points and
those around them get new codes; all others keep theirs. A code over all points that uses none
outside of the part is found exactly. Where the part has most of the points, all are coded again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.coder import fitted_points
from srsg.coding.neighbors import nearest_neighbors
from srsg.graph import OF_POINTS, Coded, FittedGraph
from srsg.points import EqualPoints, Points, UnitRows, take_rows, unique_indices, zero_digest
from srsg.running import Engine
from srsg.types import FloatArray, IntArray

MOST = 0.5
"""If the part has more than this share of the points, all are coded again: that takes little longer
than the part, and is exact."""


def extended_graph(
    fitted: FittedGraph, new: UnitRows, lengths: FloatArray, run: Engine
) -> FittedGraph:
    """The graph of the fitted points and of new ones.

    Parameters
    ----------
    fitted : FittedGraph
        A graph of codes of unit points.
    new : ndarray or csr_array of shape (n_new, n_features)
        New points in the form of the fitted ones.
    lengths : ndarray of shape (n_new,)
        Their lengths before they were scaled.
    run : Engine
        Where the work runs.

    Returns
    -------
    FittedGraph
        Fitted points first. Certificates of new codes are over the part of the points they were
        found in.

    Raises
    ------
    ValueError
        If the graph is not one of codes of unit points that are in this process.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg import L1Graph
    >>> from srsg.coding.extended import extended_graph
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.running import ThreadEngine
    >>> X, _ = make_union_of_subspaces(60, random_state=0)
    >>> fitted = L1Graph().fit_graph(X[:50])
    >>> graph = extended_graph(fitted.graph_, X[50:], np.ones(10), ThreadEngine())
    >>> graph.n, graph.codes.shape
    (60, (60, 60))
    """
    coder = replace(fitted.coder, n_candidates=None)
    if not coder.unit or hasattr(fitted.points, "compute"):
        raise ValueError("update needs a method of codes over unit points, fitted in one process.")
    stack = sparse.vstack if sparse.issparse(fitted.points) else np.vstack
    rows = stack([fitted.points, new.astype(fitted.points.dtype, copy=False)])
    rows = sparse.csr_array(rows) if sparse.issparse(rows) else rows
    points = Points(rows)
    equal = EqualPoints.from_digests(run.row_digests(points), zero_digest(points))
    if fitted.equal.row_weights is not None:
        weights = np.concatenate([fitted.equal.row_weights, np.ones(len(lengths))])
        equal = replace(equal, row_weights=weights)
    # The distinct fitted points come first, in their old order.
    old, n = len(fitted.equal.first), len(equal.first)
    coded = _distinct(fitted)
    if n > old:
        added = Points(take_rows(rows, equal.first[old:]))
        around = _around(fitted, added, run)
        assert coded.codes is not None
        part = unique_indices(around, coded.codes[around].indices, np.arange(old, n))
        if len(part) > MOST * n:
            around, part = np.arange(old), np.arange(n)
        coder.check(len(part), run)
        again = coder.code(run.points(take_rows(rows, equal.first[part])), run)
        coded = _joined(coded, again, part, np.concatenate([around, np.arange(old, n)]), n)
    graph = FittedGraph.of(fitted.coder, rows, equal, coded, fitted.constant)
    known = fitted.lengths
    return replace(graph, lengths=None if known is None else np.concatenate([known, lengths]))


def _distinct(fitted: FittedGraph) -> Coded:
    """What was made of the distinct fitted points."""
    equal, learnt = fitted.equal, dict(fitted.learnt)
    init = None if fitted.init_codes is None else equal.merge_codes(fitted.init_codes)
    for name in OF_POINTS & learnt.keys():
        if np.shape(learnt[name]) == (equal.n,):
            learnt[name] = learnt[name][equal.first]
    if "certified" in learnt:
        learnt["certified"] = np.arange(len(equal.first))
    neighbors = None if fitted.neighbors is None else equal.merge_neighbors(fitted.neighbors)
    return Coded(fitted.distinct_codes(), neighbors, None, init, learnt)


def _around(fitted: FittedGraph, added: Points, run: Engine) -> IntArray:
    """The distinct fitted points that new ones use, or that are their nearest neighbours."""
    codes = fitted.coder.code_new(fitted, added, run)
    known = fitted_points(fitted, run)
    count = min(fitted.coder.n_neighbors, known.n)
    near = nearest_neighbors(known, count, queries=added, engine=run)
    return unique_indices(codes.indices, near.ravel())


def _joined(coded: Coded, again: Coded, part: IntArray, changed: IntArray, n: int) -> Coded:
    """Old results with those of a ``part`` of n points in place of what has ``changed`` there."""
    places = np.searchsorted(part, changed)

    def codes(old: sparse.csr_array, found: sparse.csr_array) -> sparse.csr_array:
        kept, new = old.tocoo(), found[places].tocoo()
        stays = ~np.isin(kept.row, changed)
        data = np.concatenate([kept.data[stays], new.data])
        row = np.concatenate([kept.row[stays], changed[new.row]])
        column = np.concatenate([kept.col[stays], part[new.col]])
        return sparse.csr_array((data, (row, column)), shape=(n, n))

    def values(old: NDArray, found: NDArray) -> NDArray:
        joined = np.concatenate([old, np.zeros((n - len(old), *old.shape[1:]), old.dtype)])
        joined[changed] = found[places]
        return joined

    learnt: dict[str, Any] = dict(coded.learnt)
    for name in OF_POINTS & learnt.keys():
        if np.ndim(learnt[name]):
            learnt[name] = values(learnt[name], again.learnt[name])
    if "certified" in learnt:
        learnt["certified"] = np.arange(n)
    assert coded.codes is not None
    assert again.codes is not None
    assert coded.neighbors is not None
    assert again.neighbors is not None
    init = coded.init_codes
    if init is not None and again.init_codes is not None:
        init = codes(init, again.init_codes)
    neighbors = values(coded.neighbors, part[again.neighbors])
    found: Mapping[str, Any] = learnt
    return Coded(codes(coded.codes, again.codes), neighbors, None, init, found)
