"""Points from any file: find the reader, then check what it returns."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from srsg.files.checking import checked_table
from srsg.files.contents import Request, Table
from srsg.files.encoders import with_vectors
from srsg.files.errors import FileError, check_file, ending_of, needed
from srsg.files.guard import in_other_process
from srsg.files.label_files import READABLE_ENDINGS, read_labels
from srsg.files.rules import ColumnRule
from srsg.types import FilePath

STANDARD_INPUT = "-"
GZIP_START = b"\x1f\x8b"

_READERS = {
    ".npy": "arrays:read_npy",
    ".npz": "arrays:read_npz",
    **dict.fromkeys((".csv", ".tsv", ".csv.gz", ".tsv.gz"), "tables:read_text"),
    **dict.fromkeys((".parquet", ".feather"), "tables:read_columnar"),
    **dict.fromkeys((".json", ".jsonl"), "tables:read_json"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "tables:read_excel"),
    ".mat": "matlab:read_mat",
    **dict.fromkeys((".h5", ".hdf5"), "matlab:read_hdf5"),
}
"""Module and function by ending; imported when needed."""

HAVE_LINES = ("tables:read_text", "tables:read_standard_input", "tables:read_excel")
"""Readers of files that may have something above the table."""

MOST_HERE = 16 * 2**20
"""Plain text of fewer bytes is parsed in this process, which saves the start of another."""


def read_points(
    path: FilePath | Sequence[FilePath],
    *,
    labels: FilePath | None = None,
    drop_missing: bool = False,
    columns: Sequence[str] | None = None,
    variable: str | None = None,
    image_size: tuple[int, int] | None = None,
    gray: bool = False,
    features: Sequence[str] | None = None,
    rules: Sequence[ColumnRule] | None = None,
    treat: Mapping[str, str] | None = None,
    encoder: str | None = None,
    id_column: str | None = None,
    keep_ids: bool = False,
    encoding: str | None = None,
    skip_rows: int = 0,
    keep_missing: bool = False,
    keep_frame: bool = False,
    aside: Sequence[str] = (),
) -> Table:
    """Read points, and labels if there are any, from a file or a folder of images.

    Parameters
    ----------
    path : path or sequence of paths
        A file ending in ``.csv .tsv .csv.gz .tsv.gz .json .jsonl .parquet .feather .xlsx .xls .ods
        .npy .npz .mat .h5 .hdf5``, a folder of images, or ``-``: CSV from standard input. Several
        tables with the same columns are read as one.

        *Tables* may have a header or not, a title above it, and commas, semicolons, tabs or bars.
        Categories, dates,
        amounts of money and shares in per cent become numbers (``rules`` of the result says how).
        Text, empty columns, codes such as postcodes, and identifiers are set aside. Identifiers
        are whole numbers that all differ, in a column with ``id``, ``index`` or the like in its
        name, in a first column that counts the rows, or spread evenly over their range, as numbers
        of customers or orders are.

        *Arrays* have one row per point. Of several arrays, ``X``, ``fea``, ``features`` or ``data``
        are points and ``y``, ``gnd``, ``label`` or ``labels`` are labels; points are transposed if
        the number of labels fits their columns and not their rows. Stacks of images become rows.
        An ``.npz`` file of ``scipy.sparse.save_npz`` gives a sparse matrix, which stays sparse.

        *Folders* have the images of a class in a sub-folder, or no classes. Images of different
        sizes are resized to the most common size; if one is in colour, all are read in colour.
    labels : str or path, optional
        The column or array of labels, or a file with one label per row
        (``.csv .tsv .txt .npy .npz``).
    drop_missing : bool
        Drop rows with missing or infinite values instead of refusing them.
    columns : sequence of str, optional
        The columns of a table to use, whatever they look like.
    variable : str, optional
        The array of points, in a file with several.
    image_size : (height, width), optional
        Resize images to this.
    gray : bool
        Convert coloured images to gray.
    features : sequence of str, optional
        ``feature_names_in_`` of a fitted model. The columns of a table are put into this order, and
        missing or further columns are an error. In files without column names, the order of the
        columns counts.
    rules : sequence of ColumnRule, optional
        ``rules`` of the table that a model was fitted on: the same columns become numbers in the
        same way.
    treat : mapping of str to str, optional
        Columns of a table that are to be treated as a ``"number"``, a ``"category"`` or a
        ``"date"``, whatever they look like, or that are to be left out: ``"ignore"``. A column
        that is treated as ``"text"`` is clustered by its words, and no other column is used.
    encoder : str, optional
        What turns these texts into vectors instead: a model of sentence-transformers, model2vec or
        wordllama that is on this machine, such as ``"model2vec:minishlab/potion-base-8M"``, or
        ``"wordllama"`` for the one that comes with it. Nothing is downloaded.
    id_column : str, optional
        The column that names the rows; by default the first that is set aside as an identifier.
    keep_ids : bool
        Use whole numbers that look like identifiers as features.
    encoding : str, optional
        Encoding of a text file that is not UTF-8 and has no mark that names it: ``"latin-1"``,
        for instance.
    skip_rows : int
        Lines above the table, such as a title, in text or a spreadsheet.
    keep_missing : bool
        Leave missing values in ``X`` as NaN, for an imputer to fill in.
    keep_frame : bool
        Keep all columns of a table in ``frame``, to be written again.
    aside : sequence of str
        Columns of a table that are no features, such as weights: ``aside`` of the result has them.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        If the file is missing, broken or has no points; the message is one line that names it.

    Examples
    --------
    >>> import os, tempfile
    >>> from srsg.files import read_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "flowers.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("id,length,width,kind\\n7,1.5,2,rose\\n9,2.5,1,daisy\\n")
    ...     table = read_points(path, labels="kind")
    >>> table.X
    array([[1.5, 2. ],
           [2.5, 1. ]])
    >>> table.y, table.class_names, table.row_ids
    (array([1, 0]), ('daisy', 'rose'), array([7, 9]))
    >>> table.notes
    ('column id set aside: identifier',)
    """
    file, column = file_or_name(labels)
    request = Request(
        labels=column,
        label_file=file,
        columns=columns,
        variable=variable,
        image_size=image_size,
        gray=gray,
        features=features if rules is None else [rule.column for rule in rules],
        rules=rules,
        treat=treat,
        encoder=encoder,
        identifier=id_column,
        keep_ids=keep_ids,
        encoding=encoding,
        skip_rows=skip_rows,
        drop_missing=drop_missing,
        keep_missing=keep_missing,
        keep_frame=keep_frame,
        aside=tuple(aside),
    )
    paths, name = listed(path), display_name(path)
    readers = [_reader_of(each) for each in paths]
    if skip_rows and not {*readers} <= {*HAVE_LINES}:
        raise FileError(f"{name}: skip_rows={skip_rows} needs text or a spreadsheet.")
    if len(paths) > 1 and not all(reader.startswith("tables:") for reader in readers):
        raise FileError(f"{name}: only tables can be read as one.")
    harmless = all(map(_is_harmless, paths, readers))
    if harmless and (file is None or ending_of(file) != ".npz"):
        table = read_here(paths, readers, request)
    else:
        parts = [part for each in map(Path, paths) for part in (each, *each.rglob("*"))]
        n_bytes = sum(part.lstat().st_size for part in parts if part.exists())
        table = in_other_process(name, n_bytes, read_here, paths, readers, request)
    # Here, because a model may take more memory than a reader may.
    return table if table.texts is None else with_vectors(table)


def listed(path: FilePath | Sequence[FilePath]) -> list[FilePath]:
    """One path or several as a list."""
    return [path] if isinstance(path, str | os.PathLike) else list(path)


def file_or_name(labels: FilePath | None) -> tuple[Path | None, str | None]:
    """The file of the labels, or the name of their column."""
    if labels is None:
        return None, None
    if isinstance(labels, str) and Path(labels).suffix.lower() not in READABLE_ENDINGS:
        return None, labels
    return Path(labels), None


def display_name(path: FilePath | Sequence[FilePath]) -> str:
    """The name of the file, or of several, in messages."""
    names = map(str, listed(path))
    return ", ".join("standard input" if name == STANDARD_INPUT else name for name in names)


def _reader_of(path: FilePath) -> str:
    """Module and function that read a file, or an error if there is no such file or reader."""
    if str(path) == STANDARD_INPUT:
        return "tables:read_standard_input"
    place, ending = Path(path), ending_of(path)
    if place.is_dir():
        if ending in _READERS:
            raise FileError(f"{place}: is a folder, not a file ending in {ending}.")
        return "images:read_images"
    # Before the ending is looked at: a missing file is the likelier mistake.
    check_file(place)
    if ending not in _READERS:
        raise FileError(
            f"{place}: files ending in {ending or 'nothing'} are not read. Known: "
            f"{' '.join(_READERS)}, a folder of images, or - for CSV from standard input."
        )
    return _READERS[ending]


def _is_harmless(path: FilePath, reader: str) -> bool:
    """Whether reading a file takes memory in proportion to its size, and that is not much."""
    if reader != "tables:read_text":
        return reader in ("arrays:read_npy", "tables:read_standard_input")
    with Path(path).open("rb") as file:
        return file.read(2) != GZIP_START and Path(path).stat().st_size < MOST_HERE


def read_here(paths: Sequence[FilePath], readers: Sequence[str], request: Request) -> Table:
    """Read points in this process."""
    found: list[Any] = []
    for path, reader in zip(paths, readers, strict=True):
        module, function = reader.split(":")
        if module == "tables":
            needed("pyarrow", "Tables need pyarrow", "cli")
        home = import_module(f"srsg.files.{module}")
        found.append(getattr(home, function)(Path(path), request))
    name, contents = display_name(paths), found[0]
    if module == "tables":
        contents = home.chosen(name, found, request)
    if request.label_file:
        labels = read_labels(request.label_file, contents.values.shape)
        contents = replace(contents, labels=labels)
    return checked_table(name, contents, request)
