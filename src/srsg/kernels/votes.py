"""Which points the neighbours of a point use: the coefficients c of eq. (6)."""

from collections import namedtuple

import numpy as np

from srsg.kernels.compiled import helper, inlined

Votes = namedtuple("Votes", "index count voters")
"""How many of the ``voters`` (a point's neighbours) use each index, sorted by index; indices that
no neighbour uses are left out. So a list is as long as a few supports, not as long as the data."""


@helper()
def insertion_sort(a):
    # By insertion: lists are short, and they consist of a few sorted pieces.
    for k in range(1, a.shape[0]):
        item = a[k]
        j = k
        while j > 0 and a[j - 1] > item:
            a[j] = a[j - 1]
            j -= 1
        a[j] = item


@helper()
def position(index, t):
    """The place of t in a sorted array, or -1."""
    low, high = 0, index.shape[0]
    while low < high:
        middle = (low + high) // 2
        if index[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low if low < index.shape[0] and index[low] == t else -1


@inlined()
def count_votes(before, codes, i, neighbors):
    """Count how many neighbours of point i use each index.

    Neighbours that come before point i in a sweep vote with their new codes, the others with the
    codes that they had ``before`` the sweep. New points have ``i = -1``: for them all are "others".
    """
    # Threads may be writing the new codes of later points at this moment. They are not read here,
    # so the votes are the same on any number of threads.
    total = 0
    for j in neighbors:
        total += codes.size[j] if j < i else before.size[j]
    index = np.empty(total, np.int64)
    total = 0
    for j in neighbors:
        support = codes.index[j, : codes.size[j]] if j < i else before.index[j, : before.size[j]]
        for t in support:
            index[total] = t
            total += 1
    insertion_sort(index)
    # Equal indices now stand side by side: each run of them becomes one entry and its length.
    count = np.empty(total, np.int64)
    n_unique = 0
    for k in range(total):
        if n_unique == 0 or index[k] != index[n_unique - 1]:
            index[n_unique] = index[k]
            count[n_unique] = 0
            n_unique += 1
        count[n_unique - 1] += 1
    return Votes(index[:n_unique], count[:n_unique], neighbors.shape[0])


@helper()
def coefficient(votes, t):
    """``c_t`` of eq. (6): how many neighbours do not use t, minus how many do."""
    place = position(votes.index, t)
    return votes.voters if place < 0 else votes.voters - 2 * votes.count[place]


@inlined()
def smallest_positive_coefficient(votes):
    """The smallest ``c_t > 0`` of any t."""
    # For the points that no neighbour uses, nearly all of them, ``c_t`` is the number of voters.
    smallest = votes.voters
    for count in votes.count:
        c = votes.voters - 2 * count
        if 0 < c < smallest:
            smallest = c
    return smallest
