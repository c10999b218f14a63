"""The options of a reader, the contents it returns, and the table that users get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.rules import ColumnRule
from srsg.types import IntArray


@dataclass(frozen=True)
class Request:
    """Options of :func:`srsg.files.read_points`, for the reader of a format.

    Attributes
    ----------
    labels : str or None
        The column or array of labels.
    label_file : path or None
        The file of the labels.
    columns, variable, image_size, gray, features, rules, treat, encoder, keep_ids, encoding
    skip_rows, drop_missing, keep_missing, keep_frame, aside
        As in :func:`srsg.files.read_points`.
    mixed : bool
        Whether other columns than plain numbers are used.
    identifier : str or None
        The column that names the rows.
    """

    labels: str | None = None
    label_file: Path | None = None
    columns: Sequence[str] | None = None
    variable: str | None = None
    image_size: tuple[int, int] | None = None
    gray: bool = False
    features: Sequence[str] | None = None
    rules: Sequence[ColumnRule] | None = None
    treat: Mapping[str, str] | None = None
    encoder: str | None = None
    mixed: bool = True
    identifier: str | None = None
    keep_ids: bool = False
    encoding: str | None = None
    skip_rows: int = 0
    drop_missing: bool = False
    keep_missing: bool = False
    keep_frame: bool = False
    aside: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a file, unchecked: any shape, any type of label, missing values.

    Attributes
    ----------
    values : ndarray or csr_array
        Points, images, or points in columns.
    labels, feature_names, rules, row_ids, texts, image_shape, notes
        As in :class:`Table`, as far as the file has them.
    samples_last : bool
        Whether a stack of images has the shape (height, width, n), as in MATLAB.
    rows_are_points : bool
        Whether that is certain, so that points are never transposed to fit the labels.
    frame : Frame or None
        All columns of a table (:class:`srsg.files.columns.Frame`), with ``keep_frame=True``.
    aside : dict of ndarray
        Columns that are no features, by name.
    """

    values: Any
    labels: NDArray | None = None
    feature_names: tuple[str, ...] | None = None
    rules: tuple[ColumnRule, ...] | None = None
    row_ids: NDArray | None = None
    texts: NDArray | None = None
    image_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    samples_last: bool = False
    rows_are_points: bool = False
    frame: Any = None
    aside: Mapping[str, NDArray] = field(default_factory=dict)


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
        Labels. Integers are kept; anything else becomes its position in ``class_names``.
    class_names : tuple of str or None
        The labels of the file if they are not integers.
    feature_names : tuple of str or None
        Names of the columns of X.
    rules : tuple of ColumnRule or None
        How the columns of the file became those of X; None if all are plain numbers.
    texts : ndarray of str or None
        The text of each row, where texts are clustered.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape)`` is a picture.
    notes : tuple of str
        One line for everything set aside, transposed, resized or dropped.
    n_dropped : int
        Rows with missing values that were dropped.
    kept_rows : ndarray of int or None
        The rows of the file that are points; None for all.
    frame : Frame or None
        All columns of the file, with ``keep_frame=True``.
    aside : dict of ndarray
        The columns that were asked for as no features, by name.

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
    rules: tuple[ColumnRule, ...] | None = None
    texts: NDArray | None = None
    image_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    n_dropped: int = 0
    kept_rows: NDArray[np.intp] | None = None
    frame: Any = None
    aside: Mapping[str, NDArray] = field(default_factory=dict)

    @property
    def is_mixed(self) -> bool:
        """Whether some columns are categories or dates."""
        return any(rule.kind in ("category", "date") for rule in self.rules or ())
