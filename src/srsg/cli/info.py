"""``srsg info``: what is in a file."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict

from srsg.cli import options
from srsg.cli.bars import bars


def info(
    data: options.Data,
    labels: options.Labels = None,
    columns: options.Columns = None,
    variable: options.Variable = None,
    image_size: options.ImageSize = None,
    gray: options.Gray = False,
    json: options.AsJson = False,
) -> None:
    """Tell what is in a file, whether it is fit for clustering, and what to do if not."""
    with bars(json) as progress:
        table = options.read_table(
            data,
            progress,
            quiet=True,
            labels=labels,
            drop_missing=True,
            columns=columns,
            variable=variable,
            image_size=image_size,
            gray=gray,
        )
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
