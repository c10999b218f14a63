"""Files that commands write: checked before long work, so that they can be written after it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import NDArray

from srsg.cli.options import STANDARD_OUTPUT
from srsg.files import FileError, Table, append_labels, check_writable, write_labels
from srsg.files.errors import ending_of
from srsg.files.writing import LABEL_ENDINGS, TABLE_ENDINGS, check_appendable


def check_outputs(
    outputs: Mapping[str, tuple[Path | None, tuple[str, ...]]],
    inputs: Sequence[str | Path | None],
) -> None:
    """Raise an error now for a file that could not be written at the end.

    Parameters
    ----------
    outputs : mapping of str to tuple
        For each option, the file and the endings that it may have.
    inputs : sequence
        Files that must not be replaced, whatever paths or links lead there.
    """
    taken: dict[str, str] = {}
    for option, (path, endings) in outputs.items():
        if path is None or path == STANDARD_OUTPUT:
            continue
        for source in inputs:
            if source and _same_file(path, Path(source)):
                raise FileError(f"{option} {path}: is an input ({source}), which it would replace.")
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise FileError(f"{option} {path}: is also the file of {other}.")
        if ending_of(path) not in endings:
            raise FileError(f"{option} {path}: its name must end in {' or '.join(endings)}.")
        check_writable(path)


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, by links of either kind or by another spelling."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return os.path.realpath(one) == os.path.realpath(other)


def endings_of_labels(append: bool) -> tuple[str, ...]:
    """Endings of files that labels are written to, alone or appended to a table."""
    return TABLE_ENDINGS if append else LABEL_ENDINGS


def check_append(table: Table) -> None:
    """Raise an error for a table to which the labels could not be appended."""
    try:
        check_appendable(table, ["cluster", "confidence"])
    except FileError as error:
        raise FileError(f"--append: {error}") from error


def write_rows(
    path: Path, table: Table, labels: NDArray, confidence: NDArray, *, append: bool
) -> None:
    """Write labels and confidences next to the names of the rows, or next to all columns."""
    # Further digits may differ between machines.
    rounded = confidence.round(6)
    if append:
        append_labels(path, table, {"cluster": labels, "confidence": rounded})
    else:
        write_labels(path, labels, row_ids=table.row_ids, columns={"confidence": rounded})


def score_line(scores: Mapping[str, float]) -> str:
    """The scores as a line of text."""
    named = (f"{name} {value:.4f}" for name, value in scores.items())
    return f"against the known classes: {', '.join(named)}"
