"""What each cluster is in the units of the table, and why a point is where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from srsg.cutting.affinity import cluster_weights
from srsg.explaining.confidence import Confidence, confidence
from srsg.explaining.thresholds import Thresholds, thresholds_of
from srsg.explaining.traits import Trait, in_words, telling_words, traits_of
from srsg.explaining.unwrapping import best_of, clusterer_of
from srsg.files.rules import ColumnRule, feature_names, plain_rules, undone_columns
from srsg.running.warnings import made_dense
from srsg.types import Matrix

SHOWN = 3
"""Typical rows of a cluster, and doubtful ones."""

MOST_ROWS = 20_000
"""Of more rows, so many drawn by chance are compared: all would take longer and say the same."""

COLUMNS_FOR_THRESHOLDS = 20
"""The columns with the largest effects are those that thresholds may name."""


@dataclass(frozen=True)
class ClusterDescription:
    """What a cluster is.

    Attributes
    ----------
    label : int
        As in ``labels_``.
    size : int
        Number of points.
    name : str
        A few words made of the largest differences.
    traits : list of Trait
        The columns in which it differs from all other points, the largest differences first.
    thresholds : Thresholds
        Two or three thresholds that describe it.
    typical, doubtful : list of int
        The most central rows, and those of the least confidence.
    """

    label: int
    size: int
    name: str
    traits: list[Trait]
    thresholds: Thresholds
    typical: list[int]
    doubtful: list[int]

    def __str__(self) -> str:
        lines = [f"cluster {self.label}, {self.size} points: {self.name}"]
        lines += [f"  {trait}" for trait in self.traits[:SHOWN]]
        found = self.thresholds
        if found.text:
            fit = f"precision {found.precision:.2f}, recall {found.recall:.2f}"
            lines.append(f"  {found.text} ({fit})")
        return "\n".join(lines)


@dataclass(frozen=True)
class PointExplanation:
    """Why a point is where it is.

    Attributes
    ----------
    row : int
    label : int
        Its cluster.
    confidence : float
        How sure that is, from 0 to 1.
    shares : dict of int to float
        How its edge weight is divided among the clusters, the largest first.
    second : int or None
        The cluster with the second largest share; None if all edges stay in its own.
    neighbors : list of (int, float, int)
        Its neighbours in the graph: row, weight and cluster, the heaviest edge first.
    """

    row: int
    label: int
    confidence: float
    shares: dict[int, float]
    second: int | None
    neighbors: list[tuple[int, float, int]]

    def __str__(self) -> str:
        lines = [f"row {self.row} is in cluster {self.label}, confidence {self.confidence:.2f}"]
        divided = ", ".join(f"{share:.0%} in cluster {at}" for at, share in self.shares.items())
        lines.append(f"  its edges: {divided}")
        if self.second is not None:
            lines.append(f"  second choice: cluster {self.second}")
        lines += [
            f"  joined to row {row} (cluster {at}), weight {weight:.3g}"
            for row, weight, at in self.neighbors[:5]
        ]
        return "\n".join(lines)


class Explanation:
    """What the clusters of a model are; made by :func:`explain`.

    Attributes
    ----------
    clusters : list of ClusterDescription
        One for each cluster, in the order of the labels.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        rules: Sequence[ColumnRule],
        sure: Confidence,
        texts: Sequence[str] | NDArray | None = None,
    ) -> None:
        self.model, self.confidence, self.texts = clusterer_of(model), sure, texts
        pairs = zip(rules, undone_columns(rules, X), strict=True)
        # The numbers of a vector mean nothing to people.
        named = [(rule, values) for rule, values in pairs if rule.kind != "vector"]
        self.rules = tuple(rule for rule, _ in named)
        self.columns = [values for _, values in named]
        # A search may have labelled more points than the graph in it has.
        self.labels = np.asarray(getattr(model, "labels_", self.model.labels_))
        rows = np.random.default_rng(0).permutation(len(self.labels))[:MOST_ROWS]
        self._compared = np.sort(rows)
        if rules[0].kind == "text":
            labels, cluster = np.unique(self.labels, return_inverse=True)
            words, self.columns = telling_words(rules[0], self.columns[0], cluster, len(labels))
            self.rules = tuple(words)

    @cached_property
    def clusters(self) -> list[ClusterDescription]:
        """What each cluster is."""
        labels, cluster = np.unique(self.labels, return_inverse=True)
        some = self._compared
        columns = [column[some] for column in self.columns]
        traits = traits_of(self.rules, columns, cluster[some], len(labels))
        return [
            self._described(int(label), cluster == place, traits[place])
            for place, label in enumerate(labels)
        ]

    def _described(
        self, label: int, members: NDArray[np.bool_], traits: list[Trait]
    ) -> ClusterDescription:
        # Columns without an effect of their own may still matter together with others.
        first = [self.rules.index(trait.rule) for trait in traits]
        rest = [place for place in range(len(self.rules)) if place not in set(first)]
        named = (first + rest)[:COLUMNS_FOR_THRESHOLDS]
        some, rows = self._compared, np.flatnonzero(members)
        rules, columns = [self.rules[j] for j in named], [self.columns[j][some] for j in named]
        return ClusterDescription(
            label,
            len(rows),
            in_words(traits),
            traits,
            thresholds_of(rules, columns, members[some]),
            self.confidence.most_central(rows, SHOWN).tolist(),
            self.confidence.least_confident(rows, SHOWN).tolist(),
        )

    def values_of(self, rule: ColumnRule) -> NDArray:
        """The values of a column: numbers, days, or positions of levels."""
        return self.columns[self.rules.index(rule)]

    def point(self, row: int) -> PointExplanation:
        """Why a fitted point is where it is.

        Parameters
        ----------
        row : int
            Its position among the fitted points.

        Raises
        ------
        ValueError
            If the model has no graph, as K-means.
        """
        edges = self._graph[[row]].tocoo()
        order = np.argsort(-edges.data, kind="stable")
        others, weights = edges.col[order].tolist(), edges.data[order].tolist()
        labels, cluster = np.unique(self.labels, return_inverse=True)
        divided = cluster_weights(self._graph[[row]], cluster, len(labels)).ravel()
        divided = divided / (divided.sum() or 1.0)
        first = [int(place) for place in np.argsort(-divided, kind="stable") if divided[place] > 0]
        shares = {int(labels[place]): float(divided[place]) for place in first}
        own = int(self.labels[row])
        return PointExplanation(
            row,
            own,
            float(self.confidence.values[row]),
            shares,
            next((label for label in shares if label != own), None),
            [
                (at, w, int(self.labels[at]))
                for at, w in zip(others, weights, strict=True)
                if at != row
            ],
        )

    def path(self, start: int, end: int) -> list[int]:
        """The strongest path in the graph between two fitted points.

        Of all paths it has the least sum of ``1 / weight`` over its edges.

        Parameters
        ----------
        start, end : int
            Positions among the fitted points.

        Returns
        -------
        list of int
            The rows on the path, both ends included; empty if no path joins them.
        """
        lengths = self._graph.copy()
        lengths.data = 1 / lengths.data
        _, before = dijkstra(lengths, indices=start, return_predecessors=True)
        path = [end]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
            if path[-1] < 0:
                return []
        return path[::-1]

    @cached_property
    def _graph(self) -> sparse.csr_array:
        graph = getattr(self.model, "affinity_matrix_", None)
        if graph is None:
            raise ValueError(f"{type(self.model).__name__} has no graph that joins points.")
        if graph.shape[0] != len(self.labels):
            raise ValueError(
                f"The graph has {graph.shape[0]:,} of {len(self.labels):,} points: allow more time "
                "or memory with srsg.config_context."
            )
        edges = sparse.csr_array(graph).astype(np.float64)
        edges.eliminate_zeros()
        return edges

    def __str__(self) -> str:
        return "\n".join(map(str, self.clusters))


