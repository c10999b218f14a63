"""Tables of files that the workers read, for the command line."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.engines.dask.clients import client_of
from srsg.engines.dask.files import read_array
from srsg.files.contents import Contents, Table
from srsg.files.errors import FileError
from srsg.files.label_files import read_labels
from srsg.files.labels import coded
from srsg.files.reading import file_or_name


def read_table_on(
    scheduler: str,
    path: str,
    columns: Sequence[str] | None,
    variable: str | None,
    labels: str | None,
) -> Table:
    """The table of a file whose points stay with the workers of a cluster."""
    for module in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(module).setLevel(logging.CRITICAL)  # what matters becomes an error
    client = client_of(scheduler)
    file, name = file_or_name(labels)
    X, layout = read_array(path, client, columns=columns, variable=variable, labels=name)
    found = layout.found or Contents(np.empty((0, 0)))
    each = found.labels if file is None else read_labels(file, X.shape)
    y, class_names = _coded(path, each, X.shape[0])
    array: Any = X
    return Table(
        X=array,
        row_ids=np.arange(X.shape[0]) if found.row_ids is None else found.row_ids,
        y=y,
        class_names=class_names,
        feature_names=layout.columns,
        notes=found.notes,
    )


def _coded(
    path: str, labels: NDArray | None, n_points: int
) -> tuple[NDArray[np.int64] | None, tuple[str, ...] | None]:
    if labels is None:
        return None, None
    if labels.size != n_points:
        raise FileError(f"{path}: {labels.size} labels do not fit {n_points} points.")
    return coded(labels.ravel())
