"""Files of every kind, damaged at random: read, or refused with one line that names the file."""

from __future__ import annotations

import functools
import tempfile
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from PIL import Image

from fuzz.outcomes import expect
from srsg.files import FileError, read_points
from support.file_samples import TABLES, WITH_LABELS, X
from support.forked import read_in_forks

NEW_PROCESSES = 0.05
"""The share of files that a process started anew reads, as in use; the others are read by forks."""


def some_in_new_processes(rng):
    return nullcontext() if rng.random() < NEW_PROCESSES else read_in_forks()


@functools.cache
def samples():
    """The bytes of small files, by ending."""
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        place = Path(folder)
        np.save(place / "f.npy", X)
        found.append((".npy", (place / "f.npy").read_bytes()))
        for make in WITH_LABELS.values():
            path = make(place)
            found.append((path.suffix, path.read_bytes()))
        for suffix, write in TABLES.items():
            write(place / f"f{suffix}")
            found.append((suffix, (place / f"f{suffix}").read_bytes()))
        for suffix in (".png", ".jpg", ".gif", ".bmp"):
            pixels = np.arange(48, dtype=np.uint8).reshape(6, 8)
            Image.fromarray(pixels).save(place / f"f{suffix}")
            found.append((suffix, (place / f"f{suffix}").read_bytes()))
    return found


def damaged(rng, content):
    """Some bytes flipped, cut off, doubled, removed or replaced by numbers that parsers fear."""
    content = bytearray(content)
    for _ in range(int(rng.integers(0, 5))):
        at = int(rng.integers(len(content) + 1))
        end = at + int(rng.integers(1, 9))
        kind = rng.integers(6)
        if kind == 0 and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[at:]
        elif kind == 2:
            content[at:at] = content[at:end]
        elif kind == 3:
            del content[at:end]
        elif kind == 4:
            content[at:end] = rng.choice([b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7])
        else:
            content[at:end] = rng.integers(0, 256, size=8, dtype=np.uint8).tobytes()
    return bytes(content)


def damaged_file(rng):
    kinds = samples()
    suffix, content = kinds[rng.integers(len(kinds))]
    read(damaged(rng, content), suffix, rng)


WORDS = ["1", "-2.5", "nan", "inf", "1e400", "", "a", '"', "'", "é", "0x1", "1_0", "id", "\x00"]
BREAKS = ["\n", "\r\n", "\r", "\n\n"]


def damaged_text(rng):
    """Tables of numbers and words, with separators that change."""
    separators = rng.choice([",", ";", "\t", " "], size=2)
    n_columns = int(rng.integers(1, 5))
    lines = []
    for _ in range(int(rng.integers(1, 8))):
        width = n_columns + int(rng.random() < 0.05)
        words = rng.choice(WORDS[: rng.integers(1, len(WORDS) + 1)], size=width)
        lines.append(str(separators[int(rng.random() < 0.05)]).join(words))
    text = str(rng.choice(BREAKS)).join(lines)
    encoding = rng.choice(["utf-8", "utf-8-sig", "latin-1", "utf-16"], p=[0.7, 0.1, 0.1, 0.1])
    read(text.encode(encoding), rng.choice([".csv", ".tsv"]), rng)


def read(content, suffix, rng):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"f{suffix}"
        path.write_bytes(content)
        labels = None if rng.random() < 0.7 else str(rng.choice(["a", "y", "nothing"]))
        is_image = suffix in (".png", ".jpg", ".gif", ".bmp")
        drop_missing = bool(rng.random() < 0.3)
        try:
            with some_in_new_processes(rng):
                table = read_points(
                    Path(folder) if is_image else path, labels=labels, drop_missing=drop_missing
                )
        except FileError as error:
            expect("\n" not in str(error), "an error of several lines", str(error))
            expect(folder in str(error) or is_image, "an error that names no file", str(error))
            raise
        expect(table.X.ndim == 2 and len(table.X) > 0, "no table", table.X.shape)
        expect(table.X.dtype.kind in "fiu", "no numbers", table.X.dtype)
        expect(np.isfinite(table.X).all(), "values that are not finite")
        if table.y is not None:
            expect(len(table.y) == len(table.X), "labels for other points")
