"""The idea of SRSG on a point of real data: Figure 1 of the paper, which is a drawing there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_digits

from paper.datasets import Dataset
from paper.evaluation import Evaluation
from paper.figures.style import BLUE, VERMILION, new_figure
from srsg.registry import methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SHOWN = 9


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """One image, the images that its l1 code uses, those that its neighbours' codes use, and those
    that its SRSG code uses."""
    # Pictures that may be shown to everyone: those that come with scikit-learn.
    X, y = load_digits(n_class=4 if quick else 10, return_X_y=True)
    data = Dataset(X, y, "digits", (8, 8))
    model = methods()["srsg"].paper(data.n_clusters, n_jobs=evaluation.n_jobs)
    with evaluation.progress.part(f"{data.name}: codes before and after", 1.0):
        model.fit_graph(data.X)
    before, after = model.init_codes_, model.codes_
    point = telling_point(before, after, data.y)
    rows = {
        f"image {point}": np.array([point]),
        "its nearest neighbours": model.neighbors_[point],
        "its l1 code uses": _largest_first(before, point),
        "its neighbours' codes use": _most_used(before, model.neighbors_[point]),
        "its SRSG code uses": _largest_first(after, point),
    }
    with new_figure(path, 11.0, 6.6) as figure:
        grid = figure.subplots(len(rows), MOST_SHOWN + 1)
        for (title, members), panels in zip(rows.items(), grid, strict=True):
            for ax in panels:
                ax.axis("off")
            panels[0].text(0.95, 0.5, title, ha="right", va="center", transform=panels[0].transAxes)
            for ax, member in zip(panels[1:], members[:MOST_SHOWN], strict=False):
                right = data.y[member] == data.y[point]
                _picture(ax, data, int(member), BLUE if right else VERMILION)
        figure.suptitle(
            f"{data.name}: what one image is coded over. Blue: the same digit; red: another"
        )


def telling_point(before: sparse.csr_array, after: sparse.csr_array, y: NDArray[Any]) -> int:
    """The point that loses most wrong entries, of those that keep two right ones or more and, if
    there are such points, no wrong one; ties by index.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from paper.figures.idea import telling_point
    >>> after = np.zeros((5, 5))
    >>> after[[0, 1, 2], [1, 2, 0]] = after[[0, 1, 2], [2, 0, 1]] = 1.0
    >>> before = after.copy()
    >>> before[1, 3] = 1.0
    >>> y = np.array([0, 0, 0, 1, 1])
    >>> telling_point(sparse.csr_array(before), sparse.csr_array(after), y)
    1
    """

    def counts(codes: sparse.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
        entries = sparse.coo_array(codes)
        right = y[entries.row] == y[entries.col]
        length = codes.shape[0]
        return (
            np.bincount(entries.row[right], minlength=length),
            np.bincount(entries.row[~right], minlength=length),
        )

    (_, wrong_before), (right_after, wrong_after) = counts(before), counts(after)
    lost = wrong_before - wrong_after
    # A wrong entry that is left outweighs any number of lost ones.
    gain = lost - (wrong_after > 0) * (1 + lost.max())
    return int(np.argmax(np.where(right_after > 1, gain, gain.min() - 1)))


def _largest_first(codes: sparse.csr_array, point: int) -> NDArray[Any]:
    row = codes[[point]].tocoo()
    return row.col[np.argsort(-np.abs(row.data), kind="stable")]


def _most_used(codes: sparse.csr_array, neighbors: NDArray[Any]) -> NDArray[Any]:
    used = np.asarray((codes[neighbors] != 0).sum(axis=0)).ravel()
    order = np.argsort(-used, kind="stable")
    return order[used[order] * 2 > len(neighbors)]


def _picture(ax: Axes, data: Dataset, member: int, color: str) -> None:
    ax.axis("on")
    ax.imshow(data.X[member].reshape(data.image_shape), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(visible=True, color=color, linewidth=3)
    ax.grid(False)
