"""Names for the types that signatures share."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Matrix = ArrayLike | sparse.sparray | sparse.spmatrix
"""Anything two-dimensional a user may pass: arrays, lists, DataFrames, sparse matrices."""

FilePath = str | os.PathLike[str]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class DenseRows(NamedTuple):
    """Points in one of two precisions, as kernels take them; the array of the other has no rows.

    To numba both are of one type, so kernels are compiled once.
    """

    double: FloatArray
    single: NDArray[np.float32]


class SparseRows(NamedTuple):
    """The parts of a CSR matrix, as kernels take them; columns are sorted within every row."""

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: IntArray
    n_columns: int


class LeftOut(NamedTuple):
    """What inner products leave out: the lengths of the rests of the vectors and of the points.

    The exact product of vector p and point t differs by at most ``vectors[p] * points[t]``, and by
    rounding.
    """

    vectors: NDArray[np.float32]
    points: NDArray[np.float32]

    @classmethod
    def nothing(cls, n_vectors: int, n_points: int) -> LeftOut:
        return cls(np.zeros(n_vectors, np.float32), np.zeros(n_points, np.float32))


Graph = sparse.csr_array | FloatArray
"""A weighted graph as the spectral step takes it, sparse or dense."""

NClusters = int | Literal["auto"]
AssignLabels = Literal["kmeans", "discretize", "cluster_qr"]
Affinity = Literal["agreement", "paper"]
Bridge = float | Literal["auto"] | None
Cut = Literal["normalized", "ratio"]
Direction = Literal["directed", "either", "mutual"]
Stop = Literal["supports", "objective"]
Memory = str | Any | None
"""As in scikit-learn: a folder, an object like ``joblib.Memory``, or nothing."""

RandomState = int | np.random.RandomState | None
