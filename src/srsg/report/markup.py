"""Pieces of HTML that the parts of the page share."""

import tomllib
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any


def filled(name: str, /, **values: object) -> str:
    """A template of ``assets``, with values in place of its ``$names``."""
    return Template(asset(name)).substitute(values)


def asset(name: str) -> str:
    """The text of a file in ``assets``."""
    return (files("srsg.report") / "assets" / name).read_text("utf-8")


def words(name: str, /, **values: object) -> str:
    """A text of ``assets/words.toml``, with values in place of its ``$names``."""
    return Template(prose()[name]).substitute(values)


@cache
def prose() -> dict[str, Any]:
    """All texts and tables of ``assets/words.toml``."""
    return tomllib.loads(asset("words.toml"))


def section(name: str, heading: str, body: str, lead: str = "", *, short: str = "") -> str:
    """One part of the page; nothing if there is no body.

    ``short`` takes the place of a long heading in the navigation.
    """
    if not body:
        return ""
    line = f'<p class="lead">{lead}</p>' if lead else ""
    start = f'<section id="{name}" data-title="{escape(short or heading)}">'
    return f"{start}<h2>{escape(heading)}</h2>{line}{body}</section>"


def table(label: str, heads: Iterable[str], rows: Iterable[str], css: str = "") -> str:
    """A table that scrolls by itself if the page is too narrow for it.

    ``label`` is what a screen reader calls it.
    """
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    return (
        f'<div class="scroll {css}" tabindex="0" role="region" aria-label="{label}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(heading: str, cells: Iterable[str], attributes: str = "") -> str:
    """A row of a table."""
    return f'<tr{attributes}><th scope="row">{heading}</th>{"".join(cells)}</tr>'


def bar_cell(text: str, share: float) -> str:
    """A cell of a table with a bar behind its text."""
    # Agreement adjusted for chance may be slightly negative; a bar cannot.
    length = min(max(share, 0.0), 1.0)
    return f'<td class="bar" style="--share:{length:.3f}"><span>{text}</span></td>'


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign, which is as wide as a digit, if it is negative."""
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def swatch(place: int) -> str:
    """A dot in the colour of a cluster or class."""
    return f'<i class="swatch" style="--colour:var(--c{place})"></i>'


def show_button(words: str, *, cluster: int | None = None, true_class: int | None = None) -> str:
    """A button that shows only the points of a cluster, of a class, or of both at once."""
    which = "" if cluster is None else f' data-show-cluster="{cluster}"'
    which += "" if true_class is None else f' data-show-class="{true_class}"'
    return f'<button type="button" class="show"{which}>{words}</button>'
