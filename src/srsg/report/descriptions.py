"""The part of the page that says what each cluster is, in the units of the table."""

from html import escape
from textwrap import shorten

from srsg.explaining.clusters import SHOWN, ClusterDescription
from srsg.explaining.traits import Trait
from srsg.report.facts import Facts
from srsg.report.markup import bar_cell, row, section, show_button, signed, swatch, table, words

N_TRAITS = 5
"""Columns that are shown of a cluster."""

MOST_LETTERS = 240
"""Letters that are shown of a text."""

N_VALUES = 3
"""Columns that are shown of a row."""


def descriptions(facts: Facts) -> str:
    """A card for each cluster: name, differences, thresholds, typical and doubtful rows."""
    described = facts.explanation.clusters if facts.named else []
    cards = ""
    for place, name in enumerate(facts.cluster_names):
        members = facts.members(place)
        heading = show_button(f"{swatch(place)}Cluster {escape(name)}", cluster=place)
        card = f"<h3>{heading} <small>{facts.sizes[place]:,} points</small></h3>"
        traits: list[Trait] = []
        if described:
            traits = described[place].traits
            card += _in_words(described[place])
        sure = facts.confidence
        typical, doubtful = sure.most_central(members, SHOWN), sure.least_confident(members, SHOWN)
        for title, rows in (("most typical", typical), ("most doubtful", doubtful)):
            card += f"<h4>{title}</h4>{_rows(facts, rows.tolist(), traits[:N_VALUES])}"
        cards += f'<article class="card">{card}</article>'
    lead = words("descriptions" if described else "rows_only")
    body = f'<div class="cards described">{cards}</div>'
    return section("members", "What the clusters are", body, lead, short="Clusters in words")


def _in_words(cluster: ClusterDescription) -> str:
    text = f'<p class="name">{_breakable(cluster.name)}</p>{_traits(cluster.traits)}'
    found = cluster.thresholds
    if not found.text:
        return text
    exact = escape(found.text.replace("<=", "\N{LESS-THAN OR EQUAL TO}"))
    return (
        f'{text}<p class="thresholds">{exact}<br><small>describes {found.recall:.0%} '
        f"of its points; {found.precision:.0%} of what it describes is in the cluster</small></p>"
    )


def _breakable(name: str) -> str:
    """The name of a column, which may be broken where its parts meet."""
    return escape(name).replace("_", "_<wbr>").replace("/", "/<wbr>")


def _traits(traits: list[Trait]) -> str:
    if not traits:
        return ""
    rows = []
    for trait in traits[:N_TRAITS]:
        inside = trait.shown(trait.inside)
        if trait.level is None:
            inside += (
                f" <small>{trait.shown(trait.middle[0])} to {trait.shown(trait.middle[1])}</small>"
            )
        interval = f"{signed(trait.low, 2)} to {signed(trait.high, 2)}"
        effect = f'<span title="95 % interval: {interval}">{signed(trait.effect, 2)}</span>'
        cells = [f"<td>{inside}</td>", f"<td>{trait.shown(trait.outside)}</td>"]
        rows.append(row(_breakable(trait.title), [*cells, bar_cell(effect, abs(trait.effect))]))
    heads = ("column", "here", "elsewhere", "effect")
    return table("What sets the cluster apart", heads, rows, "traits")


def _rows(facts: Facts, points: list[int], traits: list[Trait]) -> str:
    texts = facts.explanation.texts
    rules = [] if texts is not None else [trait.rule for trait in traits]
    columns = [facts.explanation.values_of(rule)[facts.rows] for rule in rules]
    rows = []
    for point in points:
        name = escape(facts.row(point))
        heading = f'<button type="button" class="show" data-point="{point}">{name}</button>'
        values = [rule.shown(column[point]) for rule, column in zip(rules, columns, strict=True)]
        cells = [f"<td>{escape(value)}</td>" for value in values]
        if texts is not None:
            shown = shorten(
                texts[facts.rows[point]], MOST_LETTERS, placeholder=" \N{HORIZONTAL ELLIPSIS}"
            )
            cells.append(f'<td class="text">{escape(shown)}</td>')
        rows.append(row(heading, [*cells, f"<td>{facts.confidence.values[point]:.2f}</td>"]))
    columns_shown = ["text"] if texts is not None else [_breakable(rule.column) for rule in rules]
    heads = ("row", *columns_shown, "confidence")
    return table("Rows of the cluster", heads, rows)
