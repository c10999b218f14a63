"""Which graph, and how many clusters: chosen without labels, by stability."""

from srsg.selection.search import StabilitySearch

__all__ = ["StabilitySearch"]
