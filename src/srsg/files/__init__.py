"""Data files: points in, labels and graphs out."""

from __future__ import annotations

from srsg.files.atomic import check_writable, written_whole
from srsg.files.contents import Table
from srsg.files.errors import FileError
from srsg.files.reading import read_points
from srsg.files.writing import write_graph, write_labels

__all__ = [
    "FileError",
    "Table",
    "check_writable",
    "read_points",
    "write_graph",
    "write_labels",
    "written_whole",
]
