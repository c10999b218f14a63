"""Vectors that the eigensolver makes orthonormal, also where they hardly differ."""

import numpy as np
import pytest

from srsg.cutting.eigenvectors import _chebyshev, _orthonormal, _orthonormal_columns
from srsg.running import ThreadEngine


def vectors_apart_by(distance, rng):
    """Forty vectors; each of the last ten is this far from one of the others."""
    first = rng.standard_normal((500, 30))
    return np.hstack([first, first[:, :10] + distance * rng.standard_normal((500, 10))])


@pytest.mark.parametrize("distance", [1.0, 1e-3, 1e-7, 1e-11, 0.0])
def test_vectors_are_orthonormal_however_close(distance):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((500, 60)))[0]
    # Long and short ones, and mostly within the span of the basis, as filtered vectors are.
    new = vectors_apart_by(distance, rng) * np.logspace(0, 8, 40)
    new = new + 1e4 * basis @ rng.standard_normal((60, 40))
    found = _orthonormal(new, ThreadEngine(2), basis)
    np.testing.assert_allclose(found.T @ found, np.eye(40), atol=1e-12)
    np.testing.assert_allclose(basis.T @ found, 0, atol=1e-12)


def test_the_span_stays():
    vectors = vectors_apart_by(1e-2, np.random.default_rng(1)) * np.logspace(0, 8, 40)
    found = _orthonormal_columns(vectors, ThreadEngine(2))
    rest = vectors - found @ (found.T @ vectors)
    assert (np.linalg.norm(rest, axis=0) < 1e-9 * np.linalg.norm(vectors, axis=0)).all()


def test_a_vector_of_zeros_does_no_harm():
    vectors = np.random.default_rng(2).standard_normal((500, 5))
    vectors[:, 2] = 0
    found = _orthonormal_columns(vectors, ThreadEngine(2))
    np.testing.assert_allclose(found.T @ found, np.eye(5), atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_the_filter_is_a_polynomial_of_chebyshev(degree):
    rng = np.random.default_rng(0)
    matrix, vectors = rng.standard_normal((6, 6)), rng.standard_normal((6, 2))
    values, axes = np.linalg.eigh(matrix + matrix.T)
    center, half_width = 0.3, 1.7
    curve = np.polynomial.Chebyshev.basis(degree)((values - center) / half_width)
    found = _chebyshev(matrix + matrix.T, vectors, degree, (center, half_width))
    np.testing.assert_allclose(found, axes * curve @ axes.T @ vectors, atol=1e-9)
