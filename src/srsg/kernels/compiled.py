"""How the kernels are compiled: one place for the options."""

from functools import partial

from numba import njit

# Lets the compiler vectorise a sum. The order of the additions is fixed at compile time, so a
# result depends on nothing but its operands.
VECTORISED = {"reassoc", "contract", "nsz"}

kernel = partial(njit, cache=True, nogil=True, error_model="numpy")
"""A function that Python calls."""

helper = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A function that only kernels call: half the compile time without the wrappers."""
