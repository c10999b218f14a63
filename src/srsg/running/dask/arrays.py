"""dask arrays as points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from srsg.points import unit_rows
from srsg.running.dask.engine import DaskEngine
from srsg.running.dask.shards import ShardedPoints, chunks_of_array


def points_of_array(X: Any, engine: DaskEngine, name: str) -> ShardedPoints:
    """The rows of a dask array as unit-norm points, each chunk a shard on a worker.

    Parameters
    ----------
    X : dask.array.Array
        Chunks along the rows; chunks along the columns are merged.
    engine : DaskEngine
        Where the workers are.
    name : str
        The estimator, for error messages.
    """
    _check_array(X, name)
    X = X.rechunk({1: -1})
    points = engine.place(chunks_of_array(X, engine.client, prepared=False), name=name)
    rows = np.diff(points.starts).tolist()
    X = X.copy()
    X._chunks = (tuple(rows), X.chunks[1])  # known now, if they were not
    return replace(points, lazy=X.map_blocks(unit_rows, dtype=points.dtype))


def _check_array(X: Any, name: str) -> None:
    if not hasattr(X, "to_delayed") or not hasattr(X, "rechunk"):
        raise TypeError(
            f"X is a {type(X).__name__} of dask; pass an array: X.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must have numbers, got dtype {X.dtype}.")
    if np.isnan(X.shape[0]):
        return  # known when the workers have counted
    for side, least, what in zip(X.shape, (2, 2), ("sample(s)", "feature(s)"), strict=True):
        if side < least:
            raise ValueError(
                f"Found array with {side} {what} (shape={X.shape}) while a minimum of {least} is "
                f"required by {name}."
            )
