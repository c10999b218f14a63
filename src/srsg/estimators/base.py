"""The base of all estimators: parameters in, a fitted graph and its clusters out."""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from inspect import cleandoc
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.coding.coder import Coder, build_graph, new_codes, prepared
from srsg.coding.extended import extended_graph
from srsg.constraints import Constraints
from srsg.counting.counts import count_clusters, counted_by, p_value_of_valleys, with_structure
from srsg.counting.reproducibility import OtherCount, ScoredCounts
from srsg.cutting import cut
from srsg.cutting.embedding import connected_components
from srsg.cutting.tree import Tree
from srsg.cutting.update import Update, with_old_numbers
from srsg.estimators.callbacks import CallbackSupport, reported_to_callbacks, with_callbacks
from srsg.explaining import fitted
from srsg.explaining.described import Described
from srsg.explaining.outliers import outlier_scores
from srsg.graph import FittedGraph
from srsg.points import row_lengths
from srsg.running import Engine, ThreadEngine
from srsg.running.config import start_engine
from srsg.running.progress import announce_compiling, progress_for
from srsg.running.warnings import warn_user
from srsg.types import AssignLabels, FloatArray, Matrix, NClusters, RandomState
from srsg.weights import MOST_NAMED, checked_weights, weighted_quantile

Running = tuple[Coder, Any, dict[str, Any], Engine, FloatArray | None]

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

INPUT_NAMES = ("n_features_in_", "feature_names_in_")
"""What scikit-learn notes about X."""

SHARES = (0.5, 0.9, 0.99, 1.0)
"""The quantiles of the violations that are reported."""

ACCEPTED: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32, *map(np.dtype, np.typecodes["AllInteger"])],
}
"""What X may be; other number types are converted to the first. Integers stay as they are: code
that needs floats converts them block by block."""


