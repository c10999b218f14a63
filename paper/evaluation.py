"""All cells of the paper's tables, each computed once and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from paper.datasets import Dataset, find_entry, load_dataset
from paper.evaluate import CellResult, Score, evaluate, parameters_of
from paper.journal import Journal, Key, code_digest, dumped
from paper.published import Row, compared_methods, published_rows
from paper.settings import SETTINGS, Setting, candidates
from paper.terminal import Progress
from srsg.registry import methods

QUICK_ROWS = {
    ("COIL-20", 4),
    ("UMIST Face", 4),
    ("UMIST Face", 8),
    ("Heart", None),
    ("Ionosphere", None),
}


@dataclass
class RowResults:
    """The results for one row; none if its data are absent."""

    row: Row
    results: dict[tuple[Setting, str], CellResult] = field(default_factory=dict)

    @property
    def absent(self) -> bool:
        """Whether its data are missing."""
        return not self.results


class Evaluation:
    """Looks cells up in the journal, and computes those that are not there.

    Parameters
    ----------
    journal : Journal
        Where finished cells are kept.
    seeds : sequence of int
        Starts of K-means.
    folder : path, optional
        The folder of the data, as in :func:`paper.datasets.load_dataset`.
    n_jobs : int or None
        Threads; None takes all cores. Results do not depend on it.

    Attributes
    ----------
    progress : Progress
        What is shown while it runs; the caller sets one for each table and figure.
    n_cells, n_computed : int
        Results asked for, and how many of them were not in the journal.
    """

    def __init__(
        self,
        journal: Journal,
        seeds: Sequence[int],
        *,
        folder: Path | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.journal = journal
        self.seeds = list(seeds)
        self.folder = folder
        self.n_jobs = n_jobs
        self.progress = Progress("evaluation")
        self.n_cells = 0
        self.n_computed = 0
        self._last: tuple[Dataset, str] | None = None

    def load(self, name: str, n_clusters: int | None) -> Dataset:
        """A data set or its first clusters."""
        return load_dataset(name, n_clusters, folder=self.folder)

    def result(self, method: str, estimator: Any, data: Dataset, share: float = 0.0) -> CellResult:
        """The scores of an estimator on a data set, computed or read back."""
        parameters = parameters_of(estimator)
        # The digest of a large data set takes a while, and many cells share one.
        if self._last is None or self._last[0] is not data:
            self._last = data, _digest(data)
        key = Key(
            data.name, data.n_clusters, method, dumped(parameters), self._last[1], code_digest()
        )
        what = f"{data.name}, {data.n_clusters} clusters, {methods()[method].title}"
        self.n_cells += 1
        with self.progress.part(what, share):
            scores = self.journal.find(key, self.seeds)
            if scores is None:
                scores = self._computed(what, key, estimator, data)
        return CellResult(method, parameters, scores)

    def _computed(self, what: str, key: Key, estimator: Any, data: Dataset) -> tuple[Score, ...]:
        try:
            scores, messages = evaluate(estimator, data, self.seeds, self.n_jobs)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from error
        self.n_computed += 1
        self.journal.add(key, scores)
        for message in messages:
            self.progress.note(f"{what}: {message}")
        return tuple(scores)

    def rows(self, rows: Iterable[Row]) -> list[RowResults]:
        """All methods in all settings on these rows; rows without data stay empty."""
        # The time of a fit grows about with the square of the points; the shares are of time.
        weights = {row: _points(row) ** 2 for row in rows}
        total = sum(weights.values())
        return [self._row(row, weight / total) for row, weight in weights.items()]

    def _row(self, row: Row, share: float) -> RowResults:
        evaluated = RowResults(row)
        try:
            data = self.load(row.dataset, row.n_clusters)
        except FileNotFoundError:
            self.progress.note(f"{row.title}: data absent")
            self.progress.done += share
            return evaluated
        tasks: dict[tuple[Setting, str], list[Any]] = {
            (setting, name): candidates(methods()[name], setting, data.n_clusters, len(data.X))
            for setting in SETTINGS
            for name in compared_methods()
        }
        part = share / sum(map(len, tasks.values()))
        for (setting, name), estimators in tasks.items():
            results = [self.result(name, model, data, part) for model in estimators]
            if results:
                evaluated.results[setting, name] = max(results, key=_by_accuracy)
        return evaluated


def chosen_rows(tables: Iterable[int], quick: bool = False) -> list[Row]:
    """The rows of some tables; the quick ones are small.

    Examples
    --------
    >>> from paper.evaluation import chosen_rows
    >>> [row.title for row in chosen_rows([3])]
    ['Heart', 'Ionosphere', 'Breast']
    """
    wanted = set(tables)
    return [
        row
        for row in published_rows()
        if row.table in wanted and (not quick or (row.dataset, row.n_clusters) in QUICK_ROWS)
    ]


def _by_accuracy(result: CellResult) -> tuple[float, float]:
    return result.mean("AC"), result.mean("NMI")


def _points(row: Row) -> float:
    """About how many points a row has."""
    entry = find_entry(row.dataset)
    n_samples = (entry.n_samples if entry else None) or 1000
    n_classes = (entry.n_classes if entry else None) or 1
    return n_samples * (row.n_clusters or n_classes) / n_classes


def _digest(data: Dataset) -> str:
    digest = sha256(np.ascontiguousarray(data.X).data)
    digest.update(np.ascontiguousarray(data.y).data)
    return digest.hexdigest()[:12]
