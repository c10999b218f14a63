"""Points from a folder of images."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed, parsing
from srsg.files.labels import natural_order

IMAGE_ENDINGS = (
    *(".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp"),
    *(".pgm", ".ppm", ".pnm", ".tif", ".tiff"),
)
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "PPM", "TIFF")
"""What images are read as, whatever they are called: Pillow starts programs for some others."""


def read_images(folder: Path, request: Request) -> Contents:
    """Images in the order of their paths; the first sub-folder of a path is the class."""
    paths = image_paths(folder)
    if not paths:
        raise FileError(
            f"{folder}: has no images ({' '.join(IMAGE_ENDINGS)}); links are not followed."
        )
    # All sizes first, from the headers alone: the most common one decides for all images.
    sizes, colors = zip(*(_size_and_color(folder / path) for path in paths), strict=True)
    height, width = size = request.image_size or Counter(sizes).most_common(1)[0][0]
    color = any(colors) and not request.gray
    shape = (len(paths), *size, 3) if color else (len(paths), *size)
    try:
        values = np.empty(shape)
        for place, path in enumerate(paths):
            values[place] = read_image(folder / path, size, color=color)
    except MemoryError as error:
        raise FileError(
            f"{folder}: {len(paths)} images of {height} x {width} do not fit into memory; "
            "make them smaller with image_size=(32, 32), for instance."
        ) from error
    resized = len(paths) - sizes.count(size)
    notes = [f"{resized} of {len(paths)} images resized to {height} x {width}"] if resized else []
    in_classes = all(len(path.parts) > 1 for path in paths)
    return Contents(
        values,
        labels=np.array([_as_text(path.parts[0]) for path in paths]) if in_classes else None,
        row_ids=np.array([_as_text(path) for path in paths]),
        notes=tuple(notes),
        rows_are_points=True,
    )


def _as_text(path: Path | str) -> str:
    """A path in UTF-8, which the names of files need not be."""
    return os.fsencode(path).decode(errors="backslashreplace").replace(os.sep, "/")


def image_paths(folder: Path) -> list[Path]:
    """Paths of the images inside a folder, without hidden ones and links, s2 before s10."""
    # os.walk does not enter folders that are links.
    files = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
    files = (path for path in files if path.is_file() and not path.is_symlink())
    images = [path.relative_to(folder) for path in files if path.suffix.lower() in IMAGE_ENDINGS]
    shown = [path for path in images if not any(part.startswith(".") for part in path.parts)]
    return sorted(shown, key=lambda path: [natural_order(part) for part in path.parts])


def read_image(path: Any, size: tuple[int, int], *, color: bool) -> NDArray:
    """One image of ``size`` (height, width), upright, gray or in three colours.

    ``path`` may also be an open file.
    """
    with _opened(path) as image:
        from PIL.Image import Resampling
        from PIL.ImageOps import exif_transpose

        upright = exif_transpose(image)
        # Pixels of 16 bits are kept as floats; the mode "L" would cut them off at 255.
        deep = image.mode.startswith(("I", "F"))
        picture = upright.convert("RGB" if color else "F" if deep else "L")
        if picture.size != size[::-1]:
            picture = picture.resize(size[::-1], Resampling.BILINEAR)
        return np.asarray(picture, dtype=np.float64)


@contextmanager
def _opened(path: Any) -> Iterator[Any]:
    pillow = needed("PIL.Image", "Images need pillow")
    name = str(getattr(path, "name", path))
    with parsing(name, "an image"), pillow.open(path, formats=FORMATS) as image:
        yield image


def _size_and_color(path: Path) -> tuple[tuple[int, int], bool]:
    """Height and width, and whether there are colours; without reading the picture."""
    with _opened(path) as image:
        width, height = image.size
        if image.getexif().get(0x0112, 1) >= 5:  # the camera was held sideways
            width, height = height, width
        return (height, width), not image.mode.startswith(("1", "L", "I", "F"))
