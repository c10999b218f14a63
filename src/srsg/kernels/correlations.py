"""Reading blocks of correlations: nearest neighbours and violators of the l1 conditions.

Correlations arrive in float32 with a known error bound. Whatever that error could decide wrongly
is computed again in float64, so the outcome does not depend on how the matrix product was rounded,
nor on what was left out of it, and thus neither on the number of threads nor on the size of the
blocks.
"""

import numpy as np

from srsg.kernels.arrays import SortedLists
from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.linalg import dot, position
from srsg.kernels.rows import nonzero_columns, row_distance, row_dot


@helper()
def insert_sorted(keys, ids, count, key, index):
    """Insert into the first ``count`` entries, smallest key first, ties by index.

    The arrays are a bounded list: when full, the largest key falls out. Returns the new count.
    """
    if count < keys.shape[0]:
        place = count
        count += 1
    else:
        place = count - 1
        # Nearly all calls on a full list end here, with one comparison.
        if key > keys[place] or (key == keys[place] and index > ids[place]):
            return count
    # Lists are short, so moving entries costs less than a heap would. Ties are broken by index, so
    # the list depends neither on the order in which entries arrive nor on the number of shards.
    while place > 0 and (
        keys[place - 1] > key or (keys[place - 1] == key and ids[place - 1] > index)
    ):
        keys[place] = keys[place - 1]
        ids[place] = ids[place - 1]
        place -= 1
    keys[place] = key
    ids[place] = index
    return count


@helper()
def empty_lists(n_rows, width):
    """Lists with room for ``width`` points each."""
    shape = (n_rows, width)
    return SortedLists(
        np.zeros(shape, np.int64), np.full(shape, np.inf), np.zeros(n_rows, np.int64)
    )


@kernel()
def nearest(points, targets, own, correlations, bounds, n_neighbors):
    """The nearest points of each unit-norm target except ``own[p]``, by squared distance.

    Here and below, ``own`` is the index of each target among all points, or -1 for a target that is
    not one of them. Between unit vectors, the largest correlation is the smallest distance.
    """
    found = empty_lists(targets.shape[0], n_neighbors)
    n_points = correlations.shape[1]
    rests = bounds.left_out.points
    noted = np.empty(n_points, np.int64)
    for p in range(targets.shape[0] if n_neighbors else 0):
        row = correlations[p]
        itself = own[p] - bounds.first
        keys = found.key[p]
        ids = found.index[p]
        rest = bounds.left_out.vectors[p]
        # One pass finds the largest lower bounds of correlations. They show how small an upper
        # bound may be for its point to be among the nearest after all. Points that are above this
        # cut, as far as it is known by then, are noted, and distances decide between those that
        # still are in the end. Keys are negative bounds at first, because lists keep the smallest.
        count = ZERO
        n_noted = ZERO
        cut = -np.inf
        for t in range(n_points):
            if row[t] + rest * rests[t] >= cut and t != itself:
                noted[n_noted] = t
                n_noted += 1
                count = insert_sorted(keys, ids, count, -np.float64(row[t] - rest * rests[t]), t)
                # Twice the error, because both this point and the last of the list may be off. A
                # list that is not full leaves the cut at minus infinity.
                if count == keys.shape[0]:
                    cut = -keys[count - 1] - 2 * bounds.error
        count = ZERO
        columns = nonzero_columns(points, targets[p])
        for t in noted[:n_noted]:
            if row[t] + rest * rests[t] >= cut:
                # Distances, not correlations: equal points are at exactly zero from each other, so
                # rounding does not decide their order.
                distance = row_distance(points, t, targets[p], columns)
                count = insert_sorted(keys, ids, count, distance, t)
        found.size[p] = count
        # Places within the shard become indices among all points, so that shards can be merged.
        for k in range(count):
            ids[k] += bounds.first
    return found


@kernel()
def merge(parts):
    """The best entries of several lists for each row, ``parts.index[part, row]`` and so on."""
    found = empty_lists(parts.size.shape[1], parts.index.shape[2])
    for p in range(found.size.shape[0]):
        count = ZERO
        for part in range(parts.size.shape[0]):
            for k in range(parts.size[part, p]):
                key = parts.key[part, p, k]
                index = parts.index[part, p, k]
                count = insert_sorted(found.key[p], found.index[p], count, key, index)
        found.size[p] = count
    return found


@helper()
def pull_of(pull, row):
    """The points that are pulled on in a row, and how strongly."""
    if pull.starts.shape[0] == 1:
        return pull.index, pull.value
    entries = slice(pull.starts[row], pull.starts[row + 1])
    return pull.index[entries], pull.value[entries]


