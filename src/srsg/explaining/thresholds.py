"""A cluster in two or three thresholds: a small tree that tells its members from other points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from srsg.files.rules import ColumnRule
from srsg.types import FloatArray

MOST_LEAVES = 4
"""Leaves of a tree: three thresholds."""

WORTH_ONE_MORE = 0.02
"""By how much one more threshold must raise the F score."""


class Thresholds(NamedTuple):
    """A description of a cluster, and how well it fits.

    Attributes
    ----------
    text : str
        Such as ``price > 30 and colour is red``; empty if no threshold describes the cluster.
    precision : float
        The share of members among the points that it describes.
    recall : float
        The share of members that it describes.
    """

    text: str
    precision: float
    recall: float


def thresholds_of(
    rules: Sequence[ColumnRule], columns: Sequence[NDArray], members: NDArray[np.bool_]
) -> Thresholds:
    """The thresholds that describe the members best, few of them.

    Parameters
    ----------
    rules : sequence of ColumnRule
        The columns that may be named.
    columns : sequence of ndarray of shape (n,)
        Their values: numbers, days, or positions of levels.
    members : ndarray of shape (n,)
        Whether each point is in the cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.thresholds import thresholds_of
    >>> from srsg.files.rules import ColumnRule
    >>> price, size = np.arange(40.0), np.tile([1.0, 2.0], 20)
    >>> members = (price > 12) & (size == 2)
    >>> thresholds_of([ColumnRule("price"), ColumnRule("size")], [price, size], members)
    Thresholds(text='size > 1.5 and price > 12', precision=1.0, recall=1.0)
    """
    best, best_score = Thresholds("", 0.0, 0.0), 0.0
    if not rules or members.all() or not members.any():
        return best
    shares = [
        _level_shares(rule, values, members) for rule, values in zip(rules, columns, strict=True)
    ]
    X = np.column_stack(
        [
            _filled(values) if share is None else share[values.astype(int)]
            for values, share in zip(columns, shares, strict=True)
        ]
    )
    for n_leaves in range(2, MOST_LEAVES + 1):
        tree = DecisionTreeClassifier(
            max_leaf_nodes=n_leaves, min_samples_leaf=2, class_weight="balanced", random_state=0
        ).fit(X, members)
        leaves, precision, recall = _best_leaves(tree.apply(X), members)
        score = 2 * precision * recall / (precision + recall)
        if score > best_score + WORTH_ONE_MORE:
            branches = _shortened(_branches(tree.tree_, leaves), X)
            text = ", or ".join(
                " and ".join(
                    _in_words(rules[j], shares[j], X[:, j], *ends) for j, ends in b.items()
                )
                for b in branches
            )
            best, best_score = Thresholds(text, precision, recall), score
    return best


def _level_shares(
    rule: ColumnRule, values: NDArray, members: NDArray[np.bool_]
) -> FloatArray | None:
    """The share of members of each level, of unknown ones last; None for numbers.

    In this order of the levels, one threshold makes the best split of all (Breiman et al. 1984).
    """
    if not rule.levels:
        return None
    place = np.where(values < 0, len(rule.levels), values).astype(int)
    count = np.bincount(place, minlength=len(rule.levels) + 1)
    return np.bincount(place, members, len(rule.levels) + 1) / np.maximum(count, 1)


def _filled(values: NDArray) -> NDArray:
    known = np.isfinite(values)
    return np.where(known, values, np.median(values[known]) if known.any() else 0.0)


def _best_leaves(leaf: NDArray, members: NDArray[np.bool_]) -> tuple[set[int], float, float]:
    """The leaves whose union has the best F score: the purest first, as many as raise it."""
    sizes, inside = np.bincount(leaf), np.bincount(leaf, members)
    order = [int(i) for i in np.argsort(-inside / np.maximum(sizes, 1), kind="stable") if inside[i]]
    right, chosen = np.cumsum(inside[order]), np.cumsum(sizes[order])
    last = int(np.argmax(2 * right / (chosen + members.sum())))
    return (
        set(order[: last + 1]),
        float(right[last] / chosen[last]),
        float(right[last] / members.sum()),
    )


Branch = dict[int, tuple[float, float]]
"""For some columns, what their values are above and what they are not above."""


def _branches(tree: Any, leaves: set[int]) -> list[Branch]:
    """The branch of the tree that leads to each of the chosen leaves."""
    found: list[Branch] = []

    def walk(node: int, branch: Branch) -> None:
        column, cut = int(tree.feature[node]), float(tree.threshold[node])
        if column >= 0:
            low, high = branch.get(column, (-np.inf, np.inf))
            walk(tree.children_left[node], branch | {column: (low, min(high, cut))})
            walk(tree.children_right[node], branch | {column: (max(low, cut), high)})
        elif node in leaves:
            found.append(branch)

    walk(0, {})
    return found


def _shortened(branches: list[Branch], X: FloatArray) -> list[Branch]:
    """The branches without conditions that change nothing, because another branch has the rest."""

    def covered() -> NDArray[np.bool_]:
        return np.any(
            [
                np.all(
                    [(X[:, j] > low) & (X[:, j] <= high) for j, (low, high) in branch.items()], 0
                )
                for branch in branches
            ],
            axis=0,
        )

    whole = covered()
    for branch in branches:
        for column in list(branch):
            if len(branch) > 1:
                ends = branch.pop(column)
                if not np.array_equal(covered(), whole):
                    branch[column] = ends
    return branches


def _in_words(
    rule: ColumnRule, share: FloatArray | None, values: FloatArray, low: float, high: float
) -> str:
    """A condition on one column."""
    if share is not None:
        of_levels = share[:-1]
        chosen = [bool(low < part <= high) for part in of_levels]
        named = [level for level, is_in in zip(rule.levels, chosen, strict=True) if is_in]
        others = [level for level, is_in in zip(rule.levels, chosen, strict=True) if not is_in]
        if rule.kind == "word":
            return f"{'with' if chosen[1] else 'without'} {rule.column}"
        negative = len(others) < len(named)
        listed = " or ".join(others if negative else named)
        return f"{rule.column} is {'not ' if negative else ''}{listed}"
    ends = [None if np.isinf(end) else _cut_in_words(rule, values, end) for end in (low, high)]
    if ends[0] is not None and ends[1] is not None:
        return f"{rule.column} from {ends[0]} to {ends[1]}"
    return f"{rule.column} > {ends[0]}" if ends[1] is None else f"{rule.column} <= {ends[1]}"


def _cut_in_words(rule: ColumnRule, values: FloatArray, cut: float) -> str:
    """A threshold with all digits that it needs."""
    rounded = round_between(values, cut)
    return rule.shown(rounded) if rule.kind == "date" else f"{rounded:,.15g}"


def round_between(values: FloatArray, cut: float) -> float:
    """The number of fewest digits that separates the values as the threshold does.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.thresholds import round_between
    >>> round_between(np.array([1.234, 1.312]), 1.273)
    1.3
    """
    below, above = values[values <= cut].max(), values[values > cut].min()
    # Not the threshold itself: it may lie hardly below a value that its branch does not have.
    middle = below + (above - below) / 2
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if below <= rounded < above:
            return rounded
    return float(below)
