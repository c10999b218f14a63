"""The page as a whole, written to a file."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from srsg import __version__
from srsg.explaining.clusters import Explanation
from srsg.explaining.confidence import Confidence
from srsg.files import atomic_write
from srsg.plot import palette
from srsg.report import evidence, sections
from srsg.report.descriptions import descriptions
from srsg.report.facts import Facts
from srsg.report.markup import asset, filled
from srsg.report.pictures import Thumbnails, thumbnails
from srsg.types import FilePath, Matrix


class Page(str):
    """A page as HTML, which a notebook shows in a frame."""

    def _repr_html_(self) -> str:
        style = "width:100%;height:80vh;border:0"
        return f'<iframe srcdoc="{escape(self)}" style="{style}"></iframe>'


def write_report(
    path: FilePath | None,
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
    explanation: Explanation | None = None,
) -> Any:
    """Write one HTML page about a fitted model, complete in itself: it loads nothing.

    It has an interactive map of the points, what every cluster is in the units of the table with
    its most typical and most doubtful rows (pictures, if the points are some), the graph in order
    of the clusters, eigenvalues, objective, sizes of the codes and their certificates, and
    agreement with true classes if they are given. Parts that do not apply to the model are left
    out.

    Parameters
    ----------
    path : path-like or None
        The file, replaced in one step when the page is complete; None writes no file.
    model : estimator
        Fitted: any estimator of this package, another with ``labels_``, a pipeline that ends in
        one of these, or a :class:`srsg.StabilitySearch`, whose page also shows the candidates and
        why the winner won.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The points it was fitted on.
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
        Duration of the fit.
    methods : sequence of mappings, optional
        Methods that were compared on the same points, one row of a table each: ``method`` is the
        name; ``AC``, ``NMI``, ``ARI``, ``seconds``, ``megabytes`` and ``error`` are shown if given.
    certainty : Confidence, optional
        Result of :func:`srsg.explaining.confidence.confidence`, if it has been computed already.
    explanation : Explanation, optional
        Result of :func:`srsg.explain`, where X is not in the units of the table.

    Returns
    -------
    pathlib.Path or Page
        The file, or the page itself.

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
    target = None if path is None else Path(path)
    if target is not None and not target.parent.is_dir():
        raise FileNotFoundError(f"path={str(target)!r}: there is no folder {target.parent}.")
    facts = Facts(
        model,
        X,
        y=y,
        class_names=class_names,
        image_shape=image_shape,
        feature_names=feature_names,
        row_ids=row_ids,
        certainty=certainty,
        explanation=explanation,
    )
    html = page(facts, title or "Clustering report", seconds, methods)
    if target is None:
        return Page(html)
    with atomic_write(target) as temporary:
        temporary.write_text(html, "utf-8")
    return target


def page(
    facts: Facts, title: str, seconds: float | None, methods: Sequence[Mapping[str, Any]]
) -> str:
    """The page's HTML."""
    drawn, pictures = facts.drawn(), None
    if facts.image_shape:
        chosen = sections.chosen_members(drawn)
        wanted = np.unique(np.concatenate([part for pair in chosen for part in pair]))
        pictures = thumbnails(drawn.X, facts.image_shape, wanted)
        members = sections.gallery(drawn, chosen, pictures)
    else:
        members = descriptions(drawn)
    parts = (
        sections.summary(facts, seconds),
        sections.map_of_points(drawn),
        members,
        evidence.choice(facts),
        evidence.methods(facts, methods),
        sections.clusters(facts),
        evidence.tree(drawn),
        evidence.graphs(drawn),
        sections.confusion(facts),
        evidence.measures(drawn),
        evidence.certificates(drawn),
    )
    body = "\n".join(filter(None, parts))
    headings = re.findall(r'<section id="(\w+)" data-title="(.*?)">', body)
    colours = palette(max(facts.n_clusters, len(facts.class_names)))
    return filled(
        "page.html",
        title=escape(str(title)),
        method=escape(facts.method_in_full),
        version=escape(__version__),
        navigation="".join(f'<a href="#{name}">{heading}</a>' for name, heading in headings),
        body=body,
        style=asset("report.css") + _variables(colours, pictures),
        script=asset("scatter.js") + asset("report.js"),
        # No text in the data can end the script element it stands in.
        data=json.dumps(_map_data(drawn, colours, pictures), separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
    )


def _variables(colours: list[str], pictures: Thumbnails | None) -> str:
    """Colours and the sheet of pictures, for the style sheet."""
    lines = [f"--c{place}:{colour}" for place, colour in enumerate(colours)]
    sheet = ""
    if pictures:
        aspect = pictures.width / pictures.height
        lines += [f"--columns:{pictures.columns}", f"--rows:{pictures.rows}"]
        lines += [f"--aspect:{aspect:.4f}"]
        sheet = f'.thumb{{background-image:url("{pictures.sheet}")}}'
    return f":root{{{';'.join(lines)}}}{sheet}"


def _map_data(facts: Facts, colours: list[str], pictures: Thumbnails | None) -> dict[str, Any]:
    """The data of the map, for the script: small numbers in base64."""
    coordinates, _ = facts.plane
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    # Both axes are scaled alike, or distances would be distorted.
    offset = (coordinates - (low + high) / 2) / (max((high - low).max(), 1e-12) / 2)
    place = np.full(len(facts.X), -1)
    if pictures:
        # A large data set has pictures of some points only.
        place[pictures.points] = np.arange(len(pictures.points))
    return {
        # Sixteen bits place a point more finely than a screen can show it.
        "position": _packed(np.round(offset * 32767), "<i2"),
        "cluster": _packed(facts.cluster, "<u2"),
        "classes": None if facts.classes is None else _packed(facts.classes, "<u2"),
        "confidence": _packed(np.round(facts.confidence.values * 255), "u1"),
        "clusterNames": facts.cluster_names,
        "classNames": facts.class_names,
        "colours": colours,
        "ids": facts.row_ids,
        "picture": _packed(place, "<i4") if pictures else None,
        "columns": pictures.columns if pictures else 0,
    }


def _packed(values: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values.astype(dtype)).tobytes()).decode()
