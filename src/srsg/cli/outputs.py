"""Files that commands write: checked before long work, so that they can be written after it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from srsg.cli.options import STANDARD_OUTPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srsg.files import Table


def check_output(path: Path | None, endings: tuple[str, ...], option: str) -> None:
    """Refuse an unknown ending, and a place that cannot be written to."""
    if path is None:
        return
    from srsg.files import FileError, check_writable
    from srsg.files.errors import ending_of

    if ending_of(path) not in endings:
        raise FileError(f"{option} {path}: its name must end in {' or '.join(endings)}.")
    check_writable(path)


def check_not_inputs(
    outputs: Mapping[str, Path | None], inputs: Sequence[str | Path | None]
) -> None:
    """Refuse an output that is an input or another output, whatever paths or links lead there."""
    from srsg.files import FileError

    files = {option: path for option, path in outputs.items() if path and path != STANDARD_OUTPUT}
    for option, path in files.items():
        for each in inputs:
            if each and _same_file(path, Path(each)):
                raise FileError(f"{option} {path}: is an input ({each}), which it would replace.")
    taken: dict[str, str] = {}
    for option, path in files.items():
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise FileError(f"{option} {path}: is also the file of {other}.")


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, by links of either kind or by another spelling."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)


def check_labels_file(path: Path, append: bool = False) -> None:
    """Refuse labels that could not be written there."""
    from srsg.files.writing import LABEL_ENDINGS, TABLE_ENDINGS

    if path != STANDARD_OUTPUT:
        check_output(path, TABLE_ENDINGS if append else LABEL_ENDINGS, "--output")


def write_labelled_rows(
    path: Path, table: Table, labels: NDArray, confidence: NDArray, *, append: bool
) -> None:
    """Write labels and confidences: beside the names of the rows, or beside all columns."""
    from srsg.files import append_labels, write_labels

    # Further digits may differ between machines.
    rounded = confidence.round(6)
    if append:
        append_labels(path, table, {"cluster": labels, "confidence": rounded})
    else:
        write_labels(path, labels, row_ids=table.row_ids, columns={"confidence": rounded})


def check_append(table: Table) -> None:
    """Refuse before long work a table to which the labels could not be appended."""
    from srsg.files import FileError
    from srsg.files.writing import check_appendable

    try:
        check_appendable(table, ["cluster", "confidence"])
    except FileError as error:
        raise FileError(f"--append: {error}") from error


def score_line(scores: dict[str, float]) -> str:
    """The scores as a line of text."""
    named = (f"{name} {value:.4f}" for name, value in scores.items())
    return f"against the known classes: {', '.join(named)}"
