"""How far noise, outliers and corrupted pixels reduce the accuracy of each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paper.evaluation import Evaluation
from paper.figures.style import COMPETITORS, OURS, new_figure
from paper.published import compared_methods
from srsg.datasets import make_union_of_subspaces
from srsg.metrics import clustering_accuracy
from srsg.registry import methods
from srsg.types import FloatArray

FACES, N_PEOPLE = "Yale-B", 10
NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
OUTLIERS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
CORRUPTED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
N_DRAWS = 3
"""Random draws of subspaces that a point of a curve is the mean of."""

Data = tuple[FloatArray, NDArray[np.intp]]


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """AC of all methods over the noise on subspaces, the share of outliers, corrupted pixels."""
    faces = evaluation.load(FACES, N_PEOPLE)
    n_draws = 1 if quick else N_DRAWS
    panels: dict[str, tuple[Sequence[float], Callable[[float, int], Data], int]] = {
        "standard deviation of the noise on each of 30 features": (NOISE, _noisy, n_draws),
        "outliers for each point of a subspace": (OUTLIERS, _with_outliers, n_draws),
        f"share of corrupted pixels, {FACES}, {N_PEOPLE} people": (
            CORRUPTED,
            lambda share, seed: (corrupted(faces.X, share, seed), faces.y),
            1,
        ),
    }
    with new_figure(path, 13.5, 4.8) as figure:
        for ax, (title, (levels, make, draws)) in zip(
            figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True
        ):
            levels = levels[::5] if quick else levels
            curves = _curves(evaluation, title, levels, make, draws)
            for (name, setting), means in curves.items():
                color, dashes, marker, label = _style(name, setting)
                ax.plot(levels, means, color=color, ls=dashes, marker=marker, ms=5, label=label)
            ax.set(xlabel=title, ylim=(0, 1.03))
        axes = figure.axes
        axes[0].set_ylabel("AC of the points that are not outliers")
        axes[0].set_title("five subspaces of dimension 3")
        axes[1].set_title("five subspaces of dimension 3")
        axes[2].set_title("faces under different lights")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


def corrupted(X: FloatArray, share: float, seed: int) -> FloatArray:
    """Images in which a share of the pixels, others in each, have random grey values.

    Examples
    --------
    >>> import numpy as np
    >>> from paper.figures.robustness import corrupted
    >>> X = np.zeros((2, 100))
    >>> X[:, 0] = 255.0
    >>> float((corrupted(X, 0.5, seed=0) != X).mean()) > 0.3
    True
    """
    rng = np.random.default_rng(seed)
    values = rng.uniform(X.min(), X.max(), X.shape)
    return np.where(rng.random(X.shape) < share, values, X)


def _noisy(noise: float, seed: int) -> Data:
    return make_union_of_subspaces(200, n_subspaces=5, noise=noise, random_state=seed)


def _with_outliers(share: float, seed: int) -> Data:
    return make_union_of_subspaces(
        200, n_subspaces=5, noise=0.05, outliers=round(200 * share), random_state=seed
    )


def _curves(
    evaluation: Evaluation,
    title: str,
    levels: Sequence[float],
    make: Callable[[float, int], Data],
    n_draws: int,
) -> Mapping[tuple[str, str], list[float]]:
    """For every method and setting: the mean accuracy at each level."""
    wanted = [(name, "paper") for name in compared_methods()] + [("srsg", "default")]
    curves: dict[tuple[str, str], list[float]] = {key: [] for key in wanted}
    share = 1 / (3 * len(levels))
    for level in levels:
        drawn = [make(level, seed) for seed in range(n_draws)]
        with evaluation.progress.part(f"{title}: {level:g}", share):
            for name, setting in wanted:
                accuracies = [_accuracy(name, setting, *data) for data in drawn]
                curves[name, setting].append(float(np.mean(accuracies)))
    return curves


def _accuracy(name: str, setting: str, X: FloatArray, y: NDArray[np.intp]) -> float:
    # Nobody can say which cluster an outlier belongs to.
    inlier = y >= 0
    n_clusters = len(np.unique(y[inlier]))
    method = methods()[name]
    model = method.paper(n_clusters) if setting == "paper" else method.default(n_clusters)
    labels = model.set_params(random_state=0).fit_predict(X)
    return clustering_accuracy(y[inlier], labels[inlier])


def _style(name: str, setting: str) -> tuple[str, str, str, str]:
    if name == "srsg":
        color, marker, _ = OURS[setting]
        label = "SRSG, as in the paper" if setting == "paper" else "SRSG, default"
        return color, "-", marker, label
    color, dashes = COMPETITORS[name]
    return color, dashes, "", methods()[name].title
