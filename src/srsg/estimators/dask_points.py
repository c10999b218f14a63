"""Fits of a dask array, whose points stay on the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from srsg.coding.coder import Coder
from srsg.points import stored
from srsg.running import Engine
from srsg.running.config import start_engine

if TYPE_CHECKING:
    from srsg.running.dask.engine import ShardedPoints


def points_on_workers(name: str, coder: Coder, X: Any, run: Engine) -> ShardedPoints:
    """The chunks of a dask array as points on the workers.

    Raises
    ------
    TypeError, ValueError
        If the engine works in this process, or the method needs the points there.
    """
    if not run.on_cluster:
        advice = "set engine='dask' or a Client with srsg.config_context, or " * coder.on_cluster
        raise TypeError(
            f"X is a dask array, and {name} works in one process: {advice}pass X.compute()."
        )
    from srsg.running.dask.engine import DaskEngine

    assert isinstance(run, DaskEngine)
    if coder.affine:
        raise ValueError(
            "affine= needs X in this process: append the constant column to the dask array, or "
            "pass X.compute()."
        )
    return run.points_of_array(X, name, unit=coder.unit)


def rows_in_a_file(name: str, X: Any) -> NDArray:
    """The rows of a dask array in a temporary file of this process; chunks come one by one.

    Parameters
    ----------
    name : str
        The estimator, for error messages.
    X : dask.array.Array
        Its chunks are computed on the cluster, if :func:`srsg.config_context` names one.
    """
    from srsg.running.dask.engine import check_array

    check_array(X, name)
    run: Any = start_engine(None)

    def computed(chunk: Any) -> NDArray:
        return run.client.compute(chunk).result() if run.on_cluster else chunk.compute()

    chunks = X.rechunk({1: -1}).to_delayed().ravel()
    # Numbers of rows may be unknown before.
    return stored(map(computed, chunks), None, X.dtype.type).reshape(-1, X.shape[1])
