"""The page as a whole, and how it gets into its file."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from srsg import __version__
from srsg.explaining.confidence import Confidence
from srsg.explaining.layout import plane
from srsg.files import atomic_write
from srsg.plot.colors import palette
from srsg.report import choice, evidence, sections
from srsg.report.findings import Findings, find
from srsg.report.gallery import chosen_members, gallery
from srsg.report.methods import methods_compared
from srsg.report.thumbnails import Thumbnails, thumbnails
from srsg.types import FloatArray, Matrix


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Matrix,
    *,
    y: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    row_ids: Sequence[Any] | None = None,
    title: str | None = None,
    seconds: float | None = None,
    methods: Sequence[Mapping[str, Any]] = (),
    certainty: Confidence | None = None,
) -> Path:
    """Write one HTML page about a fitted model, complete in itself: it loads nothing.

    It has a map of the points to move about in, the graph in order of the clusters, the most
    central and the least confident members of every cluster, eigenvalues, objective, sizes of the
    codes and their certificates, and agreement with true classes where these are given; each
    as far as the model has what it takes.

    Parameters
    ----------
    path : path-like
        The file, replaced at once when the page is complete and not touched before.
    model : estimator
        Fitted: any estimator of this package, another with ``labels_``, a pipeline that ends in
        one of these, or a :class:`srsg.StabilitySearch`, whose page also says what was compared
        and why the winner won.
    X : array, sparse matrix or DataFrame of shape (n, d)
        What it was fitted on.
    y : array-like of shape (n,), optional
        True classes.
    class_names : sequence of str, optional
        Their names, in sorted order of the classes.
    image_shape : (height, width) or (height, width, 3), optional
        If the points are pictures: ``X[i].reshape(image_shape)`` is one of them.
    feature_names : sequence of str, optional
        Names of the columns; those of a DataFrame by default.
    row_ids : sequence of length n, optional
        Names of the rows; their numbers by default.
    title : str, optional
        Heading of the page.
    seconds : float, optional
        What the fit took.
    methods : sequence of mappings, optional
        Methods that were compared on the same points, one row of a table each: ``method`` is the
        name; ``AC``, ``NMI``, ``ARI``, ``seconds``, ``megabytes`` and ``error`` are shown if given.
    certainty : Confidence, optional
        Result of :func:`srsg.explaining.confidence.confidence`, if it has been computed already.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_digits
    >>> from srsg import SRSG
    >>> from srsg.report import write_report
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = SRSG(n_clusters=3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/digits.html", model, X, y=y, image_shape=(8, 8))
    ...     page.stat().st_size < 1_000_000
    True
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={str(target)!r}: there is no folder {target.parent}.")
    found = find(
        model,
        X,
        y=y,
        class_names=class_names,
        image_shape=image_shape,
        feature_names=feature_names,
        row_ids=row_ids,
        title=title,
        seconds=seconds,
        methods=methods,
        certainty=certainty,
    )
    with atomic_write(target) as whole:
        whole.write_text(page(found), "utf-8")
    return target


def page(found: Findings) -> str:
    """The page's HTML."""
    chosen = chosen_members(found)
    pictures = None
    if found.image_shape:
        wanted = np.unique(np.concatenate([part for pair in chosen for part in pair]))
        pictures = thumbnails(found.X, found.image_shape, wanted)
    coordinates, line = plane(found.given, found.X)
    body = "\n".join(
        part
        for part in (
            sections.summary(found),
            sections.map_of_points(found, line),
            choice.choice(found),
            methods_compared(found),
            sections.clusters(found),
            evidence.graphs(found),
            gallery(found, chosen, pictures),
            sections.confusion(found),
            evidence.measures(found),
            evidence.certificates(found),
        )
        if part
    )
    return Template(_asset("page.html")).substitute(
        title=escape(found.title),
        method=escape(found.method_in_full),
        version=escape(__version__),
        navigation=_navigation(body),
        body=body,
        style=_asset("report.css") + _variables(found, pictures),
        script=_asset("scatter.js") + _asset("report.js"),
        data=_safe_json(_map_data(found, coordinates, pictures)),
    )


def _asset(name: str) -> str:
    return (files("srsg.report") / "assets" / name).read_text("utf-8")


def _navigation(body: str) -> str:
    headings = re.findall(r'<section id="(\w+)" data-title="(.*?)">', body)
    return "".join(f'<a href="#{name}">{heading}</a>' for name, heading in headings)


def _variables(found: Findings, pictures: Thumbnails | None) -> str:
    """Colours and the sheet of pictures, for the style sheet."""
    colours = palette(max(found.n_clusters, len(found.class_names)))
    lines = [f"--c{place}:{colour}" for place, colour in enumerate(colours)]
    if pictures:
        lines += [
            f"--columns:{pictures.columns}",
            f"--rows:{pictures.rows}",
            f"--aspect:{pictures.width / pictures.height:.4f}",
        ]
    sheet = f'.thumb{{background-image:url("{pictures.sheet}")}}' if pictures else ""
    return f":root{{{';'.join(lines)}}}{sheet}"


def _map_data(
    found: Findings, coordinates: FloatArray, pictures: Thumbnails | None
) -> dict[str, Any]:
    """What the script draws: small numbers in base64."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    # Both axes are scaled alike, or distances would be distorted.
    offset = (coordinates - (low + high) / 2) / (max((high - low).max(), 1e-12) / 2)
    place = np.full(len(found.X), -1)
    if pictures:
        # A large data set has pictures of some points only.
        place[pictures.points] = np.arange(len(pictures.points))
    return {
        # Sixteen bits place a point more finely than a screen can show it.
        "position": _packed(np.round(offset * 32767), "<i2"),
        "cluster": _packed(found.cluster, "<u2"),
        "classes": None if found.classes is None else _packed(found.classes, "<u2"),
        "confidence": _packed(np.round(found.confidence.values * 255), "u1"),
        "clusterNames": found.cluster_names,
        "classNames": found.class_names,
        "colours": palette(max(found.n_clusters, len(found.class_names))),
        "ids": found.row_ids,
        "picture": _packed(place, "<i4") if pictures else None,
        "columns": pictures.columns if pictures else 0,
    }


def _packed(values: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values.astype(dtype)).tobytes()).decode()


def _safe_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
