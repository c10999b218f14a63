"""What the paper leaves open about SRSG, each choice against all rows of its tables.

Usage: python -m benchmarks.paper_choices --data DIR [--seeds 5] [--rows TEXT] [--write FILE]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.undirected import UndirectedSRSG
from paper.datasets import load_dataset
from paper.published import published_rows
from srsg.estimators.srsg import TOL
from srsg.metrics import clustering_accuracy

HEAD = """# What the paper leaves open about SRSG

Made by `python -m benchmarks.paper_choices --data DIR --write FILE`; do not edit. AC at the paper's
settings, with the number of sweeps in brackets, and ↑ where the objective of eq. (3) rose in one of
them. *Directed* is S as printed, *either* its maximum with its transpose, *mutual* its minimum;
*objective* is the stopping rule of Algorithm 2, *supports* also stops when no support has changed.
"""

CHOICES = list(product(("directed", "either", "mutual"), ("supports", "objective")))


def accuracies(X: np.ndarray, y: np.ndarray, n_clusters: int, seeds: int) -> list[tuple]:
    """For every choice: the mean accuracy over the seeds, sweeps, and rises of the objective."""
    found = []
    for direction, stop in CHOICES:
        tol = TOL if stop == "objective" else None
        model = UndirectedSRSG.paper(n_clusters, neighbor_graph=direction, tol=tol)
        model.set_params(random_state=0).fit(X)
        scores = [clustering_accuracy(y, model.relabel(random_state=seed)) for seed in range(seeds)]
        rises = int(np.sum(np.diff(model.objective_history_) > 1e-9))
        found.append((float(np.mean(scores)), model.n_sweeps_, rises))
    return found


def page(lines: Sequence[tuple[str, float, list[tuple]]]) -> str:
    names = [f"{direction}, {stop}" for direction, stop in CHOICES]
    text = ["| row | published | " + " | ".join(names) + " |", "|---|---:|" + "---:|" * len(names)]
    for title, published, found in lines:
        cells = [f"{ac:.3f} ({sweeps}{'↑' * (rises > 0)})" for ac, sweeps, rises in found]
        text.append(f"| {title} | {published:.3f} | " + " | ".join(cells) + " |")
    gaps = np.array([[ac - published for ac, _, _ in found] for _, published, found in lines])
    text.append("| mean difference | | " + " | ".join(f"{v:.4f}" for v in abs(gaps).mean(0)) + " |")
    for bound in (0.02, 0.03):
        shares = (abs(gaps) <= bound).sum(0)
        cells = [f"{share} of {len(gaps)}" for share in shares]
        text.append(f"| within {bound} | | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", default="", help="only rows whose title contains this")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = []
    for row in published_rows():
        if options.rows not in row.title:
            continue
        try:
            data = load_dataset(row.dataset, row.n_clusters, folder=options.data)
        except FileNotFoundError:
            continue
        found = accuracies(data.X, data.y, data.n_clusters, options.seeds)
        lines.append((row.title, row.figures["AC"]["srsg"], found))
        print(row.title, lines[-1][1], found, flush=True)
        if options.write:
            options.write.write_text(HEAD + "\n" + page(lines), encoding="utf-8")
    print(page(lines))


if __name__ == "__main__":
    main()
