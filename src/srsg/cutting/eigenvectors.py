"""The leading eigenvectors of a graph, where eigenvalues crowd at the top of the spectrum.

Clusters that hardly touch have eigenvalues that hardly differ from 1, and so do parts of a
cluster. Lanczos, one vector after the other, then needs thousands of steps, and can silently miss
copies of a repeated eigenvalue. Here a block of vectors, more than are wanted, is filtered by a
Chebyshev polynomial of the matrix, which raises the eigenvalues at the top and presses all others
together; the best combinations of the vectors filtered so far are filtered again
(Zhou and Saad, A Chebyshev-Davidson algorithm for large symmetric eigenproblems, 2007).
With at least as many random vectors as eigenvectors are wanted, every copy of an eigenvalue has a
component in the block, so none can be missed.
"""

from contextlib import suppress
from functools import partial
from math import acosh, ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from srsg.kernels.graphs import chebyshev
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.running.warnings import warn_user
from srsg.types import FloatArray, Graph, IntArray

Pairs: TypeAlias = tuple[FloatArray, FloatArray]

DENSE_BELOW = 600
"""Matrices up to this size are left to LAPACK."""

DENSE_IF_CROWDED = 5000
"""So are those up to this size on which the filter does not converge."""

TOLERANCE = 1e-9
"""Residual at which a vector counts as an eigenvector."""

MOST_ROUNDS = 60
"""Rounds of filtering. Most graphs need about ten."""

FIRST_DEGREE, MOST_DEGREES = 10, 2000
"""Degree of the first filter, when nothing is known about the spectrum, and the highest degree of
the others."""

FILTERED_TOP = 1e3
"""Where the filter maps the eigenvalue 1; unwanted eigenvalues are mapped below 1. Between 30 and
1e5 the choice hardly matters: a larger value means fewer rounds of a higher degree."""

LARGEST_BASIS = 3
"""Vectors kept before a restart, in multiples of the block."""

PRODUCT_SHARES, LEAST_SHARED = 4, 2**23
"""In how many shares the threads compute a product of vectors with each other, and from how many
multiplications on: a smaller one takes about a millisecond."""

NEARLY_DEPENDENT = 1e-5
"""Distance of a unit vector from the span of others below which its inner products with them have
lost too many digits to make them orthogonal."""

MOST_AT_ONCE = 32
"""Vectors that a thread filters at once: more would not fit into its cache."""


def leading_eigenpairs(
    matrix: Graph | LinearOperator, count: int, *, engine: Engine | None = None
) -> Pairs:
    """The largest eigenvalues, with their eigenvectors, of a symmetric matrix whose eigenvalues lie
    between -1 and 1.

    Parameters
    ----------
    matrix : csr_array, ndarray or LinearOperator of shape (n, n)
        The normalised affinity of a graph.
    count : int
        How many eigenpairs.
    engine : Engine, optional
        Where the work runs; threads on all cores by default.

    Returns
    -------
    eigenvalues : ndarray of shape (count,)
        In decreasing order.
    eigenvectors : ndarray of shape (n, count)

    Warns
    -----
    ConvergenceWarning
        If a residual stays above 1e-9; the message has its size. Graphs of up to 5000 vertices are
        left to LAPACK instead, which has no such trouble.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.eigenvectors import leading_eigenpairs
    >>> leading_eigenpairs(sparse.csr_array([[0.5, 0.5], [0.5, 0.5]]), 1)[0].round(12)
    array([1.])
    """
    size = matrix.shape[0]
    with serial_linear_algebra():
        if size <= DENSE_BELOW or 3 * count > size:
            return _leading_dense(matrix, count)
        quiet = (engine or ThreadEngine()).quiet()
        values, vectors, error = _leading_filtered(matrix, count, quiet)
        if error > TOLERANCE and size <= DENSE_IF_CROWDED:
            return _leading_dense(matrix, count)
    if error > TOLERANCE:
        warn_user(
            f"The {count} leading eigenvectors of the graph did not converge: residual "
            f"{error:.1e}, wanted {TOLERANCE:.0e}.",
            ConvergenceWarning,
        )
    return values, vectors


def unsigned_indices(graph: sparse.csr_array) -> tuple[NDArray, NDArray]:
    """Row starts and columns for the kernels.

    With signed indices numba checks each time whether it counts from the end: unsigned ones are
    twice as fast.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.eigenvectors import unsigned_indices
    >>> unsigned_indices(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))[1]
    array([1, 0], dtype=uint32)
    """
    unsigned = np.uint32 if graph.nnz < 2**32 else np.uint64
    return graph.indptr.astype(unsigned), graph.indices.astype(unsigned)


