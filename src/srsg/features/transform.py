"""The two-layer scattering transform of one image, and of many on threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from srsg.features.filters import FilterBank
from srsg.kernels.scattering import folded_products
from srsg.points import row_slices
from srsg.running import Engine

Float32 = NDArray[np.float32]
Complex64 = NDArray[np.complex64]


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
        From :func:`srsg.features.filters.filter_bank`.
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
