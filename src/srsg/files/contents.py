"""What readers are asked for, what they find, and the table that users get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.types import IntArray


@dataclass(frozen=True)
class Request:
    """What the user asks the reader of a file for."""

    labels: str | None = None
    columns: Sequence[str] | None = None
    variable: str | None = None
    image_size: tuple[int, int] | None = None
    gray: bool = False
    features: Sequence[str] | None = None
    """Feature names of a fitted model, with which the columns of a table are matched."""
    identifier: str | None = None
    """The column that names the rows."""
    keep_ids: bool = False
    """Whether whole numbers that look like identifiers are features all the same."""
    encoding: str | None = None
    """The encoding of a text file that is not UTF-8."""
    keep_frame: bool = False
    """Whether all columns of a table are kept, to be written again."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a reader finds, unchecked: any shape, any type of label, missing values."""

    values: Any
    """An array, or a ``csr_array``."""
    labels: NDArray | None = None
    feature_names: tuple[str, ...] | None = None
    row_ids: NDArray | None = None
    image_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    samples_last: bool = False
    """Whether a stack of images is (height, width, n), as MATLAB's are."""
    rows_are_points: bool = False
    """Whether that is certain, so that points are never transposed to fit the labels."""
    frame: Any = None
    """All columns of a table (:class:`srsg.files.frames.Frame`), if they were to be kept."""


@dataclass(frozen=True, eq=False)
class Table:
    """Points of a file, ready to be clustered.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Finite numbers: float32 if the file has float32, else float64. Sparse if the file has a
        sparse matrix.
    row_ids : ndarray of shape (n_samples,)
        The identifier column, the image's path in its folder, or the row's number from 0.
    y : ndarray of shape (n_samples,) or None
        Labels. Integers are kept; anything else becomes its place in ``class_names``.
    class_names : tuple of str or None
        The labels of the file if they are not integers.
    feature_names : tuple of str or None
        Names of the columns of X.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape)`` is a picture.
    notes : tuple of str
        What was set aside, transposed, resized or dropped: one line each.
    n_dropped : int
        Rows with missing values that were dropped.
    kept_rows : ndarray of int or None
        The rows of the file that are points; None for all.
    frame : Frame or None
        All columns of the file, with ``keep_frame=True``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from srsg.files import read_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("kind,length,width\\nrose,3,1\\nlily,5,2\\n")
    ...     table = read_points(path, labels="kind")
    >>> table.X.shape, table.feature_names, table.class_names
    ((2, 2), ('length', 'width'), ('lily', 'rose'))
    """

    X: Any
    row_ids: NDArray
    y: IntArray | None = None
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    n_dropped: int = 0
    kept_rows: NDArray[np.intp] | None = None
    frame: Any = None
