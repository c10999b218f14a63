"""A warning for codes that are not optimal when the bound on the work is reached."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from srsg.types import FloatArray


def warn_of_violations(violation: FloatArray, tol: float, n_points: int, bound: str) -> None:
    """Warn if some codes violate the optimality conditions by more than ``tol``.

    Parameters
    ----------
    violation : ndarray
        Largest violation of each code that was cut short; codes that were not are left out.
    tol : float
        What was asked for.
    n_points : int
        Number of all codes.
    bound : str
        What was reached, such as "100 scans".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from srsg.solvers.convergence import warn_of_violations
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_of_violations(np.array([0.0, 3e-9]), 1e-10, 50, "100 scans")
    >>> print(caught[0].message)
    1 of 50 codes not optimal to 1e-10 after 100 scans: the largest violation is 3e-09.
    """
    # Not "above": a violation that overflowed to NaN is not within the tolerance either.
    beyond = violation[~(violation <= tol)]
    if len(beyond):
        warnings.warn(
            f"{len(beyond)} of {n_points} codes not optimal to {tol:.3g} after {bound}: the "
            f"largest violation is {beyond.max():.3g}.",
            ConvergenceWarning,
            stacklevel=3,
        )
