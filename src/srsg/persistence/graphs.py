"""A fitted estimator of this package as named arrays, and back.

What is read is compared with rules before it is used, see :mod:`srsg.coding.kept`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.coder import Coder
from srsg.coding.kept import arrays_of_coded, coded_from_arrays, rules_of_coded, sizes_of_coded
from srsg.counting.reproducibility import ScoredCounts
from srsg.cutting.cut import Clusters
from srsg.estimators import GraphClusterer
from srsg.graph import Coded, FittedGraph, symmetrized
from srsg.points.equal import EqualPoints
from srsg.running import ThreadEngine
from srsg.running.checking import (
    CSR_PARTS,
    Rule,
    check_arrays,
    checked_csr,
    csr_arrays,
    require,
    rules_of_csr,
)

UNIT_NORM = 1e-3
"""How far from 1 the squared length of a fitted point may be: single precision is within."""

POINTS: dict[str, Rule] = {
    "first_equal": Rule("int", ("n",), least=-1, below="n"),
    "constant": Rule("float", (), least=0),
}

CLUSTERS: dict[str, Rule] = {
    "labels": Rule("int", ("n",), least=0, below="clusters"),
    "embedding": Rule("float", ("n", "clusters")),
    "eigenvalues": Rule("float", ("clusters",)),
}
"""Rules for the fields of :class:`~srsg.cutting.cut.Clusters`."""

COUNTS: dict[str, Rule] = {
    "cluster_counts": Rule("int", ("counts",), least=1, most="n"),
    "cluster_count_scores": Rule("float", ("counts",)),
    "structure_found": Rule("bool", ()),
}
"""Rules for the evidence for a number of clusters that was not given."""


def arrays_of(model: GraphClusterer) -> dict[str, NDArray]:
    """The arrays of a fitted estimator."""
    graph, learnt = model.graph_, vars(model)
    if hasattr(graph.points, "compute"):
        raise TypeError("The fitted points are a dask array: fit on X.compute() to save the model.")
    # The graph of points of unit length follows from their codes.
    affinity = None if graph.coder.unit else graph.affinity
    coded = Coded(graph.codes, graph.neighbors, affinity, graph.init_codes, graph.learnt)
    arrays: dict[str, Any] = {"first_equal": graph.equal.first_equal, "constant": graph.constant}
    if sparse.issparse(graph.points):
        arrays |= {f"points/{part}": array for part, array in csr_arrays(graph.points).items()}
    else:
        arrays["points"] = graph.points
    arrays |= {name: learnt[f"{name}_"] for name in CLUSTERS | COUNTS if f"{name}_" in learnt}
    return arrays_of_coded(coded) | {name: np.asarray(value) for name, value in arrays.items()}


def learn_from_arrays(
    model: GraphClusterer,
    arrays: Mapping[str, NDArray],
    names: dict[str, Any],
    n_clusters: int | None,
) -> None:
    """Give an estimator what :func:`arrays_of` returned.

    Raises
    ------
    InvalidArrayError
        If an array is missing, not expected, or not what a fit leaves.
    """
    for name in POINTS:
        require(name in arrays, name, "is missing")
    coder, n = model._coder(), arrays["first_equal"].size
    sizes = {
        **sizes_of_coded(coder, n),
        "width": names["n_features_in_"] + bool((arrays["constant"] != 0).any()),
        "clusters": n_clusters or 0,
    }
    dense = "points" in arrays
    rules = {
        **POINTS,
        **({"points": Rule("float", ("n", "width"))} if dense else rules_of_csr("points")),
        **rules_of_coded(coder),
        **(CLUSTERS if n_clusters is not None else {}),
        **(COUNTS if n_clusters is not None and "cluster_counts" in arrays else {}),
    }
    check_arrays(arrays, rules, sizes)
    # An index of candidates is not needed any more.
    replace(coder, n_candidates=None).check(n, ThreadEngine(1))
    equal = _equal(arrays["first_equal"], coder)
    coded = coded_from_arrays(coder, equal.first_equal, arrays)
    graph = FittedGraph(
        coder,
        _points(arrays, coder, equal, sizes["width"]),
        equal,
        _graph_of_codes(coder, coded, equal) if coder.unit else coded.affinity,
        coded.codes,
        coded.init_codes,
        coded.neighbors,
        coded.learnt,
        arrays["constant"].item(),
    )
    clusters = counted = None
    if n_clusters is not None:
        require(1 <= n_clusters <= n, "n_clusters", f"is not from 1 to {n}")
        labels, embedding, eigenvalues = (arrays[name] for name in CLUSTERS)
        clusters = Clusters(labels, embedding, eigenvalues, n_clusters)
        if "cluster_counts" in arrays:
            counts, scores, structure_found = (arrays[name] for name in COUNTS)
            counted = ScoredCounts(n_clusters, counts, scores, structure_found.item())
    model._learn(graph, names, clusters, counted)


def _equal(first: NDArray, coder: Coder) -> EqualPoints:
    """Which points are equal; each must name the first of its kind."""
    firsts = first[first >= 0]
    require(firsts.size > 0, "first_equal", "has no points")
    in_order = (first[firsts] == firsts).all() and (first <= np.arange(len(first))).all()
    require(in_order, "first_equal", "names points that are not first")
    require(coder.unit or first.min() >= 0, "first_equal", "leaves out points")
    return EqualPoints.from_first(first)


def _graph_of_codes(coder: Coder, coded: Coded, equal: EqualPoints) -> sparse.csr_array:
    """The graph as :meth:`FittedGraph.of` makes it."""
    assert coded.codes is not None
    return symmetrized(equal.spread_codes(coder.edges(equal.merge_codes(coded.codes))))


def _points(arrays: Mapping[str, NDArray], coder: Coder, equal: EqualPoints, width: int) -> Any:
    """The fitted points, if they are such as the coder codes."""
    points: Any
    if "points" in arrays:
        points = np.ascontiguousarray(arrays["points"])
    else:
        require(coder.unit, "points", "are sparse, which this model never has")
        parts = {part: arrays[f"points/{part}"] for part in CSR_PARTS}
        points = checked_csr("points", parts, (equal.n, width))
    if not coder.unit:
        require(not arrays["constant"].any(), "constant", "is not zero")
        return points
    with np.errstate(over="ignore"):  # infinite is not of unit length either
        is_dense = isinstance(points, np.ndarray)
        squares = np.einsum("ij,ij->i", points, points) if is_dense else (points**2).sum(axis=1)
    expected = equal.first_equal >= 0  # 1, or 0 for a row of zeros
    unit = np.abs(squares - expected).max() < UNIT_NORM
    require(unit, "points", "are not of unit length")
    return points
