"""The nearest neighbours of every point, the graph S of the paper, and an index of candidates."""

from srsg.neighbors.graph import neighbor_graph, undirected
from srsg.neighbors.nearest import nearest_neighbors
from srsg.neighbors.searchable import Searchable

__all__ = ["Searchable", "nearest_neighbors", "neighbor_graph", "undirected"]
