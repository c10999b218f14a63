"""Ridge codes: least squares regression of every point on the others, in closed form.

With ``P = (X X^T + ridge I)^-1``, the code of point i is ``z_j = -P_ij / P_ii``, and zero at i.
Here X has one point per row. The matrix P is never formed: ``P_ij = -x_j' M x_i / ridge`` for j
other than i, where ``M = (X^T X + ridge I)^-1`` has one row and column per feature. So the code of
point i is the product of all points with one vector, ``v_i = M x_i / (1 - x_i' M x_i)``. All codes
together cost one matrix product, and only the largest entries of every row are kept.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from srsg.coding.neighbors import LargestProducts
from srsg.kernels.arrays import Codes
from srsg.points import (
    BLOCK_SIZE,
    Points,
    Queries,
    UnitRows,
    blocks_of_rows,
    row_slices,
)
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.types import FloatArray, IntArray

LEAST_PER_SUM, ROWS_PER_FEATURE = 4096, 16
"""Points whose inner products of features are added up together: so many that the sums take a small
part of the memory of the points."""

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
    if points.in_shards and points.n_features > points.n:
        points = engine.gathered(points)  # so few points that the rest is little work
    coded = Queries.of(points, queries)
    # A point cannot use itself; a new point may use all.
    width = min(n_nonzero, points.n - 1 if queries is None else points.n)
    task = _RidgeScan(width, engine.block_size, _Regression.of(points, float(ridge), engine))
    about = points, coded, len(coded)
    found = engine.scan(task, *about, label="ridge codes", multiple=BLOCK_SIZE)
    codes = Codes.concatenate([codes for codes, _ in found]).to_csr(points.n)
    return RidgeCodes(codes, np.concatenate([residual for _, residual in found]))


@dataclass(frozen=True)
class _Regression:
    """What the codes of a block need to know about all points.

    ``factor`` is the Cholesky factor of ``X^T X + ridge I`` or, where there are fewer points than
    features, of ``X X^T + ridge I``: the smaller of the two, since its cost is cubic.
    """

    ridge: float
    factor: tuple[FloatArray, bool]
    gram: FloatArray | None
    """``X^T X``, if the points are dense and there are fewer features than points."""
    x: UnitRows | None
    """The points, where the product is not enough."""

    @classmethod
    def of(cls, points: Points, ridge: float, engine: Engine) -> Self:
        by_features = points.n_features <= points.n
        if by_features and (points.in_shards or not sparse.issparse(points.x)):
            # In parts of a fixed size, whose sums have the same bits wherever they are added.
            rows = max(LEAST_PER_SUM, ROWS_PER_FEATURE * points.n_features)
            label, blocks = "products of features", blocks_of_rows(points.n, rows)
            parts = engine.quiet().map_rows(_gram, points, blocks, label=label)
            gram = reduce(np.add, parts)
            return cls(ridge, _factor(gram.copy(), ridge), gram, None)
        # One thread of BLAS: with more, the bits of a product may depend on how many there are.
        with serial_linear_algebra():
            products = _products(points.x.T if by_features else points.x)
            return cls(ridge, _factor(products, ridge), None, points.x)

    def solved(self, own: IntArray, targets: FloatArray) -> FloatArray:
        """``M x`` for some of what is coded, given as dense ``targets``."""
        if self.x is None or self.x.shape[1] <= self.x.shape[0]:
            return np.ascontiguousarray(linalg.cho_solve(self.factor, targets.T).T)
        x = self.x.astype(np.float64, copy=False)
        if (own < 0).any():
            # A new point is not a column of X^T: M = (I - X^T (X X^T + ridge I)^-1 X) / ridge.
            inner = linalg.cho_solve(self.factor, x @ targets.T)
            return (targets - inner.T @ x) / self.ridge
        # M X^T = X^T (X X^T + ridge I)^-1
        units = np.zeros((x.shape[0], len(own)))  # they pick the columns of these points
        units[own, np.arange(len(own))] = 1.0
        return np.ascontiguousarray((x.T @ linalg.cho_solve(self.factor, units)).T)

    def own_left_out(self, own: IntArray, targets: FloatArray) -> FloatArray:
        """The vectors ``v`` of the codes of some targets.

        A point that is coded over the others leaves itself out; a new point has no such entry.
        """
        vectors = self.solved(own, targets)
        # ``x_i' M x_i`` is below one for every ridge above zero. If it is not, rounding has
        # swallowed the ridge, and the quotient would be meaningless.
        own_share = np.einsum("ij,ij->i", targets, vectors) * (own >= 0)
        if not (own_share < 1).all():
            raise too_small(self.ridge)
        left_out = np.asarray(vectors / (1 - own_share)[:, None])
        # Candidates are found in single precision, where larger numbers would be infinite.
        if left_out.size and np.abs(left_out).max() > np.finfo(np.float32).max:
            raise too_small(self.ridge)
        return left_out

    def residual(self, own: IntArray, targets: FloatArray, vectors: FloatArray) -> FloatArray:
        """A bound on the violation of the normal equations by the full codes of some targets."""
        # The full code z = X v, without its own entry, satisfies x - X^T z - ridge v = 0. Rounding
        # leaves a remainder. Points have unit length, so no inner product with one of them, that
        # is, no violation of a normal equation, exceeds the length of that remainder.
        own_entry = np.einsum("ij,ij->i", targets, vectors) * (own >= 0)
        full = targets * (1 + own_entry)[:, None]
        if self.gram is not None:
            products = vectors @ self.gram  # X^T X v
        else:
            assert self.x is not None
            products = (vectors @ self.x.T) @ self.x
        return np.linalg.norm(full - products - self.ridge * vectors, axis=1)


@dataclass(frozen=True)
class _RidgeScan(LargestProducts):
    """A scan for the largest entries of ridge codes, with their certificates."""

    data: _Regression

    def vectors(self, own: IntArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        vectors, residual = np.empty(targets.shape), np.empty(len(own))
        # In parts of fixed sizes: the rounding of a solve or a product may depend on its shape.
        for rows in row_slices(len(own), BLOCK_SIZE):
            vectors[rows] = self.data.own_left_out(own[rows], targets[rows])
        for rows in row_slices(len(own), ROWS_PER_RESIDUAL):
            residual[rows] = self.data.residual(own[rows], targets[rows], vectors[rows])
        return vectors, residual


def _gram(x: NDArray[np.floating]) -> FloatArray:
    """Inner products of the columns."""
    return _products(x.T)


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
