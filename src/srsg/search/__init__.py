"""Which graph, and how many clusters: chosen without labels, by stability."""

from srsg.search.search import StabilitySearch

__all__ = ["StabilitySearch"]
