"""What a model file may hold: every attribute has a rule for its type, shape and range.

A file can be made by anyone. Compiled loops read codes and neighbours without checking bounds,
so what is loaded is compared with these rules before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from srsg.estimators.base import GraphClusterer
from srsg.estimators.coded import CodeClusterer, check_neighbor_count

WHERE_IT_RUNS = ("engine", "checkpoint", "memory", "n_jobs", "max_memory", "block_size", "verbose")
"""Parameters that say where and how a model runs. The person who loads a file chooses them."""

PLAIN = (bool, int, float, str, type(None), list, tuple, np.random.RandomState)
UNIT_NORM = 1e-3
"""How far from 1 the length of a fitted point may be: single precision is within."""


class InvalidModelError(ValueError):
    """A value that breaks its rule; the message starts with the name of the attribute."""


def check_model(model: GraphClusterer) -> None:
    """Refuse a model whose parameters or attributes are not what a fit leaves.

    Raises
    ------
    InvalidModelError
    """
    parameters = signature(type(model)).parameters
    attributes = {name: value for name, value in vars(model).items() if name not in parameters}
    # An attribute that nobody knows could take the place of a method.
    unknown = sorted(attributes.keys() - _RULES.keys())
    if unknown:
        raise InvalidModelError(
            f"{', '.join(unknown)}: no attribute of a fitted {type(model).__name__}"
        )
    for name in parameters:
        _check_parameter(name, getattr(model, name))
    model._validate_params()
    if "fit_X_" not in attributes:
        if "labels_" in attributes or "codes_" in attributes:
            raise InvalidModelError("fit_X_: is missing")
        return
    _check_points(model)
    for name, value in attributes.items():
        if value is not None or name not in _MAY_BE_NONE:
            _RULES[name](name, value, model)


def _check_parameter(name: str, value: Any) -> None:
    if sparse.issparse(value):
        _bounds_of_sparse(name, value)
    elif isinstance(value, np.ndarray):
        _require(value.dtype.kind in "biuf", name, "is no array of numbers")
    else:
        _require(isinstance(value, PLAIN), name, f"is a {type(value).__name__}")


def _check_points(model: Any) -> None:
    """The points come first: all other shapes follow from theirs."""
    x = model.fit_X_
    _floats("fit_X_", x, 2)
    _require(x.dtype in (np.float32, np.float64), "fit_X_", f"has type {x.dtype}")
    _require(min(x.shape) > 0, "fit_X_", f"has shape {x.shape}")
    if isinstance(model, CodeClusterer):
        lengths = np.linalg.norm(x.astype(np.float64, copy=False), axis=1)
        unit = np.abs(lengths - 1).max() < UNIT_NORM
        _require(unit, "fit_X_", "has points that are not of unit length")
        check_neighbor_count(model.n_neighbors, len(x))
    else:
        model._check_size(len(x))
    model.fit_X_ = np.ascontiguousarray(x)


def _require(holds: Any, name: str, problem: str) -> None:
    if not holds:
        raise InvalidModelError(f"{name}: {problem}")


def _array(name: str, value: Any, ndim: int, kinds: str) -> None:
    _require(isinstance(value, np.ndarray), name, f"is a {type(value).__name__}, no array")
    _require(value.dtype.kind in kinds, name, f"has type {value.dtype}")
    _require(value.ndim == ndim, name, f"has {value.ndim} dimension(s) instead of {ndim}")


def _floats(name: str, value: Any, ndim: int) -> None:
    _array(name, value, ndim, "f")
    _require(np.isfinite(value).all(), name, "has values that are not finite")


def _in_range(name: str, value: Any, ndim: int, end: int) -> None:
    """Integers from 0 up to but without ``end``."""
    _array(name, value, ndim, "iu")
    inside = not value.size or (value.min() >= 0 and value.max() < end)
    _require(inside, name, f"has values outside 0 to {end - 1}")


def _rows(name: str, value: Any, model: Any) -> None:
    n_points = len(model.fit_X_)
    _require(len(value) == n_points, name, f"has {len(value)} rows for {n_points} points")


def _bounds_of_sparse(name: str, value: Any) -> None:
    _require(isinstance(value, sparse.csr_array), name, f"is a {type(value).__name__}")
    try:
        value.check_format(full_check=True)
    except ValueError as error:
        raise InvalidModelError(f"{name}: {error}") from error
    _require(value.dtype.kind in "biuf", name, f"has type {value.dtype}")
    _require(np.isfinite(value.data).all(), name, "has values that are not finite")


def _graph(name: str, value: Any, model: Any) -> None:
    n_points = len(model.fit_X_)
    if sparse.issparse(value):
        _bounds_of_sparse(name, value)
        # Flags that a file could set are found out anew, and loops rely on sorted rows.
        fresh = sparse.csr_array((value.data, value.indices, value.indptr), shape=value.shape)
        _require(fresh.has_canonical_format, name, "has rows that are not sorted")
        _require(value.dtype == np.float64, name, f"has type {value.dtype}")
        setattr(model, name, fresh)
    else:
        _floats(name, value, 2)
    _require(value.shape == (n_points, n_points), name, f"has shape {value.shape}")


def _codes(name: str, value: Any, model: Any) -> None:
    _require(sparse.issparse(value), name, f"is a {type(value).__name__}")
    _graph(name, value, model)


def _labels(name: str, value: Any, model: Any) -> None:
    _require(hasattr(model, "n_clusters_"), name, "stands without n_clusters_")
    _n_clusters("n_clusters_", model.n_clusters_, model)
    _in_range(name, value, 1, model.n_clusters_)
    _rows(name, value, model)


def _n_clusters(name: str, value: Any, model: Any) -> None:
    _count(name, value, model)
    _require(1 <= value <= len(model.fit_X_), name, f"is {value}")


def _neighbors(name: str, value: Any, model: Any) -> None:
    _in_range(name, value, 2, len(model.fit_X_))
    _rows(name, value, model)


def _points_by_number(name: str, value: Any, model: Any) -> None:
    _in_range(name, value, 1, len(model.fit_X_))


def _owners(name: str, value: Any, model: Any) -> None:
    _points_by_number(name, value, model)
    _rows(name, value, model)


def _embedding(name: str, value: Any, model: Any) -> None:
    _floats(name, value, 2)
    _rows(name, value, model)


def _vector(name: str, value: Any, model: Any) -> None:
    _floats(name, value, 1)


def _cluster_counts(name: str, value: Any, model: Any) -> None:
    _in_range(name, value, 1, len(model.fit_X_) + 1)


def _count_scores(name: str, value: Any, model: Any) -> None:
    _vector(name, value, model)
    _require(hasattr(model, "cluster_counts_"), name, "stands without cluster_counts_")
    one_each = value.shape == np.shape(model.cluster_counts_)
    _require(one_each, name, "must have one score for each of cluster_counts_")


def _truth(name: str, value: Any, model: Any) -> None:
    _require(type(value) is bool, name, f"is a {type(value).__name__}, neither True nor False")


def _weights(name: str, value: Any, model: Any) -> None:
    if isinstance(value, np.ndarray):
        _vector(name, value, model)
        _rows(name, value, model)
    else:
        _positive(name, value, model)


def _positive(name: str, value: Any, model: Any) -> None:
    _require(type(value) in (int, float), name, f"is a {type(value).__name__}")
    _require(0 < value < np.inf, name, f"is {value}")


def _not_negative(name: str, value: Any, model: Any) -> None:
    _require(type(value) is float, name, f"is a {type(value).__name__}")
    _require(0 <= value < np.inf, name, f"is {value}")


def _count(name: str, value: Any, model: Any) -> None:
    _require(type(value) is int, name, f"is a {type(value).__name__}, no integer")
    _require(value >= 0, name, f"is {value}")


def _n_features(name: str, value: Any, model: Any) -> None:
    _require(value == _given_features(model), name, f"is {value}, not the features of fit_X_")


def _given_features(model: Any) -> int:
    """Features of the input: the fitted points may have one more, the constant."""
    return model.fit_X_.shape[1] - (getattr(model, "affine_", 0.0) != 0)


def _feature_names(name: str, value: Any, model: Any) -> None:
    _array(name, value, 1, "O")
    _require(all(type(each) is str for each in value), name, "has names that are no text")
    width = _given_features(model)
    _require(len(value) == width, name, f"has {len(value)} names for {width} features")


def _mapping(key: type, to: type) -> Callable[[str, Any, Any], None]:
    def check(name: str, value: Any, model: Any) -> None:
        _require(type(value) is dict, name, f"is a {type(value).__name__}")
        plain = all(type(each) is key and type(value[each]) is to for each in value)
        _require(plain, name, f"does not lead from {key.__name__} to {to.__name__}")

    return check


_RULES: dict[str, Callable[[str, Any, Any], None]] = {
    "fit_X_": lambda name, value, model: None,  # checked before all others
    "n_features_in_": _n_features,
    "feature_names_in_": _feature_names,
    "labels_": _labels,
    "codes_": _codes,
    "init_codes_": _codes,
    "affinity_matrix_": _graph,
    "neighbors_": _neighbors,
    "certified_": _points_by_number,
    "_distinct_": _points_by_number,
    "_owner_": _owners,
    "embedding_": _embedding,
    "eigenvalues_": _vector,
    "cluster_counts_": _cluster_counts,
    "cluster_count_scores_": _count_scores,
    "structure_found_": _truth,
    "kkt_violation_": _vector,
    "residual_": _vector,
    "dual_gap_": _vector,
    "objective_history_": _vector,
    "kkt_quantiles_": _mapping(float, float),
    "lam_": _weights,
    "step_": _positive,
    "affine_": _not_negative,
    "n_clusters_": _n_clusters,
    **dict.fromkeys(
        ("n_components_", "n_scans_", "n_sweeps_", "n_iter_", "n_steps_cut_", "n_let_in_"), _count
    ),
    "_sklearn_output_config": _mapping(str, str),
}
"""A rule for everything that a fit learns. An attribute without a rule is neither saved nor
loaded, so a new one shows in the tests of saved models."""

_MAY_BE_NONE = {"certified_", "kkt_violation_", "dual_gap_", "kkt_quantiles_"}
