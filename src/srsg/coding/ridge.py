"""Ridge codes: least squares regression of every point on the others, in closed form.

With ``P = (X X^T + ridge I)^-1``, the code of point i is ``z_j = -P_ij / P_ii``, and zero at i.
Here X has one point per row. The matrix P is never formed: ``P_ij = -x_j' M x_i / ridge`` for j
other than i, where ``M = (X^T X + ridge I)^-1`` has one row and column per feature. So the code of
point i is the product of all points with one vector, ``v_i = M x_i / (1 - x_i' M x_i)``. All codes
together cost one matrix product, and only the largest entries of every row are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from srsg.kernels.arrays import Codes
from srsg.kernels.ridge import keep_largest
from srsg.points import BLOCK_SIZE, Points, Queries, Rows, blocks_of_rows, dense_rows, row_slices
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.types import FloatArray, IntArray

ROWS_PER_RESIDUAL = 64
"""Rows whose certificates are computed together: enough for a matrix product to be fast."""


@dataclass(frozen=True)
class RidgeCodes:
    """The largest entries of the ridge codes, and their certificate.

    Attributes
    ----------
    codes : csr_array of shape (n, n) or (n_queries, n)
        Row i is the code of point i, zero at i, or that of query i.
    residual : ndarray of shape (n,) or (n_queries,)
        How far the full code, before its small entries are dropped, is from the solution: no normal
        equation ``x_j' (x_i - X^T z) = ridge z_j`` is violated by more than this.
    """

    codes: sparse.csr_array
    residual: FloatArray


def ridge_codes(
    points: Points,
    ridge: float,
    *,
    n_nonzero: int = 10,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> RidgeCodes:
    """Code every point over the others: ``min ||x_i - X^T z||^2 + ridge ||z||^2``, ``z_i = 0``.

    New points, the queries, are coded over all points instead.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    ridge : float
        Weight of the squared l2 norm.
    n_nonzero : int
        How many entries of each code are kept: those of largest magnitude.
    queries : Points, optional
        What is coded over the points; by default the points themselves, each over all others.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    RidgeCodes

    References
    ----------
    C.-Y. Lu et al. Robust and efficient subspace segmentation via least squares regression.
    European Conference on Computer Vision (ECCV), 2012.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.coding import ridge_codes
    >>> points = unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    >>> result = ridge_codes(points, 0.1, n_nonzero=1)
    >>> result.codes.indices.tolist()
    [1, 0, 1]
    >>> bool(result.residual.max() < 1e-9)
    True
    """
    engine = engine or ThreadEngine()
    coded = Queries.of(points, queries)
    data: _Regression | _SparseRegression
    if sparse.issparse(points.x):
        data = _SparseRegression.of(points, coded, float(ridge))
    else:
        data = _Regression(points, coded, float(ridge), *_vectors(points, coded, ridge))
    # The bits of a direct solve may depend on how many vectors it has. The vectors of sparse points
    # are found block by block, so their blocks have one size, whatever the memory.
    size = BLOCK_SIZE if sparse.issparse(points.x) else engine.block_size
    blocks = blocks_of_rows(len(coded), size)
    # A point cannot use itself; a new point may use all.
    width = min(n_nonzero, points.n - 1 if queries is None else points.n)
    found = engine.map(_LargestEntries(width), data, blocks, label="ridge codes")
    # In blocks of a fixed size: the rounding of a matrix product depends on its shape.
    fixed = blocks_of_rows(len(coded), ROWS_PER_RESIDUAL)
    residuals = engine.quiet().map(_residual, data, fixed, label="certificates")
    return RidgeCodes(sparse.csr_array(sparse.vstack(found)), np.concatenate(residuals))


@dataclass(frozen=True)
class _Regression:
    """Everything that blocks need; row i of ``vectors`` is ``M x_i``."""

    points: Points
    coded: Queries
    ridge: float
    vectors: FloatArray
    gram: FloatArray | None
    """``X^T X``, if there are fewer features than points."""

    def vectors_of(self, rows: IntArray, targets: FloatArray) -> FloatArray:
        return self.vectors[rows]

    def times_gram(self, vectors: FloatArray) -> FloatArray:
        """``X^T X v`` for some vectors."""
        if self.gram is not None:
            return vectors @ self.gram
        x = self.points.x
        return (vectors @ x.T) @ x


@dataclass(frozen=True)
class _SparseRegression:
    """The same for sparse points: ``M x`` is found for a block at a time, because it is dense.

    ``factor`` is the Cholesky factor of ``X^T X + ridge I`` or, where there are fewer points than
    features, of ``X X^T + ridge I``: as dense as the inverse, so this is the one matrix that grows
    with the square of the smaller of the two numbers.
    """

    points: Points
    coded: Queries
    ridge: float
    by_features: bool
    factor: tuple[FloatArray, bool]

    @classmethod
    def of(cls, points: Points, coded: Queries, ridge: float) -> _SparseRegression:
        by_features = points.n_features <= points.n
        x = sparse.csr_array(points.x.T) if by_features else points.x
        # A product of two sparse matrices would hardly have a zero, and take twice the memory of a
        # dense one. So it is made in dense blocks.
        gram = np.empty((x.shape[0], x.shape[0]))
        for part in row_slices(x.shape[0], BLOCK_SIZE):
            gram[part] = (x @ x[part].toarray().T).T
        gram[np.diag_indices_from(gram)] += ridge
        with serial_linear_algebra():
            return cls(points, coded, ridge, by_features, _factor(gram, ridge))

    def vectors_of(self, rows: IntArray, targets: FloatArray) -> FloatArray:
        """``M x`` for some of what is coded, given as dense ``targets``."""
        if self.by_features:
            return np.ascontiguousarray(linalg.cho_solve(self.factor, targets.T).T)
        x = self.points.x
        if self.coded.new is None:
            # M X^T = X^T (X X^T + ridge I)^-1; the units pick the columns of the points wanted.
            units = np.zeros((self.points.n, len(rows)))
            units[rows, np.arange(len(rows))] = 1.0
            return np.ascontiguousarray((x.T @ linalg.cho_solve(self.factor, units)).T)
        # A new point is not a column of X^T: M = (I - X^T (X X^T + ridge I)^-1 X) / ridge.
        inner = linalg.cho_solve(self.factor, x @ targets.T)
        return (targets - (x.T @ inner).T) / self.ridge

    def times_gram(self, vectors: FloatArray) -> FloatArray:
        x = self.points.x
        return (x.T @ (x @ vectors.T)).T


def _vectors(points: Points, coded: Queries, ridge: float) -> tuple[FloatArray, FloatArray | None]:
    """``M x`` for everything that is coded, by the smaller of the two inverses, and ``X^T X``."""
    x = points.x.astype(np.float64, copy=False)
    targets = x if coded.new is None else coded.new.astype(np.float64, copy=False)
    # One thread of BLAS: with more, the bits of a product may depend on how many there are.
    with serial_linear_algebra():
        # A matrix of the features or of the points, whichever is smaller: its cost is cubic.
        if points.n_features <= points.n:
            gram = x.T @ x
            factor = _factor(gram + ridge * np.eye(len(gram)), ridge)
            return np.ascontiguousarray(linalg.cho_solve(factor, targets.T).T), gram
        kernel = x @ x.T
        kernel[np.diag_indices_from(kernel)] += ridge
        factor = _factor(kernel, ridge)
        if coded.new is None:
            return linalg.cho_solve(factor, x), None  # M X^T = X^T (X X^T + ridge I)^-1
        # M = (I - X^T (X X^T + ridge I)^-1 X) / ridge, since a new point is not a column of X^T.
        inner = linalg.cho_solve(factor, x @ targets.T)
        return (targets - inner.T @ x) / ridge, None


def _factor(matrix: FloatArray, ridge: float) -> tuple[FloatArray, bool]:
    """The Cholesky factor, which takes the place of the matrix in memory."""
    try:
        return linalg.cho_factor(matrix, overwrite_a=True)
    except linalg.LinAlgError as error:
        raise too_small(ridge) from error


def too_small(ridge: float) -> ValueError:
    return ValueError(f"ridge={ridge} is too small: nothing is left of it beside rounding.")


@dataclass(frozen=True)
class _LargestEntries:
    """Code some rows, and keep this many entries of each code."""

    count: int

    def __call__(self, data: _Regression | _SparseRegression, rows: IntArray) -> sparse.csr_array:
        points, block = data.points, data.coded[rows]
        targets = dense_rows(block.vectors(Rows(points.x))).astype(np.float64)
        vectors = _own_left_out(data, block, targets, data.vectors_of(rows, targets))
        codes = Codes.empty(len(rows), self.count)
        if not self.count:  # a single point has no other to be coded over
            return codes.to_csr(points.n)
        keep_largest(
            points.for_kernels,
            block.own,
            vectors,
            points.correlations(vectors),
            points.correlation_error,
            *codes,
        )
        return codes.to_csr(points.n)


def _own_left_out(
    data: _Regression | _SparseRegression, block: Queries, targets: FloatArray, vectors: FloatArray
) -> FloatArray:
    """The vectors ``v`` whose products with the points are the codes.

    A point that is coded over the others leaves itself out; a new point has no such entry.
    """
    # ``x_i' M x_i`` is below one for every ridge above zero. If it is not, rounding has swallowed
    # the ridge, and the quotient would be meaningless.
    own_share = np.einsum("ij,ij->i", targets, vectors) * (block.own >= 0)
    if not (own_share < 1).all():
        raise too_small(data.ridge)
    left_out = np.asarray(vectors / (1 - own_share)[:, None])
    # Candidates are found in single precision, where larger numbers would be infinite.
    if left_out.size and np.abs(left_out).max() > np.finfo(np.float32).max:
        raise too_small(data.ridge)
    return left_out


def _residual(data: _Regression | _SparseRegression, rows: IntArray) -> FloatArray:
    """A bound on the violation of the normal equations by the full codes of some rows."""
    block = data.coded[rows]
    targets = dense_rows(block.vectors(Rows(data.points.x))).astype(np.float64)
    vectors = _own_left_out(data, block, targets, data.vectors_of(rows, targets))
    # The full code z = X v, without its own entry, satisfies x - X^T z - ridge v = 0. Rounding
    # leaves a remainder. Points have unit length, so no inner product with one of them, that is, no
    # violation of a normal equation, exceeds the length of that remainder.
    own_entry = np.einsum("ij,ij->i", targets, vectors) * (block.own >= 0)
    full = targets * (1 + own_entry)[:, None]
    wrong = full - data.times_gram(vectors) - data.ridge * vectors
    return np.linalg.norm(wrong, axis=1)
