"""Downloading one file from the web."""

from __future__ import annotations

import hashlib
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from srsg.files import FileError
from srsg.files.errors import one_line

CHUNK = 2**18
TIMEOUT = 60.0
"""Seconds without an answer after which a server counts as down."""


def download(url: str, path: Path, *, verbose: bool = False) -> str:
    """Download a file to ``path`` and return its SHA-256; ``verbose`` names it and its size.

    Raises
    ------
    FileError
        If the server cannot be reached, does not have it, or stops before the end.
    """
    host = urlsplit(url).netloc
    try:
        with urlopen(Request(url, headers={"User-Agent": "srsg"}), timeout=TIMEOUT) as answer:
            length = int(answer.headers.get("Content-Length") or 0)
            if verbose:
                size = f", {length / 1e6:.0f} MB" if length else ""
                print(f"downloading {url.rpartition('/')[2]}{size} ...", file=sys.stderr)
            checksum, received = _copied(answer, path)
    except HTTPError as error:
        error.close()
        raise FileError(f"{url}: {host} answers {error.code} {error.reason}.") from error
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        raise FileError(f"{url}: cannot be downloaded from {host} ({one_line(error)}).") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({one_line(error)}).") from error
    # A connection that ends early is no error to urllib.
    if length and received != length:
        raise FileError(f"{url}: {host} stopped after {received} of {length} bytes; try again.")
    return checksum


def _copied(answer: Any, path: Path) -> tuple[str, int]:
    checksum, received = hashlib.sha256(), 0
    with path.open("wb") as file:
        while chunk := answer.read(CHUNK):
            file.write(chunk)
            checksum.update(chunk)
            received += len(chunk)
    return checksum.hexdigest(), received
