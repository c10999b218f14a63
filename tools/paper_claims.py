"""Every claim of the paper: where it is implemented, what shows it, and the verdict.

Usage: python -m tools.paper_claims --data DIR    (writes docs/results/paper-claims.md)

The figures come from docs/results, which ``make paper`` writes, and from fits made now.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from paper.datasets import load_dataset
from paper.journal import made_by
from paper.published import compared_methods, published_rows
from srsg import SRSG
from srsg.coding import l1_codes, srsg_codes, theorem_step
from srsg.points import unit_points
from srsg.registry import methods

DOCS = Path(__file__).parents[1] / "docs"
Load = Callable[[str, int | None], np.ndarray]


def table_cells() -> dict[tuple[str, str, str, str], float]:
    """AC by data set, number of clusters, method and settings, as the tables print it."""
    cells = {}
    for table in (1, 2, 3):
        with (DOCS / "results" / f"table-{table}.csv").open(encoding="utf-8") as file:
            for line in csv.DictReader(file):
                key = (line["dataset"], line["n_clusters"], line["method"], line["settings"])
                cells[key] = float(line["ac_mean"])
    return cells


def rows_where_srsg_is_best() -> tuple[int, int, int]:
    """Rows on which SRSG has the highest AC: in the paper, and here; and the number of rows."""
    cells = table_cells()
    printed = here = total = 0
    for row in published_rows():
        count = str(row.n_clusters or "")
        if (row.dataset, count, "srsg", "paper") not in cells:
            continue
        total += 1
        ours = [cells[row.dataset, count, name, "paper"] for name in compared_methods()]
        figures = [row.figures["AC"][name] for name in compared_methods()]
        printed += figures[-1] >= max(figures)
        here += ours[-1] >= max(ours)
    return printed, here, total


def rows_where_the_laplacian_helps() -> tuple[int, int]:
    """Rows of COIL on which the paper prints a higher AC for LR-l1-graph than for l1-graph."""
    rows = [row.figures["AC"] for row in published_rows() if row.dataset.startswith("COIL")]
    return sum(figures["lr-l1"] > figures["l1"] for figures in rows), len(rows)


def grown_codes(load: Load) -> tuple[int, int, int]:
    """Codes that SRSG makes longer, those of them that only free coordinates made longer, all."""
    X = load("Yale-B", 10)
    model = SRSG.paper(10, random_state=0).fit_graph(X)
    before, after = (np.diff(codes.indptr) for codes in (model.init_codes_, model.codes_))
    grown = np.flatnonzero(after > before)
    used = model.codes_ != 0
    n_free = 0
    for i in grown:
        votes = np.asarray(used[model.neighbors_[i]].sum(axis=0)).ravel()
        new = np.setdiff1d(model.codes_[[i]].indices, model.init_codes_[[i]].indices)
        n_free += bool(np.all(2 * votes[new] >= model.n_neighbors))
    return len(grown), n_free, len(X)


def step_ratios(load: Load) -> tuple[float, float]:
    """The step 0.01 over the theorem's bound: smallest and largest over three data sets."""
    settings = methods()["srsg"].paper_settings
    ratios = [
        settings["step"]
        / theorem_step(unit_points(load(*data)), settings["gamma"], settings["n_neighbors"])
        for data in (("COIL-20", 20), ("Yale-B", 10), ("UMIST Face", 20))
    ]
    return min(ratios), max(ratios)


def cost_of_the_sweeps(load: Load) -> tuple[float, float]:
    """One sweep at full length over ours, by time; how ours grows with four times the points."""

    def seconds(n_classes: int) -> tuple[float, float]:
        points = unit_points(load("COIL-20", n_classes))
        x = points.x.astype(np.float64)
        l1 = l1_codes(points, 0.1, n_neighbors=5)
        ours, iterations = [], 0
        for _ in range(3):
            start = perf_counter()
            result = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01, max_sweeps=1)
            ours.append(perf_counter() - start)
            iterations = result.n_iter
        z = np.ones(points.n)
        plain = []
        for _ in range(20):
            start = perf_counter()
            x @ (x.T @ z)
            plain.append(perf_counter() - start)
        return min(plain) * iterations * points.n, min(ours)

    (_, ours_5), (plain_20, ours_20) = seconds(5), seconds(20)
    return plain_20 / ours_20, ours_20 / ours_5


