"""The leading eigenvectors of a graph, where eigenvalues crowd at the top of the spectrum.

Clusters that hardly touch have eigenvalues that hardly differ from 1, and so do parts of a
cluster: Lanczos needs thousands of steps to tell them apart, and most of its time goes into
keeping its basis orthogonal. A Chebyshev polynomial of the matrix spreads the eigenvalues at the
top and presses all others together. Its products are cheap, and it needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as counted
from math import acosh, ceil, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from srsg.engines import Engine, ThreadEngine
from srsg.graph.normalization import unsigned_indices
from srsg.kernels.chebyshev import chebyshev
from srsg.types import FloatArray, Graph

DENSE_BELOW = 400
"""Matrices up to this size are left to LAPACK."""

DENSE_IF_CROWDED = 5000
"""So are those up to this size whose leading eigenvalues Lanczos cannot tell apart."""

FILTERED_TOP = 5.0
"""Where the filter maps the eigenvalue 1; all that is unwanted it maps below 1. More would take a
higher degree for hardly fewer steps of Lanczos."""

MOST_DEGREES = 100

SPACE_ERROR = 1e-9
"""Residual at which filtered vectors count as eigenvectors."""

GUARDS = 5
"""Vectors filtered beside those that are wanted: the gap that counts is the one behind them."""

FIRST_DEGREE, DEGREES_LEFT = 20, 300
"""Of the first rounds of filtering; and how many more are worth waiting for: Lanczos does the
rest."""


def leading_eigenpairs(
    matrix: Graph | LinearOperator, count: int, *, engine: Engine | None = None
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a symmetric matrix with eigenvalues from -1 to 1.

    Parameters
    ----------
    matrix : csr_array, ndarray or LinearOperator of shape (n, n)
        The normalised affinity of a graph.
    count : int
        How many.
    engine : Engine, optional
        Where products run; threads on all cores by default.

    Returns
    -------
    eigenvalues : ndarray of shape (count,)
        In decreasing order.
    eigenvectors : ndarray of shape (n, count)

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.graph.eigenvectors import leading_eigenpairs
    >>> leading_eigenpairs(sparse.csr_array([[0.5, 0.5], [0.5, 0.5]]), 1)[0].round(12)
    array([1.])
    """
    size = matrix.shape[0]
    if size <= DENSE_BELOW or 3 * count > size:
        return _leading_dense(matrix, count)
    try:
        if sparse.issparse(matrix):
            return _leading_filtered(matrix, count, engine or ThreadEngine())
        return _leading_plain(matrix, count)
    except ArpackNoConvergence:
        if size <= DENSE_IF_CROWDED:
            return _leading_dense(matrix, count)
        return _leading_plain(matrix, count, ncv=min(size - 1, 10 * count + 100), tol=1e-6)


