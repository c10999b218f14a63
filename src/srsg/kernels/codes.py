"""Sparse codes as the kernels hold them."""

from collections import namedtuple

from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import assign

Codes = namedtuple("Codes", "index value size")
"""One code a row: indices and values, of which the first ``size`` of the row count."""


@helper()
def residual(points, target, codes, p, out):
    """``target - sum_t z_t x_t`` for the code in row p, in float64."""
    assign(out, target)
    for k in range(codes.size[p]):
        z = codes.value[p, k]
        if z != 0.0:
            atom = points[codes.index[p, k]]
            for j in range(out.shape[0]):
                out[j] -= z * atom[j]


@kernel()
def residuals(points, targets, codes, out):
    """The residuals of all codes; row p of the codes is that of ``targets[p]``."""
    for p in range(targets.shape[0]):
        residual(points, targets[p], codes, p, out[p])


@helper()
def keep_sorted_support(codes, companion, p):
    """Drop the zeros of a code and sort it by index, and its companion with it."""
    count = 0
    for k in range(codes.size[p]):
        value = codes.value[p, k]
        if value != 0.0:
            index = codes.index[p, k]
            follows = companion[p, k]
            place = count
            while place > 0 and codes.index[p, place - 1] > index:
                codes.index[p, place] = codes.index[p, place - 1]
                codes.value[p, place] = codes.value[p, place - 1]
                companion[p, place] = companion[p, place - 1]
                place -= 1
            codes.index[p, place] = index
            codes.value[p, place] = value
            companion[p, place] = follows
            count += 1
    codes.size[p] = count
