"""The parts of the page about the way to the result: graph, eigenvalues, sweeps, certificates."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from srsg.graph import symmetrized
from srsg.report.charts import histogram, line_chart
from srsg.report.choice import cluster_counts
from srsg.report.findings import Findings
from srsg.report.pictures import GraphPicture, graph_picture
from srsg.report.sections import chart_card, section

SIDE = 480
"""Units along a side of a graph's drawing."""


_AXES = (
    f'<text x="{SIDE / 2:g}" y="{SIDE + 18}" class="middle label">points, in order of their '
    f'clusters</text><text transform="translate(-34 {SIDE / 2:g}) rotate(-90)" '
    'class="middle label">points, in order of their clusters</text>'
)


def graphs(found: Findings) -> str:
    """The affinity in order of the clusters, beside that of the codes it started from."""
    graph = found.learnt("affinity_matrix_")
    if graph is None:
        return ""
    drawn = {found.method: graph_picture(graph, found.cluster, found.classes)}
    start = found.learnt("init_codes_")
    if start is not None:
        before = graph_picture(symmetrized(start), found.cluster, found.classes)
        # In the order of time.
        drawn = {"l1-graph, where it started": before, **drawn}
    figures = "".join(_framed(found, name, picture) for name, picture in drawn.items())
    lead = (
        "Points in the order of their clusters; a dot is an edge, "
        "<span class='within'>blue within a cluster</span>, "
        "<span class='between'>red between two</span>. Good clusters are blue blocks on the "
        "diagonal with little red around them."
    )
    return section("graph", "The graph", f'<div class="pair">{figures}</div>', lead)


def _framed(found: Findings, name: str, picture: GraphPicture) -> str:
    n_points = len(found.X)
    sizes = np.bincount(found.cluster, minlength=found.n_clusters)
    ends = np.cumsum(sizes) * SIDE / n_points
    frames, labels = [], []
    for place, (size, end) in enumerate(zip(sizes * SIDE / n_points, ends, strict=True)):
        start = f"{end - size:.1f}"
        frames.append(f'<rect x="{start}" y="{start}" width="{size:.1f}" height="{size:.1f}"/>')
        # Labels of smaller clusters would overlap.
        if size >= 11:
            label = escape(found.cluster_names[place][:4])
            labels.append(f'<text x="-6" y="{end - size / 2 + 4:.1f}" class="end">{label}</text>')
    words = f"{picture.n_edges:,} edges, {picture.between_clusters:.1%} of them between clusters"
    if picture.between_classes is not None:
        words += f", {picture.between_classes:.1%} between different true classes"
    return (
        f'<figure><svg class="graph" viewBox="-46 -2 {SIDE + 50} {SIDE + 26}" role="img" '
        f'aria-label="{escape(name)}: {words}">'
        f'<rect class="ground" width="{SIDE}" height="{SIDE}"/>'
        f'<image href="{picture.uri}" width="{SIDE}" height="{SIDE}"/><g class="frames">'
        f"{''.join(frames)}</g>{''.join(labels)}{_AXES}</svg>"
        f"<figcaption><b>{escape(name)}</b><br>{words}</figcaption></figure>"
    )


def measures(found: Findings) -> str:
    """Charts of how the result came about."""
    charts = [
        None if found.search is not None else cluster_counts(found),  # else with the choice
        _eigenvalues(found),
        _objective(found),
        _code_sizes(found),
        _confidence(found),
    ]
    cards = "".join(chart_card(*chart) for chart in charts if chart)
    return section("measures", "Measures", f'<div class="charts">{cards}</div>')


def _eigenvalues(found: Findings) -> tuple[str, str, str] | None:
    if found.eigenvalues is None:
        return None
    values, used = found.eigenvalues
    words = "Leading eigenvalues of the normalised graph; 1 once for every connected component. "
    if len(values) > used:
        gap = values[used - 1] - values[used]
        words += (
            f"The gap after the {used} used (dashed line) is {gap:.3g}: the larger it is, the "
            f"clearer it is that there are {used} clusters."
        )
    chart = line_chart(
        values,
        x_values=np.arange(1, len(values) + 1),
        x_label="eigenvalue",
        y_label="size",
        title=f"Eigenvalues: {', '.join(f'{v:.3f}' for v in values[:20])}",
        gap_after=used if len(values) > used else None,
    )
    return "Eigenvalues", chart, words


