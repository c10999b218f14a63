"""Fitted models as files that are safe to load: no code in them, and none is run.

A file is an archive of skops, which describes a model as plain data and builds it anew from
types that are trusted, with one more entry that says which versions wrote it. Where a model runs
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

from scipy import sparse

from srsg import __version__, estimators
from srsg.estimators import GraphClusterer
from srsg.files import atomic_write
from srsg.persistence.checking import WHERE_IT_RUNS, InvalidModelError, check_model

FORMAT = 2
"""Raised by one whenever a file of today would not be understood by the version before."""

_RENAMED = {"_distinct": "_distinct_", "_owner": "_owner_"}
"""Attributes that files of format 1 call otherwise."""

_VERSIONS = "srsg.json"


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


_ESTIMATORS = {_name(getattr(estimators, name)) for name in estimators.__all__}
_TRUSTED = _ESTIMATORS | {_name(sparse.csr_array)}
"""What skops may build beside what it trusts itself."""

_PARTS = _TRUSTED | {
    *(f"builtins.{name}" for name in ("dict", "list", "tuple", "str", "int", "float", "bool")),
    *("numpy.ndarray", "numpy.random.mtrand.RandomState"),
}
"""All that a model is made of; skops trusts much more, such as functions of SciPy."""


def save_model(model: GraphClusterer, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file, which :func:`load_model` reads.

    The file is written atomically: it is complete or not there. It holds the fitted points, so
    keep it as secret as those. It does not hold where the model runs (``engine``, ``checkpoint``,
    ``memory``, ``n_jobs``, ``max_memory``, ``verbose``): set these after loading.

    Parameters
    ----------
    model : estimator of this package
        Fitted or not.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    TypeError
        If the model is no estimator of this package, or holds an object that could not be
        loaded again.

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
    if _name(type(model)) not in _ESTIMATORS:
        raise TypeError(f"save_model takes an estimator of srsg, got {type(model).__name__}.")
    stored = copy(model)
    for name in WHERE_IT_RUNS:
        stored.__dict__.pop(name, None)
    with atomic_write(path) as unfinished:
        skops.dump(stored, unfinished)
        _, unknown = _types_of(skops, unfinished)
        if unknown:
            raise TypeError(
                f"The model holds objects that cannot be loaded again: {', '.join(unknown)}. Set "
                "its parameters to plain values."
            )
        _set_defaults(stored)
        check_model(stored)
        with zipfile.ZipFile(unfinished, "a") as archive:
            archive.writestr(_VERSIONS, json.dumps({"format": FORMAT, "srsg": __version__}))


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
    estimator

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no model of this package, is damaged, was written by a newer version of the
        format, holds anything but estimators of this package, arrays and plain values, or has
        values that no fit leaves.
    """
    skops = check_skops()
    _check_versions(path)
    try:
        kind, unknown = _types_of(skops, path)
        if kind in _ESTIMATORS and not unknown:
            model = skops.load(path, trusted=sorted(_TRUSTED))
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise ValueError(f"{path} is damaged: {error}") from error
    if unknown:
        raise ValueError(f"{path} holds types that are not trusted: {', '.join(unknown)}.")
    if kind not in _ESTIMATORS:
        name = kind.rpartition(".")[2]
        raise ValueError(f"{path} holds a {name}, which is no estimator of srsg.")
    for old, new in _RENAMED.items():
        if old in vars(model):
            setattr(model, new, model.__dict__.pop(old))
    ignored = _set_defaults(model)
    try:
        check_model(model)
    except (InvalidModelError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no valid model: {error}.") from error
    if ignored:
        warnings.warn(
            f"{path} names {', '.join(ignored)}, which a file may not choose: ignored. Set what "
            "you need after loading.",
            stacklevel=2,
        )
    return model


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
    return ignored


def _check_versions(path: str | os.PathLike[str]) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            versions = json.loads(archive.read(_VERSIONS))
            written, by = int(versions["format"]), str(versions["srsg"])
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        raise ValueError(f"{path} is no model that srsg saved, or is cut short.") from error
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
        schema = json.loads(archive.read("schema.json"))
    kind = next(_types_in(schema))
    unknown = set(skops.get_untrusted_types(file=path)) - _TRUSTED
    if kind in _ESTIMATORS:
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
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models takes skops: pip install 'srsg[model]'."
        ) from error
    return skops.io