def plus_low_rank(
    matrix: Graph | LinearOperator, vectors: FloatArray, weights: FloatArray
) -> LinearOperator:
    """``matrix + vectors diag(weights) vectors^T`` without forming it."""

    def multiply(x: FloatArray) -> FloatArray:
        inner = vectors.T @ x
        return matrix @ x + vectors @ (weights * inner.T).T

    return LinearOperator(matrix.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


def _leading_dense(matrix: Graph | LinearOperator, count: int) -> tuple[FloatArray, FloatArray]:
    size = matrix.shape[0]
    dense = matrix @ np.eye(size)
    values, vectors = linalg.eigh(dense, subset_by_index=[size - count, size - 1])
    return values[::-1].copy(), vectors[:, ::-1]


def _leading_plain(
    matrix: Graph | LinearOperator, count: int, ncv: int | None = None, tol: float = 1e-10
) -> tuple[FloatArray, FloatArray]:
    return _in_order(*_lanczos(matrix, count, ncv, tol))


def _leading_filtered(
    matrix: sparse.csr_array, count: int, engine: Engine
) -> tuple[FloatArray, FloatArray]:
    values, vectors, error = _leading_space(matrix, count, engine)
    if error <= SPACE_ERROR:
        return values, vectors
    # A subspace's Ritz values bound the eigenvalues from below, so none that is wanted lies in
    # the interval from -1 to this, and the order of those above it is that of the polynomials.
    least = max(float(values[-1]), 0.0)
    filtered = LinearOperator(
        matrix.shape,
        matvec=_filter(matrix, _degree(least, FILTERED_TOP), least),
        dtype=np.float64,
    )
    vectors = _lanczos(filtered, count)[1]
    values = np.einsum("ij,ij->j", vectors, matrix @ vectors)
    return _in_order(values, vectors)


def _degree(least: float, top: float) -> int:
    """The degree at which the filter maps the eigenvalue 1 to ``top``."""
    center, half_width = _interval(least)
    reach = acosh(max((1 - center) / half_width, 1 + 1e-12))
    return min(max(ceil(acosh(top) / reach), 1), MOST_DEGREES)


def _interval(least: float) -> tuple[float, float]:
    """Center and half the width of the interval from -1."""
    return (least - 1) / 2, (least + 1) / 2


def _filter(
    matrix: sparse.csr_array, degree: int, least: float
) -> Callable[[FloatArray], FloatArray]:
    """The polynomial that presses the eigenvalues below ``least`` into [-1, 1]."""
    center, half_width = _interval(least)
    starts, columns = unsigned_indices(matrix)

    def apply(x: FloatArray) -> FloatArray:
        x = np.ascontiguousarray(x.ravel())
        return chebyshev(starts, columns, matrix.data, x, degree, center, half_width)

    return apply


def _leading_space(
    matrix: sparse.csr_array, count: int, engine: Engine
) -> tuple[FloatArray, FloatArray, float]:
    """Ritz values and vectors of a space that is rich in leading eigenvectors, and the largest
    residual among them.

    Random vectors are filtered, over and over. Where the clusters are clear, with eigenvalues
    crowded at 1 and a gap below, this finds them all at once and Lanczos, one after the other,
    hardly. It ends when it gets there, or is not going to in few rounds.
    """
    rng = np.random.default_rng(0)
    size = matrix.shape[0]
    basis = rng.standard_normal((size, min(count + GUARDS, size)))
    least, degree, error = 0.0, FIRST_DEGREE, inf
    for step in counted(1):
        apply = _filter(matrix, degree, least)
        columns = engine.quiet().map(_applied, apply, list(basis.T), label="filter")
        basis = linalg.qr(np.column_stack(columns), mode="economic")[0]
        image = matrix @ basis
        values, turn = np.linalg.eigh(basis.T @ image)
        values, turn = values[::-1], turn[:, ::-1]
        basis, image = basis @ turn, image @ turn
        residuals = image[:, :count] - basis[:, :count] * values[:count]
        before, error = error, float(np.linalg.norm(residuals, axis=0).max())
        if error <= SPACE_ERROR or (step >= 3 and not _worth_it(before, error, degree)):
            break
        least = max(least, float(values[-1]))
        degree = FIRST_DEGREE if step < 3 else _degree(least, 100.0)
    return values[:count].copy(), basis[:, :count], error


def _worth_it(before: float, error: float, degree: int) -> bool:
    """Whether few more degrees will do, at the pace of the last."""
    pace = log(before / error) / degree
    return pace > 0 and log(error / SPACE_ERROR) / pace <= DEGREES_LEFT


def _applied(apply: Callable[[FloatArray], FloatArray], column: FloatArray) -> FloatArray:
    return apply(column)


def _lanczos(
    matrix: Graph | LinearOperator, count: int, ncv: int | None = None, tol: float = 1e-10
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a matrix that has none below -1, all copies of them."""
    size = matrix.shape[0]
    rng = np.random.default_rng(0)  # start vectors; the result does not depend on them
    start = rng.standard_normal(size)
    values, vectors = eigsh(matrix, count, which="LA", tol=tol, ncv=ncv, v0=start)
    for _ in range(count):
        # Lanczos can miss copies of a repeated eigenvalue. Send what was found to -1: nothing
        # that remains may exceed the smallest of it.
        rest = plus_low_rank(matrix, vectors, -1 - values)
        most, vector = eigsh(rest, 1, which="LA", tol=1e-6, v0=rng.standard_normal(size))
        smallest = np.argmin(values)
        if most[0] <= values[smallest] + 1e-8:
            break
        values[smallest], vectors[:, smallest] = most[0], vector[:, 0]
    return values, vectors


def _in_order(values: FloatArray, vectors: NDArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]
