"""Places in the plane for the points of a graph."""

import numpy as np

from srsg.kernels.compiled import helper, kernel

LARGEST_MOVE = 4.0
"""No single pull or push moves a point farther than this, in either coordinate."""

NEGATIVES = 4
"""Random points that push a point away for every edge that pulls it."""


@helper()
def limited(move):
    return min(max(move, -LARGEST_MOVE), LARGEST_MOVE)


@kernel()
def spread_out(position, source, target, period, n_epochs, seed):
    """Move the points in place: edges pull, random pairs push, less with every epoch.

    An edge pulls every ``period`` epochs, so heavy ones pull more often (McInnes, Healy and
    Melville, 2018, with the Cauchy kernel ``1 / (1 + d^2)``).
    """
    n_points = len(position)
    due = period.copy()
    state = np.uint64(seed) * np.uint64(2862933555777941757) + np.uint64(3037000493)
    for epoch in range(n_epochs):
        rate = 1.0 - epoch / n_epochs
        for e in range(len(source)):
            if due[e] > epoch:
                continue
            due[e] += period[e]
            # Both ends move, one edge after the other. The order is fixed, so the places are too.
            i, j = source[e], target[e]
            dx, dy = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1]
            pull = -2.0 / (1.0 + dx * dx + dy * dy)
            mx, my = rate * limited(pull * dx), rate * limited(pull * dy)
            position[i, 0] += mx
            position[i, 1] += my
            position[j, 0] -= mx
            position[j, 1] -= my
            for _ in range(NEGATIVES):
                # Xorshift instead of numba's generator: the same places on every machine.
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                other = np.int64(state % np.uint64(n_points))
                dx, dy = position[i, 0] - position[other, 0], position[i, 1] - position[other, 1]
                squared = dx * dx + dy * dy
                if other == i or squared == 0.0:
                    continue
                # The small number keeps points that nearly coincide from flying apart.
                push = 2.0 / ((0.001 + squared) * (1.0 + squared))
                position[i, 0] += rate * limited(push * dx)
                position[i, 1] += rate * limited(push * dy)
