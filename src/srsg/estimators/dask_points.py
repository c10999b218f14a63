"""Fits of a dask array, whose points stay on the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import validate_data

from srsg.running import Engine, ThreadEngine

if TYPE_CHECKING:
    from srsg.running.dask import ShardedPoints


def points_on_workers(estimator: Any, X: Any, engine: Engine) -> ShardedPoints:
    """The chunks of a dask array as points on the workers, checked for what can be wrong."""
    kind = type(estimator).__name__
    if isinstance(engine, ThreadEngine):
        advice = 'set engine="dask" or a Client, or ' if hasattr(estimator, "engine") else ""
        raise TypeError(
            f"X is a dask array, and {kind} works in one process: {advice}pass X.compute()."
        )
    from srsg.running.dask.arrays import points_of_array
    from srsg.running.dask.engine import DaskEngine

    assert isinstance(engine, DaskEngine)
    if getattr(estimator, "memory", None) is not None:
        raise ValueError("memory= needs X in this process; with a dask array use checkpoint=.")
    if getattr(estimator, "affine", False):
        raise ValueError(
            "affine= needs X in this process: append the constant column to the dask array, or "
            "pass X.compute()."
        )
    # Set here because the points never pass through _prepared.
    estimator.affine_ = 0.0
    points = points_of_array(X, engine, kind)
    validate_data(estimator, points, skip_check_array=True)
    return points
