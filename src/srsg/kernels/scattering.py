"""Products of spectra and filters, folded for a lower resolution."""

from srsg.kernels.compiled import kernel


@kernel()
def folded_products(spectra, filters, out):
    """``out[s, f]``: spectrum s times filter f, summed over the frequencies that coincide when the
    filtered image is subsampled.

    The last axis holds real and imaginary parts in turn. The filters are real and have every value
    twice, so the loop over that axis has plain products only, which the compiler vectorises.
    """
    n_rows, n_columns = out.shape[2], out.shape[3]
    for s in range(spectra.shape[0]):
        for f in range(filters.shape[0]):
            for i in range(n_rows):
                target = out[s, f, i]
                target[:] = 0.0
                # Each pass adds one piece of a row: it is read as it lies in memory, and the order
                # of the sums is fixed.
                for row in range(i, spectra.shape[1], n_rows):
                    for start in range(0, spectra.shape[2], n_columns):
                        values = spectra[s, row, start : start + n_columns]
                        weights = filters[f, row, start : start + n_columns]
                        for j in range(n_columns):
                            target[j] += values[j] * weights[j]
