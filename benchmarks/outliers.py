"""Are outliers found, and points of classes that were not fitted?

    python -m benchmarks.outliers --data DIR [--out docs/results/parts/outliers.md]

Yale-B with foreign or corrupted images among the fitted ones (``outlier_score_``), and digits
fitted without one of the classes (``novelty_score`` and ``predict(novelty=)``).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from srsg import SRSG, RidgeGraph
from srsg.explaining.outliers import visits

METHODS = {"ridge": RidgeGraph, "srsg": SRSG}
N_SUBJECTS, N_OUTLIERS, NOVELTY = 10, 64, 0.05


def _npz(folder: Path, name: str) -> tuple[NDArray, NDArray]:
    with np.load(folder / f"{name}.npz") as file:
        return file["X"].astype(np.float64), file["y"]


def faces_with_outliers(folder: Path) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Faces of the first subjects, with outliers: a name, the points, and which are outliers."""
    X, y = _npz(folder, "YaleB")
    X = X[np.isin(y, np.unique(y)[:N_SUBJECTS])]
    rng = np.random.default_rng(0)
    objects, _ = _npz(folder, "COIL20")
    added = objects[rng.choice(len(objects), N_OUTLIERS, replace=False)] * (255 / objects.max())
    outlier = np.arange(len(X) + N_OUTLIERS) >= len(X)
    yield f"{N_OUTLIERS} images of COIL-20 added", np.vstack([X, added]), outlier
    for share in (0.1, 0.2, 0.5):
        corrupted, bad = X.copy(), rng.choice(len(X), N_OUTLIERS, replace=False)
        for row in bad:
            pixels = rng.choice(X.shape[1], round(share * X.shape[1]), replace=False)
            corrupted[row, pixels] = rng.integers(0, 256, len(pixels))
        yield (
            f"{share:.0%} of the pixels of {N_OUTLIERS} replaced",
            corrupted,
            np.isin(np.arange(len(X)), bad),
        )


def fitted_outliers(folder: Path) -> list[str]:
    lines = [
        "| Yale-B, 10 subjects | codes | outlier score | not explained | random walk | LOF | "
        "median confidence of outliers, of others |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, X, outlier in faces_with_outliers(folder):
        for method, kind in METHODS.items():
            model: Any = kind(N_SUBJECTS, random_state=0).fit(X)
            lof = -LocalOutlierFactor().fit(model.fit_X_).negative_outlier_factor_
            scores = (model.outlier_score_, -model.explained_, -visits(model.codes_), lof)
            found = [f"{roc_auc_score(outlier, score):.3f}" for score in scores]
            sure = model.confidence_
            medians = f"{np.median(sure[outlier]):.2f}, {np.median(sure[~outlier]):.2f}"
            lines.append(f"| {name} | {method} | {' | '.join(found)} | {medians} |")
            print(lines[-1])
    return lines


def new_classes() -> list[str]:
    X, y = load_digits(return_X_y=True)
    half = np.arange(len(X)) % 2 == 0
    lines = [
        "| fitted on half of the digits without | codes | AUROC | digits of the class called -1 | "
        "other new digits called -1 | median confidence of the class, of others |",
        "|---|---|---|---|---|---|",
    ]
    for method, kind in (("srsg", SRSG), ("ridge", RidgeGraph)):
        found = []
        for left_out in range(10):
            fitted, new = half & (y != left_out), ~half | (y == left_out)
            model: Any = kind(9, random_state=0).fit(X[fitted])
            novel = y[new] == left_out
            score = model.novelty_score(X[new])
            labels, sure = model.predict_with_confidence(X[new], novelty=NOVELTY)
            figures = (
                roc_auc_score(novel, score),
                (labels[novel] == -1).mean(),
                (labels[~novel] == -1).mean(),
                np.median(sure[novel]),
                np.median(sure[~novel]),
            )
            found.append(figures)
            lines.append(_novel_line(f"{left_out}", method, figures))
            print(lines[-1])
        lines.append(_novel_line("mean", method, tuple(np.mean(found, axis=0))))
    return lines


def _novel_line(name: str, method: str, figures: tuple[float, ...]) -> str:
    auroc, hit, false, own, others = figures
    return (
        f"| {name} | {method} | {auroc:.3f} | {hit:.0%} | {false:.0%} | {own:.2f}, {others:.2f} |"
    )


def negated() -> list[str]:
    X, _ = load_digits(return_X_y=True)
    lines = ["| codes | AUROC | median confidence of negated, of others |", "|---|---|---|"]
    for method, kind in METHODS.items():
        model: Any = kind(10, random_state=0).fit(X[::2])
        new = np.vstack([X[1::2], -X[1::2]])
        novel = np.arange(len(new)) >= len(new) // 2
        sure = model.predict_confidence(new)
        medians = f"{np.median(sure[novel]):.2f}, {np.median(sure[~novel]):.2f}"
        auroc = roc_auc_score(novel, model.novelty_score(new))
        lines.append(f"| {method} | {auroc:.3f} | {medians} |")
    return lines


HEAD = """# Outliers and new classes

Printed by `python -m benchmarks.outliers --data DIR`. AUROC throughout: 1 is perfect, 0.5 by
chance.

## Outliers among the fitted points

`outlier_score_` is the mean of two percentiles: how badly a point's own cluster explains it, and
how seldom a random walk along the codes comes by (You, Robinson and Vidal 2017). Each is also shown
by itself; LOF is scikit-learn's `LocalOutlierFactor` on the same unit-length points.
"""
NEW = f"""## A class that was not fitted

`novelty_score` says how little the clusters explain a new point, and
`predict(X, novelty={NOVELTY:g})` answers -1 for those that are explained worse
than {NOVELTY:.0%} of the fitted points.
"""


def page(folder: Path | None) -> str:
    parts = [HEAD, *(fitted_outliers(folder) if folder else ["Left out: no --data."])]
    parts += ["", NEW, *new_classes(), "", "## Negated digits\n", *negated(), ""]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page(given.data)
    print(text)
    if given.out:
        given.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
