"""``srsg info``: what is in a file, and what will happen to it."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import as_options
from srsg.cli.groups import Reading

if TYPE_CHECKING:
    from srsg.files import Table
    from srsg.files.inspection import Fact


def info(
    data: options.Data,
    *,
    reading: Reading,
    json: options.AsJson = False,
) -> None:
    """Show what is in a file, what srsg cluster will do with it, and what to do about problems."""
    with bars(json) as progress:
        # Rows with missing values are counted, not refused.
        table = replace(reading, drop_missing=True).read(data, progress, quiet=True)
        from srsg.files.inspection import inspect_table

        facts = [_with_scale(fact, table) for fact in inspect_table(table)]
        # The first problem is the one to solve first.
        blocked = next((fact.about for fact in facts if fact.prevents), None)
        outlook = [] if min(table.X.shape) < 2 else _outlook(table)
    if json:
        found = {
            "facts": [asdict(fact) for fact in facts],
            "notes": table.notes,
            "outlook": outlook,
        }
        print(jsonlib.dumps(found, indent=2))
        return
    for fact in facts:
        advice = f"  -> {fact.advice}" if fact.advice else ""
        print(f"{fact.about + ':':<17} {fact.found}{advice}")
    for note in table.notes:
        print(f"{'note:':<17} {as_options(note)}{_advice_on(note)}")
    for line in outlook:
        print(f"{'srsg cluster:':<17} {line}")
    print(f"Fit for clustering: {'yes' if blocked is None else f'not yet, see {blocked}'}.")


def _with_scale(fact: Fact, table: Table) -> Fact:
    """What happens to columns of different units, which only the search knows."""
    from srsg.cli.preparation import scale_warning
    from srsg.files.inspection import heaviest_column

    if fact.about != "scales" or fact.prevents or scale_warning(table.X, table) is None:
        return fact
    return replace(
        fact,
        advice=f"column {heaviest_column(table)} outweighs others: srsg cluster standardises the "
        "columns by itself; if you choose a --method, add --scale standard",
    )


def _advice_on(note: str) -> str:
    if note.endswith("set aside: identifier"):
        return "  -> --keep-ids keeps it"
    return "  -> write them like 1234.5 to use them" if "not plain numbers" in note else ""


def _outlook(table: Table) -> list[str]:
    """What the search by stability will do, as it would decide itself."""
    from srsg.search.candidates import Columns, auto_candidates, look_at_columns

    columns = look_at_columns(table.X)
    names = [name for name, _ in auto_candidates(columns, {})]
    lines = [f"the data look like {columns.value}; {_compared(names)}"]
    if columns in (Columns.FEW, Columns.FEW_IN_SEVERAL_UNITS):
        lines.append(
            f"with {table.X.shape[1]} columns directions say little, so distances decide; methods "
            "other than sc, smce and kmeans will do worse"
        )
    elif table.X.shape[1] <= 3:
        lines.append("directions say little here: --method kmeans is safer for round clusters")
    return lines


def _compared(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"clustered by {names[0]}"
    return f"compares {'; '.join(names[:-1])} and {names[-1]}, and takes the most stable"
