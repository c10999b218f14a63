"""Fitted models as files that are safe to load: no code in them, and none is run.

A file is an archive of skops, which describes a model as plain data and rebuilds it from
trusted types, with one more entry that says which versions wrote it. Where a model runs
(its engine, folders, threads) is not part of it: a file that could name a scheduler could make
its reader run whatever that scheduler sends.
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Iterator
from copy import copy
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from srsg import __version__
from srsg.estimators import GraphClusterer
from srsg.files import atomic_write
from srsg.files.errors import needed, one_line
from srsg.persistence.archives import SCHEMA, check_archive
from srsg.persistence.pipelines import (
    CLUSTERERS,
    PREPARATIONS,
    TYPES,
    check_parts,
    choose_threads,
    parts_of,
    restore_types,
)
from srsg.persistence.rules import WHERE_IT_RUNS, InvalidModelError
from srsg.search import StabilitySearch

FORMAT = 2
"""The version of the file format, raised by one whenever older versions of this package could not
read the files of this one."""

_RENAMED = {"_distinct": "_distinct_", "_owner": "_owner_"}
"""Names of attributes in files of format 1, and their present names."""

_VERSIONS = "srsg.json"


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


_MODELS = {_name(kind) for kind in (*CLUSTERERS, Pipeline)}
_TRUSTED = _MODELS | {_name(kind) for kind in (*PREPARATIONS, sparse.csr_array)}
"""What skops may build beside what it trusts itself."""

_PARTS = _TRUSTED | {
    *(f"builtins.{name}" for name in ("dict", "list", "tuple", "str", "int", "float", "bool")),
    *("numpy.ndarray", "numpy.random.mtrand.RandomState"),
}
"""All that a model is made of; skops trusts much more, such as functions of SciPy."""


def save_model(
    model: GraphClusterer | KMeans | Pipeline | StabilitySearch, path: str | os.PathLike[str]
) -> None:
    """Write a model to a file, which :func:`load_model` reads.

    The file is written atomically: it is complete or not there. It holds the fitted points, so
    keep it as secret as those. It does not hold where the model runs (``engine``, ``checkpoint``,
    ``memory``, ``n_jobs``, ``max_memory``, ``verbose``): set these after loading.

    Of a :class:`srsg.StabilitySearch`, its ``best_estimator_`` is saved, with the names of the
    features that the search knows; the other candidates and the scores are not.

    Parameters
    ----------
    model : estimator, KMeans, Pipeline or StabilitySearch
        An estimator of this package or K-means, alone or at the end of a pipeline whose other steps
        are ``StandardScaler``, ``MinMaxScaler``, ``SimpleImputer`` (medians) or ``KNNImputer``,
        fitted or not; or a fitted search whose best estimator is one of these.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    TypeError
        If the model is none of these, or holds an object that could not be loaded again.
    NotFittedError
        If it is a search that has not been fitted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> from srsg import L1Graph
    >>> from srsg.persistence import load_model, save_model
    >>> X = load_digits().data[:200]
    >>> model = L1Graph(n_clusters=3, random_state=0).fit(X[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "digits.skops")
    ...     loaded = load_model(Path(folder) / "digits.skops")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    skops = check_skops()
    stored = _best_with_names(model) if isinstance(model, StabilitySearch) else _to_store(model)
    with atomic_write(path) as unfinished:
        skops.dump(stored, unfinished)
        _, unknown = _types_of(skops, unfinished)
        if unknown:
            raise TypeError(
                f"The model holds objects that cannot be loaded again: {', '.join(unknown)}. Set "
                "its parameters to plain values."
            )
        # What is checked must be what will be loaded, so the defaults are put back first.
        for part in parts_of(stored):
            _set_defaults(part)
        check_parts(stored)
        with zipfile.ZipFile(unfinished, "a") as archive:
            archive.writestr(_VERSIONS, json.dumps({"format": FORMAT, "srsg": __version__}))


def _best_with_names(search: StabilitySearch) -> Any:
    """What is stored of a search: it was given the names of the features, its winner arrays."""
    check_is_fitted(search, "best_estimator_")
    stored = _to_store(search.best_estimator_)
    names = getattr(search, "feature_names_in_", None)
    if names is not None:
        # A pipeline has the names that its first step has.
        first = stored.steps[0][1] if isinstance(stored, Pipeline) else stored
        first.feature_names_in_ = names
    return stored


def _to_store(model: Any) -> Any:
    """A copy in plain values, without what says where it runs."""
    try:
        parts_of(model)
    except InvalidModelError as error:
        raise TypeError(
            "save_model takes an estimator of srsg or KMeans, alone or in a pipeline after "
            f"a scaler or an imputer, or a StabilitySearch; got {type(model).__name__} "
            f"({error})."
        ) from error
    stored = _copied(model)
    if isinstance(stored, Pipeline):
        stored.steps = [(name, _copied(step)) for name, step in stored.steps]
    return stored


def _copied(part: Any) -> Any:
    stored = copy(part)
    for name in (*WHERE_IT_RUNS, *TYPES, "_n_threads"):
        stored.__dict__.pop(name, None)
    for name, value in vars(stored).items():
        if name == "n_samples_seen_":  # one number per feature where values were missing
            setattr(stored, name, int(np.max(value)))
        elif isinstance(value, np.generic):  # scikit-learn counts in NumPy's numbers
            setattr(stored, name, value.item())
    return stored


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save_model` wrote. Nothing in the file is executed.

    Everything is checked before it is used: types, shapes, ranges, the indices of codes. The
    model runs on threads of this process until you set ``engine`` and the like yourself; older
    files that name them are read with a warning.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator, KMeans or Pipeline

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a model of this package, is damaged, was written by a newer version of the
        format, holds anything but estimators of this package, K-means, pipelines of these,
        arrays and plain values, or has values that no fit leaves.

    Examples
    --------
    >>> import tempfile
    >>> from srsg import SRSG
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.persistence import load_model, save_model
    >>> X, _ = make_union_of_subspaces(60, random_state=0)
    >>> model = SRSG(n_clusters=3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.skops")
    ...     same = load_model(f"{folder}/model.skops")
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    skops = check_skops()
    _check_versions(path)
    try:
        kind, unknown = _types_of(skops, path)
        if kind in _MODELS and not unknown:
            model = skops.load(path, trusted=sorted(_TRUSTED))
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise ValueError(f"{path} is damaged: {one_line(error)}.") from error
    if unknown:
        raise ValueError(f"{path} holds types that are not trusted: {', '.join(unknown)}.")
    if kind not in _MODELS:
        name = kind.rpartition(".")[2]
        raise ValueError(f"{path} holds a {name}, which is not a model that srsg saves.")
    try:
        ignored = [words for part in parts_of(model) for words in _adapt(part)]
        check_parts(model)
    except (InvalidModelError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds an invalid model: {error}.") from error
    if ignored:
        warnings.warn(
            f"{path} names {', '.join(ignored)}, which a file may not choose: ignored. Set what "
            "you need after loading.",
            stacklevel=2,
        )
    return model


def _adapt(part: Any) -> list[str]:
    """Give a part of a model its present names, and let it run here; returns what it asked for."""
    for old, new in _RENAMED.items():
        if old in vars(part):
            setattr(part, new, part.__dict__.pop(old))
    return _set_defaults(part)


def _set_defaults(model: Any) -> list[str]:
    """Let a model run as one does by default; what was set otherwise is returned, as text."""
    parameters = signature(type(model)).parameters
    ignored = []
    for name in WHERE_IT_RUNS:
        found = vars(model).pop(name, None)
        if name in parameters:
            default = parameters[name].default
            setattr(model, name, default)
            if found is not None and found != default:
                ignored.append(f"{name}={found!r}")
    choose_threads(model)
    restore_types(model)
    return ignored


def _check_versions(path: str | os.PathLike[str]) -> None:
    """Refuse what this version cannot read, before anything of the model is read."""
    # Opened here: that the file is not there, or may not be read, is said as it is.
    with open(path, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
            # Of a file cut short, a matrix within it may be all there is.
            archive.getinfo(_VERSIONS)
            check_archive(archive, os.path.getsize(path))
            versions = json.loads(archive.read(_VERSIONS))
            written, by = int(versions["format"]), str(versions["srsg"])
        except InvalidModelError as error:
            raise ValueError(f"{path} is not a model that srsg saved: {error}.") from error
        except Exception as error:  # whatever a damaged file makes the reader raise
            raise ValueError(f"{path} is not a model that srsg saved, or is incomplete.") from error
    if written < 1:
        raise ValueError(f"{path} has format {written}, which no srsg has written.")
    if written > FORMAT:
        raise ValueError(
            f"{path} has format {written}, written by srsg {by}; this is srsg {__version__}, which "
            f"reads up to format {FORMAT}. Install a newer srsg."
        )


def _types_of(skops: Any, path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """The type of the model in a file, and the types in it that no model is made of.

    Nothing of the file is built for this.
    """
    with zipfile.ZipFile(path) as archive:
        # The description of the model, which names every type before any object is made.
        schema = json.loads(archive.read(SCHEMA))
    kind = next(_types_in(schema), "")
    unknown = set(skops.get_untrusted_types(file=path)) - _TRUSTED
    if kind in _MODELS:
        unknown |= set(_types_in(schema)) - _PARTS
    return kind, sorted(unknown)


def _types_in(node: Any) -> Iterator[str]:
    """Every type that the description of a model names."""
    if isinstance(node, dict):
        if "__class__" in node:
            yield f"{node.get('__module__')}.{node['__class__']}"
        for part in node.values():
            yield from _types_in(part)
    elif isinstance(node, list):
        for part in node:
            yield from _types_in(part)


def check_skops() -> Any:
    """The library that writes and reads models, or one line that says how to get it."""
    return needed("skops.io", "Saving and loading models needs skops", "cli")
