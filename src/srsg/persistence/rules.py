"""Rules for single values of a model file: types, shapes and ranges.

Each raises an :class:`InvalidModelError` whose message starts with the name of the attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

Rule = Callable[[str, Any, Any], None]
"""Takes the name of an attribute, its value and the model, whose other values must fit it."""

WHERE_IT_RUNS = ("engine", "checkpoint", "memory", "n_jobs", "max_memory", "block_size", "verbose")
"""Parameters that say where and how a model runs. The person who loads a file chooses them."""

PLAIN = (bool, int, float, str, type(None), list, tuple, np.random.RandomState)


class InvalidModelError(ValueError):
    """A value that breaks its rule; the message starts with the name of the attribute."""


def attributes_of(model: Any) -> dict[str, Any]:
    """All that a model holds beside its parameters."""
    parameters = signature(type(model)).parameters
    return {name: value for name, value in vars(model).items() if name not in parameters}


def check_known(model: Any, known: Collection[str]) -> None:
    """Refuse attributes without a rule: one of them could take the place of a method."""
    unknown = sorted(attributes_of(model).keys() - set(known))
    problem = f"not an attribute of a fitted {type(model).__name__}"
    require(not unknown, ", ".join(unknown), problem)


def check_parameters(model: Any) -> None:
    """Refuse parameters that are not plain values, arrays or graphs, or that a fit would refuse."""
    for name in signature(type(model)).parameters:
        _check_parameter(name, getattr(model, name))
    # As a fit would: the same names, types and ranges.
    model._validate_params()


def _check_parameter(name: str, value: Any) -> None:
    if sparse.issparse(value):
        bounds_of_sparse(name, value)
    elif isinstance(value, np.ndarray):
        require(value.dtype.kind in "biuf", name, "is not an array of numbers")
    else:
        require(isinstance(value, PLAIN), name, f"is a {type(value).__name__}")


def require(holds: Any, name: str, problem: str) -> None:
    if not holds:
        raise InvalidModelError(f"{name}: {problem}")


def array(name: str, value: Any, ndim: int, kinds: str) -> None:
    require(isinstance(value, np.ndarray), name, f"is a {type(value).__name__}, not an array")
    require(value.dtype.kind in kinds, name, f"has type {value.dtype}")
    require(value.ndim == ndim, name, f"has {value.ndim} dimension(s) instead of {ndim}")


def floats(name: str, value: Any, ndim: int) -> None:
    array(name, value, ndim, "f")
    require(np.isfinite(value).all(), name, "has values that are not finite")


def in_range(name: str, value: Any, ndim: int, end: int) -> None:
    """Integers from 0 up to but without ``end``."""
    array(name, value, ndim, "iu")
    inside = not value.size or (value.min() >= 0 and value.max() < end)
    require(inside, name, f"has values outside 0 to {end - 1}")


def bounds_of_sparse(name: str, value: Any) -> None:
    require(isinstance(value, sparse.csr_array), name, f"is a {type(value).__name__}")
    try:
        value.check_format(full_check=True)
    except ValueError as error:
        raise InvalidModelError(f"{name}: {error}") from error
    require(value.dtype.kind in "biuf", name, f"has type {value.dtype}")
    require(np.isfinite(value.data).all(), name, "has values that are not finite")


def positive(name: str, value: Any, model: Any) -> None:
    require(type(value) in (int, float), name, f"is a {type(value).__name__}")
    require(0 < value < np.inf, name, f"is {value}")


def not_negative(name: str, value: Any, model: Any) -> None:
    require(type(value) in (int, float), name, f"is a {type(value).__name__}")
    require(0 <= value < np.inf, name, f"is {value}")


def all_of(*rules: Rule) -> Rule:
    """The rule that several rules make together, checked in this order."""

    def check(name: str, value: Any, model: Any) -> None:
        for rule in rules:
            rule(name, value, model)

    return check


def vector(name: str, value: Any, model: Any) -> None:
    floats(name, value, 1)


def count(name: str, value: Any, model: Any) -> None:
    require(type(value) is int, name, f"is a {type(value).__name__}, not an integer")
    require(value >= 0, name, f"is {value}")


def check_names(name: str, value: Any, n_features: int) -> None:
    """Names of features: one text for each."""
    array(name, value, 1, "O")
    require(all(type(each) is str for each in value), name, "has names that are not text")
    words = f"has {len(value)} names for {n_features} features"
    require(len(value) == n_features, name, words)


def mapping(key: type, to: type) -> Rule:
    """The rule of a dictionary from one plain type to another."""

    def check(name: str, value: Any, model: Any) -> None:
        require(type(value) is dict, name, f"is a {type(value).__name__}")
        plain = all(type(each) is key and type(value[each]) is to for each in value)
        require(plain, name, f"does not lead from {key.__name__} to {to.__name__}")

    return check
