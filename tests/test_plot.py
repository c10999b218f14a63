"""The same pictures from Python."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

plt = pytest.importorskip("matplotlib.pyplot", reason="the pictures need matplotlib")

from srsg import NeighborGraph, plot  # noqa: E402


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return KMeans(3, n_init=1, random_state=0).fit(X), X, y


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y, ax: plot.affinity(np.ones((3, 3)), [0, 0, 1], ax=ax),
        lambda model, X, y, ax: plot.embedding(model, X, ax=ax),
        lambda model, X, y, ax: plot.tree(NeighborGraph(3, random_state=0).fit(X), ax=ax),
        lambda model, X, y, ax: plot.eigenvalues([1.0, 0.5], ax=ax),
        lambda model, X, y, ax: plot.objective([2.0, 1.0], ax=ax),
        lambda model, X, y, ax: plot.sensitivity([1, 2], {"a": 1}, parameter="lam", ax=ax),
        lambda model, X, y, ax: plot.gallery(model, X, (8, 8), ax=ax),
    ],
)
def test_every_picture_is_drawn_where_asked(draw, digits, ax):
    assert draw(*digits, ax) is ax
    assert ax.has_data()


def test_a_model_without_a_graph_has_no_tree(digits, ax):
    with pytest.raises(TypeError, match="KMeans builds no graph"):
        plot.tree(digits[0], ax=ax)


def test_embedding_colours_points_by_label(digits, ax):
    model, X, y = digits
    plot.embedding(model, X, y, ax=ax)
    colors = ax.collections[0].get_facecolors()
    assert len(np.unique(colors, axis=0)) == 3
    assert len(np.unique(colors[y == 1], axis=0)) == 1


def test_embedding_of_a_pipeline_has_its_clusters(digits, ax):
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0))
    plot.embedding(model.fit(digits[1]), digits[1], ax=ax)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


@pytest.mark.parametrize("members", ["central", "least_confident"])
def test_gallery_shows_members(members, digits, ax):
    model, X, _ = digits
    plot.gallery(model, X, (8, 8), members=members, count=4, ax=ax)
    sheet = ax.images[0].get_array()
    assert sheet.shape == (3 * 9, 4 * 9, 4)
    pictures = X.reshape(-1, 8, 8) / 16
    for row in range(3):
        tile = sheet[9 * row : 9 * row + 8, :8, 0]
        same = np.flatnonzero(np.isclose(pictures, tile).all(axis=(1, 2)))
        assert (model.labels_[same] == row).any()


def test_gallery_of_colours_and_small_clusters(ax):
    X = np.random.default_rng(0).random((5, 12))
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    plot.gallery(model, X, (2, 2, 3), count=9, ax=ax)
    # Two clusters and nine places, each with a line of empty pixels after its picture.
    sheet = np.asarray(ax.images[0].get_array()).reshape(2, 3, 9, 3, 4)[:, :2, :, :2]
    scaled = (X - X.min()) / (X.max() - X.min())
    for row in (0, 1):
        shown = sheet[row].swapaxes(0, 1)
        own = scaled[model.labels_ == row].reshape(-1, 2, 2, 3)
        found = {picture[..., :3].tobytes() for picture in shown[: len(own)]}
        assert found == {picture.tobytes() for picture in own}
        assert (shown[: len(own), ..., 3] == 1).all()
        assert not shown[len(own) :].any()


def test_sensitivity_draws_runs_as_bands(ax):
    plot.sensitivity([1, 2], {"a": [[1, 3], [2, 4]]}, parameter="lam", ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [2, 3])
    assert len(ax.collections) == 1
    with pytest.raises(ValueError, match=r"scores\['b'\] has 3 entries for 2 values"):
        plot.sensitivity([1, 2], {"b": [1, 2, 3]}, parameter="lam", ax=ax)


def test_gallery_names_a_wrong_choice(digits):
    with pytest.raises(
        ValueError, match="members must be 'central' or 'least_confident', got 'all'"
    ):
        plot.gallery(digits[0], digits[1], (8, 8), members="all")


def test_line_when_matplotlib_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'srsg\\[plot\\]'"):
        plot.objective([2.0, 1.0])
