"""Ridge codes: least squares regression of every point on the others, in closed form.

With ``P = (X X^T + ridge I)^-1``, the code of point i is ``z_j = -P_ij / P_ii``, and zero at i.
Here X has one point per row. The matrix P is never formed: ``P_ij = -x_j' M x_i / ridge`` for j
other than i, where ``M = (X^T X + ridge I)^-1`` has one row and column per feature. So the code of
point i is the product of all points with one vector, ``v_i = M x_i / (1 - x_i' M x_i)``. All codes
together cost one matrix product, and only the largest entries of every row are kept.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from scipy import linalg, sparse

from srsg.kernels.ridge import keep_largest
from srsg.points import (
    BLOCK_SIZE,
    Points,
    Queries,
    Rows,
    UnitRows,
    blocks_of_rows,
    dense_rows,
    row_slices,
)
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
        Entries of each code that are kept: those of largest magnitude.
    queries : Points, optional
        Points to code over ``points``; by default ``points`` themselves, each over all others.
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
    data = _Regression.of(points, coded, float(ridge))
    # The bits of a direct solve may depend on how many vectors it has. The vectors of sparse points
    # are found block by block, so their blocks have one size, whatever the memory.
    size = BLOCK_SIZE if sparse.issparse(points.x) else engine.block_size
    # A point cannot use itself; a new point may use all.
    width = min(n_nonzero, points.n - 1 if queries is None else points.n)
    task = partial(_largest_entries, count=width)
    codes = engine.map(task, data, blocks_of_rows(len(coded), size), label="ridge codes")
    # In blocks of a fixed size: the rounding of a matrix product depends on its shape.
    fixed = blocks_of_rows(len(coded), ROWS_PER_RESIDUAL)
    residuals = engine.quiet().map(_residual, data, fixed, label="certificates")
    return RidgeCodes(sparse.csr_array(sparse.vstack(codes)), np.concatenate(residuals))


@dataclass(frozen=True)
class _Regression:
    """Everything that blocks need.

    ``factor`` is the Cholesky factor of ``X^T X + ridge I`` or, where there are fewer points than
    features, of ``X X^T + ridge I``: the smaller of the two, since its cost is cubic.
    """

    points: Points
    coded: Queries
    ridge: float
    factor: tuple[FloatArray, bool]
    gram: FloatArray | None
    """``X^T X``, if the points are dense and there are fewer features than points."""
    vectors: FloatArray | None = None
    """``M x`` for everything that is coded, if the points are dense. It is dense in any case, so
    for sparse points it is found a block at a time."""

    @classmethod
    def of(cls, points: Points, coded: Queries, ridge: float) -> Self:
        x, by_features = points.x, points.n_features <= points.n
        dense = not sparse.issparse(x)
        # One thread of BLAS: with more, the bits of a product may depend on how many there are.
        with serial_linear_algebra():
            products = _products(x.T if by_features else x)
            gram = products.copy() if dense and by_features else None
            data = cls(points, coded, ridge, _factor(products, ridge), gram)
            if not dense:
                return data
            targets = x if coded.new is None else coded.new
            every = np.arange(len(coded))
            vectors = data.solved(every, targets.astype(np.float64, copy=False))
            return replace(data, vectors=vectors)

    def solved(self, rows: IntArray, targets: FloatArray) -> FloatArray:
        """``M x`` for some of what is coded, given as dense ``targets``."""
        x = self.points.x.astype(np.float64, copy=False)
        if self.points.n_features <= self.points.n:
            return np.ascontiguousarray(linalg.cho_solve(self.factor, targets.T).T)
        if self.coded.new is not None:
            # A new point is not a column of X^T: M = (I - X^T (X X^T + ridge I)^-1 X) / ridge.
            inner = linalg.cho_solve(self.factor, x @ targets.T)
            return (targets - inner.T @ x) / self.ridge
        # M X^T = X^T (X X^T + ridge I)^-1
        if not sparse.issparse(x):
            return linalg.cho_solve(self.factor, targets)
        units = np.zeros((self.points.n, len(rows)))  # they pick the columns of these points
        units[rows, np.arange(len(rows))] = 1.0
        return np.ascontiguousarray((x.T @ linalg.cho_solve(self.factor, units)).T)

    def own_left_out(self, rows: IntArray) -> tuple[Queries, FloatArray, FloatArray]:
        """Some of what is coded, as dense vectors, and the vectors ``v`` of their codes.

        A point that is coded over the others leaves itself out; a new point has no such entry.
        """
        block = self.coded[rows]
        targets = dense_rows(block.vectors(Rows(self.points.x))).astype(np.float64)
        vectors = self.solved(rows, targets) if self.vectors is None else self.vectors[rows]
        # ``x_i' M x_i`` is below one for every ridge above zero. If it is not, rounding has
        # swallowed the ridge, and the quotient would be meaningless.
        own_share = np.einsum("ij,ij->i", targets, vectors) * (block.own >= 0)
        if not (own_share < 1).all():
            raise too_small(self.ridge)
        left_out = np.asarray(vectors / (1 - own_share)[:, None])
        # Candidates are found in single precision, where larger numbers would be infinite.
        if left_out.size and np.abs(left_out).max() > np.finfo(np.float32).max:
            raise too_small(self.ridge)
        return block, targets, left_out


def _products(rows: UnitRows) -> FloatArray:
    """Inner products of the rows with each other, as a dense matrix."""
    if not sparse.issparse(rows):
        rows = rows.astype(np.float64, copy=False)
        return rows @ rows.T
    # A product of two sparse matrices would hardly have a zero, and take twice the memory of a
    # dense one. So it is made in dense blocks.
    rows = sparse.csr_array(rows)
    products = np.empty((rows.shape[0], rows.shape[0]))
    for part in row_slices(rows.shape[0], BLOCK_SIZE):
        products[part] = (rows @ rows[part].toarray().T).T
    return products


def _factor(products: FloatArray, ridge: float) -> tuple[FloatArray, bool]:
    """The Cholesky factor of products plus ridge, which takes their place in memory."""
    products[np.diag_indices_from(products)] += ridge
    try:
        return linalg.cho_factor(products, overwrite_a=True)
    except linalg.LinAlgError as error:
        raise too_small(ridge) from error


def too_small(ridge: float) -> ValueError:
    return ValueError(f"ridge={ridge} is too small: it is below rounding error.")


def _largest_entries(data: _Regression, rows: IntArray, *, count: int) -> sparse.csr_array:
    """The codes of some rows, with this many entries each."""
    points, (block, _, vectors) = data.points, data.own_left_out(rows)
    correlations, error = points.correlations(vectors), points.correlation_error
    codes = keep_largest(points.for_kernels, block.own, vectors, correlations, error, count)
    return codes.to_csr(points.n)


def _residual(data: _Regression, rows: IntArray) -> FloatArray:
    """A bound on the violation of the normal equations by the full codes of some rows."""
    block, targets, vectors = data.own_left_out(rows)
    # The full code z = X v, without its own entry, satisfies x - X^T z - ridge v = 0. Rounding
    # leaves a remainder. Points have unit length, so no inner product with one of them, that is, no
    # violation of a normal equation, exceeds the length of that remainder.
    own_entry = np.einsum("ij,ij->i", targets, vectors) * (block.own >= 0)
    full = targets * (1 + own_entry)[:, None]
    x, gram = data.points.x, data.gram
    products = (vectors @ x.T) @ x if gram is None else vectors @ gram  # X^T X v
    return np.linalg.norm(full - products - data.ridge * vectors, axis=1)
