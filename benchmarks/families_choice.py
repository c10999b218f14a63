"""How well the search chooses on ``benchmarks/families.py``, and what other rules would choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

ALWAYS = "always "


@dataclass(frozen=True)
class Choice:
    """One search: its candidates in order, their accuracies and the terms of their scores."""

    family: str
    ac: float
    names: list[str]
    acs: list[float]
    terms: dict[str, list[float]]

    def by(self, rule: str) -> float:
        """The accuracy of what a rule chooses: the largest sum of terms, or always one name."""
        if rule.startswith(ALWAYS):
            wanted = rule.removeprefix(ALWAYS)
            same = [ac for name, ac in zip(self.names, self.acs, strict=True) if name == wanted]
            return same[0] if same else self.ac  # where it is no candidate, the search decides
        total = np.sum([self.terms[term] for term in rule.split(" + ")], axis=0)
        return self.acs[int(np.argmax(total))]


def choices(cells: Iterable[dict[str, Any]]) -> list[Choice]:
    """The searches in which every candidate has its accuracy."""
    found = []
    for cell in cells:
        if cell["method"] == "search" and {*cell["of"]} <= cell["candidates"].keys():
            terms = {
                key: [value or 0.0 for value in values]
                for key, values in cell.items()
                if key.startswith("stability") or key in ("consensus", "score")
            }
            acs = [cell["candidates"][name] for name in cell["of"]]
            found.append(Choice(cell["family"], cell["ac"], cell["of"], acs, terms))
    return found


def rules(found: list[Choice]) -> list[str]:
    """Every term that all searches have, their sums, and every candidate that most have."""
    terms = [
        term for term in found[0].terms if term != "score" and all(term in c.terms for c in found)
    ]
    sums = [" + ".join(some) for r in range(1, len(terms) + 1) for some in combinations(terms, r)]
    names = dict.fromkeys(name for each in found for name in each.names)
    often = [name for name in names if 2 * sum(name in c.names for c in found) > len(found)]
    return [*sums, *(ALWAYS + name for name in often)]


def left_out(found: list[Choice]) -> list[tuple[str, float]]:
    """For each search the rule that is best on all other families, and its accuracy here."""
    known, chosen = rules(found), {}
    for family in {each.family for each in found}:
        others = [each for each in found if each.family != family] or found
        chosen[family] = max(known, key=lambda rule: np.mean([each.by(rule) for each in others]))
    return [(chosen[each.family], each.by(chosen[each.family])) for each in found]