def _objective(found: Findings) -> tuple[str, str, str] | None:
    history = found.learnt("objective_history_")
    if history is None:
        return None
    chart = line_chart(
        history,
        x_label="sweep",
        y_label="objective",
        title=f"Objective from {history[0]:.6g} to {history[-1]:.6g}",
    )
    sweeps = len(history) - 1
    words = f"From {history[0]:,.6g} at the start to {history[-1]:,.6g} after {sweeps} sweeps."
    return "Objective", chart, words


def _code_sizes(found: Findings) -> tuple[str, str, str] | None:
    codes, start = found.learnt("codes_"), found.learnt("init_codes_")
    if codes is None:
        return None
    after = _sizes(codes)
    series: list[tuple[str, Any]] = [("after", after)]
    words = f"{after.mean():.2f} points code a point on average"
    if start is not None:
        before = _sizes(start)
        series = [("l1 codes", before), (found.method, after)]
        words += f", {before.mean():.2f} before the sweeps"
    words += f"; at most {after.max()}."
    empty = int((after == 0).sum())
    if empty:
        words += f" {empty:,} codes are empty."
    chart = histogram(
        series, x_label="non-zeros of a code", y_label="points", title="Sizes of the codes"
    )
    return "Sizes of the codes", chart, words


def _sizes(codes: Any) -> np.ndarray:
    return np.diff(codes.tocsr().indptr)


def _confidence(found: Findings) -> tuple[str, str, str]:
    values = found.confidence.values
    chart = histogram(
        [("", values)],
        x_label="confidence",
        y_label="points",
        title="Confidence of the points",
        within=(0.0, 1.0),
    )
    words = (
        f"{(values >= 0.9).mean():.0%} of the points have a confidence of 0.9 or more, "
        f"{(values < 0.5).mean():.0%} one below 0.5. Low values mark points between clusters, and "
        "points that fit none well."
    )
    return "Confidence", chart, words


def certificates(found: Findings) -> str:
    """Proofs of exactness, and notes of the run, as the model has them."""
    rows = []
    whose = "" if found.learnt("init_codes_") is None else ", l1 codes at the start"
    for name, title, meaning in (
        (
            "kkt_violation_",
            "largest KKT violation",
            "How far any code is from meeting its optimality conditions; 0 is exact.",
        ),
        (
            "dual_gap_",
            "largest duality gap",
            "No code's objective can be lowered by more than this.",
        ),
    ):
        values = found.learnt(name)
        if values is not None:
            rows.append((title + whose, f"{np.max(values):.2e}", meaning))
    certified = found.learnt("certified_")
    if certified is not None and len(certified) < len(found.X):
        quantiles = found.learnt("kkt_quantiles_").items()
        shares = ", ".join(f"{share:.0%} {value:.2e}" for share, value in quantiles)
        rows.append(
            (
                "KKT violation by quantiles" + whose,
                shares,
                f"The codes are approximate; these figures are of {len(certified):,} random "
                "points, each compared with all points.",
            )
        )
    for name, title, meaning in (
        ("step_", "step", "The gradient step. The larger it is, the more edges are removed."),
        ("n_sweeps_", "sweeps", "Rounds over all points until the objective settled."),
        ("n_steps_cut_", "steps cut", "Points whose step was shortened to keep it stable."),
        (
            "n_let_in_",
            "coordinates let in",
            "Added so that the small problems equal the full ones.",
        ),
        ("inertia_", "inertia", "Sum of squared distances to the centres."),
    ):
        value = found.learnt(name)
        if value is not None:
            rows.append((title, f"{value:,.6g}", meaning))
    cells = "".join(
        f'<tr><th scope="row">{title}</th><td>{value}</td><td class="text">{meaning}</td></tr>'
        for title, value, meaning in rows
    )
    table = f'<div class="scroll"><table class="certificates"><tbody>{cells}</tbody></table></div>'
    return section("certificates", "Certificates and run", table if rows else "")