def page(load: Load) -> str:
    printed, best, total = rows_where_srsg_is_best()
    helps, coil = rows_where_the_laplacian_helps()
    grown, free, n_faces = grown_codes(load)
    low, high = step_ratios(load)
    ratio, growth = cost_of_the_sweeps(load)
    claims = [
        (
            "Eq. (1), (2): the l1-graph",
            "`srsg.coding.l1_codes`",
            "certificates of every fit; equal to a plain solver in `tests/solvers`; COIL-20's row "
            "of Table 1 to the last digit in `tests/paper`",
            "holds",
        ),
        (
            "Eq. (3) to (6): the objective and the coefficients c",
            "`kernels/votes.py`, `kernels/codes.py`",
            "equal to a plain implementation in `tests/coding/test_srsg_codes.py`. Eq. (4) leaves "
            "out the index j of the neighbour; c does not",
            "holds, with that difference inside the paper",
        ),
        (
            "Coordinate descent decreases L(Z)",
            "`srsg.coding.srsg_codes`",
            "[all rows](parts/paper-choices.md): with S as printed L rises now and then; with S "
            "made symmetric never. A test has the objective that then descends",
            "holds only for a symmetric S",
        ),
        (
            "Proposition A.1: critical points of (7) are nearly critical for (6)",
            "-",
            "`tests/coding/test_proposition.py`",
            "holds",
        ),
        (
            "Algorithm 1, FPGD-SP",
            "`srsg.coding.fpgd_sp`",
            "equal to a plain implementation at full length, under hypothesis",
            "holds",
        ),
        (
            "Theorem 3.2: O(1/k^2) once the support is fixed",
            "`srsg.coding.theorem_step`",
            "[the bound on a point of Yale-B](parts/convergence.png); a test of the bound on "
            "many points",
            "holds",
        ),
        (
            "The theorem covers the experiments",
            "-",
            f"the step that comes closest to the tables, 0.01, is {low:.0f} to {high:.0f} times "
            "the theorem's bound on COIL-20, Yale-B (10 people) and UMIST; at the bound hardly "
            "anything is cut",
            "no: the rate covers no table",
        ),
        (
            "Supports shrink: the result is always sparser than the start",
            "-",
            f"Yale-B, 10 people: {grown} of {n_faces} codes grew, {free} of these only by points "
            "that half of the neighbours use, which cost nothing (c <= 0). The theorem speaks of "
            "coordinates with c > 0, and of small steps",
            "holds for c > 0 within one run at the theorem's step, not for the codes of SRSG",
        ),
        (
            "Cost O(M_c M_p n^2 d)",
            "active coordinates, checked: `kernels/sweep.py`",
            f"COIL-20: a sweep at full length (a product, times points and iterations) takes "
            f"{ratio:,.0f} times as long as ours; with four times the points ours takes "
            f"{growth:.1f} times as long, where n^2 is 16 times as much",
            "an upper bound that is far from what is needed",
        ),
        (
            "Figure 1: neighbours suggest the right points",
            "`make paper FIGURE=idea`",
            "[a digit](parts/idea.png) whose l1 code has wrong entries and whose SRSG code has "
            "none; the point is chosen to show it",
            "shown on an example",
        ),
        (
            "LR-l1-graph is more accurate than the l1-graph on COIL",
            "`LaplacianL1Graph`",
            f"the paper's own Table 1: on {helps} of {coil} rows",
            "not by the paper's own table" if helps < coil else "holds",
        ),
        (
            "SRSG always has the highest accuracy",
            "`SRSG.paper()`",
            f"the paper's tables, without Multi-PIE: on {printed} of {total} rows; here, all "
            f"methods at the paper's settings: on {best} of {total} "
            "([tables](parts/summary.md))",
            "mostly" if best < total else "holds",
        ),
        (
            "Figure 2: better than the others over a wide range of gamma and K; K near 1 or near "
            "10 regularises too little or too much",
            "`make paper FIGURE=sensitivity`",
            "[UMIST](parts/sensitivity.png)",
            "the range is wide; no fall towards K = 10: accuracy still rises there",
        ),
        (
            "The graph of SRSG has fewer wrong edges (supplement)",
            "`make paper FIGURE=adjacency`",
            "[Yale-B](parts/adjacency.png), with the share of wrong edges in both graphs",
            "holds",
        ),
        (
            "Robust to noise (by construction: the fit is not exact)",
            "`make paper FIGURE=robustness`",
            "[AC over noise, outliers and corrupted pixels](parts/robustness.png), all methods",
            "no: the Laplacian l1-graph bears more noise on subspaces, and all fail beyond a point",
        ),
        (
            "Results on MNIST and miniImageNet",
            "-",
            "named in a heading of the paper; it has no figures for them",
            "nothing to reproduce",
        ),
        (
            "Results on CMU Multi-PIE",
            "the rows are in the tables",
            "the data are not free",
            "not tried",
        ),
    ]
    lines = [
        "# The paper's claims",
        f"Made by `python -m tools.paper_claims --data DIR` {made_by()}; do not edit.",
        "\n".join(
            [
                "| claim | where | what shows it | verdict |",
                "|---|---|---|---|",
                *(f"| {' | '.join(claim)} |" for claim in claims),
            ]
        ),
    ]
    return "\n\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    warnings.simplefilter("ignore", ConvergenceWarning)
    text = page(lambda name, count: load_dataset(name, count, folder=folder).X)
    (DOCS / "results" / "paper-claims.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
