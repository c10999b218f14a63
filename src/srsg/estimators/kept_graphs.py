"""Graphs that a fit keeps in a folder, so that the next fit of the same points can load them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engines import Engine
from srsg.engines.checkpoint import FolderCheckpoint
from srsg.engines.progress import Checkpoint
from srsg.points import Points

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
    found = kept.load("graph")
    if found:
        vars(estimator).update(_attributes(found[0]))
        return
    before = set(vars(estimator))
    estimator._build_graph(points, engine)
    learnt = {name: value for name, value in vars(estimator).items() if name not in before}
    kept.save("graph", _arrays(learnt))


def _cache_of(estimator: Any, engine: Engine) -> Checkpoint:
    memory = estimator.memory
    if memory is None:
        return engine.checkpoint
    # joblib.Memory names the folder it works in; with location=None it keeps nothing.
    folder = memory if isinstance(memory, str) else memory.location
    return Checkpoint() if folder is None else FolderCheckpoint(folder)


def _facts(estimator: Any) -> list[Any]:
    """What tells this graph from others of the same points."""
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
