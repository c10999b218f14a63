"""From the contents of a file to a table: rows, numbers, labels, no missing values."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.contents import Contents, Request, Table
from srsg.files.errors import FileError, count_of
from srsg.files.labels import encode_labels, missing_labels
from srsg.points import float_type, name_rows, row_slices
from srsg.types import IntArray


def checked_table(name: str, contents: Contents, request: Request) -> Table:
    """The contents as a table, or a :class:`FileError` that says what is wrong with them."""
    labels = None if contents.labels is None else _flat(name, contents.labels)
    values, notes = _samples_first(name, contents, labels)
    X, image_shape = _rows_of_numbers(name, values, contents.image_shape)
    row_ids = np.arange(X.shape[0]) if contents.row_ids is None else contents.row_ids
    usable = _finite_rows(X, allow_nan=request.keep_missing)
    if labels is not None:
        usable &= ~missing_labels(labels)
    if not usable.all():
        notes.append(_missing_values(name, usable, request))
        X, row_ids = X[usable], row_ids[usable]
        labels = None if labels is None else labels[usable]
    y, class_names = (None, None) if labels is None else encode_labels(labels)
    return Table(
        X=X,
        row_ids=row_ids,
        y=y,
        class_names=class_names,
        feature_names=contents.feature_names,
        rules=contents.rules,
        texts=None if contents.texts is None else contents.texts[usable],
        image_shape=image_shape,
        notes=(*contents.notes, *notes),
        n_dropped=int((~usable).sum()),
        kept_rows=None if usable.all() else np.flatnonzero(usable),
        frame=contents.frame,
        aside={column: values[usable] for column, values in contents.aside.items()},
    )


def checked_labels(
    name: str, labels: NDArray | None, n_points: int
) -> tuple[IntArray | None, tuple[str, ...] | None]:
    """Labels as integers, with the names of their classes, for points that are elsewhere."""
    if labels is None:
        return None, None
    labels = _flat(name, labels)
    if len(labels) != n_points:
        raise FileError(f"{name}: {len(labels)} labels do not fit {n_points} points.")
    usable = ~missing_labels(labels)
    if not usable.all():
        _missing_values(name, usable, Request())
    return encode_labels(labels)


def _flat(name: str, labels: NDArray) -> NDArray:
    """Labels in one dimension; MATLAB stores them as a matrix of one row or one column."""
    if labels.size != max(labels.shape, default=0):
        raise FileError(
            f"{name}: there must be one label per row, not labels of shape {labels.shape}."
        )
    return labels.ravel()


def _finite_rows(X: Any, *, allow_nan: bool) -> NDArray[np.bool_]:
    """Whether each row is finite; with ``allow_nan``, a row may have gaps but not only gaps."""
    if sparse.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(rows[~np.isfinite(X.data)], minlength=X.shape[0]) == 0
    usable = np.empty(len(X), bool)
    for some in row_slices(len(X)):  # since X may be larger than memory
        rows = X[some]
        if allow_nan:
            usable[some] = ~np.isinf(rows).any(axis=1) & ~np.isnan(rows).all(axis=1)
        else:
            usable[some] = np.isfinite(rows).all(axis=1)
    return usable


def _samples_first(name: str, contents: Contents, labels: NDArray | None) -> tuple[Any, list[str]]:
    """The values with one sample per row, transposed if only that fits the labels."""
    values = contents.values
    if not 2 <= values.ndim <= 4:
        raise FileError(
            f"{name}: has an array of {values.ndim} dimension(s); points are the rows of an array "
            "of two, or images in one of three (four with colours)."
        )
    stack, last = values.ndim > 2, values.ndim - 1
    # MATLAB stores stacks with the images last, so that axis is tried first there.
    axes = [last, 0] if stack and contents.samples_last else [0, last]
    if labels is not None:
        axes = [axis for axis in axes if values.shape[axis] == len(labels)]
        if not axes or (contents.rows_are_points and axes[0] != 0):
            shape = " x ".join(map(str, values.shape))
            raise FileError(f"{name}: {len(labels)} labels do not fit an array of {shape} values.")
    if axes[0] == 0:
        return values, []
    notes = [] if stack else ["points turned from columns to rows, to fit the labels"]
    return np.moveaxis(values, axes[0], 0), notes


def _rows_of_numbers(
    name: str, values: Any, image_shape: tuple[int, ...] | None
) -> tuple[Any, tuple[int, ...] | None]:
    if values.dtype.kind not in "biuf":
        raise FileError(f"{name}: has values of type {values.dtype}, not real numbers.")
    if not min(values.shape):
        raise FileError(f"{name}: has no {'columns of numbers' if values.shape[0] else 'rows'}.")
    if sparse.issparse(values):
        return values.astype(float_type(values)), None
    if values.ndim > 2:
        image_shape = values.shape[1:]
    X = np.ascontiguousarray(values.reshape(len(values), -1), dtype=float_type(values))
    if image_shape is not None and math.prod(image_shape) != X.shape[1]:
        raise FileError(
            f"{name}: images of shape {image_shape} do not have the {X.shape[1]} values of a row."
        )
    return X, image_shape


def _missing_values(name: str, usable: NDArray[np.bool_], request: Request) -> str:
    """A note on the dropped rows, or an error if they may not be dropped."""
    what = "missing or infinite values"
    advice = (
        "Fill them in, drop them with drop_missing=True, or leave missing ones to an imputer: "
        "keep_missing=True."
    )
    if request.keep_missing:  # single gaps are left to an imputer
        what = "no values at all or infinite ones"
        advice = (
            "An imputer cannot fill in these: correct them, or drop them with drop_missing=True."
        )
    if not usable.any():
        raise FileError(
            f"{name}: all {count_of(len(usable), 'row')} have {what}, so no row is left. Leave out "
            "the columns that are at fault: columns=... names those to use."
        )
    bad = np.flatnonzero(~usable)
    row, have, were = ("row", "has", "was") if len(bad) == 1 else ("rows", "have", "were")
    problem = f"{len(bad)} of {count_of(len(usable), 'row')} {have} {what}"
    which = f"{row} {name_rows(bad)} (counted from 0)"
    if request.drop_missing:
        return f"{problem} and {were} dropped: {which}"
    raise FileError(f"{name}: {problem}: {which}. {advice}")
