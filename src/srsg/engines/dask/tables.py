"""Tables in files that the workers read, for the command line."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from srsg.engines.dask.clients import client_of
from srsg.engines.dask.files import read_array
from srsg.files.checking import checked_labels
from srsg.files.contents import Contents, Table
from srsg.files.label_files import read_labels
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
    file, name = file_or_name(labels)
    X, layout = read_array(
        path, client_of(scheduler), columns=columns, variable=variable, labels=name
    )
    found = layout.found or Contents(np.empty((0, 0)))
    classes = found.labels if file is None else read_labels(file, X.shape)
    y, class_names = checked_labels(path, classes, X.shape[0])
    array: Any = X
    return Table(
        X=array,
        row_ids=np.arange(X.shape[0]) if found.row_ids is None else found.row_ids,
        y=y,
        class_names=class_names,
        feature_names=found.feature_names,
        notes=found.notes,
    )
