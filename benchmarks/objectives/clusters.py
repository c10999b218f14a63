"""From points to labels: the whole of ``SRSG.fit``."""

from __future__ import annotations

from typing import Any

from benchmarks.objectives import Objective, Solved


def figures(problem: object, solved: Solved) -> dict[str, Any]:
    model, stages = solved.result
    return {"stages": stages, "violation": float(model.kkt_violation_.max())}


OBJECTIVES = [Objective("clusters", figures=figures)]
