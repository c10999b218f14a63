"""Labels and graphs to files, by the ending of their names."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from srsg.files.atomic import atomic_write
from srsg.files.errors import FileError, needed
from srsg.files.graphml import edges_of, write_graphml
from srsg.types import Graph

STANDARD_OUTPUT = "-"


def write_labels(
    path: str | os.PathLike[str],
    labels: ArrayLike,
    *,
    row_ids: ArrayLike | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write one label per row, next to the row's identifier and additional columns.

    Parameters
    ----------
    path : path
        Ends in ``.csv .tsv .parquet .feather .npz`` (columns ``id``, ``label`` and additional ones)
        or ``.npy`` (the labels only); ``-`` is CSV to standard output.
    labels : array-like of shape (n,)
        ``labels_`` of an estimator.
    row_ids : array-like of shape (n,), optional
        ``row_ids`` of the table that was read; 0, 1, 2, ... by default.
    columns : mapping of str to array-like of shape (n,), optional
        Additional columns, such as a confidence.

    Raises
    ------
    FileError
        If it cannot be written. An existing file is then untouched.

    Examples
    --------
    >>> from srsg.files import write_labels
    >>> write_labels("-", [0, 1], row_ids=["a", "b"], columns={"confidence": [0.5, 0.25]})
    id,label,confidence
    a,0,0.5
    b,1,0.25
    """
    table = _columns(labels, row_ids, columns or {})
    if str(path) == STANDARD_OUTPUT:
        _write_rows(sys.stdout, table, ",")
        return
    write = _writer(path, _LABEL_WRITERS)
    with atomic_write(path) as temporary:
        write(temporary, table)


def write_graph(
    path: str | os.PathLike[str], graph: Graph, *, labels: ArrayLike | None = None
) -> None:
    """Write a weighted graph.

    Parameters
    ----------
    path : path
        Ends in ``.npz`` (for ``scipy.sparse.load_npz``), ``.graphml``, or ``.csv`` (one line
        per edge: source, target, weight). The last two have each edge of a symmetric graph once.
    graph : sparse array or ndarray of shape (n, n)
        ``affinity_matrix_`` of an estimator.
    labels : array-like of shape (n,), optional
        An attribute of the nodes; kept by ``.graphml`` only.

    Raises
    ------
    FileError
        If it cannot be written. An existing file is then untouched.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from srsg.files import write_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "graph.csv")
    ...     write_graph(path, np.array([[0.0, 0.5], [0.5, 0.0]]))
    ...     print(path.read_text())
    source,target,weight
    0,1,0.5
    <BLANKLINE>
    """
    matrix = sparse.csr_array(graph)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"graph must be square, not of shape {matrix.shape}.")
    names = None if labels is None else np.asarray(labels)
    if names is not None and names.shape != (matrix.shape[0],):
        raise ValueError(f"labels of shape {names.shape} do not fit {matrix.shape[0]} nodes.")
    write = _writer(path, _GRAPH_WRITERS)
    with atomic_write(path) as temporary:
        write(temporary, matrix, names)


def _columns(
    labels: ArrayLike, row_ids: ArrayLike | None, further: Mapping[str, ArrayLike]
) -> dict[str, NDArray]:
    label = np.asarray(labels)
    ids = np.arange(len(label)) if row_ids is None else np.asarray(row_ids)
    table = {"id": ids, "label": label}
    for name, column in further.items():
        if name in table:
            raise ValueError(f"columns has {name!r}, which is written already.")
        table[name] = np.asarray(column)
    for name, column in table.items():
        if column.shape != (len(label),):
            raise ValueError(f"{name} of shape {column.shape} does not fit {len(label)} labels.")
    return table


def _writer(
    path: str | os.PathLike[str], writers: Mapping[str, Callable[..., None]]
) -> Callable[..., None]:
    ending = Path(path).suffix.lower()
    if ending not in writers:
        known = " ".join(writers)
        raise FileError(f"{path}: files ending in {ending or 'nothing'} are not written: {known}.")
    return writers[ending]


def _write_rows(file: TextIO, table: Mapping[str, NDArray], sep: str) -> None:
    writer = csv.writer(file, delimiter=sep, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _separated_by(sep: str) -> Callable[..., None]:
    def write(path: Path, table: Mapping[str, NDArray]) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            _write_rows(file, table, sep)

    return write


def _write_frame(method: str) -> Callable[..., None]:
    def write(path: Path, table: Mapping[str, NDArray]) -> None:
        pandas = needed("pandas", "Parquet and Feather files")
        needed("pyarrow", "Parquet and Feather files")
        frame = pandas.DataFrame(dict(table))
        if method == "parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_feather(path)

    return write


def _write_npy(path: Path, table: Mapping[str, NDArray]) -> None:
    with path.open("wb") as file:  # given a path, NumPy would add an ending to .NPY
        np.save(file, table["label"], allow_pickle=False)


def _write_npz(path: Path, table: Mapping[str, NDArray]) -> None:
    plain = {name: a.astype(str) if a.dtype == object else a for name, a in table.items()}
    arrays: dict[str, Any] = plain
    with path.open("wb") as file:
        np.savez(file, **arrays)


def _write_sparse(path: Path, graph: sparse.csr_array, labels: NDArray | None) -> None:
    with path.open("wb") as file:
        sparse.save_npz(file, graph)


def _write_edges(path: Path, graph: sparse.csr_array, labels: NDArray | None) -> None:
    edges = edges_of(graph)
    columns = (edges.row.tolist(), edges.col.tolist(), edges.data.tolist())
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "target", "weight"))
        writer.writerows(zip(*columns, strict=True))


_LABEL_WRITERS = {
    ".csv": _separated_by(","),
    ".tsv": _separated_by("\t"),
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".parquet": _write_frame("parquet"),
    ".feather": _write_frame("feather"),
}
_GRAPH_WRITERS = {".npz": _write_sparse, ".graphml": write_graphml, ".csv": _write_edges}

LABEL_ENDINGS = tuple(_LABEL_WRITERS)
GRAPH_ENDINGS = tuple(_GRAPH_WRITERS)
