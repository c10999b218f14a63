"""A warning for codes that are not optimal in the end."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from srsg.engines.warnings import warn_user
from srsg.types import FloatArray

ROUNDING = 1e-14
"""Rounding of the inner products of unit vectors: no smaller violation means anything."""


def warn_of_violations(violation: FloatArray, tol: float, after: str) -> None:
    """Warn if some codes violate the optimality conditions by more than ``tol``.

    Parameters
    ----------
    violation : ndarray
        Largest violation of each code.
    tol : float
        What was asked for.
    after : str
        The work that was done, such as "100 scans".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from srsg.solvers.convergence import warn_of_violations
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_violations(np.array([0.0, 3e-9]), 1e-10, "100 scans")
    >>> print(caught[0].message)
    1 of 2 codes not optimal to tol=1e-10 after 100 scans: the largest violation is 3e-09.
    """
    # Not "greater than": a violation that overflowed to NaN is not within the tolerance either.
    beyond = violation[~(violation <= tol + ROUNDING)]
    if len(beyond):
        warn_user(
            f"{len(beyond)} of {len(violation)} codes not optimal to tol={tol:.3g} after "
            f"{after}: the largest violation is {beyond.max():.3g}.",
            ConvergenceWarning,
        )
