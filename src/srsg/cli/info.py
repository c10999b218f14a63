"""``srsg info``: what is in a file."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict, replace

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.groups import Reading


def info(
    data: options.Data,
    *,
    reading: Reading,
    json: options.AsJson = False,
) -> None:
    """Show what is in a file, whether it is fit for clustering, and what to do if not."""
    with bars(json) as progress:
        # Rows with missing values are counted, not refused.
        table = replace(reading, drop_missing=True).read(data, progress, quiet=True)
        from srsg.files.inspection import inspect_table

        facts = inspect_table(table)
    if json:
        found = {"facts": [asdict(fact) for fact in facts], "notes": table.notes}
        print(jsonlib.dumps(found, indent=2))
        return
    for fact in facts:
        advice = f"  -> {fact.advice}" if fact.advice else ""
        print(f"{fact.about + ':':<17} {fact.found}{advice}")
    for note in table.notes:
        print(f"{'note:':<17} {note}")
    first = next((fact.about for fact in facts if fact.prevents), None)
    print(f"Fit for clustering: {'yes' if first is None else f'not yet, see {first}'}.")
