"""What coding over candidates saves, and what it loses, beside codes over all points.

    python -m benchmarks.approximate --data DIR [--name MNIST] [--points 10000] [--write FILE]

For several numbers of candidates and several settings of the index: time, how much of the exact
codes is found, how far the codes violate the optimality conditions over all points, and how well
the clusters agree with the classes. Times are processor seconds on one thread, so that other
programs on the machine count as little as possible.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.case import LAM
from paper.datasets import load_dataset
from srsg import SRSG
from srsg.coding import candidates
from srsg.metrics import clustering_accuracy, normalized_mutual_info

Codes = sparse.csr_array


@dataclass(frozen=True)
class Setting:
    """Candidates of a point, and what differs from the defaults of the index.

    ``scanned`` is how many points the cells of a search should hold, ``together`` how many features
    are kept as one number.
    """

    n_candidates: int
    scanned: int | None = None
    together: int | None = None

    def __str__(self) -> str:
        parts = [f"{self.n_candidates} candidates"]
        if self.scanned is not None:
            parts.append(f"searches of {self.scanned:,} points")
        if self.together is not None:
            parts.append(f"{self.together} features as one number")
        return ", ".join(parts)

    def constants(self) -> dict[str, int]:
        """What to set in the module of the index."""
        found = {}
        if self.scanned is not None:
            found |= {"LEAST_PROBES": 1, "SCANNED": self.scanned}
        if self.together is not None:
            found |= {"FEATURES_PER_CODE": self.together, "MANY_FEATURES": 0}
        return found


SETTINGS = (
    Setting(50),
    Setting(100),
    Setting(200),
    Setting(100, scanned=2048),
    Setting(100, scanned=32_768),
    Setting(100, together=2),
    Setting(100, together=8),
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.approximate", description=__doc__.splitlines()[0]
    )
    folder = os.environ.get("SRSG_DATA")
    parser.add_argument("--data", type=Path, default=folder and Path(folder))
    parser.add_argument("--name", default="MNIST")
    parser.add_argument("--points", type=int, nargs="+", default=[10_000])
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    options = parser.parse_args(arguments)
    data = load_dataset(options.name, folder=options.data)
    lines = []
    for n_points in options.points:
        for line in table(data.X[:n_points], data.y[:n_points]):
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    if options.write:
        page = "\n".join([*PAGE, *lines]).rstrip()
        sizes = " ".join(map(str, options.points))
        page = page.format(name=options.name, points=sizes)
        options.write.write_text(page + "\n", encoding="utf-8")


PAGE = (
    "# Codes over candidates",
    "",
    "Written by `python -m benchmarks.approximate --points {points} --write FILE`; do not edit. "
    "`SRSG(n_candidates=...)` on {name}, beside the exact fit: the time of the whole fit "
    "(processor seconds on one thread, as a ratio), how much of the weight of the exact codes is "
    "at entries that the others have too, how far the codes violate the optimality conditions over "
    "all points, and how well the clusters agree with the classes. The first rows have the "
    "settings of the index that are the default; the others differ in what they say.",
    "",
)


def table(X: np.ndarray, y: np.ndarray) -> Iterator[str]:
    n_clusters = len(np.unique(y))
    few = min(len(X), 300)
    for n_candidates in (None, 100):
        fitted(X[:few], n_clusters, n_candidates=n_candidates)  # compiles
    exact_time, exact = processor_seconds(lambda: fitted(X, n_clusters))
    accuracy, agreement = quality(exact, y)
    yield f"## {len(X):,} points of {X.shape[1]:,} features"
    yield ""
    yield "| codes | fit over exact | of the exact codes | violation, median and 90 % | AC | NMI |"
    yield "|---|---:|---:|---:|---:|---:|"
    worst = exact.kkt_violation_.max()
    yield f"| exact | 1 | 100% | at most {worst:.0e} | {accuracy:.3f} | {agreement:.3f} |"
    for setting in SETTINGS:
        taken, model = processor_seconds(lambda setting=setting: under(setting, X, n_clusters))
        accuracy, agreement = quality(model, y)
        violation = " and ".join(f"{v:.1e}" for v in np.quantile(model.kkt_violation_, [0.5, 0.9]))
        found = share_found(exact.init_codes_, model.init_codes_)
        yield (
            f"| {setting} | {taken / exact_time:.2f} | {found:.1%} | {violation} | "
            f"{accuracy:.3f} | {agreement:.3f} |"
        )


def under(setting: Setting, X: np.ndarray, n_clusters: int) -> SRSG:
    with ExitStack() as stack:
        for name, value in setting.constants().items():
            stack.enter_context(patch.object(candidates, name, value))
        return fitted(X, n_clusters, n_candidates=setting.n_candidates)


def fitted(X: np.ndarray, n_clusters: int, **options: Any) -> SRSG:
    return SRSG(n_clusters, lam=LAM, n_jobs=1, random_state=0, **options).fit(X)


def quality(model: SRSG, y: np.ndarray) -> tuple[float, float]:
    return clustering_accuracy(y, model.labels_), normalized_mutual_info(y, model.labels_)


def share_found(exact: Codes, found: Codes) -> float:
    """The weight of the exact codes at the entries that the others have too."""
    common = abs(exact).multiply(found != 0)
    return float(common.sum() / abs(exact).sum())


def processor_seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
