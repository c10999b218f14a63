"""What every model of this package can say about itself: in words, as a page, in a notebook."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

from srsg.explaining.clusters import Explanation, explain
from srsg.types import Matrix

MOST_SIZES = 12
"""Clusters whose sizes are listed where a notebook shows a model."""


class Described:
    """Explanations, pages and what a notebook shows, for fitted models."""

    def explain(self, X: Matrix, **options: Any) -> Explanation:
        """Say what each cluster is in the units of the table, and why points are where they are.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The points it was fitted on, in their units.
        **options
            ``names`` of the columns, and others of :func:`srsg.explain`.

        Returns
        -------
        Explanation
            ``clusters`` has the description of each cluster, ``point(row)`` explains one point, and
            ``path(start, end)`` joins two.
        """
        return explain(self, X, **options)

    def report(self, X: Matrix, **options: Any) -> Any:
        """A page about the model, which a notebook shows in place.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The points it was fitted on.
        **options
            Those of :func:`srsg.report.write_report`, such as ``y`` and ``feature_names``.

        Returns
        -------
        Page
            Its HTML, as text.
        """
        # By name, since pages are made of models and not the other way round.
        return import_module("srsg.report").write_report(None, self, X, **options)

    def __dir__(self) -> list[str]:
        # What is computed when first used must not be computed because somebody looks at a list.
        kind, known = type(self), vars(self)
        return [
            name
            for name in object.__dir__(self)
            if name in known or not isinstance(getattr(kind, name, None), cached_property)
        ]

    def _html_repr(self) -> str:
        """What scikit-learn shows in a notebook and, after a fit, the clusters and their sizes."""
        shown: str = estimator_html_repr(self)
        labels = getattr(self, "labels_", None)
        if labels is None:
            return shown
        sizes = np.unique(labels, return_counts=True)[1]
        text = ", ".join(f"{size:,}" for size in sizes)
        if len(sizes) > MOST_SIZES:
            text = f"{sizes.min():,} to {sizes.max():,}"
        return f"{shown}<p>{len(sizes)} clusters of {text} points</p>"
