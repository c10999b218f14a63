"""Moved: what was here in 0.1.0 is in ``srsg.search``."""

from srsg.moved import forward

__getattr__ = forward(__name__, "srsg.search")
