"""Morlet wavelets and the low-pass filter of the scattering transform.

The filters are those of Bruna and Mallat (2013), with the parameters that ScatNet and kymatio use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from srsg.types import FloatArray

WIDTH = 0.8
"""Standard deviation, in pixels, of the envelope of the finest wavelets."""

FREQUENCY = 0.75 * np.pi
"""Centre frequency of the finest wavelets, in radians per pixel."""

COPIES = np.arange(-2, 3)
"""Periods of a filter that are summed; farther away, its envelope is practically zero."""


@dataclass(frozen=True)
class FilterBank:
    """Padding and filters of the scattering transform, for images of one shape.

    Attributes
    ----------
    rows, columns : ndarray
        Rows and columns of the image in the order in which they make the padded image.
    wavelets : tuple of tuple of ndarray
        ``wavelets[j][level]`` are the Fourier transforms of the wavelets of scale j, one per
        angle, for images subsampled ``level`` times by two. They are real; every value is repeated
        once, for the real and the imaginary part of the number it is multiplied with. They are
        divided by the number of frequencies that coincide at the wavelet's own scale.
    averages : tuple of pairs of ndarray
        ``averages[level] = A, B``: the low-pass filter followed by subsampling, which is a
        separable operation, maps an image U of that level to ``A @ U @ B.T``.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    wavelets: tuple[tuple[NDArray[np.float32], ...], ...]
    averages: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]

    @property
    def n_scales(self) -> int:
        return len(self.wavelets)

    @property
    def n_angles(self) -> int:
        return len(self.wavelets[0][0])

    @property
    def grid_shape(self) -> tuple[int, int]:
        """Rows and columns of the subsampled output."""
        rows, columns = self.averages[0]
        return len(rows), len(columns)

    @property
    def n_channels(self) -> int:
        """Paths through the two layers; the scale of the second must exceed that of the first."""
        j, n = self.n_scales, self.n_angles
        return 1 + j * n + j * (j - 1) // 2 * n * n


@lru_cache(maxsize=8)
def filter_bank(image_shape: tuple[int, int], n_scales: int, n_angles: int) -> FilterBank:
    """The filters for images of one shape.

    Images are padded by reflection: up to a multiple of ``2**n_scales`` in both directions, so
    that the output grid covers all of the image, and by one more step of the grid on each side,
    so that the periodic convolution does not join opposite borders.

    Examples
    --------
    >>> from srsg.features.filters import filter_bank
    >>> bank = filter_bank((28, 28), 3, 8)
    >>> len(bank.rows), bank.n_channels, bank.grid_shape
    (48, 217, (4, 4))
    """
    rows, columns = (_reflected(size, 2**n_scales) for size in image_shape)
    padded = len(rows), len(columns)
    wavelets = tuple(_wavelets(padded, scale, n_angles, n_scales) for scale in range(n_scales))
    averages = tuple(
        (_average(padded[0], level, n_scales), _average(padded[1], level, n_scales))
        for level in range(n_scales)
    )
    return FilterBank(rows, columns, wavelets, averages)


def _reflected(size: int, step: int) -> NDArray[np.intp]:
    """Indices of the pixels that make up one padded axis of ``size`` pixels."""
    padding = (-size % step) + 2 * step
    return np.pad(np.arange(size), (padding // 2, (padding + 1) // 2), mode="reflect")


def _wavelets(
    shape: tuple[int, int], scale: int, n_angles: int, n_scales: int
) -> tuple[NDArray[np.float32], ...]:
    """The wavelets of one scale, at every level where they are used."""
    angles = (n_angles - n_angles // 2 - 1 - np.arange(n_angles)) * np.pi / n_angles
    spectra = np.array([morlet(shape, scale, angle, 4 / n_angles) for angle in angles])
    # The first layer filters the image itself. The second filters the output of a finer scale,
    # which is already subsampled.
    levels = [_cropped(spectra, level, axes=(1, 2)) for level in range(max(1, scale))]
    # Subsampling to the wavelet's own scale takes the mean over the frequencies that it folds.
    means = [spectrum / 4 ** (scale - level) for level, spectrum in enumerate(levels)]
    return tuple(np.repeat(mean, 2, axis=-1).astype(np.float32) for mean in means)


def morlet(shape: tuple[int, int], scale: int, angle: float, slant: float) -> FloatArray:
    """Fourier transform of a periodic Morlet wavelet; it is real, and zero at frequency zero.

    In space it is ``g(u) (exp(i k.u) - c)``, with g a Gaussian that is ``1 / slant`` times as
    long across the wave as along it, and c such that the sum over u is zero.

    Examples
    --------
    >>> from srsg.features.filters import morlet
    >>> wavelet = morlet((16, 16), 1, 0.0, 0.5)
    >>> bool(abs(wavelet[0, 0]) < 1e-12), int(wavelet[:, 0].argmax())
    (True, 3)
    """
    sigma, frequency = WIDTH * 2**scale, FREQUENCY / 2**scale
    y, x = (np.add.outer(size * COPIES, np.arange(size)).ravel() for size in shape)
    along = np.add.outer(np.cos(angle) * y, np.sin(angle) * x)
    across = np.add.outer(-np.sin(angle) * y, np.cos(angle) * x)
    envelope = np.exp(-(along**2 + (slant * across) ** 2) / (2 * sigma**2))
    envelope *= slant / (2 * np.pi * sigma**2)
    wave = _periodic(envelope * np.exp(1j * frequency * along), shape)
    envelope = _periodic(envelope, shape)
    return fft.fft2(wave - wave.sum() / envelope.sum() * envelope).real


def _periodic(values: NDArray, shape: tuple[int, int]) -> NDArray:
    """Sum over all periods."""
    n_copies = len(COPIES)
    return values.reshape(n_copies, shape[0], n_copies, shape[1]).sum(axis=(0, 2))


def _average(size: int, level: int, n_scales: int) -> NDArray[np.float32]:
    """The low-pass filter along one axis, subsampled, as a matrix; the margin is left out."""
    sigma = WIDTH * 2 ** (n_scales - 1)
    places = np.add.outer(size * COPIES, np.arange(size))
    gaussian = np.exp(-(places**2) / (2 * sigma**2)).sum(axis=0) / np.sqrt(2 * np.pi * sigma**2)
    kernel = fft.ifft(_cropped(fft.fft(gaussian).real, level, axes=(0,))).real
    step = 2 ** (n_scales - level)
    centres = np.arange(step, len(kernel) - step, step)
    return kernel[np.subtract.outer(centres, np.arange(len(kernel)))].astype(np.float32)


def _cropped(spectrum: FloatArray, level: int, axes: tuple[int, ...]) -> FloatArray:
    """The low frequencies of a filter: the filter for images subsampled ``level`` times."""
    for axis in axes:
        size = spectrum.shape[axis]
        kept = size >> level
        low = np.r_[: kept // 2, size - (kept - kept // 2) : size]
        spectrum = np.take(spectrum, low, axis=axis)
    return spectrum
