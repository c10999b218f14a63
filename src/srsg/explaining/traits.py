"""In which columns the members of a cluster differ from all other points, and by how much.

The effect of a column is Cliff's delta: how much more often a member has the larger value than
another point does, over all pairs of the two. It is 1 if every member has more than every other
point, 0 if there is no difference, and does not depend on units or logarithms. For one level of a
category it is the difference of its shares. Intervals hold for clusters that were given; as they
were found in the same columns, take the intervals for descriptions, not for tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from srsg.files.rules import ColumnRule

CONFIDENT = 1.96
"""Standard errors on both sides of an effect: 95 %."""

WORDS_PER_CLUSTER = 12
"""Words of texts that may describe a cluster."""

LEAST_EFFECT = 0.15
"""Smaller effects are not worth a word."""

CLEAR_EFFECT = 1 / 3
"""Smaller effects do not name a cluster: of three pairs, two are as they would be by chance."""


@dataclass(frozen=True)
class Trait:
    """A column in which a cluster differs from all other points.

    Attributes
    ----------
    rule : ColumnRule
        The column.
    level : str or None
        Of a category, the level that makes the difference.
    effect, low, high : float
        Cliff's delta from -1 to 1, and its 95 % interval.
    inside, outside : float
        The median of the members and of all others; for a level, its shares.
    middle : tuple of float
        The quartiles of the members.
    """

    rule: ColumnRule
    level: str | None
    effect: float
    low: float
    high: float
    inside: float
    outside: float
    middle: tuple[float, float]

    @property
    def title(self) -> str:
        """The column, with the level."""
        if self.rule.kind == "word":
            return self.rule.column
        return self.rule.column if self.level is None else f"{self.rule.column} = {self.level}"

    @property
    def lacks_word(self) -> bool:
        """Whether it is a word that other texts have more often."""
        return self.rule.kind == "word" and self.effect < 0

    def shown(self, value: float) -> str:
        """A value of the column in its unit; a share in per cent."""
        return self.rule.shown(value) if self.level is None else f"{value:.0%}"

    @property
    def words(self) -> str:
        """The difference in a few words, such as high price, or colour red."""
        more = self.effect > 0
        if self.rule.kind == "word":
            return f"no {self.rule.column}" if self.lacks_word else self.rule.column
        if self.level is not None:
            usual = self.inside >= 0.5 or self.inside > 2 * self.outside
            kind = f"{self.rule.column} {self.level}"
            return (kind if usual else f"more {kind}") if more else f"less {kind}"
        if self.rule.kind == "date":
            return f"{'late' if more else 'early'} {self.rule.column}"
        return f"{'high' if more else 'low'} {self.rule.column}"

    def __str__(self) -> str:
        inside, outside = self.shown(self.inside), self.shown(self.outside)
        if self.level is None:
            inside += f" ({self.shown(self.middle[0])} to {self.shown(self.middle[1])})"
        return f"{self.title} {inside} against {outside}"


def traits_of(
    rules: Sequence[ColumnRule],
    columns: Sequence[NDArray],
    cluster: NDArray[np.intp],
    n_clusters: int,
) -> list[list[Trait]]:
    """The traits of every cluster, the largest effects first.

    Parameters
    ----------
    rules : sequence of ColumnRule
        The columns.
    columns : sequence of ndarray of shape (n,)
        Their values: numbers, days, or positions of levels.
    cluster : ndarray of shape (n,)
        The cluster of each point, from 0.
    n_clusters : int
        Number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.traits import traits_of
    >>> from srsg.files.rules import ColumnRule
    >>> cluster = np.repeat([0, 1], 20)
    >>> found = traits_of([ColumnRule("price")], [np.arange(40.0) ** 2], cluster, 2)
    >>> found[1][0].words, found[1][0].effect, str(found[1][0])
    ('high price', 1.0, 'price 870.5 (612.8 to 1,173) against 90.5')
    """
    found: list[list[Trait]] = [[] for _ in range(n_clusters)]
    for rule, values in zip(rules, columns, strict=True):
        known = values >= 0 if rule.levels else np.isfinite(values)
        values, of_known = values[known], cluster[known]
        ranks = rankdata(values)
        for place, traits in enumerate(found):
            mine = of_known == place
            if mine.any() and not mine.all():
                trait = _trait(rule, values, ranks, mine)
                if abs(trait.effect) >= LEAST_EFFECT and trait.low * trait.high > 0:
                    traits.append(trait)
    # Words that a cluster lacks say less than those that it has.
    return [sorted(each, key=lambda t: (t.lacks_word, -abs(t.effect))) for each in found]


def _trait(rule: ColumnRule, values: NDArray, ranks: NDArray, mine: NDArray[np.bool_]) -> Trait:
    """How the members differ from all others in one column."""
    size, others = int(mine.sum()), int((~mine).sum())
    level = None
    if rule.levels:
        counts = [
            np.bincount(values[some].astype(int), minlength=len(rule.levels))
            for some in (mine, ~mine)
        ]
        apart = np.round(counts[0] / size - counts[1] / others, 9)
        # Of two levels, the one that is more common here; of a word, that it is present.
        level = 1 if rule.kind == "word" else int(np.argmax(np.abs(apart) + 1e-9 * (apart > 0)))
        inside, outside = float(counts[0][level] / size), float(counts[1][level] / others)
        first, third, larger = inside, inside, (1 + inside - outside) / 2
    else:
        first, inside, third = np.percentile(values[mine], [25, 50, 75]).tolist()
        outside = float(np.median(values[~mine]))
        larger = float((ranks[mine].mean() - (size + 1) / 2) / others)
    low, high = _interval(larger, min(size, others))
    effects = (2 * larger - 1, 2 * low - 1, 2 * high - 1)
    name = None if level is None else rule.levels[level]
    return Trait(rule, name, *effects, inside, outside, (first, third))


def _interval(larger: float, n_pairs: int) -> tuple[float, float]:
    """Wilson's interval of a share of pairs.

    As many pairs as the smaller group has members are independent of each other; all other pairs
    only make the share more certain.
    """
    spread = CONFIDENT**2 / n_pairs
    middle = (larger + spread / 2) / (1 + spread)
    half = np.sqrt(larger * (1 - larger) * spread + spread**2 / 4) / (1 + spread)
    return min(middle - half, larger), max(middle + half, larger)


def in_words(traits: Sequence[Trait], most: int = 3) -> str:
    """A short name made of the largest differences.

    Examples
    --------
    >>> from srsg.explaining.traits import in_words
    >>> in_words([])
    'like all others'
    """
    named = [trait.words for trait in traits[:most] if abs(trait.effect) >= CLEAR_EFFECT]
    return ", ".join(named) or "like all others"


def telling_words(
    rule: ColumnRule, words: sparse.csr_array, cluster: NDArray[np.intp], n_clusters: int
) -> tuple[list[ColumnRule], list[NDArray]]:
    """The words of texts that tell clusters apart, each as a column: absent or present.

    Of every cluster, the words that its texts have most often beyond all other texts.
    """
    present = sparse.csr_array((np.ones(words.nnz), words.indices, words.indptr), shape=words.shape)
    members = sparse.csr_array((np.ones(len(cluster)), (cluster, np.arange(len(cluster)))))
    counts = np.asarray((members @ present).toarray())
    sizes = np.bincount(cluster, minlength=n_clusters)[:, np.newaxis]
    inside = counts / np.maximum(sizes, 1)
    outside = (counts.sum(axis=0) - counts) / np.maximum(len(cluster) - sizes, 1)
    first = np.argsort(outside - inside, axis=1, kind="stable")[:, :WORDS_PER_CLUSTER]
    columns = sparse.csc_array(present)
    rules, values = [], []
    for place in np.unique(first).tolist():
        rules.append(ColumnRule(f"'{rule.levels[place]}'", "word", levels=("absent", "present")))
        values.append(columns[:, [place]].toarray().ravel())
    return rules, values
