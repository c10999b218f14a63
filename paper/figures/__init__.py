"""The figures: those of the paper and of its supplement, and three more about its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from paper.evaluation import Evaluation
from paper.figures import adjacency, convergence, idea, robustness, sensitivity, supports

FIGURES: Mapping[str, Callable[[Evaluation, Path, bool], None]] = {
    "sensitivity": sensitivity.draw,
    "adjacency": adjacency.draw,
    "convergence": convergence.draw,
    "supports": supports.draw,
    "idea": idea.draw,
    "robustness": robustness.draw,
}
"""Each takes the evaluation, the file to write, and whether a small figure will do."""
