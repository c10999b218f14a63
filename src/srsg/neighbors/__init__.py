"""The nearest neighbours of every point, the graph S of the paper, and an index of candidates."""

from srsg.neighbors.graph import neighbor_graph, undirected
from srsg.neighbors.nearest import Searchable, nearest_neighbors

__all__ = ["Searchable", "nearest_neighbors", "neighbor_graph", "undirected"]
