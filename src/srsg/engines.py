"""Moved: what was here in 0.1.0 is in ``srsg.running``."""

from srsg.moved import forward

__getattr__ = forward(__name__, "srsg.running", "srsg.running.progress")