@helper()
def pull_at(index, value, t):
    """The pull on point t, given those of a row."""
    place = position(index, t)
    return value[place] if place >= 0 else 0.0


@kernel()
def violators(points, own, resid, correlations, codes, half_lam, pull, rows, bounds, most, width):
    """The worst violators of each code, worst first: at most ``most[p]`` of them.

    Their keys are the negatives of their absolute correlations with the residual. Float64
    decides which they are, so they depend on the residual alone. Also returns the largest absolute
    correlation of a point outside the working set, right where it is above ``half_lam``. Row
    ``rows[p]`` of the pull adds to the correlations, which are overwritten.
    """
    found, outside = empty_lists(own.shape[0], width), np.empty(own.shape[0])
    rests = bounds.left_out.points
    noted = np.empty(correlations.shape[1], np.int64)
    for p in range(own.shape[0]):
        row = correlations[p]
        rest = bounds.left_out.vectors[p]
        leave_out(row, own[p] - bounds.first)
        for k in range(codes.size[p]):
            leave_out(row, codes.index[p, k] - bounds.first)
        pulled, pulls = pull_of(pull, rows[p])
        strongest_pull = 0.0
        for k in range(pulled.shape[0]):
            place = pulled[k] - bounds.first
            strongest_pull = max(strongest_pull, abs(pulls[k]))
            if 0 <= place < row.shape[0]:
                row[place] += pulls[k]
        # The error bound is for unit vectors; it grows with the length of the residual. A pull is
        # rounded, too.
        slack = bounds.error * (np.sqrt(dot(resid[p], resid[p])) + strongest_pull)
        bound = half_lam[p] + bounds.tol
        keys = found.key[p, : most[p]]
        ids = found.index[p, : most[p]]
        # As in `nearest`. Nearly every point fails the first comparison, so it is one of float32
        # with float32; the error bound allows for the rounding of the cut. It starts at half_lam,
        # not at the bound: the certificate needs the exact value of the largest correlation, even
        # if that is within the tolerance.
        count = ZERO
        n_noted = ZERO
        cut = np.float32(half_lam[p] - slack)
        for t in range(row.shape[0]):
            if abs(row[t]) + rest * rests[t] >= cut:
                noted[n_noted] = t
                n_noted += 1
                least = abs(row[t]) - rest * rests[t]
                count = insert_sorted(keys, ids, count, -np.float64(least), t)
                if count == most[p]:
                    cut = max(cut, np.float32(-keys[count - 1] - 2 * slack))
        count = ZERO
        largest = 0.0
        for t in noted[:n_noted]:
            if abs(row[t]) + rest * rests[t] >= cut:
                strength = row_dot(points, t, resid[p])
                strength = abs(strength + pull_at(pulled, pulls, t + bounds.first))
                largest = max(largest, strength)
                if strength > bound:
                    count = insert_sorted(keys, ids, count, -strength, t)
        outside[p] = largest
        found.size[p] = count
        for k in range(count):
            ids[k] += bounds.first
    return found, outside


@helper()
def leave_out(row, place):
    """Make an entry fail every comparison; places outside the row belong to other shards."""
    # NaN costs nothing in the loops, where a test of each index would.
    if 0 <= place < row.shape[0]:
        row[place] = np.nan


@kernel()
def strongest(points, own, resid, correlations, codes, error):
    """The point most correlated with each residual, except those in its code; ties by index.

    Returns the points, -1 where there is none, and their absolute correlations. ``correlations``
    are overwritten.
    """
    index, strength = np.full(own.shape[0], -1), np.zeros(own.shape[0])
    for p in range(own.shape[0]):
        row = correlations[p]
        for taken in codes.index[p, : codes.size[p]]:
            leave_out(row, taken)
        leave_out(row, own[p])
        # Only one point is wanted, so the first pass is a plain maximum.
        most = np.float32(0.0)
        for t in range(row.shape[0]):
            if abs(row[t]) > most:
                most = abs(row[t])
        # Whatever could be the largest, given the rounding of the product, is computed again.
        # Zeros are no exception: whether a sum cancels to zero depends on its order.
        cut = np.float64(most) - 2 * error * np.sqrt(dot(resid[p], resid[p]))
        for t in range(row.shape[0]):
            if abs(row[t]) >= cut:
                exact = abs(row_dot(points, t, resid[p]))
                # Strictly larger, so that ties go to the smallest index.
                if exact > strength[p]:
                    strength[p] = exact
                    index[p] = t
    return index, strength