@dataclass(eq=False, repr=False, kw_only=True)
class GraphClusterer(
    Described,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    CallbackSupport,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Base of the estimators that build a graph of the points and cluster it.

    A subclass is a dataclass whose fields are its parameters. It adds their constraints, and names
    its method as ``coder``: see ``srsg.coding.coder.Coder``. Its docstring takes the texts of
    shared parameters and attributes from here: ``{n_clusters, n_init}`` on a line of its own stands
    for these two.

    Parameters
    ----------
    n_clusters : int, "auto" or (int, int)
        Number of clusters; "auto" finds it, see :mod:`srsg.counting.counts`, and a range such as
        (3, 6) does the same within both ends.
    n_candidates : int or None
        Code every point over this many candidates at a time, found by an index, instead of over
        all points (None): for data too large to compare all pairs. Codes are exact on the last
        candidates; how far they are from those over all points is measured on a random
        sample, see ``kkt_quantiles_``. Needs faiss: ``pip install 'srsg[approximate]'``. New
        points are coded over all fitted ones.
    n_neighbors : int
        Nearest neighbours found along the way. Weak links to them join the connected
        components of the graph where these outnumber the clusters.
    affine : bool or float
        Append a constant coordinate to every point before scaling it to unit length: clusters
        may then lie near affine subspaces, away from the origin, and a point differs from its
        mirror image. True takes the root mean square length of the points; False appends
        nothing.
    affinity : {"agreement", "codes"}
        The graph that is cut. "codes" is ``affinity_matrix_``, of which it takes the
        normalised cut. "agreement" weighs the edges by what their neighbours agree on
        (:func:`srsg.cutting.embedding.agreement`), and takes the ratio cut.
    assign_labels : {"kmeans", "discretize", "cluster_qr", "tree"}
        How the embedded points get their labels. "tree" needs no embedding: communities of the
        graph are merged one pair after the other, so that clusters of different numbers are
        nested, see :mod:`srsg.cutting.tree`.
    n_init : int
        Restarts of K-means.
    store : str, path or None
        Folder that keeps results: after an interruption, a fit on the same points with the
        same parameters goes on where the last one stopped, and a fit with another
        ``n_clusters`` finds its graph there.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it. Where else the work
        can run, and how much memory it may take, is set by :func:`srsg.config_context`.
    random_state : int, RandomState or None
        Starts of K-means and, with ``n_candidates``, the sample; everything else is deterministic.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    confidence_ : ndarray of shape (n,)
        How sure each label is, from 0 to 1; computed when first used, as are the next three.
    memberships_ : csr_array of shape (n, n_clusters_)
        How far each point belongs to its cluster and up to four others; rows add up to one.
    explained_ : ndarray of shape (n,)
        How well the members of its own cluster explain each point, from 0 to 1.
    outlier_score_ : ndarray of shape (n,)
        From 0 to 1: ranks the points, outliers highest.
    layers_ : ndarray of shape (n, n_layers)
        Labels from ``tree_``: fine ones first, then in half as many clusters again and again, down
        to two or three. Each is nested in the next. Computed when first used.
    tree_ : Tree
        Clusters within clusters, see :class:`srsg.cutting.tree.Tree`: ``labels_`` is one of its
        cuts. Computed when first used.
    certified_ : ndarray of shape (n_certified,)
        The points that have certificates: all or, with ``n_candidates``, a random thousand.
    kkt_violation_ : ndarray of shape (n_certified,)
        Largest violation of the optimality conditions of their l1 codes over all points.
    dual_gap_ : ndarray of shape (n_certified,)
        Duality gap of these codes: the objective is at most this far from its minimum.
    kkt_quantiles_ : dict
        Quantiles of ``kkt_violation_`` by their shares 0.5, 0.9, 0.99 and 1.
    n_scans_ : int
        Passes over the data, each a matrix product; none with ``n_candidates``.
    affine_ : float
        The constant coordinate that was appended; 0 if none was.
    first_equal_ : ndarray of shape (n,)
        For every point the first that equals it in every bit, after scaling; -1 for a row of
        zeros. Equal points have one code, over the points that differ from them (of each set
        of equals, over the first), and one label. They count as many times as they occur: by
        their edges, in a ratio cut and in K-means. A row of zeros has no code, no edge,
        neighbours of -1, and the label of the largest cluster.
    fit_X_ : ndarray or csr_array of shape (n, n_features)
        The fitted points, of unit length, which new ones are coded over.
    graph_ : FittedGraph
        The graph as one value, see :class:`srsg.graph.FittedGraph`.
    n_connected_components_ : int
        Connected components of the graph.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_, cluster_count_scores_ : ndarray of shape (n_counts,)
        For ``n_clusters="auto"``: the numbers of clusters tried, and their scores, see
        :mod:`srsg.counting.counts`. There is only one number where the components of the
        graph are the clusters.
    other_counts_ : list of OtherCount
        For ``n_clusters="auto"``: the best number below and the best above that differ by a factor
        of 1.25 or more, with their labels, and which clusters merge or fall apart. Computed when
        first used.
    structure_found_ : bool
        For ``n_clusters="auto"``: whether clusters lie apart, with valleys of density between
        them (:mod:`srsg.explaining.valleys`). In data without clusters it is True in at most 5 %
        of the cases.
    valley_p_value_ : float
        How likely the valleys between the clusters are if there are none; computed when first
        used.
    embedding_ : ndarray of shape (n, n_clusters_)
        Leading eigenvectors of the graph, rows of unit length; for a tree, the share of each
        point's edge weight that goes to each cluster.
    eigenvalues_ : ndarray of shape (n_clusters_,)
        Those of the normalised graph; for a tree, of the graph whose vertices are the clusters.
    known_classes_ : ndarray of shape (n_classes,)
        The classes of ``known_labels``: cluster i is class i, and further clusters are new.
    violated_constraints_ : list of tuple
        The constraints that the labels do not keep, as ``("must_link", row, row)``,
        ``("cannot_link", row, row)`` or ``("known_labels", row, cluster)``. Empty as a rule: it
        takes contradictions, or more rows that belong apart than clusters.
    n_features_in_ : int

    Examples
    --------
    >>> from srsg.estimators import SRSG, GraphClusterer
    >>> issubclass(SRSG, GraphClusterer)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [AT_LEAST_ONE, StrOptions({"auto"}), tuple],
        "affinity": [StrOptions({"agreement", "codes"})],
        "n_neighbors": [AT_LEAST_ONE],
        "affine": ["boolean", POSITIVE],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr", "tree"})],
        "n_init": [AT_LEAST_ONE],
        "store": [str, os.PathLike, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    coder: ClassVar[type[Coder]]
    """The method, whose fields are parameters of the estimator."""

    affinity = "codes"
    """The graph that is cut; a parameter of some."""

    n_clusters: NClusters = field(default=8, kw_only=False)
    assign_labels: AssignLabels = "kmeans"
    n_init: int = 10
    store: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: bool | int = False

    graph_: ClassVar[FittedGraph]
    labels_: ClassVar[NDArray[np.intp]]
    embedding_: ClassVar[FloatArray]
    eigenvalues_: ClassVar[FloatArray]
    n_clusters_: ClassVar[int]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherited = super(cls, cls)._parameter_constraints
        cls._parameter_constraints = inherited | cls._parameter_constraints
        cls.__doc__ = _with_shared_texts(cleandoc(cls.__doc__ or ""))

    def _coder(self) -> Coder:
        """The method and its parameters as a value."""
        own = vars(self)
        values = {each.name: own[each.name] for each in fields(self.coder) if each.name in own}
        if values.get("n_candidates") is None:
            values.pop("random_state", None)  # nothing in the codes is random
        return self.coder(**values)

    @with_callbacks
    def fit(
        self,
        X: Matrix,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        known_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Build the graph and cluster it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts; None means once. A row of weight m gives what m equal
            rows give, and fractions are in between. Every weight is above zero.
        known_labels : array-like of shape (n_samples,) or None
            The classes of some rows, -1 (or an empty text) for all others. Rows of one class are in
            one cluster: the first of the sorted classes, ``known_classes_``, is cluster 0, and so
            on. There may be more clusters than classes. True labels are never taken from ``y``, so
            that none are used by accident.
        must_link, cannot_link : array-like of shape (n_pairs, 2) or None
            Pairs of rows that belong to one cluster, or to different ones.

        Returns
        -------
        self
        """
        with self._running(X, sample_weight) as (coder, points, names, run, weights):
            cut.check_cluster_count(self.n_clusters, points.shape[0])
            known = Constraints.of(points.shape[0], known_labels, must_link, cannot_link)
            if known is not None:
                known.check(self.n_clusters)
            graph = replace(build_graph(coder, points, run, weights), constraints=known)
            clusters, counted = self._cut(graph, run)
        return self._learn(graph, names, clusters, counted)

    @with_callbacks
    def fit_graph(self, X: Matrix, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn only the graph: the expensive part.

        :meth:`relabel` is the cheap part, for as many numbers of clusters as you like.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts; None means once. A row of weight m gives what m equal
            rows give, and fractions are in between. Every weight is above zero.

        Returns
        -------
        self
        """
        with self._running(X, sample_weight) as (coder, points, names, run, weights):
            graph = build_graph(coder, points, run, weights)
        return self._learn(graph, names)

    def fit_labels(
        self,
        *,
        known_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Cluster the graph of the last fit with the present parameters: the cheap part.

        ``model.fit_graph(X).set_params(n_clusters=5).fit_labels()`` does the same as ``fit``.

        Parameters
        ----------
        known_labels, must_link, cannot_link
            As in :meth:`fit`; without any, those of the last fit stay.

        Returns
        -------
        self
        """
        check_is_fitted(self, "graph_")
        self._validate_params()
        graph = self.graph_
        cut.check_cluster_count(self.n_clusters, graph.n)
        known = Constraints.of(graph.n, known_labels, must_link, cannot_link)
        graph = graph if known is None else replace(graph, constraints=known)
        run = ThreadEngine(self.n_jobs, progress_for(self.verbose))
        learnt = vars(self)
        names = {name: learnt[name] for name in INPUT_NAMES if name in learnt}
        return self._learn(graph, names, *self._cut(graph, run))

    def update(self, X: Matrix) -> Update:
        """Let new points join the fitted graph, and cut it again.

        New points are coded, and the fitted ones around them once more; all other codes stay. This
        takes time that grows with the new points, apart from a scan of the fitted ones for each of
        them. If they touch more than half of all points, all are coded again, as in a fit. The cut
        is one of the whole graph, and the points are copied. Clusters keep their numbers as far as
        they keep their points. See ``srsg.coding.extended``.

        For estimators that code points of unit length, in one process. After many updates a new fit
        is a little better.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row. They come after the fitted ones, in ``labels_`` and all others.

        Returns
        -------
        Update
            The labels of the new points, which fitted ones have moved, and which clusters are new,
            gone, merged or split.
        """
        check_is_fitted(self, "labels_")
        new, lengths, run = self._prepared_new(X)
        learnt, before = vars(self), self.labels_
        names = {name: learnt[name] for name in INPUT_NAMES if name in learnt}
        with announce_compiling(run.progress):
            graph, known = extended_graph(self.graph_, new, lengths, run), self.graph_.constraints
            if known is not None:
                graph = replace(graph, constraints=known.extended(graph.n))
            clusters, counted = self._cut(graph, run)
        by_cluster = self.assign_labels == "tree"
        if known is None:  # known classes have the first numbers
            clusters = with_old_numbers(before, clusters, by_cluster=by_cluster)
        self._learn(graph, names, clusters, counted)
        return Update.of(before, clusters.labels)

    def count_clusters(self, *, random_state: RandomState = None) -> ScoredCounts:
        """How many clusters the graph of the last fit has, and the evidence.

        Parameters
        ----------
        random_state : int, RandomState or None
            Halves of the points and starts of K-means; None takes the estimator's own.

        Returns
        -------
        ScoredCounts
        """
        check_is_fitted(self, "graph_")
        state = self.random_state if random_state is None else random_state
        counted = self._cut(self.graph_, ThreadEngine(self.n_jobs), "auto", state)[1]
        assert counted is not None
        return counted

    def fit_transform(
        self, X: Matrix, y: None = None, sample_weight: ArrayLike | None = None
    ) -> sparse.csr_array:
        """Fit, and return the codes of the fitted points over each other.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts, as in :meth:`fit`.

        Returns
        -------
        csr_array of shape (n_samples, n_samples)
            ``codes_``; the edges of a method without codes.
        """
        return fitted.fitted_codes(self.fit(X, sample_weight=sample_weight).graph_)

    def transform(self, X: Matrix) -> sparse.csr_array:
        """Code new points over all fitted ones.

        A fitted point is treated as a new one, too, and coded mostly by itself. See ``codes_`` for
        its code over the others.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        csr_array of shape (n_new, n_samples)
            Row i is the code of new point i.
        """
        check_is_fitted(self, "graph_")
        fit = copy(self)  # another thread may fit again meanwhile
        new, _, run = fit._prepared_new(X)
        return new_codes(fit.graph_, new, run)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept the default output only: codes are sparse matrices.

        Parameters
        ----------
        transform : {"default"} or None
            Others raise a ValueError that says how to make a DataFrame.

        Returns
        -------
        self
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"transform={transform!r}: the codes are a sparse matrix, which is not converted. "
                "Use pandas.DataFrame.sparse.from_spmatrix(codes)."
            )
        return self

    def predict(self, X: Matrix, novelty: float | None = None) -> NDArray[np.intp]:
        """The clusters of new points: where most of their codes' mass lies.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            A share between 0 and 1, such as 0.05: points that are explained worse than this share
            of the fitted points belong to none of the clusters, and get the label -1. About this
            share of new points that are like the fitted ones get it too. None gives every point a
            cluster.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        _check_novelty(novelty)
        fit = self._one_fit(*["explained_"] * (novelty is not None))
        return fit._labels_with_novel(fit._assigned(X), novelty)

    def predict_shares(self, X: Matrix) -> FloatArray:
        """How much of the codes of new points, ``sum |z|``, lies in each cluster.

        Where a code is empty they are the shares of the clusters among the five nearest fitted
        points. A row of zeros in a method that scales points to unit length has no direction: its
        shares are those that the clusters have of the fitted points, and its cluster is the
        largest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new, n_clusters_)
            Rows add up to one. :meth:`predict` takes the largest share.
        """
        return self._one_fit()._assigned(X).shares

    def predict_confidence(self, X: Matrix) -> FloatArray:
        """How sure the clusters of new points are, from 0 to 1.

        The memberships of the fitted points that a code uses, weighted by their shares of it, times
        how well the point is explained; see ``confidence_`` for that of the fitted points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return self.predict_with_confidence(X)[1]

    def predict_with_confidence(
        self, X: Matrix, novelty: float | None = None
    ) -> tuple[NDArray[np.intp], FloatArray]:
        """The results of :meth:`predict` and :meth:`predict_confidence`, for the work of one.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            As in :meth:`predict`. A label of -1 keeps the confidence of the best cluster.

        Returns
        -------
        labels, confidence : ndarray of shape (n_new,)
        """
        _check_novelty(novelty)
        fit = self._one_fit("explained_", "valley_p_value_")
        new = fit._assigned(X)
        sure = fitted.confidence_of_new(
            fit.graph_, fit._clusters, new, fit.explained_, fit.valley_p_value_
        )
        return fit._labels_with_novel(new, novelty), sure

    def novelty_score(self, X: Matrix) -> FloatArray:
        """How little the clusters explain new points: 0 is entirely, 1 not at all.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new,)
            Compare with ``1 - explained_``, the same of the fitted points.
        """
        fit = self._one_fit()
        return 1.0 - fitted.explained_new(fit.graph_, fit._clusters, fit._assigned(X))

    def relabel(
        self,
        n_clusters: NClusters | None = None,
        *,
        nested: bool = False,
        random_state: RandomState = None,
    ) -> NDArray[np.intp]:
        """Label the points again, on the graph of the last fit: the cheap part.

        Shows in little time what another number of clusters gives, or how much the labels
        depend on the starts of K-means. The estimator does not change.

        Parameters
        ----------
        n_clusters : int, "auto", (int, int) or None
            Number of clusters; None keeps the embedding of the last fit and its number.
        nested : bool
            Merge clusters of the last fit, or split them, as their tree does: ``relabel(5,
            nested=True)`` has every cluster of ``relabel(9, nested=True)`` in one piece. Needs a
            number.
        random_state : int, RandomState or None
            Starts of K-means; None takes the estimator's own.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "graph_" if n_clusters is not None else "labels_")
        run, graph = ThreadEngine(self.n_jobs), self.graph_
        state = self.random_state if random_state is None else random_state
        if nested:
            if not isinstance(n_clusters, Integral):
                raise ValueError(f"nested=True needs n_clusters=, a number; got {n_clusters!r}.")
            cut.check_cluster_count(n_clusters, len(graph.equal.first))
            enough = n_clusters <= self.tree_.n_leaves
            return (self.tree_ if enough else self._tree(n_clusters)).labels(n_clusters)
        recut = self.assign_labels == "tree" or graph.constraints is not None
        if n_clusters is None and recut:
            n_clusters = self.n_clusters_
        if n_clusters is not None:
            cut.check_cluster_count(n_clusters, graph.n)
            return self._cut(graph, run, n_clusters, state)[0].labels
        # One row for each distinct point, as K-means had them in the fit.
        vectors = self.embedding_ if graph.equal.all_differ else self.embedding_[graph.equal.first]
        spectral = cut.spectral_graph(graph, "codes", run)
        return spectral.labels(vectors, self.n_clusters_, self._cut_options(), state, run)

    def relabel_each(
        self, counts: Sequence[int], *, random_state: RandomState = None
    ) -> NDArray[np.intp]:
        """Label the points for each of several numbers of clusters, on the graph of the last fit.

        The eigenvectors are found once, for the largest number. If the graph has more components
        than the smallest number, bridges join them for all numbers; :meth:`relabel` decides this
        for each number by itself.

        Parameters
        ----------
        counts : sequence of int
            Numbers of clusters.
        random_state : int, RandomState or None
            Starts of K-means, the same for every number; None takes the estimator's own.

        Returns
        -------
        ndarray of shape (n_samples, len(counts))
        """
        check_is_fitted(self, "graph_")
        for count in counts:
            cut.check_cluster_count(count, self.graph_.n)
        run = ThreadEngine(self.n_jobs)
        state = self.random_state if random_state is None else random_state
        return cut.cut_graph_each(self.graph_, counts, self._cut_options(), state, run)

    def spectrum(self, count: int) -> FloatArray:
        """Leading eigenvalues of the normalised graph that was clustered.

        The first of them are ``eigenvalues_``; those that follow show the gap.

        Parameters
        ----------
        count : int
            How many eigenvalues.

        Returns
        -------
        ndarray of shape (count,)
        """
        check_is_fitted(self, "eigenvalues_")
        run = ThreadEngine(self.n_jobs)
        spectral = cut.spectral_graph(self.graph_, self._cut_options().affinity, run)
        return spectral.embedded(count, spectral.bridge(self.n_clusters_), run).eigenvalues

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

    # A cached property keeps its value among the attributes, under its own name. Since that ends
    # with an underscore, the next fit drops it together with everything else that was learnt.
    @cached_property
    def confidence_(self) -> FloatArray:
        """How sure the label of each fitted point is, from 0 to 1.

        The point's membership in its own cluster by distances in the embedding, see
        :func:`srsg.explaining.confidence.soft_labels`, times how well the members of its cluster
        explain it beside the best-explained tenth of the points.
        """
        return fitted.confidence_of_points(
            self.graph_, self._clusters, self.explained_, self.valley_p_value_
        )

    @cached_property
    def memberships_(self) -> sparse.csr_array:
        """The memberships of each fitted point in at most five clusters; rows add up to one.

        See :func:`srsg.explaining.confidence.sparse_memberships`.
        """
        return fitted.memberships_of_points(self._clusters, self.explained_, self.valley_p_value_)

    @cached_property
    def valley_p_value_(self) -> float:
        """How likely the valleys of density between the clusters are if there are none.

        See :mod:`srsg.explaining.valleys`.
        """
        return p_value_of_valleys(self.graph_, self._clusters)

    @cached_property
    def explained_(self) -> FloatArray:
        """How well the members of its own cluster explain each fitted point, from 0 to 1.

        See :mod:`srsg.explaining.explanation`.
        """
        check_is_fitted(self, "labels_")
        return fitted.explained_points(self.graph_, self.labels_)

    @cached_property
    def outlier_score_(self) -> FloatArray:
        """Outlier score of each fitted point, from 0 to 1.

        It ranks the points, see :func:`srsg.explaining.outliers.outlier_scores`.
        """
        check_is_fitted(self, "labels_")
        equal = self.graph_.equal
        codes = equal.merge_codes(fitted.fitted_codes(self.graph_))
        # A row of zeros has no code, and no other point needs it.
        found = outlier_scores(self.explained_[equal.first], codes, equal.weights)
        return equal.spread(found, 1.0)

    @cached_property
    def layers_(self) -> NDArray[np.intp]:
        """Labels from the tree of the points, fine ones first."""
        return self.tree_.layers()

    @cached_property
    def tree_(self) -> Tree:
        """The tree of the points that has the clusters of the fit as one of its cuts."""
        return self._tree(1)

    def cut_tree(self, height: float) -> NDArray[np.intp]:
        """Labels after all merges of ``tree_`` up to a height, whatever number of clusters is left.

        Parameters
        ----------
        height : float
            From 0 to 1. At 0.5 clusters are apart that the edges join no more strongly than chance
            would; the heights of all merges are in ``tree_.heights``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if not (isinstance(height, Real) and 0 <= height <= 1) or isinstance(height, bool):
            raise ValueError(f"height={height!r} must be a number from 0 to 1.")
        return self.tree_.cut(height)

    @cached_property
    def other_counts_(self) -> list[OtherCount]:
        """The best clearly different numbers of clusters, below and above, and what they change."""
        others = scored_counts(self).others()
        return [
            OtherCount.of(score, self.relabel(n, nested=True), self.labels_) for n, score in others
        ]

    def _tree(self, n_leaves: int) -> Tree:
        """The tree with at least so many leaves; before there are labels, of the graph alone."""
        check_is_fitted(self, "graph_")
        graph, equal = self.graph_, self.graph_.equal
        labels = vars(self).get("labels_", np.zeros(graph.n, np.intp))[equal.first]
        tree = cut.tree_of(graph, self._cut_options().affinity, n_leaves, labels)
        # Rows of zeros are in the largest cluster, so they go to its largest leaf.
        own = labels == np.bincount(labels, equal.counts).argmax()
        home = int(np.bincount(tree.leaf, equal.counts * own).argmax())
        return replace(tree, leaf=equal.spread(tree.leaf, home))

    @property
    def _clusters(self) -> cut.Clusters:
        check_is_fitted(self, "labels_")
        return cut.Clusters(self.labels_, self.embedding_, self.eigenvalues_, self.n_clusters_)

    @property
    def _n_features_out(self) -> int:
        return self.graph_.n

    def _cut_options(self) -> cut.CutOptions:
        affinity: Any = self.affinity
        return cut.CutOptions(affinity, self.assign_labels, self.n_init)

    def _cut(
        self,
        graph: FittedGraph,
        run: Engine,
        n_clusters: NClusters | None = None,
        random_state: RandomState = None,
    ) -> tuple[cut.Clusters, ScoredCounts | None]:
        """The clusters of a graph and, if their number was not given, the evidence for it."""
        if n_clusters is None:
            n_clusters, random_state = self.n_clusters, self.random_state
        # The graph is in this process, wherever the points were coded.
        if run.on_cluster:
            run = ThreadEngine(self.n_jobs, run.progress)
        options, counted = self._cut_options(), None
        if not isinstance(n_clusters, Integral):
            plain = replace(graph, constraints=None)
            counted = count_clusters(plain, options, random_state, run).within(n_clusters)
            n_clusters = counted.n_clusters
            if graph.constraints is not None:
                n_clusters = max(n_clusters, len(graph.constraints.classes))
        clusters = cut.cut_graph(graph, n_clusters, options, random_state, run)
        return clusters, counted and with_structure(counted, graph, clusters)

    @contextmanager
    def _running(self, X: Any, sample_weight: ArrayLike | None) -> Iterator[Running]:
        """A fit in progress: the method, the validated points, their names, engine and weights.

        Nothing is learnt before the whole fit has succeeded.
        """
        self._validate_params()
        refuse_truth_values(self)
        progress = progress_for(self.verbose)
        with ExitStack() as stack:
            stack.enter_context(announce_compiling(progress))
            if "_skl_callbacks" in vars(self):
                progress = stack.enter_context(reported_to_callbacks(self, X, progress))
            yield self._validated(X, progress, sample_weight)

    def _validated(self, X: Any, progress: Any, sample_weight: ArrayLike | None) -> Running:
        coder, weights = self._coder(), None
        if is_dask(X):
            if sample_weight is not None:
                raise ValueError(
                    "sample_weight needs the points in this process: fit on X.compute()."
                )
            from srsg.estimators.dask_points import points_on_workers

            run = start_engine(self.n_jobs, progress, self.store, on_cluster=coder.on_cluster)
            points = points_on_workers(type(self).__name__, coder, X, run)
            points, names = noted_input(self, points, skip_check_array=True)
        else:
            least = {"ensure_min_samples": 2, "ensure_min_features": 2}
            points, names = noted_input(self, X, **ACCEPTED, **least)
            weights = checked_weights(sample_weight, points.shape[0])
            # The engine notices too little memory before any is taken.
            run = start_engine(
                self.n_jobs,
                progress,
                self.store,
                points,
                on_cluster=coder.on_cluster,
                result_bytes=coder.result_bytes(points.shape[0]),
            )
        return coder, points, names, run, weights

    def _learn(
        self,
        graph: FittedGraph,
        names: dict[str, Any],
        clusters: cut.Clusters | None = None,
        counted: ScoredCounts | None = None,
    ) -> Self:
        """Copy results to attributes."""
        learnt = names | attributes_of_graph(graph)
        if clusters is not None:
            learnt |= {
                "labels_": clusters.labels,
                "embedding_": clusters.vectors,
                "eigenvalues_": clusters.eigenvalues,
                "n_clusters_": clusters.n_clusters,
            }
            learnt |= attributes_of_constraints(graph, clusters)
        if counted is not None:
            learnt |= attributes_of_counts(counted)
        learn(self, learnt)
        return self

    def _one_fit(self, *found: str) -> Self:
        """A copy that stays as it is while another thread fits the estimator again.

        Attributes that are ``found`` on demand are found first, so that the estimator keeps them.
        """
        check_is_fitted(self, "labels_")
        for name in found:
            getattr(self, name)
        return copy(self)

    def _prepared_new(self, X: Matrix) -> tuple[Any, FloatArray, Engine]:
        """New points in the form of the fitted ones, their lengths, and the engine for them."""
        checked = validate_data(self, X, **ACCEPTED, reset=False)
        coder = self.graph_.coder
        progress, bounded = progress_for(self.verbose), checked if coder.unit else None
        run = start_engine(self.n_jobs, progress, x=bounded, on_cluster=coder.on_cluster)
        return prepared(coder, checked, fitted=self.graph_)[0], row_lengths(checked), run

    def _assigned(self, X: Matrix) -> fitted.NewPoints:
        """New points with their codes and clusters."""
        new, lengths, run = self._prepared_new(X)
        with announce_compiling(run.progress):
            return fitted.assign_new(self.graph_, self._clusters, new, lengths, run)

    def _labels_with_novel(self, new: fitted.NewPoints, novelty: float | None) -> NDArray[np.intp]:
        """The labels, -1 for points that are explained worse than nearly all fitted ones."""
        if novelty is None:
            fitted.warn_of_unusual_lengths(new)
            return new.labels
        # The fitted points say what is usual, so no threshold has to be chosen.
        least = weighted_quantile(self.explained_, novelty, self.graph_.equal.row_weights)
        explained = fitted.explained_new(self.graph_, self._clusters, new)
        return np.where((explained < least) | (new.usual < 1), -1, new.labels)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_shared_texts(doc: str) -> str:
    """A docstring with the texts that it takes from :class:`GraphClusterer`."""
    shared = cleandoc(GraphClusterer.__doc__ or "")
    # An entry is a line with its names, and the indented lines below it.
    entries = re.findall(r"^((\w+)(?:, \w+)* : .*(?:\n    .*)*)", shared, re.MULTILINE)
    texts = {name: text for text, name in entries}

    def filled(names: re.Match[str]) -> str:
        return "\n".join(texts[name] for name in re.split(r",\s+", names[1]))

    return re.sub(r"^\{([\w,\s]+)\}$", filled, doc, flags=re.MULTILINE)


def attributes_of_graph(graph: FittedGraph) -> dict[str, Any]:
    """What an estimator learns about the graph, by the names of its attributes."""
    values: dict[str, Any] = {
        # Equal points count as connected, whether or not the graph joins them.
        "n_connected_components_": connected_components(graph.merged(graph.affinity))[0],
        "graph_": graph,
        "fit_X_": graph.points,
        "first_equal_": graph.equal.first_equal,
        "affinity_matrix_": graph.affinity,
        "codes_": graph.codes,
        "init_codes_": graph.init_codes,
        "neighbors_": graph.neighbors,
        **{f"{name}_": value for name, value in graph.learnt.items()},
    }
    if graph.coder.unit:
        values["affine_"] = graph.constant
    if "certified" in graph.learnt:
        violation = graph.learnt["kkt_violation"]
        if len(violation) == len(values["first_equal_"]):  # copies count once
            violation = violation[graph.equal.first]
        values["kkt_quantiles_"] = {share: float(np.quantile(violation, share)) for share in SHARES}
    return {name: value for name, value in values.items() if value is not None}


def attributes_of_constraints(graph: FittedGraph, clusters: cut.Clusters) -> dict[str, Any]:
    """What is learnt where something was known about some points."""
    if graph.constraints is None:
        return {}
    broken = graph.constraints.violated(clusters.labels)
    if broken:
        shown = ", ".join(f"{name} {one}, {other}" for name, one, other in broken[:MOST_NAMED])
        more = ", ..." * (len(broken) > MOST_NAMED)
        warn_user(
            f"{len(broken)} constraint(s) are violated, see violated_constraints_: {shown}{more}.",
            UserWarning,
        )
    return {"known_classes_": graph.constraints.classes, "violated_constraints_": broken}


def attributes_of_counts(counted: ScoredCounts) -> dict[str, Any]:
    """What is learnt where the number of clusters was not given."""
    return {
        "cluster_counts_": counted.counts,
        "cluster_count_scores_": counted.scores,
        "structure_found_": counted.structure_found,
    }


def scored_counts(model: Any) -> ScoredCounts:
    """The evidence for the number of clusters that a fit with ``n_clusters="auto"`` found."""
    check_is_fitted(model, "labels_")
    if "cluster_counts_" not in vars(model):
        raise NotFittedError(  # for hasattr, too
            f"n_clusters={model.n_clusters} was given: only a fit with n_clusters='auto' tries "
            "several numbers."
        )
    return ScoredCounts(
        model.n_clusters_,
        model.cluster_counts_,
        model.cluster_count_scores_,
        model.structure_found_,
        counted_by(model.n_features_in_) == "halves",
    )


def noted_input(estimator: Any, X: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """X, validated by scikit-learn, and what it notes about X; the estimator stays as it is."""
    scratch = copy(estimator)
    checked = validate_data(scratch, X, **options)
    noted = vars(scratch)
    return checked, {name: noted[name] for name in INPUT_NAMES if name in noted}


def learn(estimator: Any, learnt: Mapping[str, Any]) -> None:
    """Give an estimator what a fit has learnt; nothing of an earlier fit survives."""
    kept = {name: value for name, value in vars(estimator).items() if not name.endswith("_")}
    # In one step: another thread that predicts meanwhile sees one fit or the other.
    estimator.__dict__ = kept | dict(learnt)


def is_dask(X: Any) -> bool:
    """Whether X is a collection of dask, which is not imported for this."""
    return type(X).__module__.partition(".")[0] == "dask"


def refuse_truth_values(estimator: GraphClusterer) -> None:
    """Python, and so scikit-learn, takes True and False for integers; kernels do not."""
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._parameter_constraints.get(name, [])
        if isinstance(value, bool) and not {"boolean", "verbose"} & {*map(str, allowed)}:
            raise TypeError(f"{name}={value} must not be a bool.")


def _check_novelty(novelty: float | None) -> None:
    """Raise a ValueError unless it is None or a share."""
    number = isinstance(novelty, Real) and not isinstance(novelty, bool)
    if novelty is not None and not (number and 0 < novelty < 1):
        raise ValueError(f"novelty={novelty!r} must be a share between 0 and 1, such as 0.05.")


def accept_renamed(kind: type, **renamed: str) -> None:
    """Let an estimator take parameters by their names in 0.1.0, with a warning, until 0.4."""
    plain: Callable[..., None] = kind.__init__  # type: ignore[misc]

    @wraps(plain)
    def init(self: Any, *args: Any, **given: Any) -> None:
        for old in renamed.keys() & given.keys():
            message = f"{old} of {kind.__name__} is {renamed[old]} since 0.2."
            warnings.warn(message, FutureWarning, stacklevel=2)
            given[renamed[old]] = given.pop(old)
        plain(self, *args, **given)

    kind.__init__ = init  # type: ignore[misc]
