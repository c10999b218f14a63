"""Arrays and tables in files that the workers read: only their shape goes through the client."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.arrays import load_npy
from srsg.files.checking import checked_labels
from srsg.files.contents import Contents, Request, Table
from srsg.files.errors import FileError, check_file, needed, parsing
from srsg.files.label_files import read_labels
from srsg.files.reading import file_or_name
from srsg.points import float_type
from srsg.running.dask.cluster import TaskPool, client_of, living_workers
from srsg.running.dask.engine import BYTES_PER_SHARD
from srsg.running.progress import SILENT

if TYPE_CHECKING:
    from srsg.files.columns import Columns

ENDINGS = (".npy", ".parquet", ".zarr")


@dataclass(frozen=True)
class Layout:
    """A file as an array that is read only when it is sliced, which is all that Dask requires."""

    path: str
    shape: tuple[int, int]
    dtype: np.dtype
    ends: tuple[int, ...]
    """The rows at which chunks end."""
    variable: str | None = None
    columns: Columns | None = None
    contents: Contents | None = None
    """Labels, identifiers and notes of a table, without its values."""

    ndim = 2

    def __getitem__(self, key: tuple[slice, slice]) -> NDArray[np.floating]:
        start, end, _ = key[0].indices(self.shape[0])
        with _seen_by_worker(self.path):
            if self.columns is None:
                values = _opened(self.path, self.variable)[start:end]
            else:
                values = _parquet().feature_rows(self.path, start, end, self.columns)
            return np.array(values[:, key[1]], dtype=self.dtype, order="C")


def read_array(
    path: str | os.PathLike[str],
    client: Any,
    *,
    columns: Sequence[str] | None = None,
    variable: str | None = None,
    labels: str | None = None,
) -> tuple[Any, Layout]:
    """A file as a dask array whose chunks the workers read.

    The columns of a table are chosen as :func:`srsg.files.read_points` chooses them, from all rows:
    one worker reads the table once, a few columns at a time, before the others start.

    Parameters
    ----------
    path : path
        A file ending in ``.npy`` or ``.parquet`` or a Zarr store ending in ``.zarr``, where every
        worker sees it.
    client : distributed.Client
        The connection to the cluster.
    columns : sequence of str, optional
        The columns of a table to use; by default those of numbers.
    variable : str, optional
        The array in a Zarr group of several.
    labels : str, optional
        The column of a table that has labels.

    Returns
    -------
    array : dask.array.Array
        One row per point.
    layout : Layout
        What was found beside the points.

    Raises
    ------
    FileError
        If a worker does not see the file, or cannot read it.
    """
    kind = Path(path).suffix.lower()
    if kind not in ENDINGS:
        raise FileError(
            f"{path}: the workers of a cluster read files ending in {' '.join(ENDINGS)} only."
        )
    if kind == ".parquet":
        _parquet()  # the client needs it to understand the answer
    # Other columns than numbers need a common scale, which points on workers do not get.
    request = Request(labels=labels, columns=columns, variable=variable, mixed=False)
    threads = max(1, sum(living_workers(client).values()))

    def submit(place: str) -> list[Any]:
        return [client.submit(describe, place, request, threads, pure=False)]

    # By a pool, so that the loss of a worker does not matter.
    pool = TaskPool(client, submit, lambda workers, under_way: [], f"layout of {path}")
    (layout,) = pool.results([str(Path(path).absolute())], SILENT)
    array = import_module("dask.array").from_array(
        replace(layout, contents=None),  # goes to every worker
        chunks=(tuple(np.diff(layout.ends, prepend=0).tolist()), layout.shape[1]),
        name=False,  # the same path may have other content next time
        meta=np.empty((0, 0), layout.dtype),  # or Dask would read a little here, in the client
        inline_array=True,
    )
    return array, layout


def describe(path: str, request: Request, n_threads: int) -> Layout:
    """The layout of a file; runs on a worker."""
    with _seen_by_worker(path):
        kind = Path(path).suffix.lower()
        if kind == ".parquet":
            return _describe_parquet(path, request, n_threads)
        array = _opened(path, request.variable)
        if array.ndim != 2:
            raise FileError(f"{path}: has {array.ndim} dimension(s); points are rows of two.")
        if array.dtype.kind not in "biuf":
            raise FileError(f"{path}: has values of type {array.dtype}, not real numbers.")
        n_rows, width = array.shape
        unit = 1 if kind == ".npy" else array.chunks[0]
        rows = _rows_per_chunk(n_rows, width, n_threads, unit)
        ends = (*range(rows, n_rows, rows), n_rows)
        return Layout(path, array.shape, np.dtype(float_type(array)), ends, request.variable)


@contextmanager
def _seen_by_worker(path: str) -> Iterator[None]:
    from distributed import get_worker

    if not Path(path).exists():
        raise FileError(
            f"{path}: the worker at {get_worker().address} does not see this file. Put it where "
            "all workers do, such as a shared folder."
        )
    with parsing(path, f"a file ending in {Path(path).suffix}"):
        yield


def _opened(path: str, variable: str | None) -> Any:
    """The array of a file, not read yet."""
    if path.lower().endswith(".npy"):
        check_file(Path(path))
        return load_npy(Path(path))
    zarr = needed("zarr", "Zarr stores need zarr", "dask")
    store = zarr.open(path, mode="r")
    if hasattr(store, "shape"):
        return store
    names = sorted(name for name, _ in store.arrays())
    chosen = variable if variable is not None or len(names) != 1 else names[0]
    if chosen not in names:
        raise FileError(f"{path}: which array has the points? It has {', '.join(names) or 'none'}.")
    return store[chosen]


def _describe_parquet(path: str, request: Request, n_threads: int) -> Layout:
    sizes, columns, contents = _parquet().description(path, request)
    n_rows, width = sum(sizes), len(columns.features)
    rows = _rows_per_chunk(n_rows, width, n_threads, max(sizes))
    ends = [0]
    for end in np.cumsum(sizes).tolist():  # chunks of whole row groups, which are read at once
        if end - ends[-1] >= rows or end == n_rows:
            ends.append(end)
    shape = n_rows, width
    return Layout(path, shape, columns.dtype, tuple(ends[1:]), columns=columns, contents=contents)


def _parquet() -> Any:
    """The reader of Parquet, the only one here that needs pyarrow."""
    return needed("srsg.running.dask.parquet", "Parquet files need pyarrow", "cli")


def _rows_per_chunk(n_rows: int, width: int, n_threads: int, unit: int) -> int:
    """Rows of a chunk, in whole units of the file where it has any."""
    most = min(-(-n_rows // n_threads), BYTES_PER_SHARD // (8 * max(1, width)))
    return max(1, most // unit) * unit


def read_table_on(scheduler: str, path: str, *, labels: str | None, **chosen: Any) -> Table:
    """The table of a file whose points stay with the workers of a cluster."""
    for module in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(module).setLevel(logging.CRITICAL)  # what matters becomes an error
    file, name = file_or_name(labels)
    X, layout = read_array(path, client_of(scheduler), labels=name, **chosen)
    contents = layout.contents or Contents(np.empty((0, 0)))
    classes = contents.labels if file is None else read_labels(file, X.shape)
    y, class_names = checked_labels(path, classes, X.shape[0])
    return Table(
        X=X,
        row_ids=np.arange(X.shape[0]) if contents.row_ids is None else contents.row_ids,
        y=y,
        class_names=class_names,
        feature_names=contents.feature_names,
        notes=contents.notes,
    )
