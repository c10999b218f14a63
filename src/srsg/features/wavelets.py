"""The two-layer scattering transform: of one image, of many on threads, and its filters.

The filters, Morlet wavelets and a low-pass filter, are those of Bruna and Mallat (2013), with the
parameters that ScatNet and kymatio use.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from srsg.kernels.scattering import folded_products
from srsg.points import row_slices
from srsg.running import Engine
from srsg.types import FloatArray

Float32 = NDArray[np.float32]
Complex64 = NDArray[np.complex64]

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
    wavelets: tuple[tuple[Float32, ...], ...]
    averages: tuple[tuple[Float32, Float32], ...]

    n_scales: int
    n_angles: int
    grid_shape: tuple[int, int]
    """Rows and columns of the subsampled output."""

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
    >>> from srsg.features.wavelets import filter_bank
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
    grid_shape = len(averages[0][0]), len(averages[0][1])
    return FilterBank(rows, columns, wavelets, averages, n_scales, n_angles, grid_shape)


def _reflected(size: int, step: int) -> NDArray[np.intp]:
    """Indices of the pixels that make up one padded axis of ``size`` pixels."""
    padding = (-size % step) + 2 * step
    return np.pad(np.arange(size), (padding // 2, (padding + 1) // 2), mode="reflect")


def _wavelets(
    shape: tuple[int, int], scale: int, n_angles: int, n_scales: int
) -> tuple[Float32, ...]:
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
    >>> from srsg.features.wavelets import morlet
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


def _average(size: int, level: int, n_scales: int) -> Float32:
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


def scattering(
    X: NDArray, image_shape: tuple[int, int], bank: FilterBank, block_size: int, engine: Engine
) -> Float32:
    """Scattering coefficients of flattened images, one image per row.

    Every image is transformed on its own, with calls of the same shapes, so its numbers depend
    neither on the block it is in nor on the thread.

    Parameters
    ----------
    X : ndarray of shape (n, height * width)
        Images.
    image_shape : tuple of int
        Height and width.
    bank : FilterBank
        From :func:`filter_bank`.
    block_size : int
        Images per task.
    engine : Engine
        Threads of this process: the blocks write into one array.

    Returns
    -------
    ndarray of shape (n, n_channels * grid height * grid width), float32
    """
    out = np.empty((len(X), bank.n_channels, *bank.grid_shape), dtype=np.float32)

    def transform_block(data: tuple[NDArray, Float32], rows: slice) -> None:
        images, results = data[0][rows], data[1][rows]
        padded = images.reshape(-1, *image_shape)[:, bank.rows][:, :, bank.columns]
        # Rows in order, also if there is one image: another layout could change the last bits.
        padded = padded.astype(np.float32, order="C")
        for image, result in zip(padded, results, strict=True):
            scatter_image(image, bank, result)

    engine.map(transform_block, (X, out), row_slices(len(X), block_size), label="scattering")
    return out.reshape(len(X), -1)


def scatter_image(padded: Float32, bank: FilterBank, out: Float32) -> None:
    """Scattering coefficients of one padded image, written into ``out``, one row per channel.

    The channels are the averages of the image itself; of ``|x * psi_1|``, by scale and angle; and
    of ``||x * psi_1| * psi_2|``, by scale and angle of the first wavelet, then of the second.
    """
    n_angles, n_scales = bank.n_angles, bank.n_scales
    out[0] = averaged(padded[None], bank, 0)
    spectrum = fft.fft2(padded)[None]
    second = 1 + n_scales * n_angles
    for scale in range(n_scales):
        first = envelopes(spectrum, bank.wavelets[scale][0], scale)[0]
        begin = 1 + scale * n_angles
        out[begin : begin + n_angles] = averaged(first, bank, scale)
        coarser = range(scale + 1, n_scales)
        if not coarser:
            break
        # The envelopes of all angles are one stack of images for the second wavelet.
        spectra = fft.fft2(first)
        end = second + n_angles * n_angles * len(coarser)
        paths = out[second:end].reshape(n_angles, len(coarser), n_angles, *bank.grid_shape)
        for place, wider in enumerate(coarser):
            deep = envelopes(spectra, bank.wavelets[wider][scale], wider - scale)
            average = averaged(deep.reshape(-1, *deep.shape[2:]), bank, wider)
            paths[:, place] = average.reshape(n_angles, n_angles, *bank.grid_shape)
        second = end


def envelopes(spectra: Complex64, wavelets: Float32, halvings: int) -> Float32:
    """``|x * psi|``, subsampled ``halvings`` times by two, of all images x and wavelets psi.

    Subsampling in space is a sum over frequencies in the Fourier domain, so the inverse transform
    is done at the lower resolution only.
    """
    height, width = (side >> halvings for side in spectra.shape[1:])
    products = np.empty((len(spectra), len(wavelets), height, width), np.complex64)
    folded_products(spectra.view(np.float32), wavelets, products.view(np.float32))
    return np.abs(fft.ifft2(products, overwrite_x=True))


def averaged(images: Float32, bank: FilterBank, level: int) -> Float32:
    """Low-pass filtered and subsampled images: two small matrix products."""
    row_average, column_average = bank.averages[level]
    n_images, height, width = images.shape
    n_rows, n_columns = bank.grid_shape
    along = np.matmul(images.reshape(-1, width), column_average.T)
    turned = along.reshape(n_images, height, n_columns).swapaxes(1, 2).reshape(-1, height)
    result: Float32 = np.matmul(turned, row_average.T)
    return result.reshape(n_images, n_columns, n_rows).swapaxes(1, 2)
