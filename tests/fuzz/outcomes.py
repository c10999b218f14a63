"""What a case may end with: a result whose invariants hold, or an error that was meant."""

from __future__ import annotations

import linecache
import traceback
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

RAISED_BY = ("/srsg/", "/sklearn/utils/", "/joblib/")
"""Files whose ``raise`` statements are meant for the user."""


class FindingError(Exception):
    """An invariant that does not hold."""


def expect(true, message, *values):
    """Fail with a message unless the statement is true."""
    if not true:
        raise FindingError(" ".join([message, *map(repr, values)]))


def outcome_of(case, rng):
    """Run a case; returns "done" or the name of the error it was refused with.

    An error counts as meant if it is a ValueError or TypeError that a ``raise`` statement of this
    package or of scikit-learn's validation raised. One that escapes from the middle of a
    computation is a finding, whatever its type.
    """
    with warnings.catch_warnings():
        # Overflow and invalid values are to be seen to, not to be printed.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("error", RuntimeWarning)
        # scikit-learn's test for infinity, and products of float32 in some versions of OpenBLAS.
        warnings.filterwarnings("ignore", "invalid value encountered in (reduce|matmul)")
        try:
            case(rng)
        except (ValueError, TypeError) as error:
            if isinstance(error, (np.linalg.LinAlgError, UnicodeError)) or not _is_meant(error):
                raise
            return type(error).__name__
    return "done"


def _is_meant(error):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    return line.startswith("raise") and any(part in frame.filename for part in RAISED_BY)
