"""A fitted estimator of this package as named arrays, and back.

Compiled loops read codes and neighbours without checking bounds, so every array has a rule and
what is read is compared with it before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from srsg.coding.coder import Coder
from srsg.counting.reproducibility import ScoredCounts
from srsg.cutting.cut import Clusters
from srsg.estimators import GraphClusterer
from srsg.graph import LEARNT, FittedGraph
from srsg.points import EqualPoints
from srsg.running.checking import (
    CSR_PARTS,
    Rule,
    check_arrays,
    checked_csr,
    csr_arrays,
    require,
)

UNIT_NORM = 1e-3
"""How far from 1 the length of a fitted point may be: single precision is within."""

MATRICES = ("points", "affinity", "codes", "init_codes")
"""Arrays that are dense, or sparse in three parts."""

RULES: dict[str, Rule] = {
    "points": Rule("float", ("n", "width"), optional=True),
    "affinity": Rule("float", ("n", "n"), least=0, optional=True),
    **{
        f"{name}/{part}": Rule(kind, (None,), optional=True)
        for name in MATRICES
        for part, kind in (("data", "float"), ("indices", "int"), ("indptr", "int"))
    },
    "first_equal": Rule("int", ("n",), least=-1, below="n"),
    "constant": Rule("float", (), least=0),
    **LEARNT,
    "labels": Rule("int", ("n",), least=0, below="clusters", optional=True),
    "embedding": Rule("float", ("n", None), optional=True),
    "eigenvalues": Rule("float", (None,), optional=True),
    "cluster_counts": Rule("int", ("counts",), least=1, most="n", optional=True),
    "cluster_count_scores": Rule("float", ("counts",), optional=True),
    "structure_found": Rule("bool", (), optional=True),
}
"""Rules for all arrays of a model."""


def arrays_of(model: GraphClusterer) -> dict[str, NDArray]:
    """The arrays of a fitted estimator."""
    graph = model.graph_
    if hasattr(graph.points, "compute"):
        raise TypeError("The fitted points are a dask array: fit on X.compute() to save the model.")
    arrays: dict[str, Any] = {
        "points": graph.points,
        "affinity": graph.affinity,
        "codes": graph.codes,
        "init_codes": graph.init_codes,
        "neighbors": graph.neighbors,
        "first_equal": graph.equal.first_equal,
        "constant": graph.constant,
        **graph.learnt,
    }
    learnt = vars(model)
    for name in ("labels", "embedding", "eigenvalues", "structure_found"):
        arrays[name] = learnt.get(f"{name}_")
    for name in ("cluster_counts", "cluster_count_scores"):
        arrays[name] = learnt.get(f"{name}_")
    for name in MATRICES:
        if sparse.issparse(arrays[name]):
            parts = csr_arrays(arrays.pop(name))
            arrays |= {f"{name}/{part}": array for part, array in parts.items()}
    return {name: np.asarray(value) for name, value in arrays.items() if value is not None}


def learn_from_arrays(
    model: GraphClusterer, arrays: Mapping[str, NDArray], names: dict[str, Any], n_clusters: int
) -> None:
    """Give an estimator what :func:`arrays_of` returned.

    Raises
    ------
    InvalidArrayError
        If an array is missing, not expected, or not what a fit leaves.
    """
    require("first_equal" in arrays and "constant" in arrays, "first_equal", "is missing")
    width = names["n_features_in_"] + bool((arrays["constant"] != 0).any())
    shape = (len(arrays["first_equal"]), width)
    sizes = {"n": shape[0], "width": shape[1], "clusters": n_clusters}
    check_arrays(arrays, RULES, sizes)
    coder = model._coder()
    matrices = {name: _matrix(name, arrays, shape) for name in MATRICES}
    scalars = {name: value.item() for name, value in arrays.items() if value.ndim == 0}
    learnt = {name: arrays[name] for name in LEARNT if name in arrays and name != "neighbors"}
    graph = FittedGraph(
        coder,
        matrices["points"],
        _equal(arrays["first_equal"], coder),
        matrices["affinity"],
        matrices["codes"],
        matrices["init_codes"],
        arrays.get("neighbors"),
        {name: scalars.get(name, value) for name, value in learnt.items()},
        scalars["constant"],
    )
    _check_graph(graph, names)
    clusters = counted = None
    if "labels" in arrays:
        for name in ("embedding", "eigenvalues"):
            require(name in arrays, name, "is missing")
        parts = (arrays["labels"], arrays["embedding"], arrays["eigenvalues"])
        clusters = Clusters(*parts, n_clusters)
    if "cluster_counts" in arrays:
        for name in ("cluster_count_scores", "structure_found"):
            require(name in arrays, name, "is missing")
        evidence = (arrays["cluster_counts"], arrays["cluster_count_scores"])
        counted = ScoredCounts(n_clusters, *evidence, scalars["structure_found"])
    model._learn(graph, names, clusters, counted)


def _matrix(name: str, arrays: Mapping[str, NDArray], shape: tuple[int, int]) -> Any:
    n, width = shape
    if name in arrays:
        return np.ascontiguousarray(arrays[name])
    parts = {part: arrays.get(f"{name}/{part}") for part in CSR_PARTS}
    if all(part is None for part in parts.values()):
        require(name in ("codes", "init_codes"), name, "is missing")
        return None
    require(all(part is not None for part in parts.values()), name, "is incomplete")
    return checked_csr(name, parts, (n, width if name == "points" else n))


def _equal(first: NDArray, coder: Coder) -> EqualPoints:
    """Which points are equal; each must name the first of its kind."""
    firsts = first[first >= 0]
    require(firsts.size > 0, "first_equal", "has no points")
    require(bool((first[firsts] == firsts).all()), "first_equal", "names points that are not first")
    require(coder.unit or first.min() >= 0, "first_equal", "leaves out points")
    return EqualPoints.from_first(first)


def _check_graph(graph: FittedGraph, names: Mapping[str, Any]) -> None:
    """Refuse what arrays of the right shapes may still have wrong."""
    coder, x, equal = graph.coder, graph.points, graph.equal
    for name in coder.needs:
        require(name in graph.learnt, name, "is missing")
    if graph.neighbors is not None:
        used = graph.neighbors[equal.first_equal >= 0]
        good = used.size == 0 or (used.min() >= 0 and (equal.first_equal[used] >= 0).all())
        require(good, "neighbors", "has rows of zeros")
    if coder.unit:
        require(graph.codes is not None and graph.neighbors is not None, "codes", "are missing")
        with np.errstate(over="ignore"):  # infinite is not of unit length either
            norm = sparse_norm if sparse.issparse(x) else np.linalg.norm
            lengths = norm(x.astype(np.float64, copy=False), axis=1)
        expected = equal.first_equal >= 0  # 1, or 0 for a row of zeros
        unit = np.abs(lengths - expected).max() < UNIT_NORM
        require(unit, "points", "are not of unit length")
    else:
        require(not sparse.issparse(x), "points", "are sparse, which this model never has")
