"""Arrays of files that the workers read: nothing but their shape goes through the client."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.engines.dask.engine import BYTES_A_SHARD
from srsg.files.arrays import load_npy
from srsg.files.columns import choose_columns
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, check_file, needed, parsing

ENDINGS = (".npy", ".parquet", ".zarr")


@dataclass(frozen=True)
class Layout:
    """What the client has to know of a file."""

    path: str
    bounds: tuple[int, ...]
    """The rows at which chunks end and begin, the first and the last row included."""
    width: int
    dtype: np.dtype
    variable: str | None = None
    columns: tuple[str, ...] | None = None
    found: Contents | None = None
    """Labels, identifiers and notes of a table, without its values."""


def read_array(
    path: str | os.PathLike[str],
    client: Any,
    *,
    columns: Sequence[str] | None = None,
    variable: str | None = None,
    labels: str | None = None,
) -> tuple[Any, Layout]:
    """A file as a dask array whose chunks the workers read.

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
        A point a row.
    layout : Layout
        What was found beside the points.

    Raises
    ------
    FileError
        If a worker does not see the file, or cannot read it.
    """
    da: Any = import_module("dask.array")
    delayed: Any = import_module("dask.delayed").delayed
    if Path(path).suffix.lower() not in ENDINGS:
        raise FileError(
            f"{path}: the workers of a cluster read files ending in {' '.join(ENDINGS)} only."
        )
    request = Request(labels=labels, columns=columns, variable=variable)
    threads = max(1, sum(client.nthreads().values()))
    place = str(Path(path).absolute())
    layout = client.submit(describe, place, request, threads, pure=False).result()
    read = delayed(read_rows, pure=True)
    bare = replace(layout, found=None)
    chunks = [
        da.from_delayed(read(bare, start, end), (end - start, layout.width), layout.dtype)
        for start, end in pairwise(layout.bounds)
    ]
    return da.concatenate(chunks), layout


def describe(path: str, request: Request, n_workers: int) -> Layout:
    """The layout of a file; runs on a worker."""
    with _seen_by_worker(path):
        kind = Path(path).suffix.lower()
        if kind == ".parquet":
            return _describe_parquet(path, request, n_workers)
        array = _opened(path, request.variable)
        if array.ndim != 2:
            raise FileError(f"{path}: has {array.ndim} dimension(s); points are rows of two.")
        if array.dtype.kind not in "biuf":
            raise FileError(f"{path}: has values of type {array.dtype}, not real numbers.")
        unit = 1 if kind == ".npy" else array.chunks[0]
        n_rows, width = array.shape
        rows = _rows_a_chunk(n_rows, width, n_workers, unit)
        bounds = (*range(0, n_rows, rows), n_rows)
        return Layout(path, bounds, width, _kind(array.dtype), request.variable)


def read_rows(layout: Layout, start: int, end: int) -> NDArray[np.floating]:
    """Some rows of a file; runs on a worker."""
    with _seen_by_worker(layout.path):
        if layout.columns is None:
            values = _opened(layout.path, layout.variable)[start:end]
            return np.array(values, dtype=layout.dtype, order="C")
        frame = _rows_of_parquet(layout.path, start, end, list(layout.columns))
        wanted = Request(columns=layout.columns)
        return choose_columns(layout.path, frame, wanted).values.astype(layout.dtype, order="C")


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
    """The array of a file, of which nothing is read yet."""
    if path.lower().endswith(".npy"):
        check_file(Path(path))
        return load_npy(Path(path))
    zarr = needed("zarr", "Zarr stores", extra="dask")
    store = zarr.open(path, mode="r")
    if hasattr(store, "shape"):
        return store
    names = sorted(name for name, _ in store.arrays())
    chosen = variable if variable is not None or len(names) != 1 else names[0]
    if chosen not in names:
        raise FileError(f"{path}: which array has the points? It has {', '.join(names) or 'none'}.")
    return store[chosen]


def _describe_parquet(path: str, request: Request, n_workers: int) -> Layout:
    parquet = needed("pyarrow.parquet", "Parquet files")
    with parquet.ParquetFile(path) as file:
        n_rows = file.metadata.num_rows
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        first = next(file.iter_batches(batch_size=1000)).to_pandas()
    chosen = choose_columns(path, first, request)
    columns = chosen.feature_names or ()
    beside = [name for name in first.columns if str(name) not in columns]
    found = replace(chosen, values=np.empty((0, 0)), row_ids=None, labels=None)
    aside = {note.split()[1] for note in chosen.notes if note.endswith("identifier")}
    wanted = [name for name in beside if name == request.labels or name in aside]
    if wanted:  # short columns: labels and identifiers of all rows
        frame = _rows_of_parquet(path, 0, n_rows, wanted)
        found = replace(
            found,
            labels=frame[request.labels].to_numpy() if request.labels else None,
            row_ids=next((frame[name].to_numpy() for name in wanted if name in aside), None),
        )
    rows = _rows_a_chunk(n_rows, len(columns), n_workers, max(1, max(sizes)))
    ends = np.cumsum([0, *sizes])
    groups = [0]
    for end in ends[1:]:
        if end - groups[-1] >= rows or end == n_rows:
            groups.append(int(end))
    dtype = _kind(chosen.values.dtype)
    return Layout(path, tuple(groups), len(columns), dtype, None, columns, found)


def _rows_of_parquet(path: str, start: int, end: int, columns: list[str]) -> Any:
    """Rows of a file, of which only the row groups are read that have them."""
    parquet = needed("pyarrow.parquet", "Parquet files")
    with parquet.ParquetFile(path) as file:
        counts = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        ends = np.cumsum([0, *counts])
        groups = np.flatnonzero((ends[1:] > start) & (ends[:-1] < end))
        frame = file.read_row_groups(groups.tolist(), columns=columns).to_pandas()
    skipped = start - int(ends[groups[0]])
    return frame.iloc[skipped : skipped + end - start].reset_index(drop=True)


def _rows_a_chunk(n_rows: int, width: int, n_workers: int, unit: int) -> int:
    """Rows of a chunk, in whole units of the file where it has any."""
    most = min(-(-n_rows // n_workers), BYTES_A_SHARD // (8 * max(1, width)))
    return max(1, most // unit) * unit


def _kind(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)
