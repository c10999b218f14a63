"""Data files: points in, labels and graphs out."""

from srsg.files.atomic import atomic_write, check_writable
from srsg.files.contents import Table
from srsg.files.errors import FileError
from srsg.files.graphs import write_graph
from srsg.files.reading import read_points
from srsg.files.writing import append_labels, write_labels

__all__ = [
    "FileError",
    "Table",
    "append_labels",
    "atomic_write",
    "check_writable",
    "read_points",
    "write_graph",
    "write_labels",
]