def plus_low_rank(
    matrix: Graph | LinearOperator, vectors: FloatArray, weights: FloatArray
) -> LinearOperator:
    """``matrix + vectors diag(weights) vectors^T`` without forming it."""

    def multiply(x: FloatArray) -> FloatArray:
        inner = vectors.T @ x
        return matrix @ x + vectors @ (weights * inner.T).T

    return LinearOperator(matrix.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


def _leading_dense(matrix: Graph | LinearOperator, count: int) -> Pairs:
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix @ np.eye(matrix.shape[0])
    values, vectors = _last_pairs(dense, count)
    return values[::-1].copy(), vectors[:, ::-1]


def _last_pairs(dense: FloatArray, count: int) -> Pairs:
    """The largest eigenvalues of a small matrix in increasing order, with their eigenvectors."""
    size = len(dense)
    values, vectors = linalg.eigh(dense, subset_by_index=[size - count, size - 1])
    if len(values) < count:
        # The driver for a part of the spectrum can lose eigenvalues that lie close together, and
        # does not say so. The one for the whole spectrum takes longer but finds all of them.
        values, vectors = linalg.eigh(dense, driver="evd")
    return values[-count:], vectors[:, -count:]


def _leading_filtered(
    matrix: Graph | LinearOperator, count: int, engine: Engine
) -> tuple[FloatArray, FloatArray, float]:
    """Leading eigenpairs by filtered subspaces, and the largest residual among them."""
    size = matrix.shape[0]
    # The filter cannot separate what lies just below the end of its interval from what lies just
    # above, so a few more vectors than are wanted go along, to stand at that end.
    width = count + max(5, count // 5)
    start = np.random.default_rng(0).standard_normal((size, width))
    # Room for the largest basis: new vectors are put beside the others without copying these.
    room = np.empty((size, min(LARGEST_BASIS * width, size)))
    basis = room[:, :width]
    basis[:] = linalg.qr(_filtered(matrix, start, FIRST_DEGREE, 0.0, engine), mode="economic")[0]
    inner = _product(basis.T, _image(matrix, basis, engine), engine)
    least = -0.9  # an interval without width would have no polynomial
    for _ in range(MOST_ROUNDS):
        values, vectors = _ritz_pairs(basis, inner, width, engine)
        image = _image(matrix, vectors, engine)
        residuals = np.linalg.norm(image - vectors * values, axis=0)[:count]
        unfinished = np.flatnonzero(residuals > TOLERANCE)
        if not unfinished.size:
            break
        if basis.shape[1] + width > room.shape[1]:
            basis, inner = room[:, :width], np.diag(values)
            basis[:] = vectors
        # Ritz values bound the eigenvalues from below, so none that is wanted lies in the
        # interval from -1 to the last.
        least = max(least, float(values[-1]))
        degree = _degree(least, FILTERED_TOP)
        filtered = _filtered(matrix, vectors[:, unfinished], degree, least, engine)
        new = _orthonormal(filtered, engine, basis)
        image = _image(matrix, new, engine)
        mixed = _product(basis.T, image, engine)
        inner = np.block([[inner, mixed], [mixed.T, _product(new.T, image, engine)]])
        room[:, basis.shape[1] : basis.shape[1] + new.shape[1]] = new
        basis = room[:, : basis.shape[1] + new.shape[1]]
    return values[:count].copy(), vectors[:, :count], float(residuals.max())


def _ritz_pairs(basis: FloatArray, inner: FloatArray, count: int, engine: Engine) -> Pairs:
    """The best approximations to leading eigenpairs in the span of the basis."""
    values, turn = _last_pairs((inner + inner.T) / 2, count)
    return values[::-1], _product(basis, turn[:, ::-1], engine)


def _orthonormal(new: FloatArray, engine: Engine, basis: FloatArray) -> FloatArray:
    """The new vectors made orthonormal, and orthogonal to the basis."""
    # Twice: where little is left of a vector, its rounding errors matter.
    for _ in range(2):
        new = _orthonormal_columns(_beside(new, basis, engine), engine)
    return new


def _orthonormal_columns(vectors: FloatArray, engine: Engine) -> FloatArray:
    """The same span by the Cholesky factor of the inner products, which threads can share; or by
    Householder's reflections, if some of the vectors nearly depend on the others."""
    lengths = np.linalg.norm(vectors, axis=0)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    # The diagonal of the factor holds the distances of the vectors from the span of those before.
    with suppress(linalg.LinAlgError):
        factor = linalg.cholesky(_product(unit.T, unit, engine))
        if factor.diagonal().min() > NEARLY_DEPENDENT:
            return _product(unit, linalg.inv(factor), engine)
    return linalg.qr(vectors, mode="economic", check_finite=False)[0]


def _beside(new: FloatArray, basis: FloatArray, engine: Engine) -> FloatArray:
    """What is left of the vectors beside their parts in the span of the basis."""
    return new - _product(basis, _product(basis.T, new, engine), engine)


def _product(left: FloatArray, right: FloatArray, engine: Engine) -> FloatArray:
    """``left @ right``, with a share of the rows on each thread."""
    if left.size * right.shape[1] < LEAST_SHARED:
        return left @ right
    # The shares are the same for any number of threads: their sizes may decide the last bits.
    shares = np.array_split(np.arange(len(left)), PRODUCT_SHARES)
    parts = [slice(rows[0], rows[-1] + 1) for rows in shares if len(rows)]
    return np.vstack(engine.map(_multiply, (left, right), parts, label="product"))


def _multiply(data: tuple[FloatArray, FloatArray], rows: slice) -> FloatArray:
    left, right = data
    return left[rows] @ right


def _image(matrix: Graph | LinearOperator, vectors: FloatArray, engine: Engine) -> FloatArray:
    """``matrix @ vectors``, with a share of the vectors on each thread if the matrix is sparse."""
    if not sparse.issparse(matrix) or matrix.nnz * vectors.shape[1] < LEAST_SHARED:
        return matrix @ vectors
    # SciPy treats every vector alike, whatever is beside it, so shares of any size have its bits.
    parts = np.array_split(vectors, min(engine.n_workers, vectors.shape[1]), axis=1)
    return np.hstack(engine.map(_apply, matrix, parts, label="product"))


def _apply(matrix: sparse.csr_array, vectors: FloatArray) -> FloatArray:
    return matrix @ vectors


def _degree(least: float, top: float) -> int:
    """The degree at which the filter maps the eigenvalue 1 to ``top``."""
    center, half_width = _interval(least)
    reach = acosh(max((1 - center) / half_width, 1 + 1e-12))
    return min(max(ceil(acosh(top) / reach), 1), MOST_DEGREES)


def _interval(least: float) -> tuple[float, float]:
    """Centre and half the width of the interval from -1 to ``least``."""
    return (least - 1) / 2, (least + 1) / 2


def _filtered(
    matrix: Graph | LinearOperator,
    vectors: FloatArray,
    degree: int,
    least: float,
    engine: Engine,
) -> FloatArray:
    """The vectors times the polynomial that presses the eigenvalues below ``least`` into
    [-1, 1]."""
    if not sparse.issparse(matrix):
        return _chebyshev(matrix, vectors, degree, _interval(least))
    graph = (*unsigned_indices(matrix), matrix.data)
    # A filtered vector does not depend on those beside it, so every thread can take a share.
    rounds = ceil(vectors.shape[1] / (MOST_AT_ONCE * engine.n_workers))
    parts = np.array_split(vectors, min(rounds * engine.n_workers, vectors.shape[1]), axis=1)
    task = partial(_filter_part, degree=degree, interval=_interval(least))
    return np.hstack(engine.map(task, (matrix, graph), parts, label="filter"))


def _filter_part(
    data: tuple[sparse.csr_array, tuple[IntArray, IntArray, FloatArray]],
    vectors: FloatArray,
    degree: int,
    interval: tuple[float, float],
) -> FloatArray:
    matrix, graph = data
    current = _chebyshev(matrix, vectors, 1, interval)
    return chebyshev(*graph, np.array(vectors, order="C"), current, degree - 1, *interval)


def _chebyshev(
    matrix: Graph | LinearOperator,
    vectors: FloatArray,
    degree: int,
    interval: tuple[float, float],
) -> FloatArray:
    """``T_degree((matrix - center) / half_width) vectors``; at most 1 on the interval, and growing
    fast beyond it."""
    center, half_width = interval
    before, current = vectors, (matrix @ vectors - center * vectors) / half_width
    for _ in range(1, degree):
        following = 2 * (matrix @ current - center * current) / half_width - before
        before, current = current, following
    return np.ascontiguousarray(current)
