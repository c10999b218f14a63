"""``srsg info``: what is in a file, and what will happen to it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import as_options, printable
from srsg.cli.groups import Reading

if TYPE_CHECKING:
    from srsg.files import Table


def info(data: list[str] = options.DATA, *, reading: Reading, json: bool = options.JSON) -> None:
    """Show what is in a file, what srsg cluster will do with it, and how to solve problems."""
    with bars(json) as progress:
        from srsg.cli.inputs import check_reading
        from srsg.cli.inspection import inspect_table
        from srsg.files import read_points
        from srsg.files.reading import display_name
        from srsg.files.writing import as_json

        with progress.stage(f"reading {display_name(data)}", 1):
            # Rows with missing values are counted, not refused.
            table = read_points(data, **replace(reading, drop_missing=True).arguments())
        check_reading(data, reading, table)
        facts = inspect_table(table)
        outlook = [] if min(table.X.shape) < 2 else _outlook(table)
    if json:
        shown = {"facts": list(map(asdict, facts)), "notes": table.notes, "outlook": outlook}
        print(as_json(shown, indent=2))
        return
    lines = [(fact.about, fact.found, fact.advice) for fact in facts]
    lines += [("note", as_options(note), _advice_on_note(note)) for note in table.notes]
    lines += [("srsg cluster", line, "") for line in outlook]
    for about, text, advice in lines:
        print(printable(f"{about + ':':<17} {text}{'  -> ' if advice else ''}{advice}"))
    # The first problem is the one to solve first.
    blocked = next((f"not yet, see {fact.about}" for fact in facts if fact.prevents), "yes")
    print(f"Fit for clustering: {blocked}.")


def _advice_on_note(note: str) -> str:
    if note.endswith("set aside: identifier"):
        return "--keep-ids keeps it"
    advice = {
        "not plain numbers": "--treat COLUMN=number reads them as numbers",
        "set aside: text with": "--treat COLUMN=category uses it",
        "set aside: a ": "--treat COLUMN=category or COLUMN=number uses it",
    }
    return next((text for words, text in advice.items() if words in note), "")


def _outlook(table: Table) -> list[str]:
    """What the search by stability will do."""
    from srsg.search.candidates import Columns, auto_candidates, look_at_columns

    columns = Columns.PREPARED if table.is_mixed else look_at_columns(table.X)
    names = [name for name, _ in auto_candidates(columns, {})]
    if len(names) == 1:
        plan = f"clustered by {names[0]}"
    else:
        plan = f"compares {'; '.join(names[:-1])} and {names[-1]}, and takes the most stable"
    if "knn" in names:
        plan += "; knn is left out if l1 codes are sparse"
    lines = [f"the data look like {columns.value}; {plan}"]
    if columns in (Columns.FEW, Columns.FEW_IN_SEVERAL_UNITS):
        lines.append(
            f"with {table.X.shape[1]} columns, directions say little, so distances decide; methods "
            "other than sc, smce and kmeans will do worse"
        )
    elif table.X.shape[1] <= 3:
        lines.append("directions say little here: --method kmeans is safer for round clusters")
    return lines
