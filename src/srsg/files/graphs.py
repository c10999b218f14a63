"""Graphs to files, by the ending of the name: for SciPy, for spreadsheets, and as GraphML for
Gephi, Cytoscape, networkx and igraph."""

import csv
from collections.abc import Iterator
from io import TextIOWrapper
from typing import BinaryIO
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from srsg.files.atomic import write_file
from srsg.types import FilePath, Graph

_GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
"""


def write_graph(path: FilePath, graph: Graph, *, labels: ArrayLike | None = None) -> None:
    """Write a weighted graph.

    Parameters
    ----------
    path : path
        Ends in ``.npz`` (for ``scipy.sparse.load_npz``), ``.graphml``, or ``.csv`` (one line
        per edge: source, target, weight). The last two list each edge of a symmetric graph once.
    graph : sparse array or ndarray of shape (n, n)
        ``affinity_matrix_`` of an estimator.
    labels : array-like of shape (n,), optional
        An attribute of the nodes, written to ``.graphml`` only.

    Raises
    ------
    FileError
        If the file cannot be written. An existing file then stays as it is.

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
    write_file(path, _GRAPH_WRITERS, matrix, names)


def _write_sparse(file: BinaryIO, graph: sparse.csr_array, labels: NDArray | None) -> None:
    sparse.save_npz(file, graph)


def _write_edges(file: BinaryIO, graph: sparse.csr_array, labels: NDArray | None) -> None:
    with TextIOWrapper(file, encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("source", "target", "weight"))
        writer.writerows(_edges(graph))


def _write_graphml(binary: BinaryIO, graph: sparse.csr_array, labels: NDArray | None) -> None:
    """Nodes n0, n1, ... with their labels, and weighted edges, one line each."""
    with TextIOWrapper(binary, encoding="utf-8", newline="\n") as file:
        file.write(_GRAPHML)
        nodes = [""] * graph.shape[0]
        if labels is not None:
            kind = "long" if labels.dtype.kind in "iu" else "string"
            file.write(f'<key id="label" for="node" attr.name="label" attr.type="{kind}"/>\n')
            names = (escape(str(label)) for label in labels.tolist())
            nodes = [f'<data key="label">{name}</data>' for name in names]
        default = "undirected" if _is_undirected(graph) else "directed"
        file.write(f'<graph id="G" edgedefault="{default}">\n')
        for node, data in enumerate(nodes):
            file.write(f'<node id="n{node}">{data}</node>\n')
        for source, target, weight in _edges(graph):
            file.write(f'<edge source="n{source}" target="n{target}">')
            file.write(f'<data key="weight">{weight!r}</data></edge>\n')
        file.write("</graph>\n</graphml>\n")


def _edges(graph: sparse.csr_array) -> Iterator[tuple[int, int, float]]:
    """Source, target and weight of every edge; an edge that goes both ways is listed once."""
    edges = sparse.coo_array(sparse.triu(graph) if _is_undirected(graph) else graph)
    return zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True)


def _is_undirected(graph: sparse.csr_array) -> bool:
    """Whether every edge goes both ways with the same weight."""
    return (graph != graph.T).nnz == 0


_GRAPH_WRITERS = {".npz": _write_sparse, ".graphml": _write_graphml, ".csv": _write_edges}

GRAPH_ENDINGS = tuple(_GRAPH_WRITERS)
