"""Where data files are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from paper.datasets.catalogue import find_entry, list_datasets, plain_name

ENDINGS = (".npz", ".mat", "")
"""Accepted endings, in order of preference; the last stands for a folder of images."""


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of data: the argument, else ``$SRSG_DATA``, else the user's cache.

    Examples
    --------
    >>> from paper.datasets import data_folder
    >>> data_folder("here").name
    'here'
    """
    chosen = folder or os.environ.get("SRSG_DATA")
    return Path(chosen).expanduser() if chosen else _user_cache() / "srsg"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def dataset_path(name: str, *, folder: str | os.PathLike[str] | None = None) -> Path:
    """The file of a data set, or its folder of images.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`, or the name of a file in the folder or in its ``extra``,
        without ending; case, spaces and hyphens do not matter.
    folder : path, optional
        Where to look; see :func:`data_folder`.

    Raises
    ------
    FileNotFoundError
        Says where it was looked for, under which names, and how to get it.

    Examples
    --------
    >>> from paper.datasets import dataset_path
    >>> dataset_path("COIL-20", folder="nowhere")
    Traceback (most recent call last):
    ...
    FileNotFoundError: COIL-20 is not in nowhere ...
    """
    entry, where = find_entry(name), data_folder(folder)
    stems = entry.stems if entry else (name,)
    # The order of the names and endings decides if a folder has several files of one set.
    wanted = {
        (plain_name(stem), ending): (place, ENDINGS.index(ending))
        for place, stem in enumerate(stems)
        for ending in ENDINGS
    }
    matches = [(wanted[key], path) for key, path in _data_files(where) if key in wanted]
    if matches:
        return min(matches)[1]
    looked_for = ", ".join(stem + (ending or "/") for stem in stems for ending in ENDINGS)
    if entry:
        message = f"{entry.name} is not in {where} (looked for {looked_for})."
        advice = entry.obtain
    else:
        message = f"No data set is called {name!r}, and {where} has no {looked_for}."
        advice = "Known: " + ", ".join(entry.name for entry in list_datasets()) + "."
    raise FileNotFoundError(f"{message} {advice}")


def _data_files(folder: Path) -> Iterator[tuple[tuple[str, str], Path]]:
    """The files of a folder and of its ``extra``, each with its plain name and its ending."""
    for place in (folder, folder / "extra"):
        for path in place.iterdir() if place.is_dir() else ():
            if path.is_dir():
                yield (plain_name(path.name), ""), path
            elif path.suffix:
                yield (plain_name(path.stem), path.suffix.lower()), path
