"""docs/results/mutation.md: how many mutants the tests caught, and why the others may live."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from tools.mutate.mutants import LIVING, ROOT, drawn

PAGE = ROOT / "docs" / "results" / "mutation.md"
REASONS = Path(__file__).parent / "reasons.toml"

HEAD = """\
# Do the tests notice wrong code?

Written by `python -m tools.mutate page` from `docs/results/mutation-*.json` and
`tools/mutate/reasons.toml`; do not edit.

A mutant is the code with one small change: another comparison, `+` for `-`, a number that is one
more or twice as large, a condition turned round, a result that is gone.
`python -m tools.mutate run FOLDER` tests those of a folder among 400 mutants, drawn by chance from
all rooms but `cli` and `report`, the same ones each time. It runs the tests that reach the
changed line, the quickest first, for about ten
seconds of processor time. A mutant is caught if a test fails, or does not end. Kernels run as plain
Python meanwhile. Only statements within functions are changed, and no messages.

*Caught* counts all mutants. Those that lived are below: most compute the same result, for the
reason given, found by reading; a gap is one for which there is no such reason. {tested} of the
400 were tested so far. Tests were added after the first pass over these same mutants, which caught
{first} of them ({share:.0%}; some were known from earlier rounds).

"""

COLUMNS = "| folder | mutants | a test failed | did not end | lived | of these a gap | caught |\n"


def write_page(kept: dict[str, dict[str, dict[str, Any]]], count: int) -> None:
    """Write the page from what is known about the mutants that are drawn from the present code."""
    reasons = {
        name: entry["reason"]
        for entry in tomllib.loads(REASONS.read_text())["reasons"]
        for name in entry["mutants"]
    }
    rows, living, totals, first = [], [], Counter[str](), 0
    for folder, known in kept.items():
        outcomes = Counter[str]()
        for mutant in drawn(folder, count):
            found = known.get(mutant.name)
            if found is None or found["digest"] != mutant.digest:
                continue
            outcomes[found["outcome"]] += 1
            first += found.get("first", found["outcome"]) not in LIVING
            if found["outcome"] in LIVING:
                outcomes["gap"] += mutant.name not in reasons
                living.append((mutant, found["outcome"], reasons.get(mutant.name, "")))
        rows.append(_row(f"`{folder}`", outcomes))
        totals += outcomes
    tested = totals.total() - totals["gap"]
    PAGE.write_text(
        HEAD.format(tested=tested, first=first, share=first / max(1, tested))
        + COLUMNS
        + "|---|---|---|---|---|---|---|\n"
        + "".join(rows)
        + _row("all", totals)
        + _survivors(living)
    )


def _row(name: str, outcomes: Counter[str]) -> str:
    gaps, ended = outcomes["gap"], outcomes["timeout"]
    total, lived = outcomes.total() - gaps, sum(outcomes[outcome] for outcome in LIVING)
    failed = total - lived - ended
    caught = (total - lived) / max(1, total)
    return f"| {name} | {total} | {failed} | {ended} | {lived} | {gaps} | {caught:.0%} |\n"


def _survivors(living: list[Any]) -> str:
    equal = [each for each in living if each[2]]
    gaps = [each for each in living if not each[2]]
    text = "\n## Mutants that lived\n"
    text += f"\n### The result is the same, or as good ({len(equal)})\n\n"
    text += "| mutant | why |\n|---|---|\n"
    for mutant, _, why in sorted(equal, key=_place):
        text += f"| {_change(mutant)} | {why} |\n"
    text += f"\n### A gap: no test notices ({len(gaps)})\n\n"
    for mutant, outcome, _ in sorted(gaps, key=_place):
        why = " (no test comes here in time)" if outcome == "not reached" else ""
        text += f"- {_change(mutant)}{why}\n"
    return text


def _place(each: Any) -> tuple[str, int]:
    return each[0].file, each[0].line


def _change(mutant: Any) -> str:
    change = f"`{_code(mutant.before)}` becomes `{_code(mutant.after)}`"
    return f"{mutant.file}:{mutant.line}, `{mutant.function}`: {change}"


def _code(text: str) -> str:
    """On one line of a table."""
    short = " ".join(text.split()).replace("|", "\\|")
    return short if len(short) <= 110 else short[:107] + "..."
