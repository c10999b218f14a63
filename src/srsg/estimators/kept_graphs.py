"""Graphs that are kept in a folder, and checked when they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.approximate import N_CERTIFIED
from srsg.coding.verification import certificates_hold
from srsg.points import Points
from srsg.running import Engine
from srsg.running.progress import Checkpoint
from srsg.running.store import FolderCheckpoint
from srsg.running.warnings import warn_user

NOT_OF_THE_GRAPH = {
    "n_clusters",
    "affinity",
    "bridge",
    "n_components",
    "assign_labels",
    "n_init",
    "memory",
    "max_memory",
    "n_jobs",
    "engine",
    "checkpoint",
    "random_state",
    "verbose",
}
"""Parameters that no graph depends on, except for the sample that certifies an approximate one."""


def build_or_load_graph(estimator: Any, points: Points, engine: Engine) -> None:
    """Set the attributes that ``_build_graph`` learns, from the cache if they are there.

    Graphs are kept in the folder of ``memory`` or, without one, in that of ``checkpoint``. Their
    key consists of the points, the estimator's type and the parameters that the graph depends on;
    the checkpoint adds the version of the algorithms.
    """
    cache = _cache_of(estimator, engine)
    kept = cache.of("graph", *_facts(estimator), lambda: engine.fingerprint(points))
    # What is new afterwards is what the graph consists of.
    before = set(vars(estimator))
    for arrays in kept.load("graph"):
        vars(estimator).update(_attributes(arrays))
        if estimator._graph_is_consistent(points, engine):
            return
        warn_user(
            "A graph kept in the folder of memory= or checkpoint= has codes that do not match its "
            "certificates: it is built again. Delete the folder if you see this warning again.",
            UserWarning,
        )
        for name in vars(estimator).keys() - before:
            delattr(estimator, name)
    estimator._build_graph(points, engine)
    learnt = {name: value for name, value in vars(estimator).items() if name not in before}
    kept.save("graph", _arrays(learnt))


def _cache_of(estimator: Any, engine: Engine) -> Checkpoint:
    memory = estimator.memory
    if memory is None:
        return engine.checkpoint
    # joblib.Memory names the folder it works in; with location=None it keeps nothing.
    folder = memory if isinstance(memory, str) else memory.location
    if folder is None:
        return Checkpoint()
    return FolderCheckpoint(folder, name=f"memory={str(folder)!r}")


def _facts(estimator: Any) -> list[Any]:
    """What distinguishes this graph from others of the same points."""
    parameters = estimator.get_params(deep=False)
    ignored = NOT_OF_THE_GRAPH
    if parameters.get("approximate"):
        ignored = ignored - {"random_state"}
    facts: list[Any] = [type(estimator).__name__]
    for name in sorted(parameters.keys() - ignored):
        value = parameters[name]
        facts.append(name)
        # The text of a sparse matrix says little of its entries.
        facts += _csr_parts(value).values() if sparse.issparse(value) else [value]
    return facts


def _csr_parts(matrix: Any) -> dict[str, NDArray]:
    csr = sparse.csr_array(matrix)
    shape = np.array(csr.shape)
    return {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": shape}


def _arrays(attributes: dict[str, Any]) -> dict[str, NDArray]:
    """Attributes as named arrays, which files can hold: the inverse of :func:`_attributes`."""
    arrays: dict[str, NDArray] = {}
    for name, value in attributes.items():
        if sparse.issparse(value):
            arrays |= {f"{name}/csr/{part}": array for part, array in _csr_parts(value).items()}
        elif isinstance(value, dict):
            arrays[f"{name}/keys"] = np.array(list(value))
            arrays[f"{name}/values"] = np.array(list(value.values()))
        elif isinstance(value, np.ndarray):
            arrays[f"{name}/array"] = value
        else:
            # A number, or None as an empty array.
            arrays[f"{name}/value"] = np.array([] if value is None else [value])
    return arrays


def _attributes(arrays: dict[str, NDArray]) -> dict[str, Any]:
    grouped: dict[str, dict[str, NDArray]] = {}
    for key, array in arrays.items():
        name, _, part = key.partition("/")
        grouped.setdefault(name, {})[part] = array
    attributes: dict[str, Any] = {}
    for name, parts in grouped.items():
        if "array" in parts:
            attributes[name] = parts["array"]
        elif "keys" in parts:
            keys, values = parts["keys"].tolist(), parts["values"].tolist()
            attributes[name] = dict(zip(keys, values, strict=True))
        elif "value" in parts:
            attributes[name] = parts["value"].tolist()[0] if parts["value"].size else None
        else:
            csr = tuple(parts[f"csr/{part}"] for part in ("data", "indices", "indptr"))
            attributes[name] = sparse.csr_array(csr, shape=tuple(parts["csr/shape"].tolist()))
    return attributes


def same_matrix(one: sparse.csr_array, other: sparse.csr_array) -> bool:
    """Whether two sparse matrices have the same bits."""
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)


def certificates_are_true(
    estimator: Any, weights: tuple[Any, Any] | None, points: Points, engine: Engine
) -> bool:
    """Whether codes that were read have the violations that were read with them.

    Parameters
    ----------
    estimator : estimator
        With ``codes_`` and ``kkt_violation_``.
    weights : tuple or None
        Of the l1 norm and of the squared l2 norm that the codes minimise. Without them nothing is
        checked, nor are points on the workers of a cluster.
    """
    if weights is None or points.in_shards:
        return True
    certified = getattr(estimator, "certified_", None)
    rows = np.arange(points.n) if certified is None else certified
    # A sample of a large graph: to check all codes would take a scan, and a graph is kept so that
    # another fit needs none.
    some = np.linspace(0, len(rows) - 1, min(len(rows), N_CERTIFIED)).astype(np.int64)
    lam, ridge = weights
    return certificates_hold(
        points,
        estimator.codes_,
        estimator.kkt_violation_[some],
        rows[some],
        lam=lam,
        ridge=ridge,
        engine=engine,
    )
