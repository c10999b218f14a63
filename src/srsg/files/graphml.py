"""Graphs as GraphML, for Gephi, Cytoscape, networkx and igraph."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape

from numpy.typing import NDArray
from scipy import sparse

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
"""


def undirected(graph: sparse.csr_array) -> bool:
    """Whether every edge goes both ways with the same weight."""
    return (graph != graph.T).nnz == 0


def edges_of(graph: sparse.csr_array) -> sparse.coo_array:
    """The edges of a graph, each once if it goes both ways."""
    return sparse.coo_array(sparse.triu(graph) if undirected(graph) else graph)


def write_graphml(path: Path, graph: sparse.csr_array, labels: NDArray | None) -> None:
    """Write nodes n0, n1, ... with their labels, and weighted edges, one line each."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(_HEAD)
        if labels is not None:
            kind = "long" if labels.dtype.kind in "iu" else "string"
            file.write(f'<key id="label" for="node" attr.name="label" attr.type="{kind}"/>\n')
        default = "undirected" if undirected(graph) else "directed"
        file.write(f'<graph id="G" edgedefault="{default}">\n')
        _write_nodes(file, graph.shape[0], labels)
        edges = edges_of(graph)
        columns = (edges.row.tolist(), edges.col.tolist(), edges.data.tolist())
        for row, column, weight in zip(*columns, strict=True):
            file.write(f'<edge source="n{row}" target="n{column}">')
            file.write(f'<data key="weight">{weight!r}</data></edge>\n')
        file.write("</graph>\n</graphml>\n")


def _write_nodes(file: TextIO, n_nodes: int, labels: NDArray | None) -> None:
    if labels is None:
        file.writelines(f'<node id="n{node}"/>\n' for node in range(n_nodes))
        return
    for node, label in enumerate(labels.tolist()):
        file.write(f'<node id="n{node}"><data key="label">{escape(str(label))}</data></node>\n')
