"""How much a model file may unpack: never much more than it takes itself.

Archives can hold gigabytes of zeros in a few kilobytes, and can name one array a thousand times.
So the sizes are added up before anything is read.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import Any

from srsg.persistence.rules import require

SMALL = 64 * 2**20
"""So many bytes may always be unpacked."""

MOST_COMPRESSED = 50
"""How many times its size a sparse matrix may become when it is unpacked. Codes shrink to a half,
and word counts, of which there are few different ones, to a twentieth."""

SCHEMA = "schema.json"


def check_archive(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse an archive of ``n_bytes`` that would unpack to much more.

    Raises
    ------
    InvalidModelError
    """
    parts = archive.infolist()
    for part in parts:
        # Only its own size bounds what a compressed part unpacks to: the one stated may be a lie.
        plain = part.compress_type == zipfile.ZIP_STORED and not part.flag_bits & 1
        require(plain, part.filename, "is compressed or encrypted, as no saved model is")
    # Several names could lead to the same bytes.
    require(sum(part.file_size for part in parts) <= n_bytes, "archive", "has overlapping parts")
    sizes = {part.filename: part.file_size for part in parts}
    named = sum(sizes.get(file, 0) for file in _files_in(json.loads(archive.read(SCHEMA))))
    require(named <= n_bytes, SCHEMA, "names the same arrays more than once")
    for part in parts:
        with archive.open(part) as file:
            if zipfile.is_zipfile(file):  # a sparse matrix, whatever it is called
                _check_matrix(part, zipfile.ZipFile(file))


def _check_matrix(part: zipfile.ZipInfo, matrix: zipfile.ZipFile) -> None:
    """Refuse a sparse matrix that unpacks to too much."""
    arrays = matrix.infolist()
    known = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    require(all(each.compress_type in known for each in arrays), part.filename, "is not readable")
    # Arrays are read step by step and not beyond their stated size.
    unpacked = sum(each.file_size for each in arrays)
    most = max(SMALL, MOST_COMPRESSED * part.file_size)
    require(unpacked <= most, part.filename, f"unpacks to {unpacked} bytes")


def _files_in(schema: Any) -> Iterator[str]:
    """The file of every array that the description of a model names.

    An object that occurs again has the same number, and is read once.
    """
    seen = set()
    unvisited = [schema]
    while unvisited:
        node = unvisited.pop()
        if isinstance(node, dict):
            unvisited += node.values()
            key = node.get("__id__"), node.get("file")
            if isinstance(node.get("file"), str) and (key[0] is None or key not in seen):
                seen.add(key)
                yield node["file"]
        elif isinstance(node, list):
            unvisited += node
