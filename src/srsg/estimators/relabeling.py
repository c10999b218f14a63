"""What all graph estimators do again with the graph that they have learnt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from srsg.cutting.embedding import unit_length_rows
from srsg.cutting.kmeans import check_cluster_count
from srsg.estimators.fitting import FitMixin
from srsg.running import ThreadEngine
from srsg.types import FloatArray, NClusters, RandomState


class RelabelMixin(FitMixin):
    """Other labels and more eigenvalues, without building the graph again."""

    def relabel(
        self, n_clusters: NClusters | None = None, *, random_state: RandomState = None
    ) -> NDArray[np.intp]:
        """Label the points again, on the graph of the last fit: the cheap part.

        Shows in little time what another number of clusters gives, or how much the labels
        depend on the starts of K-means. The estimator does not change.

        Parameters
        ----------
        n_clusters : int, "auto" or None
            Number of clusters; None keeps the embedding of the last fit and its number.
        random_state : int, RandomState or None
            Starts of K-means; with the estimator's own, and its number of clusters, the result
            is ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if n_clusters is None:
            check_is_fitted(self, "embedding_")
            engine = ThreadEngine(self.n_jobs)
            merged, vectors = self._merged(self.affinity_matrix_), self.embedding_
            if not merged.equal.all_differ:
                # One row for each distinct point, as K-means had them in the fit.
                vectors = vectors[merged.equal.first]
            return self._labels_of(merged, vectors, self.n_clusters_, random_state, engine)
        check_is_fitted(self, "affinity_matrix_")
        if n_clusters != "auto":
            check_cluster_count(n_clusters, self.affinity_matrix_.shape[0])
        return self._clusters(n_clusters, random_state, ThreadEngine(self.n_jobs)).labels

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
            Starts of K-means, the same for every number.

        Returns
        -------
        ndarray of shape (n_samples, len(counts))
        """
        check_is_fitted(self, "affinity_matrix_")
        for count in counts:
            check_cluster_count(count, self.affinity_matrix_.shape[0])
        engine = ThreadEngine(self.n_jobs)
        spectral = self._spectral_graph(engine)
        most = min(max(counts), spectral.graph.shape[0])
        # Eigenvectors do not depend on how many of them are wanted.
        vectors = self._embedded(spectral, most, min(counts), engine).vectors
        columns = [
            self._labels_of(
                spectral, unit_length_rows(vectors[:, :count]), count, random_state, engine
            )
            for count in counts
        ]
        return np.column_stack(columns)

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
        engine = ThreadEngine(self.n_jobs)
        spectral = self._spectral_graph(engine)
        return self._embedded(spectral, count, self.n_clusters_, engine).eigenvalues
