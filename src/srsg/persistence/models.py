"""Fitted models as files that are safe to load: no code in them, and none is run.

A file is an archive of skops, which describes a model as plain data and builds it anew from
types that are trusted, with one more entry that says which versions wrote it.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

from scipy import sparse

from srsg import __version__, estimators
from srsg.estimators import GraphClusterer
from srsg.files import written_whole

FORMAT = 1
"""Raised by one whenever a file of today would not be understood by the version before."""

_VERSIONS = "srsg.json"


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


_ESTIMATORS = {_name(getattr(estimators, name)) for name in estimators.__all__}
_TRUSTED = _ESTIMATORS | {
    _name(array) for array in (sparse.csr_array, sparse.csc_array, sparse.coo_array)
}
"""What a file may hold beside numpy's arrays and plain values."""


def save_model(model: GraphClusterer, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file, which :func:`load_model` reads.

    The file is complete or not there: it is written under another name first. A model holds the
    fitted points, so a file is no place for points that are to be kept secret.

    Parameters
    ----------
    model : estimator of this package
        Fitted or not. Its ``memory`` must be None or a folder.
    path : str or path
        Where to; a file that is there is replaced.

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
    with written_whole(path) as unfinished:
        skops.dump(model, unfinished)
        unknown = _untrusted(skops, unfinished)
        if unknown:
            raise TypeError(
                f"The model holds objects that cannot be loaded again: {', '.join(unknown)}. Set "
                "its parameters to plain values."
            )
        with zipfile.ZipFile(unfinished, "a") as archive:
            archive.writestr(_VERSIONS, json.dumps({"format": FORMAT, "srsg": __version__}))


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save_model` wrote. Nothing in the file is executed.

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
        format, or holds anything but estimators of this package, arrays and plain values.
    """
    skops = check_skops()
    _check_versions(path)
    try:
        unknown = _untrusted(skops, path)
        if not unknown:
            model = skops.load(path, trusted=sorted(_TRUSTED))
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise ValueError(f"{path} is damaged: {error}") from error
    if unknown:
        raise ValueError(f"{path} holds types that are not trusted: {', '.join(unknown)}.")
    if _name(type(model)) not in _ESTIMATORS:
        raise ValueError(f"{path} holds a {type(model).__name__}, which is no estimator of srsg.")
    return model


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


def _untrusted(skops: Any, path: str | os.PathLike[str]) -> list[str]:
    return [name for name in skops.get_untrusted_types(file=path) if name not in _TRUSTED]


def check_skops() -> Any:
    """The library that writes and reads models, or one line that says how to get it."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models takes skops: pip install 'srsg[model]'."
        ) from error
    return skops.io
