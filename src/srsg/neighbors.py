"""Moved: what was here in 0.1.0 is in ``srsg.coding.neighbors``."""

from srsg.moved import forward

__getattr__ = forward(__name__, "srsg.coding.neighbors", "srsg.graph")
