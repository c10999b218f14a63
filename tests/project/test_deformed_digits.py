"""The deformed digits of the benchmark: the same for the same seed, near what they were made of."""

import numpy as np

from benchmarks.deformed import deformed_digits


def test_deformed_digits():
    pictures = np.zeros((3, 28, 28), np.uint8)
    for k, picture in enumerate(pictures):
        picture[8:20, 6 + 4 * k : 12 + 4 * k] = 200
    labels = np.array([4, 7, 9])
    X, y = deformed_digits(pictures, labels, 9, seed=1)
    assert X.dtype == np.uint8
    np.testing.assert_array_equal(X[:3], pictures.reshape(3, -1))
    np.testing.assert_array_equal(y, np.tile(labels, 3))
    again, _ = deformed_digits(pictures, labels, 9, seed=1)
    np.testing.assert_array_equal(X, again)
    other, _ = deformed_digits(pictures, labels, 9, seed=2)
    assert (X[3:] != other[3:]).any(axis=1).all()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    near = unit[3:] @ unit[:3].T
    np.testing.assert_array_equal(near.argmax(axis=1), np.tile([0, 1, 2], 2))
    assert near.max() < 1  # none is a mere copy
