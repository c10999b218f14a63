"""From what a reader found to a table: rows, numbers, labels, no missing values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.contents import Contents, Table
from srsg.files.errors import FileError, count_of
from srsg.files.labels import encode_labels, missing_labels
from srsg.points import float_type, name_rows, row_slices
from srsg.types import IntArray


def checked_table(
    name: str,
    found: Contents,
    labels: NDArray | None,
    *,
    drop_missing: bool,
    keep_missing: bool = False,
) -> Table:
    """The table of what was found, or a :class:`FileError` that says what is wrong."""
    labels = None if labels is None else _one_each(name, labels)
    values, notes = _samples_first(name, found, labels)
    X, image_shape = _rows_of_numbers(name, values, found.image_shape)
    row_ids = np.arange(X.shape[0]) if found.row_ids is None else found.row_ids
    usable = _finite_rows(X, allow_nan=keep_missing)
    if labels is not None:
        usable &= ~missing_labels(labels)
    if not usable.all():
        notes.append(_missing_values(name, usable, drop_missing, keep_missing))
        X, row_ids = X[usable], row_ids[usable]
        labels = None if labels is None else labels[usable]
    y, class_names = (None, None) if labels is None else encode_labels(labels)
    return Table(
        X=X,
        row_ids=row_ids,
        y=y,
        class_names=class_names,
        feature_names=found.feature_names,
        image_shape=image_shape,
        notes=(*found.notes, *notes),
        n_dropped=int((~usable).sum()),
        kept_rows=None if usable.all() else np.flatnonzero(usable),
        frame=found.frame,
    )


def checked_labels(
    name: str, labels: NDArray | None, n_points: int
) -> tuple[IntArray | None, tuple[str, ...] | None]:
    """Labels as integers, with the names of their classes, for points that are elsewhere."""
    if labels is None:
        return None, None
    labels = _one_each(name, labels)
    if len(labels) != n_points:
        raise FileError(f"{name}: {len(labels)} labels do not fit {n_points} points.")
    usable = ~missing_labels(labels)
    if not usable.all():
        _missing_values(name, usable, drop_missing=False)
    return encode_labels(labels)


def _finite_rows(X: Any, *, allow_nan: bool = False) -> NDArray[np.bool_]:
    """Which rows are finite; in slices, since X may be larger than memory.

    With ``allow_nan``, gaps are fine as long as a row has any number.
    """
    if sparse.issparse(X):
        usable = np.ones(X.shape[0], bool)
        usable[np.repeat(np.arange(len(usable)), np.diff(X.indptr))[~np.isfinite(X.data)]] = False
        return usable
    usable = np.empty(len(X), bool)
    for some in row_slices(len(X)):
        rows = X[some]
        if allow_nan:
            usable[some] = ~np.isinf(rows).any(axis=1) & ~np.isnan(rows).all(axis=1)
        else:
            usable[some] = np.isfinite(rows).all(axis=1)
    return usable


def _one_each(name: str, labels: NDArray) -> NDArray:
    """Labels in one dimension; MATLAB stores them as a matrix of one row or one column."""
    if labels.size != max(labels.shape, default=0):
        raise FileError(
            f"{name}: there must be one label per row, not labels of shape {labels.shape}."
        )
    return labels.ravel()


def _samples_first(name: str, found: Contents, labels: NDArray | None) -> tuple[Any, list[str]]:
    """The values with one sample per row, transposed if only that fits the labels."""
    values = found.values
    if not 2 <= values.ndim <= 4:
        raise FileError(
            f"{name}: has an array of {values.ndim} dimension(s); points are the rows of an array "
            "of two, or images in one of three (four with colours)."
        )
    stack = values.ndim > 2
    if labels is None:
        return (np.moveaxis(values, -1, 0) if stack and found.samples_last else values), []
    last = values.ndim - 1
    # MATLAB stores stacks with the images last, so that axis is tried first there.
    axes = (last, 0) if stack and found.samples_last else (0, last)
    fitting = [axis for axis in axes if values.shape[axis] == len(labels)]
    if not fitting or (found.rows_are_points and fitting[0] != 0):
        counted = " x ".join(str(side) for side in values.shape)
        raise FileError(f"{name}: {len(labels)} labels do not fit an array of {counted} values.")
    turned = fitting[0] != 0 and not stack
    notes = ["points turned from columns to rows, to fit the labels"] if turned else []
    return (np.moveaxis(values, fitting[0], 0) if fitting[0] else values), notes


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


def _missing_values(
    name: str, usable: NDArray[np.bool_], drop_missing: bool, keep_missing: bool = False
) -> str:
    """The note on dropped rows, or the error if they may not be dropped."""
    bad = np.flatnonzero(~usable)
    # An imputer fills in single gaps, so with one these are the rows that it cannot help.
    what = "no values at all or infinite ones" if keep_missing else "missing or infinite values"
    if not usable.any():
        raise FileError(
            f"{name}: all {count_of(len(usable), 'row')} have {what}, so no row is left. Leave out "
            "the columns that are at fault: columns=... names those to use."
        )
    one = len(bad) == 1
    rows = f"{len(bad)} of {count_of(len(usable), 'row')} {'has' if one else 'have'} {what}"
    which = f"row{'' if one else 's'} {name_rows(bad)} (counted from 0)"
    if not drop_missing:
        advice = (
            "An imputer cannot fill in these: correct them, or drop them with drop_missing=True."
            if keep_missing
            else "Fill them in, drop them with drop_missing=True, or leave missing ones to an "
            "imputer: keep_missing=True."
        )
        raise FileError(f"{name}: {rows}: {which}. {advice}")
    return f"{rows} and {'was' if one else 'were'} dropped: {which}"
