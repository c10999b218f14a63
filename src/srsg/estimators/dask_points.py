"""Fits of a dask array, whose points stay on the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from srsg.coding.coder import Coder
from srsg.running import Engine

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
