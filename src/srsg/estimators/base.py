"""What all graph estimators share: data in, a graph between, labels out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from srsg.estimators.callbacks import CallbackMixin
from srsg.estimators.cluster_counts import BestCountsMixin
from srsg.estimators.new_points import NewPointsMixin
from srsg.estimators.relabeling import RelabelMixin
from srsg.points import Points, UnitRows
from srsg.running import Engine
from srsg.running.warnings import made_dense

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class GraphClusterer(
    BestCountsMixin, RelabelMixin, NewPointsMixin, CallbackMixin, ClusterMixin, BaseEstimator
):
    """Base of the estimators that build a graph of the points and cluster it.

    A subclass stores its parameters in ``__init__``, adds their constraints, and writes
    :meth:`_build_graph`, which sets ``affinity_matrix_`` and whatever else it learns, and
    :meth:`_codes_of_new`. If it sets ``neighbors_``, these bridge the components of the graph.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [AT_LEAST_ONE, StrOptions({"auto"})],
        "bridge": [StrOptions({"auto"}), NOT_NEGATIVE, None],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr"})],
        "n_init": [AT_LEAST_ONE],
        "memory": [str, HasMethods(["cache"]), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def _prepared(self, X: NDArray | sparse.csr_array) -> UnitRows:
        """The validated input in the form that is coded, as an array of its own.

        Everything that can be wrong with it is found here, before any long work.
        """
        dense = made_dense(X, f"{type(self).__name__} needs dense points")
        # Adding zero makes -0.0 the same bits as 0.0, so that equal points have equal bits.
        return np.array(dense, dtype=np.float64, order="C") + 0.0

    def _points(self, engine: Engine) -> Points:
        """The fitted points in the form that :meth:`_build_graph` takes."""
        return Points(self.fit_X_)

    def _places(self, x: NDArray) -> tuple[NDArray, int]:
        """Where fitted points lie for this estimator, and in how many dimensions.

        Points that the estimator cannot distinguish are in one place.
        """
        return x, self.n_features_in_
