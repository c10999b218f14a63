"""Graphs to files, by the ending of their names."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from srsg.files.atomic import atomic_write
from srsg.files.errors import writer_for
from srsg.files.graphml import edges_of, write_graphml
from srsg.types import Graph


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
    write = writer_for(path, _GRAPH_WRITERS)
    with atomic_write(path) as temporary:
        write(temporary, matrix, names)


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


_GRAPH_WRITERS = {".npz": _write_sparse, ".graphml": write_graphml, ".csv": _write_edges}

GRAPH_ENDINGS = tuple(_GRAPH_WRITERS)
