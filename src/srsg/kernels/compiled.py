"""How the kernels are compiled: one place for the options."""

from functools import partial

import numpy as np
from numba import njit

# Lets the compiler vectorise a sum. The order of the additions is fixed at compile time, so a
# result depends on nothing but its operands.
VECTORISED = {"reassoc", "contract", "nsz"}

ZERO = np.int64(0)
"""Where a counter starts that is passed on: numba takes a plain 0 for a literal, and compiles
whatever gets it a second time."""

kernel = partial(njit, cache=True, nogil=True, error_model="numpy")
"""A function that Python calls."""

helper = partial(kernel, cache=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A function that only kernels call: part of their code, so it needs no entry of its own."""
