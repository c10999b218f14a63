"""Helpers of the kernels, made callable from Python."""

from __future__ import annotations

from numba import njit


def from_python(helper):
    """The helper compiled for callers in Python: by itself it has no entry for them, and a call
    would end the process."""
    # The helper itself where the compiler is switched off.
    return njit(error_model="numpy")(getattr(helper, "py_func", helper))
