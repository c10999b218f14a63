"""Errors for a cluster that fails or is missing."""

from __future__ import annotations

from typing import Any


class ClusterError(ConnectionError):
    """The Dask cluster cannot go on with the work; the message says what to do."""


def needed_dask() -> Any:
    """The library ``distributed``, or a one-line error that says how to get it."""
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "A Dask cluster needs dask and distributed: pip install 'srsg[dask]'."
        ) from error
    return distributed
