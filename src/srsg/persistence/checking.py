"""What a file may hold of an estimator of this package: a rule for every attribute.

A file can be made by anyone. Compiled loops read codes and neighbours without checking bounds,
so what is loaded is compared with these rules before it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from srsg.estimators.base import GraphClusterer
from srsg.estimators.coded import CodeClusterer, check_neighbor_count
from srsg.persistence.rules import (
    Rule,
    all_of,
    array,
    attributes_of,
    bounds_of_sparse,
    check_known,
    check_names,
    check_parameters,
    count,
    floats,
    in_range,
    mapping,
    not_negative,
    positive,
    require,
    vector,
)

UNIT_NORM = 1e-3
"""How far from 1 the length of a fitted point may be: single precision is within."""


def check_model(model: GraphClusterer) -> None:
    """Refuse a model whose parameters or attributes are not what a fit leaves.

    Raises
    ------
    InvalidModelError
    """
    attributes = attributes_of(model)
    check_known(model, _RULES.keys())
    check_parameters(model)
    if "fit_X_" not in attributes:
        unfitted = "labels_" not in attributes and "codes_" not in attributes
        require(unfitted, "fit_X_", "is missing")
        return
    # Without it, new points with another number of features would not be noticed.
    require("n_features_in_" in attributes, "n_features_in_", "is missing")
    _check_points(model)
    for name, value in attributes.items():
        if value is not None or name not in _MAY_BE_NONE:
            _RULES[name](name, value, model)


def _check_points(model: Any) -> None:
    """The points come first: all other shapes follow from theirs."""
    if sparse.issparse(model.fit_X_):
        _canonical("fit_X_", model.fit_X_, model)
    else:
        floats("fit_X_", model.fit_X_, 2)
    x = model.fit_X_
    require(x.dtype in (np.float32, np.float64), "fit_X_", f"has type {x.dtype}")
    require(min(x.shape) > 0, "fit_X_", f"has shape {x.shape}")
    if isinstance(model, CodeClusterer):
        with np.errstate(over="ignore"):  # infinite is not of unit length either
            norm = sparse_norm if sparse.issparse(x) else np.linalg.norm
            lengths = norm(x.astype(np.float64, copy=False), axis=1)
        expected = _first_equal(model) >= 0  # 1, or 0 for a row of zeros
        unit = np.abs(lengths - expected).max() < UNIT_NORM
        require(unit, "fit_X_", "has points that are not of unit length")
        check_neighbor_count(model.n_neighbors, x.shape[0])
    else:
        require(not sparse.issparse(x), "fit_X_", "is sparse, which this model never is")
        model._check_size(len(x))
    if not sparse.issparse(x):
        model.fit_X_ = np.ascontiguousarray(x)


def _first_equal(model: Any) -> NDArray[np.integer]:
    """For every point the first that equals it, from -1 on; all differ where the file has none."""
    value = getattr(model, "first_equal_", None)
    if value is None:
        return np.arange(model.fit_X_.shape[0])
    name = "first_equal_"
    array(name, value, 1, "i")
    _rows(name, value, model)
    in_range(name, value + 1, 1, len(value) + 1)
    known = value[value >= 0]
    require(known.size > 0, name, "has no points")
    require(bool((value[known] == known).all()), name, "names points that are not the first")
    return value


def _equal(name: str, value: Any, model: Any) -> None:
    first = _first_equal(model)
    directions = isinstance(model, CodeClusterer)
    require(directions or first.min() >= 0, name, "leaves out points")


def _rows(name: str, value: Any, model: Any) -> None:
    n_points = model.fit_X_.shape[0]
    require(len(value) == n_points, name, f"has {len(value)} rows for {n_points} points")


def _graph(name: str, value: Any, model: Any) -> None:
    n_points = model.fit_X_.shape[0]
    if sparse.issparse(value):
        _canonical(name, value, model)
    else:
        floats(name, value, 2)
    require(value.shape == (n_points, n_points), name, f"has shape {value.shape}")


def _canonical(name: str, value: Any, model: Any) -> None:
    """A sparse matrix whose rows are sorted, in float64."""
    bounds_of_sparse(name, value)
    # A new array: loops rely on sorted rows, and a file could set the flag that says so.
    fresh = sparse.csr_array((value.data, value.indices, value.indptr), shape=value.shape)
    require(fresh.has_canonical_format, name, "has rows that are not sorted")
    require(value.dtype == np.float64, name, f"has type {value.dtype}")
    setattr(model, name, fresh)


def _codes(name: str, value: Any, model: Any) -> None:
    require(sparse.issparse(value), name, f"is a {type(value).__name__}")
    _graph(name, value, model)


def _labels(name: str, value: Any, model: Any) -> None:
    require(hasattr(model, "n_clusters_"), name, "is there without n_clusters_")
    _n_clusters("n_clusters_", model.n_clusters_, model)
    in_range(name, value, 1, model.n_clusters_)
    _rows(name, value, model)


def _n_clusters(name: str, value: Any, model: Any) -> None:
    count(name, value, model)
    require(1 <= value <= model.fit_X_.shape[0], name, f"is {value}")


def _neighbors(name: str, value: Any, model: Any) -> None:
    first = _first_equal(model)
    array(name, value, 2, "iu")
    _rows(name, value, model)
    # Nearest is a distinct point; a row of zeros has none.
    in_range(name, value[first >= 0], 2, model.fit_X_.shape[0])
    require(bool((first[value[first >= 0]] >= 0).all()), name, "has rows of zeros")


def _points_by_number(name: str, value: Any, model: Any) -> None:
    in_range(name, value, 1, model.fit_X_.shape[0])


def _matrix(name: str, value: Any, model: Any) -> None:
    floats(name, value, 2)


def _shares(name: str, value: Any, model: Any) -> None:
    require(value.min() >= 0 and value.max() <= 1, name, "has values outside 0 to 1")


def _cluster_counts(name: str, value: Any, model: Any) -> None:
    in_range(name, value, 1, model.fit_X_.shape[0] + 1)


def _count_scores(name: str, value: Any, model: Any) -> None:
    vector(name, value, model)
    require(hasattr(model, "cluster_counts_"), name, "is there without cluster_counts_")
    one_each = value.shape == np.shape(model.cluster_counts_)
    require(one_each, name, "must have one score for each of cluster_counts_")


def _truth(name: str, value: Any, model: Any) -> None:
    require(type(value) is bool, name, f"is a {type(value).__name__}, neither True nor False")


def _weights(name: str, value: Any, model: Any) -> None:
    rule = all_of(vector, _rows) if isinstance(value, np.ndarray) else positive
    rule(name, value, model)


def _n_features(name: str, value: Any, model: Any) -> None:
    require(value == _given_features(model), name, f"is {value}, not the features of fit_X_")


def _given_features(model: Any) -> int:
    """Features of the input: the fitted points may have one more, the constant."""
    return model.fit_X_.shape[1] - (getattr(model, "affine_", 0.0) != 0)


def _feature_names(name: str, value: Any, model: Any) -> None:
    check_names(name, value, _given_features(model))


_RULES: dict[str, Rule] = {
    "fit_X_": lambda name, value, model: None,  # checked before all others
    "n_features_in_": _n_features,
    "feature_names_in_": _feature_names,
    "labels_": _labels,
    "codes_": _codes,
    "init_codes_": _codes,
    "affinity_matrix_": _graph,
    "neighbors_": _neighbors,
    "certified_": _points_by_number,
    "first_equal_": _equal,
    "_distinct_": _points_by_number,
    "_owner_": all_of(_points_by_number, _rows),
    "embedding_": all_of(_matrix, _rows),
    **dict.fromkeys(  # if asked for
        ("confidence_", "explained_", "outlier_score_"), all_of(vector, _rows, _shares)
    ),
    "cluster_counts_": _cluster_counts,
    "cluster_count_scores_": _count_scores,
    "structure_found_": _truth,
    **dict.fromkeys(
        ("eigenvalues_", "kkt_violation_", "residual_", "dual_gap_", "objective_history_"), vector
    ),
    "kkt_quantiles_": mapping(float, float),
    "lam_": _weights,
    "step_": positive,
    "affine_": not_negative,
    "n_clusters_": _n_clusters,
    **dict.fromkeys(
        ("n_components_", "n_scans_", "n_sweeps_", "n_iter_", "n_steps_cut_", "n_let_in_"), count
    ),
    "_sklearn_output_config": mapping(str, str),
}
"""A rule for everything that a fit learns. An attribute without a rule is neither saved nor
loaded, so a new one shows in the tests of saved models."""

_MAY_BE_NONE = {"certified_", "kkt_violation_", "dual_gap_", "kkt_quantiles_"}
