"""Images in a zip file."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from srsg.datasets.catalogue import Entry
from srsg.files.errors import FileError, parsing
from srsg.files.images import read_image
from srsg.files.labels import natural_order
from srsg.types import IntArray


def images_of_archive(
    path: Path, entry: Entry, class_in_name: str
) -> tuple[NDArray[np.float64], IntArray]:
    """The images whose names give a class, in gray and resized to the entry's shape, sorted by
    name."""
    assert entry.image_shape is not None
    images, classes = [], []
    with parsing(path.name, "a zip file of images"), ZipFile(path) as archive:
        for name in sorted(archive.namelist(), key=natural_order):
            match = re.fullmatch(class_in_name, name.rpartition("/")[2])
            if match:
                with archive.open(name) as file:
                    images.append(read_image(file, entry.image_shape, color=False).ravel())
                classes.append(int(match[1]))
    if not images:
        raise FileError(f"{path.name}: has none of the images of {entry.name}.")
    return np.array(images), np.array(classes, dtype=np.int64)
