"""Helpers of the kernels, made callable from Python."""

from __future__ import annotations

from numba import njit


def from_python(helper):
    """A kernel that does nothing but call the helper: helpers have no entry for Python, and a call
    would end the process."""

    @njit(error_model="numpy")
    def call(*arguments):
        return helper(*arguments)

    return call