def explain(
    model: Any,
    X: Matrix,
    *,
    names: Sequence[str] | None = None,
    rules: Sequence[ColumnRule] | None = None,
    texts: Sequence[str] | NDArray | None = None,
    certainty: Confidence | None = None,
) -> Explanation:
    """Say what each cluster is in the units of the table, and why points are where they are.

    Parameters
    ----------
    model : estimator
        Fitted: any estimator of this package, another with ``labels_``, a pipeline that ends in one
        of these, or a search.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The points it was fitted on, in their units.
    names : sequence of str, optional
        Names of the columns; those of a DataFrame or of the model by default.
    rules : sequence of ColumnRule, optional
        ``rules`` of the table that :func:`srsg.files.read_points` returned, so that categories and
        dates are named as such; those of a :class:`srsg.PreparedClusterer` by default.
    texts : sequence of str, optional
        The text of each row, to be shown in a report.
    certainty : Confidence, optional
        Result of :func:`srsg.explaining.confidence.confidence`, if it has been computed already.

    Returns
    -------
    Explanation
        ``clusters`` has the description of each cluster, ``point(row)`` explains one point, and
        ``path(start, end)`` joins two. Printed, it says what each cluster is.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from srsg import SRSG, PreparedClusterer, explain
    >>> wine = load_wine()
    >>> model = PreparedClusterer(SRSG(3, affine=True, random_state=0), scale="standard")
    >>> found = explain(model.fit(wine.data), wine.data, names=wine.feature_names)
    >>> [cluster.size > 40 for cluster in found.clusters]
    [True, True, True]
    >>> len(found.point(0).neighbors) > 0, found.path(0, 1)[0]
    (True, 0)
    """
    sure = certainty or confidence(model, X)
    rules = rules or getattr(model, "rules", None) or getattr(best_of(model), "rules", None)
    if names is None:
        names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    words = rules is not None and rules[0].kind == "text"
    points = X if words else made_dense(X, "clusters are described by values of dense points")
    if names is None:
        names = [f"feature {place}" for place in range(points.shape[1])]
    rules = rules or plain_rules(names)
    if len(feature_names(rules)) != points.shape[1]:
        raise ValueError(
            f"names or rules stand for {len(feature_names(rules))} columns, and X has "
            f"{points.shape[1]}."
        )
    return Explanation(model, points, rules, sure, texts)
