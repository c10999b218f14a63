"""Warnings that point at the user's line; one of them is about sparse input made dense."""

import sys
import warnings
from types import FrameType

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.memory import in_words
from srsg.types import Matrix

# Wrappers of these libraries may come between the user's line and ours.
_INSIDE = ("srsg", "sklearn", "joblib", "contextlib")


WORTH_TELLING = 10**6
"""The smallest dense copy, in bytes, that is worth a warning."""


def made_dense(X: Matrix, reason: str) -> NDArray:
    """X as a dense array, with a warning about its size if X was sparse and large.

    Parameters
    ----------
    X : array or sparse matrix
    reason : str
        Why it must be dense, for the message.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.running.warnings import made_dense
    >>> made_dense(sparse.csr_array([[0.0, 2.0]]), "K-means needs dense points")
    array([[0., 2.]])
    """
    if not sparse.issparse(X):
        return np.asarray(X)
    n_rows, n_columns = X.shape
    n_bytes = n_rows * n_columns * X.dtype.itemsize
    if n_bytes >= WORTH_TELLING:
        sparse_bytes = int(X.nnz) * (X.dtype.itemsize + 4)  # a value and a column for each
        from sklearn.exceptions import DataConversionWarning

        warn_user(
            f"X is sparse, but {reason}: its {n_rows} x {n_columns} values are made dense, which "
            f"takes {in_words(n_bytes)} instead of {in_words(sparse_bytes)}.",
            DataConversionWarning,
        )
    return X.toarray()


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here.

    Examples
    --------
    >>> import warnings
    >>> from srsg.running.warnings import warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("Look at this.", UserWarning)
    >>> str(caught[0].message)
    'Look at this.'
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
