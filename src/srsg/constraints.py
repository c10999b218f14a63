"""What is known about some points: their classes, and pairs that belong together or apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from srsg.points import NO_POINT, EqualPoints
from srsg.types import IntArray

UNKNOWN = -1
"""In place of a class: it is not known."""


class Groups(NamedTuple):
    """Sets of points that belong together, each one vertex of the graph that is cut.

    Attributes
    ----------
    equal : EqualPoints
        Points that belong together, as if they were equal.
    seeds : ndarray of shape (n_classes,)
        The vertex of each class that is known.
    apart : ndarray of shape (n_pairs, 2)
        Vertices that belong apart, without the seeds, which do so anyway.
    """

    equal: EqualPoints
    seeds: IntArray
    apart: IntArray


@dataclass(frozen=True)
class Constraints:
    """Known classes of some points, and pairs of points that belong together or apart.

    Attributes
    ----------
    known : ndarray of shape (n,)
        For every point the place of its class in ``classes``; -1 where it is not known.
    classes : ndarray of shape (n_classes,)
        The names of the classes, sorted.
    must_link, cannot_link : ndarray of shape (n_pairs, 2)
        Pairs of points.

    Examples
    --------
    >>> from srsg.constraints import Constraints
    >>> given = Constraints.of(4, known_labels=["b", "", "a", ""], must_link=[(0, 1)])
    >>> given.known, given.classes
    (array([ 1, -1,  0, -1]), array(['a', 'b'], dtype='<U1'))
    >>> given.violated([1, 0, 0, 0])
    [('must_link', 0, 1)]
    """

    known: IntArray
    classes: NDArray
    must_link: IntArray
    cannot_link: IntArray

    @classmethod
    def of(
        cls,
        n_points: int,
        known_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Constraints | None:
        """The constraints, or None if there are none.

        Raises
        ------
        ValueError
            That names the argument, if it does not fit the points.
        """
        pairs = [
            _checked_pairs(name, value, n_points)
            for name, value in (("must_link", must_link), ("cannot_link", cannot_link))
        ]
        known, classes = np.full(n_points, UNKNOWN), np.empty(0, int)
        if known_labels is not None:
            known, classes = _checked_labels(known_labels, n_points)
        return cls(known, classes, *pairs) if len(classes) or any(map(len, pairs)) else None

    def extended(self, n_points: int) -> Constraints:
        """The same constraints among more points, of which the first are those of before."""
        more = np.full(n_points - len(self.known), UNKNOWN)
        return replace(self, known=np.concatenate([self.known, more]))

    def check(self, n_clusters: object) -> None:
        """Raise a ValueError if classes are linked, or more than a given number of clusters."""
        self.groups(EqualPoints.from_first(np.arange(len(self.known))))
        if isinstance(n_clusters, Integral) and int(n_clusters) < len(self.classes):
            raise ValueError(
                f"n_clusters={n_clusters} is less than the {len(self.classes)} classes of "
                "known_labels: ask for as many or more."
            )

    def groups(self, equal: EqualPoints) -> Groups:
        """The vertices of the graph that is cut.

        Of equal points whose classes differ, the first that is known counts.

        Raises
        ------
        ValueError
            If points of different classes are linked.
        """
        vertex = equal.owner
        rows = np.flatnonzero((self.known != UNKNOWN) & (vertex != NO_POINT))
        rows = rows[np.unique(vertex[rows], return_index=True)[1]]
        rows = rows[np.argsort(self.known[rows], kind="stable")]
        same = np.diff(self.known[rows]) == 0
        chain = np.column_stack([rows[:-1][same], rows[1:][same]])
        first, second = vertex[np.vstack([self.must_link, chain])].T
        there = (first != NO_POINT) & (second != NO_POINT)
        links = sparse.coo_array(
            (np.ones(there.sum()), (first[there], second[there])), shape=(len(equal.first),) * 2
        )
        group = csgraph.connected_components(links, directed=False)[1]
        start = np.full(group.max() + 1, equal.n)  # the first point of each group
        np.minimum.at(start, group, equal.first)
        merged = EqualPoints.from_first(
            np.where(vertex == NO_POINT, NO_POINT, start[group[vertex]])
        )
        merged = replace(merged, row_weights=equal.row_weights)
        places, starts = np.unique(self.known[rows], return_index=True)
        if len(places) < len(self.classes):
            lost = np.setdiff1d(np.arange(len(self.classes)), places)[0]
            raise ValueError(
                f"known_labels: every row of the class {self.classes[lost]} is zero, or equal to a "
                "row of another class."
            )
        seeds = merged.owner[rows[starts]]
        for place in np.flatnonzero(np.bincount(seeds) > 1):
            one, other = self.classes[np.flatnonzero(seeds == place)[:2]]
            raise ValueError(f"must_link joins rows of the classes {one} and {other}.")
        ends = merged.owner[self.cannot_link]
        return Groups(merged, seeds, ends[(ends != NO_POINT).all(axis=1) & (np.ptp(ends, 1) > 0)])

    def violated(self, labels: ArrayLike) -> list[tuple[str, int, int]]:
        """The constraints that labels do not keep.

        Returns
        -------
        list of tuple
            Each is ``("must_link", row, row)``, ``("cannot_link", row, row)`` or
            ``("known_labels", row, cluster)``, with the cluster of the row's class.
        """
        found, each = [], np.asarray(labels)
        for name, pairs, equal in (
            ("must_link", self.must_link, False),
            ("cannot_link", self.cannot_link, True),
        ):
            broken = pairs[(each[pairs[:, 0]] == each[pairs[:, 1]]) == equal]
            found += [(name, int(one), int(other)) for one, other in broken]
        rows = np.flatnonzero((self.known != UNKNOWN) & (self.known != each))
        return found + [("known_labels", int(row), int(self.known[row])) for row in rows]


def _checked_labels(known_labels: ArrayLike, n_points: int) -> tuple[IntArray, NDArray]:
    """The place of each label among the classes, and the classes."""
    labels = np.asarray(known_labels)
    if labels.shape != (n_points,):
        raise ValueError(
            f"known_labels must have one label for each of {n_points} rows, got shape "
            f"{labels.shape}."
        )
    if labels.dtype.kind not in "iuf":
        labels = np.array(["" if value is None or value != value else value for value in labels])
    if labels.dtype.kind == "f":
        labels = np.where(np.isnan(labels), UNKNOWN, labels)
        if (labels != labels.round()).any():
            raise ValueError("known_labels must be whole numbers, -1 for unknown ones, or texts.")
        labels = labels.astype(np.int64)
    given = labels != (UNKNOWN if labels.dtype.kind in "iu" else "")
    if not given.any():
        raise ValueError("known_labels has no label: all rows are -1 or empty. Leave it out.")
    known, (classes, place) = (
        np.full(n_points, UNKNOWN),
        np.unique(labels[given], return_inverse=True),
    )
    if classes.dtype.kind == "i" and classes[0] < 0:
        raise ValueError(f"known_labels has the label {classes[0]}: -1 is for unknown ones.")
    known[given] = place
    return known, classes


def _checked_pairs(name: str, pairs: ArrayLike | None, n_points: int) -> IntArray:
    """Pairs of rows."""
    rows = np.asarray([] if pairs is None else pairs)
    if not rows.size:
        return np.empty((0, 2), np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of row numbers, got shape {rows.shape}.")
    wrong = (rows < 0).any(axis=1) | (rows >= n_points).any(axis=1) | (rows[:, 0] == rows[:, 1])
    if wrong.any():
        raise ValueError(
            f"{name} has the pair {tuple(rows[wrong][0].tolist())}: it must be two different rows "
            f"from 0 to {n_points - 1}."
        )
    return rows.astype(np.int64)
