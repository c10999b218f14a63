"""What a file may hold of scikit-learn: K-means, two scalers, two imputers, and pipelines.

Like the codes of our own estimators, the centres of K-means are read by compiled loops that check
no bounds: shapes must fit each other before anything is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import cpu_count
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from srsg import estimators
from srsg.persistence.checking import check_model
from srsg.persistence.rules import (
    Rule,
    array,
    attributes_of,
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

SCALERS: tuple[type, ...] = (StandardScaler, MinMaxScaler)
IMPUTERS: tuple[type, ...] = (SimpleImputer, KNNImputer)
PREPARATIONS = (*SCALERS, *IMPUTERS)
"""What may come before the clusterer in a pipeline."""
_IMPUTER = vars(SimpleImputer(strategy="median").fit([[0.0]]))
TYPES = tuple(name for name in ("_fit_dtype", "_fill_dtype") if name in _IMPUTER)
"""Attributes of an imputer that are types, which no file holds; scikit-learn 1.6 has only one."""
CLUSTERERS: tuple[type, ...] = (*(getattr(estimators, name) for name in estimators.__all__), KMeans)


def parts_of(model: Any) -> list[Any]:
    """A model and, if it is a pipeline, its steps; anything else than we save is refused.

    Raises
    ------
    InvalidModelError

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from srsg import SRSG
    >>> from srsg.persistence.pipelines import parts_of
    >>> parts_of(make_pipeline(StandardScaler(), SRSG(3)))[1:]
    [StandardScaler(), SRSG(n_clusters=3)]
    """
    if type(model) in CLUSTERERS:
        return [model]
    require(type(model) is Pipeline, "model", f"is a {type(model).__name__}")
    steps = vars(model).get("steps")
    named = type(steps) is list and all(type(step) is tuple and len(step) == 2 for step in steps)
    require(named and steps, "steps", "is not a list of names and estimators")
    names = [name for name, _ in steps]
    plain = all(type(name) is str and "__" not in name for name in names)
    require(plain and len(set(names)) == len(names), "steps", f"has the names {names}")
    for place, (_, step) in enumerate(steps, start=1):
        allowed = CLUSTERERS if place == len(steps) else PREPARATIONS
        words = (
            "the clusterer at the end" if place == len(steps) else "a scaler or imputer before it"
        )
        require(type(step) in allowed, "steps", f"has a {type(step).__name__} for {words}")
    return [model, *(step for _, step in steps)]


def check_parts(model: Any) -> None:
    """Refuse a model or a pipeline whose values are not what a fit leaves.

    Raises
    ------
    InvalidModelError
    """
    parts = parts_of(model)
    for part in parts:
        if type(part) is Pipeline:
            check_known(part, ["_sklearn_output_config"])
            require(part.transform_input is None, "transform_input", "is not None")
        elif type(part) in _RULES:
            _check_by_rules(part, _RULES[type(part)])
        else:
            check_model(part)
    # Steps that fit each other agree on this; compiled code would read beyond rows otherwise.
    widths = {part.n_features_in_ for part in parts if "n_features_in_" in vars(part)}
    require(len(widths) <= 1, "n_features_in_", f"differs between the steps: {sorted(widths)}")


def choose_threads(part: Any) -> None:
    """Let a fitted K-means predict with the threads of this machine, whatever a file names."""
    vars(part).pop("_n_threads", None)
    if type(part) is KMeans and "cluster_centers_" in vars(part):
        # scikit-learn sets it in fit only, and predict needs it.
        part._n_threads = cpu_count()


def restore_types(part: Any) -> None:
    """Give an imputer the types of numbers that it fills in: files do not hold types."""
    medians = vars(part).get("statistics_")
    if type(part) is SimpleImputer and isinstance(medians, np.ndarray):
        for name in TYPES:
            setattr(part, name, medians.dtype)


def _check_by_rules(model: Any, rules: Mapping[str, Rule]) -> None:
    check_known(model, rules.keys())
    check_parameters(model)
    attributes = attributes_of(model)
    if not attributes.keys() - _OPTIONAL:
        return  # not fitted
    # Some of these are looked at only when points are predicted, which is too late.
    missing = sorted(rules.keys() - _OPTIONAL - attributes.keys())
    require(not missing, ", ".join(missing), "is missing")
    _n_features("n_features_in_", model.n_features_in_, model)
    for name, value in attributes.items():
        rules[name](name, value, model)


def _n_features(name: str, value: Any, model: Any) -> None:
    count(name, value, model)
    require(value > 0, name, f"is {value}")


def _feature_names(name: str, value: Any, model: Any) -> None:
    check_names(name, value, model.n_features_in_)


def _per_feature(name: str, value: Any, model: Any) -> None:
    vector(name, value, model)
    width = model.n_features_in_
    require(len(value) == width, name, f"has {len(value)} values for {width} features")


def _positive_per_feature(name: str, value: Any, model: Any) -> None:
    _per_feature(name, value, model)
    require((value > 0).all(), name, "has values that are not positive")


def _ranges(name: str, value: Any, model: Any) -> None:
    _per_feature(name, value, model)
    require((value >= 0).all(), name, "has values below zero")


def _if_any(parameters: tuple[str, ...], rule: Rule) -> Rule:
    """A rule for what a scaler learns only if one of its parameters asks for it."""

    def check(name: str, value: Any, model: Any) -> None:
        if value is not None or any(getattr(model, each) for each in parameters):
            rule(name, value, model)

    return check


def _scale(name: str, value: Any, model: Any) -> None:
    _positive_per_feature(name, value, model)
    low, high = _feature_range(model)
    require(low < high, "feature_range", f"is {model.feature_range}")


def _feature_range(model: Any) -> tuple[float, float]:
    """The range that a scaler maps to: two finite numbers."""
    ends = model.feature_range
    plain = len(ends) == 2 and all(type(end) in (int, float) for end in ends)
    require(plain and np.isfinite(ends).all(), "feature_range", f"is {ends}")
    return ends


def _medians(name: str, value: Any, model: Any) -> None:
    # Other strategies may fill in objects; only the numbers that we fit are read.
    require(model.strategy == "median", "strategy", f"is {model.strategy!r}, not 'median'")
    _per_feature(name, value, model)


def _type_of_medians(name: str, value: Any, model: Any) -> None:
    require(value == vars(model)["statistics_"].dtype, name, f"is {value}")


def _nothing(name: str, value: Any, model: Any) -> None:
    require(value is None, name, "is not None")


def _points_with_gaps(name: str, value: Any, model: Any) -> None:
    array(name, value, 2, "f")
    require(not np.isinf(value).any(), name, "has infinite values")
    width = model.n_features_in_
    require(value.shape[1] == width, name, f"has {value.shape[1]} columns for {width} features")


def _mask_of_points(name: str, value: Any, model: Any) -> None:
    array(name, value, 2, "b")
    points = vars(model).get("_fit_X")
    same = points is not None and np.array_equal(np.isnan(points), value)
    require(same, name, "does not mark the gaps of _fit_X")


def _every_feature(name: str, value: Any, model: Any) -> None:
    array(name, value, 1, "b")
    require(len(value) == model.n_features_in_, name, f"has {len(value)} values")
    require(value.all(), name, "leaves out features")


def _centres(name: str, value: Any, model: Any) -> None:
    floats(name, value, 2)
    require(value.dtype in (np.float32, np.float64), name, f"has type {value.dtype}")
    shape = (model.n_clusters, model.n_features_in_)
    require(value.shape == shape, name, f"has shape {value.shape} instead of {shape}")
    model.cluster_centers_ = np.ascontiguousarray(value)


def _labels(name: str, value: Any, model: Any) -> None:
    in_range(name, value, 1, model.n_clusters)
    require(len(value) >= model.n_clusters, name, "has fewer points than clusters")


def _n_clusters(name: str, value: Any, model: Any) -> None:
    require(type(value) is int, name, f"is a {type(value).__name__}, not an integer")
    require(value == model.n_clusters, name, f"is {value} for {model.n_clusters} clusters")


def _algorithm(name: str, value: Any, model: Any) -> None:
    require(value in ("lloyd", "elkan"), name, f"is {value!r}")


_OF_EACH: dict[str, Rule] = {
    "n_features_in_": _n_features,
    "feature_names_in_": _feature_names,
    "_sklearn_output_config": mapping(str, str),
}

_OPTIONAL = {"feature_names_in_", "_sklearn_output_config"}

_RULES: dict[type, dict[str, Rule]] = {
    StandardScaler: {
        **_OF_EACH,
        "n_samples_seen_": positive,
        "mean_": _if_any(("with_mean",), _per_feature),
        "var_": _if_any(("with_std",), _ranges),
        "scale_": _if_any(("with_std",), _positive_per_feature),
    },
    MinMaxScaler: {
        **_OF_EACH,
        "n_samples_seen_": positive,
        "scale_": _scale,
        "min_": _per_feature,
        "data_min_": _per_feature,
        "data_max_": _per_feature,
        "data_range_": _ranges,
    },
    SimpleImputer: {
        **_OF_EACH,
        "statistics_": _medians,
        "indicator_": _nothing,
        **dict.fromkeys(TYPES, _type_of_medians),
    },
    KNNImputer: {
        **_OF_EACH,
        "indicator_": _nothing,
        "_fit_X": _points_with_gaps,
        "_mask_fit_X": _mask_of_points,
        "_valid_mask": _every_feature,
    },
    KMeans: {
        **_OF_EACH,
        "cluster_centers_": _centres,
        "labels_": _labels,
        "inertia_": not_negative,
        "n_iter_": count,
        "_n_threads": positive,
        "_n_features_out": _n_clusters,
        "_n_init": positive,
        "_tol": not_negative,
        "_algorithm": _algorithm,
    },
}
"""A rule for everything that a fit learns. All of it must be there, except what is optional."""
