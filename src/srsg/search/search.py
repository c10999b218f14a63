"""The right graph for the data, chosen without labels: the most stable of several candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from srsg.coding.coder import without_direction
from srsg.constraints import Constraints
from srsg.counting.counts import with_structure
from srsg.counting.reproducibility import OtherCount, ScoredCounts
from srsg.cutting.cut import check_cluster_count
from srsg.estimators.base import (
    attributes_of_counts,
    is_dask,
    learn,
    noted_input,
    scored_counts,
)
from srsg.estimators.dask_points import rows_in_a_file
from srsg.explaining.confidence import Confidence, confidence, predict_with_confidence
from srsg.explaining.described import Described
from srsg.explaining.unwrapping import clusterer_of, points_as_clustered
from srsg.explaining.valleys import LEVEL, valley_p_value
from srsg.points import mostly_zero
from srsg.running.config import config_context
from srsg.running.progress import progress_for
from srsg.running.warnings import made_dense
from srsg.search.candidates import (
    Candidates,
    Columns,
    auto_candidates,
    checked_candidates,
    has_sparse_codes,
    look_at_columns,
)
from srsg.search.comparison import COUNTING_COSTS, Compared, Comparison, steps_of_sample
from srsg.search.fits import TREE, builds_graph
from srsg.search.sampled import FIRST, Approximation, Limits
from srsg.search.stability import draw_rounds
from srsg.types import FloatArray, Matrix, NClusters, RandomState
from srsg.weights import checked_weights

TIE = 0.02
"""Scores of tables that are still this close after the second round of samples are a tie, which the
first of the candidates wins. With many features only equal scores are."""

LEAST_POINTS = 10
"""The fewest points that samples can be drawn from."""


@dataclass(eq=False, repr=False)
class StabilitySearch(Described, ClusterMixin, BaseEstimator):
    """Choose among clusterers, and among numbers of clusters, by the stability of their labels.

    One graph cannot serve all data: sparse codes suit objects that turn, ridge codes faces under
    changing light, nearest neighbours embeddings of texts and cells, and standardised columns with
    a constant coordinate suit tables. Labels to choose by are missing. A good graph finds the same
    clusters again on other samples of the points and on other features; a bad one does not.

    With 100 features or more, or principal components, every candidate is fitted on all points, on
    two samples of them and, unless the features are sparse, on two halves of the features. Its
    score adds the agreement of its labels between all points and samples, and between all features
    and halves. Each of our own graphs is cut twice, by eigenvectors and as a tree: the cut with the
    larger product of this score and its squared modularity counts, the tree if they are close, but
    never that of ridge codes. Nearly all points in one cluster score nothing. For tables the score
    adds the agreement between samples and the agreement with the other candidates on the same
    samples; if the best two are close, as many samples again are drawn. See
    :mod:`srsg.search.stability`. The best is then fitted on all points. Of more than 3,000 points,
    a random 3,000 decide. Where the graph of all points would exceed the time or the memory that
    :func:`srsg.config_context` allows, the best is fitted on a random sample, and all other points
    are assigned to its clusters; see :mod:`srsg.search.sampled`.

    Parameters
    ----------
    candidates : "auto", "graphs", or mapping or sequence of (name, estimator)
        Clusterers or pipelines that end in one, each with a parameter ``n_clusters``. Earlier ones
        win ties. "auto" looks at the columns: ridge codes, SRSG and, unless l1 codes are sparse,
        nearest neighbours for 100 features or more, and for principal components; sparse subspace
        clustering (:meth:`srsg.L1Graph.ssc`) for up to 2,000 points that lie in a dozen dimensions
        or fewer, nearly without noise, such as trajectories;
        spectral clustering by distances for three columns or fewer, where directions say little;
        SRSG, its standardised affine form, that of ridge codes, and K-means for tables whose
        columns share one unit; for other tables only what is standardised. Of more than 6,000
        points, K-means wins ties: the graph of all would take far longer. "graphs" leaves out what
        builds no graph.
    n_clusters : int, "auto" or (int, int)
        Number of clusters; "auto" lets every candidate find its own, on at most 6,000 points; if a
        tree wins, that of all points has the last word. For tables, three graphs or more settle on
        the median; fewer are compared at all numbers that were found. A range such as (3, 6) does
        the same within both ends.
    prepared : bool
        Whether the columns have their weights already, as in a :class:`srsg.PreparedClusterer`
        around the search: "auto" then compares nearest neighbours by distances with K-means,
        and scales nothing.
    n_resamples : int
        Samples of the points per candidate; tables get one more. Twice as many if the best two
        are close.
    random_state : int, RandomState or None
        Samples and the starts of K-means.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted on all points, or on the sample of ``approximation_``.
    best_name_ : str
    best_index_ : int
    labels_ : ndarray of shape (n,)
    confidence_ : ndarray of shape (n,)
        How sure each label is, from 0 to 1, see :mod:`srsg.explaining.confidence`.
    certainty_ : Confidence
        The confidence, how central each point is, and what both mean.
    approximation_ : Approximation or None
        If the graph has a sample of the points only: its ``rows``, and how far labels that it
        assigns agree with those of a larger graph (``agreement``).
    n_clusters_ : int
    results_ : dict of lists
        One entry per candidate: ``candidate``, ``cut`` ("kmeans" or "tree"; None where only one was
        tried), ``n_clusters``, ``stability_points``, ``stability_features`` (NaN if there were no
        halves), ``consensus`` (NaN except for tables), ``score`` and ``rank``.
        ``pandas.DataFrame(search.results_)`` shows it as a table.
    margin_ : float
        By how much the winner's score exceeds the best other; negative if it won as the earlier
        of a tie, and infinite without another candidate. On tables a wide margin is no proof.
    structure_found_ : bool
        Whether the winner's clusters lie apart, with valleys of density between them, see
        :mod:`srsg.explaining.valleys`. In data without clusters it is True in at most 5 % of the
        cases.
    cluster_counts_, cluster_count_scores_ : ndarray
        For ``n_clusters="auto"``: the numbers that the winner tried, or the graph that found the
        median, and their scores.
    other_counts_ : list of OtherCount
        For ``n_clusters="auto"``: the best number below and the best above that differ by a factor
        of 1.25 or more, with their labels, and which clusters merge or fall apart. Empty if the
        winner builds no graph.
    columns_ : str
        What the columns look like.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from srsg import StabilitySearch
    >>> X, y = load_wine(return_X_y=True)
    >>> search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
    >>> search.columns_
    'a table whose columns have different units'
    >>> len(search.results_["candidate"])
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "candidates": [StrOptions({"auto", "graphs"}), Mapping, list, tuple],
        "n_clusters": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), tuple],
        "prepared": ["boolean"],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    candidates: Literal["auto", "graphs"] | Mapping[str, Any] | Sequence[tuple[str, Any]] = "auto"
    n_clusters: NClusters = "auto"
    _: KW_ONLY
    prepared: bool = False
    n_resamples: int = 2
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool | int = False

    best_estimator_: ClassVar[Any]
    certainty_: ClassVar[Confidence]
    approximation_: ClassVar[Approximation | None]
    columns_: ClassVar[str]

    def fit(
        self,
        X: Matrix,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        **known: ArrayLike | None,
    ) -> Self:
        """Compare the candidates, and fit the best on all points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts in the fits of all candidates; None means once. Samples
            are drawn from the rows, whatever their weights.
        **known : array-like
            ``known_labels``, ``must_link`` and ``cannot_link``, as in ``fit`` of the estimators.
            Only candidates that build a graph are compared, without what is known; the labels of
            the best one keep it.

        Returns
        -------
        self
        """
        self._validate_params()
        limits = Limits.starting_now()
        least = {"ensure_min_samples": LEAST_POINTS, "ensure_min_features": 2}
        if is_dask(X):
            X = rows_in_a_file(type(self).__name__, X)
        X, names = noted_input(self, X, accept_sparse="csr", **least)
        weights = checked_weights(sample_weight, X.shape[0])
        check_cluster_count(self.n_clusters, X.shape[0])
        rng = check_random_state(self.random_state)
        own = isinstance(self.candidates, str)
        columns = Columns.PREPARED if self.prepared else look_at_columns(X, exact=own)
        X = self._searched(X, columns)
        with config_context(engine="threads"):  # a sample of few points is soonest found here
            candidates = self._candidates(columns, X)
        constraints = Constraints.of(X.shape[0], **known)
        if constraints is not None:
            constraints.check(self.n_clusters)
            candidates = [pair for pair in candidates if builds_graph(pair[1])]
            if not candidates:
                raise ValueError(f"{', '.join(known)}: no candidate builds a graph.")
        for name, each in candidates if weights is not None else ():
            if not has_fit_parameter(clusterer_of(each), "sample_weight"):
                raise ValueError(f"sample_weight: the candidate {name!r} does not take weights.")
        seed = int(rng.randint(2**31 - 1))
        rounds = draw_rounds(
            X.shape, self.n_resamples, rng, table=columns.of_a_table, halve=not mostly_zero(X)
        )
        n_drawn = min(len(sample.rows) for sample in rounds[0])
        number = 0 if isinstance(self.n_clusters, str | tuple) else self.n_clusters
        if number > n_drawn:
            raise ValueError(
                f"n_clusters={number} exceeds the {n_drawn} points of the samples that "
                f"the search draws from {X.shape[0]}: ask for fewer, or use one estimator."
            )
        progress = progress_for(self.verbose)
        total = sum(
            len(rounds[0] + rounds[1]) * steps_of_sample(each)
            + COUNTING_COSTS * (not number and builds_graph(each))
            for _, each in candidates
        )
        with (
            progress.stage(f"comparing {len(candidates)} methods", total) as whole,
            config_context(engine="threads"),
        ):
            both_cuts = own and not columns.of_a_table
            comparison = Comparison(candidates, X, seed, progress, whole, both_cuts, weights)
            compared = comparison.compared(self.n_clusters, rounds)
        learnt = self._best(comparison, compared, limits, tie=TIE if rounds[1] else 0.0)
        if constraints is not None:
            learnt |= _with_constraints(learnt, X, known, len(constraints.classes))
        learn(self, names | learnt | {"columns_": columns.value})
        return self

    def _best(
        self, comparison: Comparison, compared: Compared, limits: Limits, *, tie: float
    ) -> dict[str, Any]:
        """Fit the best of the candidates on all points: what is learnt, by attribute."""
        counted, scores, cuts, models = compared
        counts, total = [each.n_clusters for each in counted], scores.total
        tied = np.flatnonzero(total >= total.max() - tie)
        if isinstance(self.candidates, str) and comparison.X.shape[0] > FIRST:
            graphs = [builds_graph(comparison.candidates[place][1]) for place in tied]
            tied = tied[np.argsort(graphs, kind="stable")]  # the cheaper ones first
        best = int(tied[0])
        again = self.n_clusters == "auto" and cuts[best] == TREE
        found = comparison.fitted(
            best, counted[best], cuts[best], limits, models.get(best), count_again=again
        )
        model, counts[best] = found.model, found.counted.n_clusters
        others = np.delete(total, best)
        evidence = replace(
            found.counted, structure_found=_lie_apart(model, comparison.X, found.counted)
        )
        names = [name for name, _ in comparison.candidates]
        learnt = {
            "best_index_": best,
            "best_name_": names[best],
            "best_estimator_": model,
            "labels_": found.labels,
            "certainty_": found.certainty,
            "approximation_": found.approximation,
            "n_clusters_": counts[best],
            "results_": {
                "candidate": names,
                "cut": cuts,
                "n_clusters": counts,
                **scores.table(),
            },
            "margin_": float(total[best] - others.max()) if others.size else np.inf,
            "structure_found_": evidence.structure_found,
        }
        if isinstance(self.n_clusters, str | tuple):
            learnt |= attributes_of_counts(evidence)
            if builds_graph(model):  # the clusterer has it too, for its report and its file
                for name, value in attributes_of_counts(evidence).items():
                    setattr(clusterer_of(model), name, value)
        return learnt

    @property
    def confidence_(self) -> FloatArray:
        """How sure each label is, from 0 to 1."""
        check_is_fitted(self, "certainty_")
        return self.certainty_.values

    @property
    def other_counts_(self) -> list[OtherCount]:
        """The best clearly different numbers of clusters, of a winner that builds a graph."""
        scored_counts(self)  # raises an error if the number was given
        model = self.best_estimator_
        return clusterer_of(model).other_counts_ if builds_graph(model) else []

    def best_counts(self, n_best: int = 3) -> list[int]:
        """The numbers of clusters with the most evidence in the data, best first.

        Parameters
        ----------
        n_best : int
            How many numbers.

        Returns
        -------
        list of int
            The first is ``n_clusters_``; the scores are in ``cluster_count_scores_``.
        """
        return scored_counts(self).best(n_best)

    def predict(self, X: Matrix, novelty: float | None = None) -> NDArray[np.intp]:
        """The clusters of new points, by the best estimator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            A share such as 0.05: points that are explained worse than this share of the fitted
            ones get the label -1. Only for a winner that is an estimator of this package.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self, "best_estimator_")
        new = validate_data(self, X, accept_sparse="csr", reset=False)
        new = self._searched(new, Columns(self.columns_))
        if novelty is None:
            return self.best_estimator_.predict(new)
        return predict_with_confidence(self.best_estimator_, new, novelty=novelty)[0]

    def _searched(self, X: Any, columns: Columns) -> Any:
        """The points as the candidates get them.

        Many sparse features stay sparse. Of a table, most of our own candidates standardise the
        columns, after which hardly any entry is zero.
        """
        if isinstance(self.candidates, str) and columns.of_a_table:
            return made_dense(X, "the columns of a table are standardised")
        return X

    def _candidates(self, columns: Columns, X: Any) -> Candidates:
        if isinstance(self.candidates, str):
            found = auto_candidates(columns, {"n_jobs": self.n_jobs})
            if columns.of_a_table and without_direction(X).any():
                # A row of zeros has a direction only with a constant coordinate.
                found = [(name, each) for name, each in found if name != "srsg"]
            if not columns.of_a_table and has_sparse_codes(X, self.n_jobs):
                found = [(name, each) for name, each in found if name != "knn"]
            if self.candidates == "graphs":
                found = [pair for pair in found if builds_graph(pair[1])]
            return found
        pairs = self.candidates.items() if isinstance(self.candidates, Mapping) else self.candidates
        return checked_candidates(pairs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_constraints(
    learnt: dict[str, Any], X: Any, known: dict[str, Any], n_classes: int
) -> dict[str, Any]:
    """What the winner says about all points, once it knows what is known about some."""
    model, approximation = learnt["best_estimator_"], learnt["approximation_"]
    if approximation is not None:
        raise ValueError(
            f"{', '.join(known)}: the graph has {len(approximation.rows)} of "
            f"{approximation.n_points} points only; allow more time and memory, or use one "
            "estimator."
        )
    clusterer = clusterer_of(model)
    clusterer.set_params(n_clusters=max(clusterer.n_clusters_, n_classes)).fit_labels(**known)
    names = ("labels_", "n_clusters_", "known_classes_", "violated_constraints_")
    about = {name: getattr(clusterer, name) for name in names}
    return about | {"certainty_": confidence(model, X)}


def _lie_apart(model: Any, X: Any, counted: ScoredCounts) -> bool:
    """Whether the clusters of the winner lie apart."""
    clusterer = clusterer_of(model)
    if builds_graph(model):
        found = with_structure(counted, clusterer.graph_, clusterer._clusters)
        return found.structure_found
    return valley_p_value(points_as_clustered(model, X), clusterer.labels_) <= LEVEL
