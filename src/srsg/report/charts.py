"""Charts as SVG, in the colours of the page, light or dark."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from srsg.types import FloatArray, IntArray

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 42
MOST_BINS = 30


class _Axes:
    """The frame of a chart: from values to positions, and the axes themselves."""

    def __init__(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        self.x_range, self.y_range = x_range, y_range

    def x(self, value: Any) -> Any:
        return LEFT + _share(value, *self.x_range) * (WIDTH - LEFT - RIGHT)

    def y(self, value: Any) -> Any:
        return HEIGHT - BOTTOM - _share(value, *self.y_range) * (HEIGHT - TOP - BOTTOM)

    def draw(self, marks: str, whole_x: bool, x_label: str, y_label: str, title: str) -> str:
        parts = []
        for tick in ticks(*self.y_range):
            y = self.y(tick)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" class="end">{number(tick)}</text>')
        for tick in ticks(*self.x_range, 6):
            if not whole_x or tick == round(tick):
                x, y = self.x(tick), HEIGHT - BOTTOM + 18
                parts.append(f'<text x="{x:.1f}" y="{y}" class="middle">{number(tick)}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(title)}">{"".join(parts)}'
            f'<text x="{middle}" y="{HEIGHT - 6}" class="middle label">{escape(x_label)}</text>'
            f'<text x="{LEFT - 50}" y="13" class="label">{escape(y_label)}</text>{marks}</svg>'
        )


def _share(value: Any, low: float, high: float) -> Any:
    return (value - low) / (high - low or 1.0)


def line_chart(
    y_values: ArrayLike,
    *,
    x_values: ArrayLike | None = None,
    line_at: float | None = None,
    beyond: bool = False,
    **texts: str,
) -> str:
    """Values in order, as dots on a line.

    Parameters
    ----------
    y_values : array-like of shape (m,)
        Heights.
    x_values : array-like of shape (m,), optional
        Whole numbers; 0, 1, ... by default.
    line_at : float, optional
        Draw a dashed vertical line at this x.
    beyond : bool
        Draw dots to the right of that line differently.
    **texts
        ``x_label``, ``y_label`` and ``title``, which is for screen readers.

    Returns
    -------
    str
        SVG.

    Examples
    --------
    >>> from srsg.report.charts import line_chart
    >>> line_chart([3, 2], x_label="sweep", y_label="objective", title="falls").count("<circle")
    2
    """
    y = np.asarray(y_values, float)
    x = np.arange(len(y)) if x_values is None else np.asarray(x_values, float)
    low, high = float(y.min()), float(y.max())
    # Dots at the edge would be cut off; and a flat line needs a range too.
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    axes = _Axes((float(x[0]) - 0.5, float(x[-1]) + 0.5), (low - margin, high + margin))
    places = list(zip(axes.x(x), axes.y(y), strict=True))
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    # Many dots would hide the line.
    radius = 3.5 if len(y) <= 40 else 2
    marks = f'<polyline class="line" points="{path}"/>'
    for (a, b), at, value in zip(places, x, y, strict=True):
        css = "beyond" if beyond and line_at is not None and at > line_at else "dot"
        marks += (
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}" class="{css}">'
            f"<title>{texts['x_label']} {at:g}: {value:.6g}</title></circle>"
        )
    if line_at is not None:
        marks += f'<path class="gap" d="M{axes.x(line_at):.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
    return axes.draw(marks, True, **texts)


def histogram(
    series: Mapping[str, ArrayLike], within: tuple[float, float] | None = None, **texts: str
) -> str:
    """Bars side by side: the number of values in each bin, for one series or two by name.

    The bins span the values, or the range ``within``. Texts are those of :func:`line_chart`.

    Examples
    --------
    >>> from srsg.report.charts import histogram
    >>> drawn = histogram({"": [1, 1, 2]}, x_label="size", y_label="points", title="sizes")
    >>> drawn.count("<rect")
    2
    """
    values = [np.asarray(part, float) for part in series.values()]
    edges = bins(np.concatenate(values)) if within is None else np.linspace(*within, 21)
    counts = [np.histogram(part, edges)[0] for part in values]
    axes = _Axes((edges[0], edges[-1]), (0.0, float(np.max(counts)) * 1.05 or 1.0))
    marks = ""
    share = 1 / len(series)
    for place, count in enumerate(counts):
        for low, high, height in zip(edges[:-1], edges[1:], count, strict=True):
            if not height:
                continue
            room = axes.x(high) - axes.x(low)
            gap = min(1.0, room * 0.1)
            left = axes.x(low) + room * share * place
            top = axes.y(height)
            marks += (
                f'<rect class="bar{place}" x="{left + gap / 2:.1f}" y="{top:.1f}" '
                f'width="{room * share - gap:.1f}" height="{HEIGHT - BOTTOM - top:.1f}">'
                f"<title>{_span(low, high)}: {height}</title></rect>"
            )
    drawn = axes.draw(marks, False, **texts)
    if len(series) == 1:
        return drawn
    keys = "".join(
        f'<span><i class="key{place}"></i>{escape(name)}</span>'
        for place, name in enumerate(series)
    )
    return f'{drawn}<div class="keys">{keys}</div>'


def icicle(spans: FloatArray, owner: IntArray, names: Sequence[str], **texts: str) -> str:
    """A tree as boxes: see :meth:`srsg.cutting.tree.Tree.spans` and ``owners``.

    Boxes that belong to one cluster have its colour and show its points. Texts are those of
    :func:`line_chart`.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.charts import icicle
    >>> spans = np.array([[0, 2, 0, 0.6], [2, 3, 0, 0.6], [0, 3, 0.6, 1]])
    >>> texts = {"x_label": "points", "y_label": "height", "title": "tree"}
    >>> icicle(spans, np.array([0, 1, -1]), ["a", "b"], **texts).count("<rect")
    3
    """
    axes = _Axes((0.0, float(spans[:, 1].max())), (0.0, 1.0))
    marks = ""
    for (left, right, low, high), own in zip(spans, owner, strict=True):
        x, y = axes.x(left), axes.y(high)
        colour = f'style="fill:var(--c{own})" data-show-cluster="{own}"' if own >= 0 else ""
        text = f"cluster {names[own]}, " if own >= 0 else ""
        marks += (
            f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{axes.x(right) - x:.1f}" '
            f'height="{axes.y(low) - y:.1f}" {colour}><title>{escape(text)}{right - left:,.0f} '
            f"points, merged at {high:.2f}</title></rect>"
        )
    marks += f'<path class="gap" d="M{LEFT} {axes.y(0.5):.1f}H{WIDTH - RIGHT}"/>'
    return axes.draw(marks, True, **texts)


def bins(values: FloatArray) -> FloatArray:
    """Edges of the bins of a histogram, centred on whole numbers if all values are whole."""
    low, high = float(values.min()), float(values.max())
    if (values == np.round(values)).all():
        width = max(1.0, np.ceil((high - low + 1) / MOST_BINS))
        return np.arange(low - 0.5, high + width + 0.5, width)
    return np.linspace(low, high if high > low else low + 1.0, MOST_BINS + 1)


def ticks(low: float, high: float, most: int = 5) -> FloatArray:
    """Round numbers in a range, for the marks on an axis.

    Examples
    --------
    >>> from srsg.report.charts import ticks
    >>> ticks(0.0, 10.0)
    array([ 0.,  2.,  4.,  6.,  8., 10.])
    """
    rough = (high - low) / most or 1.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.round(np.arange(first, last + 1) * step, 12) + 0.0


def number(value: float) -> str:
    """A number in few characters, for an axis."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.4g}"


def _span(low: float, high: float) -> str:
    first, last = np.ceil(low), np.floor(high)
    if low + 0.5 == first:  # bins around whole numbers
        return f"{first:g}" if first == last else f"{first:g} to {last:g}"
    return f"{low:.3g} to {high:.3g}"
