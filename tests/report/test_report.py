"""The page about a fitted model: what is on it, and that nothing can break out of it."""

from __future__ import annotations

import base64
import io
import os
import re
from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import NotFittedError

from srsg import SMCE, SRSG, L1Graph, LocalScalingSpectralClustering
from srsg.estimators.base import scored_counts
from srsg.explaining.confidence import membership
from srsg.explaining.layout import plane
from srsg.files import FileError
from srsg.report import write_report
from srsg.report.facts import Facts
from srsg.report.pictures import graph_picture, png, thumbnails
from srsg.report.sections import summary
from support.pages import Page


@pytest.fixture(scope="module")
def digits():
    return load_digits(n_class=3, return_X_y=True)


@pytest.fixture(scope="module")
def fitted(digits):
    X, _ = digits
    models = (
        SRSG(3, random_state=0),
        L1Graph(3, random_state=0),
        SMCE(3, random_state=0),
        LocalScalingSpectralClustering(3, random_state=0),
        KMeans(3, n_init=1, random_state=0),
    )
    return {type(model).__name__: model.fit(X) for model in models}


EVERY = ["summary", "map", "clusters", "members", "classes", "measures"]


@pytest.mark.parametrize(
    ("name", "sections", "words"),
    [
        (
            "SRSG",
            [*EVERY, "tree", "graph", "certificates"],
            ["l1-graph, where it started", "Eigenvalues", "Objective", "before the sweeps", "step"],
        ),
        (
            "L1Graph",
            [*EVERY, "tree", "graph", "certificates"],
            ["largest KKT violation", "With 2 clusters, ", "Sizes of the codes"],
        ),
        ("SMCE", [*EVERY, "tree", "graph", "certificates"], ["largest duality gap", "Eigenvalues"]),
        ("LocalScalingSpectralClustering", [*EVERY, "tree", "graph"], ["Eigenvalues"]),
        ("KMeans", [*EVERY, "certificates"], ["inertia", "Nearest neighbours attract each other"]),
    ],
)
def test_page_of_pictures(name, sections, words, fitted, digits, tmp_path):
    X, y = digits
    path = write_report(
        tmp_path / "page.html",
        fitted[name],
        X,
        y=y,
        image_shape=(8, 8),
        title="Digits",
        seconds=2.5,
    )
    page = Page(path)
    assert sorted(page.sections) == sorted(sections)
    for word in ("Digits", "accuracy", "NMI", "ARI", "seconds to fit", *words):
        assert word in page.words, word
    assert "2.5" in page.words
    data = page.data
    position = np.frombuffer(base64.b64decode(data["position"]), "<i2").reshape(-1, 2)
    assert len(position) == len(X)
    assert np.abs(position).max() == 32767
    cluster = np.frombuffer(base64.b64decode(data["cluster"]), "<u2")
    np.testing.assert_array_equal(cluster, fitted[name].labels_)
    tiles = [found for tag, found in page.elements if "data-point" in found]
    assert len(tiles) == 3 * 16
    assert all(0 <= int(tile["data-point"]) < len(X) for tile in tiles)


def test_page_of_a_table(tmp_path):
    raw = load_breast_cancer(as_frame=True)
    model = SRSG(2, random_state=0).fit(raw.data)
    page = Page(
        write_report(
            tmp_path / "p.html", model, raw.data, y=raw.target, class_names=raw.target_names
        )
    )
    assert "low worst radius" in page.words  # names of the DataFrame's columns
    assert re.search(r"\d+ of class malignant in cluster \d, matched with benign", page.words)
    assert re.search(r"worst \w+( \w+)? [>≤] [\d.,]+.*describes \d+% of its points", page.words)
    assert sum("data-point" in found for _, found in page.elements) == 12


def test_many_columns_without_names_are_not_put_into_words(tmp_path):
    X = load_digits().data[:60]
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    page = Page(write_report(tmp_path / "p.html", model, X))
    assert "feature 3" not in page.words
    assert "describes" not in page.words
    assert "The rows at the heart of each cluster" in page.words
    assert sum("data-point" in found for _, found in page.elements) == 12
    assert page.data["picture"] is None


def test_page_shows_the_numbers_of_clusters_tried(digits, tmp_path):
    X, _ = digits
    model = SRSG("auto", random_state=0).fit(X[:200])
    page = Page(write_report(tmp_path / "p.html", model, X[:200]))
    assert f"The dashed line is at {model.n_clusters_}, the number chosen." in page.words
    others = scored_counts(model).others()
    assert " and ".join(f"{count} ({score:.2g})" for count, score in others) in page.words
    assert "No structure found" not in page.words
    chart = next(f for _, f in page.elements if f.get("aria-label", "").startswith("Scores of"))
    assert str(len(model.cluster_counts_)) in chart["aria-label"]
    model.structure_found_ = False
    page = Page(write_report(tmp_path / "p.html", model, X[:200]))
    assert "No structure found" in page.words


def test_page_without_classes(fitted, digits, tmp_path):
    page = Page(write_report(tmp_path / "p.html", fitted["SRSG"], digits[0]))
    assert "classes" not in page.sections
    assert "No true classes were given" in page.words
    assert not any(found.get("data-colour") == "class" for _, found in page.elements)


@pytest.mark.parametrize(("count", "noun"), [(1, "component"), (2, "components")])
def test_components_are_counted_in_words(count, noun, fitted, digits):
    model = copy(fitted["L1Graph"])
    model.n_connected_components_ = count
    words = re.findall(r">(components?)<", summary(Facts(model, digits[0])))
    assert words == [noun]


def test_same_model_same_page(fitted, digits, tmp_path):
    first, second = (
        write_report(tmp_path / name, fitted["SRSG"], digits[0]).read_bytes() for name in "ab"
    )
    assert first == second


NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \"' onload=x &amp; $title"


@pytest.mark.parametrize("image_shape", [None, (8, 8)])
def test_text_of_the_user_stays_text(image_shape, fitted, digits, tmp_path):
    X, y = digits
    page = Page(
        write_report(
            tmp_path / "page.html",
            fitted["SRSG"],
            X,
            y=y,
            title=NASTY,
            class_names=[f"{NASTY}{c}" for c in range(3)],
            feature_names=[f"{NASTY}{j}" for j in range(64)],
            row_ids=[f"{NASTY}{i}" for i in range(len(X))],
            image_shape=image_shape,
        )
    )
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert not any(name.startswith("on") for _, found in page.elements for name in found)
    assert NASTY in page.text
    assert page.data["ids"][1] == f"{NASTY}1"
    assert page.data["classNames"][2] == f"{NASTY}2"


def test_page_loads_nothing(fitted, digits, tmp_path):
    X, y = digits
    page = Page(write_report(tmp_path / "p.html", fitted["SRSG"], X, y=y, image_shape=(8, 8)))
    assert "http://" not in page.source
    assert "https://" not in page.source
    for _, found in page.elements:
        for name in ("src", "href"):
            assert found.get(name, "#").startswith(("#", "data:image/png"))
    assert all(url.startswith('"data:') for url in re.findall(r"url\((.*?)\)", page.source))
    assert "@import" not in page.source


def test_page_of_seventy_thousand_points(tmp_path):
    n_points, n_clusters = 70_000, 100
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(n_clusters, size=n_points))
    steps = sparse.diags_array([np.ones(n_points - 1)], offsets=[1], shape=(n_points, n_points))
    graph = sparse.csr_array(steps + steps.T)
    model = SimpleNamespace(
        labels_=labels,
        affinity_matrix_=graph,
        codes_=graph,
        embedding_=rng.random((n_points, 3)),
        eigenvalues_=np.linspace(1, 0.9, n_clusters),
    )
    X = rng.integers(256, size=(n_points, 28 * 28), dtype=np.uint8)  # noise: no compression helps
    ids = [f"images/picture-{i:06d}.png" for i in range(n_points)]
    path = write_report(tmp_path / "p.html", model, X, y=labels, image_shape=(28, 28), row_ids=ids)
    assert path.stat().st_size < 15e6
    page = Page(path)
    assert "70,000" in page.words
    pictured = np.frombuffer(base64.b64decode(page.data["picture"]), "<i4") >= 0
    assert 3000 < pictured.sum() < n_points
    shown = [int(found["data-point"]) for _, found in page.elements if "data-point" in found]
    assert pictured[shown].all()


def test_a_page_is_replaced_at_once_or_not_at_all(fitted, digits, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("the old page")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match="no space"):
        write_report(path, fitted["SRSG"], digits[0])
    assert path.read_text() == "the old page"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1]}, r"y has 2 entries, but there are 537 rows of X"),
        ({"class_names": ["a"]}, r"class_names has 1 entries, but there are 0 classes in y"),
        ({"row_ids": ["a"]}, r"row_ids has 1 entries"),
        ({"feature_names": ["a"]}, r"feature_names has 1 entries, but there are 64 columns"),
        ({"image_shape": (8, 9)}, r"image_shape=\(8, 9\) must be"),
        ({"image_shape": (64,)}, r"image_shape=\(64,\) must be"),
    ],
)
def test_bad_arguments(arguments, message, fitted, digits, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path / "p.html", fitted["SRSG"], digits[0], **arguments)
    assert not list(tmp_path.iterdir())


def test_bad_models_data_and_folders(fitted, digits, tmp_path):
    X, _ = digits
    with pytest.raises(NotFittedError, match="model, a SRSG, has no labels_: fit it first"):
        write_report(tmp_path / "p.html", SRSG(3), X)
    with pytest.raises(ValueError, match="X has 10 entries, but there are 537 labels_"):
        write_report(tmp_path / "p.html", fitted["SRSG"], X[:10])
    with pytest.raises(ValueError, match="X must have numbers only"):
        write_report(tmp_path / "p.html", fitted["SRSG"], pd.DataFrame({"a": ["b"] * len(X)}))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_report(tmp_path / "none" / "p.html", fitted["SRSG"], X)


def test_one_cluster_and_few_points(tmp_path):
    X = np.random.default_rng(0).random((7, 2)) + 0.1
    page = Page(write_report(tmp_path / "p.html", L1Graph(1, random_state=0).fit(X), X))
    assert "clusters" in page.sections


def test_confusion_with_fewer_clusters_than_classes(digits):
    X, y = digits
    found = Facts(KMeans(2, n_init=1, random_state=0).fit(X), X, y=y)
    confusion = found.confusion
    assert confusion.table.shape == (3, 2)
    matched = confusion.table[confusion.classes, [0, 1]].sum()
    assert matched / len(X) == pytest.approx(found.scores["accuracy"])


def test_eigenvalues_go_on_beyond_those_used(fitted, digits):
    values, used = Facts(fitted["L1Graph"], digits[0]).eigenvalues
    assert used == 3
    assert len(values) > used
    np.testing.assert_array_equal(values[:used], fitted["L1Graph"].eigenvalues_)
    assert (np.diff(values) < 1e-9).all()


@given(
    weights=arrays(float, (6, 6), elements=st.floats(0, 1)),
    labels=arrays(int, 6, elements=st.integers(0, 2)),
)
def test_membership_is_the_share_of_the_own_cluster(weights, labels):
    expected = [
        sum(w for w, other in zip(row, labels, strict=True) if other == own) / (row.sum() or 1)
        for row, own in zip(weights, labels, strict=True)
    ]
    for graph in (weights, sparse.csr_array(weights)):
        np.testing.assert_allclose(membership(graph, labels), expected, atol=1e-12)


def test_graph_picture_counts_and_places_edges():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((40, 40)) < 0.2, 1)
    graph = (upper | upper.T).astype(float)
    cluster, classes = rng.integers(3, size=40), rng.integers(2, size=40)
    picture = graph_picture(graph, cluster, classes)
    assert picture == graph_picture(sparse.csr_array(graph), cluster, classes)
    row, column = np.nonzero(upper)
    assert picture.n_edges == len(row)
    assert picture.between_clusters == pytest.approx((cluster[row] != cluster[column]).mean())
    assert picture.between_classes == pytest.approx((classes[row] != classes[column]).mean())
    order = np.lexsort((classes, cluster))
    drawn = decoded(picture.uri)
    np.testing.assert_array_equal(drawn[..., 3] > 0, graph[order][:, order] > 0)


def decoded(uri):
    image = pytest.importorskip("PIL.Image", reason="pillow reads the pictures back")
    return np.asarray(image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_is_read_back(channels):
    pixels = np.random.default_rng(0).integers(256, size=(5, 7, channels), dtype=np.uint8)
    read = decoded("," + base64.b64encode(png(pixels)).decode())
    np.testing.assert_array_equal(read.reshape(pixels.shape), pixels)


@pytest.mark.parametrize("shape", [(6, 5), (6, 5, 3), (50, 40)])
def test_thumbnails_are_the_points(shape):
    X = np.random.default_rng(0).random((11, np.prod(shape)))
    sheet = thumbnails(X, shape, np.array([3]))
    pixels = decoded(sheet.sheet).astype(float)
    row, column = divmod(int(np.searchsorted(sheet.points, 3)), sheet.columns)
    tile = pixels[row * sheet.height :, column * sheet.width :][: sheet.height, : sheet.width]
    picture = X[3].reshape(shape)
    if shape == (50, 40):  # shrunk: means of pixels
        assert tile.shape == (32, 32)
        assert tile.mean() / 255 == pytest.approx(picture.mean(), abs=0.02)
    else:
        np.testing.assert_allclose(tile / 255, picture, atol=0.01)


def test_points_of_one_component_lie_together():
    ring = np.roll(np.eye(30), 1, axis=1)
    graph = sparse.csr_array(np.kron(np.eye(2), ring + ring.T))
    model = SimpleNamespace(affinity_matrix_=graph, embedding_=np.repeat(np.eye(2), 30, axis=0))
    coordinates, _ = plane(model, np.zeros((60, 1)))
    first, second = coordinates[:30], coordinates[30:]
    apart = np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))
    assert apart > max(
        np.linalg.norm(part - part.mean(axis=0), axis=1).mean() for part in (first, second)
    )
    np.testing.assert_array_equal(coordinates, plane(model, np.zeros((60, 1)))[0])


def test_page_compares_methods_where_they_are_given(fitted, digits, tmp_path):
    X, y = digits
    model = SRSG(3, random_state=0).fit(X)
    rows = [
        {"method": "srsg", "AC": 0.9, "NMI": 0.8, "seconds": 1.5, "megabytes": None},
        {"method": "kmeans", "AC": 0.5, "NMI": 0.85, "seconds": 0.1, "megabytes": 123.4},
        {"method": "smce", "AC": None, "error": "<b>too</b> few points"},
    ]
    path = write_report(tmp_path / "page.html", model, X, y=y, methods=rows)
    page = path.read_text("utf-8")
    table = page[page.index('<section id="methods"') : page.index('<section id="clusters"')]
    assert table.count("<tr") == 4
    assert '<tr class="chosen"><th scope="row">SRSG</th>' in table
    assert "<b>0.900</b>" in table
    assert "<b>0.850</b>" in table
    assert "0.500" in table
    assert "ARI" not in table
    assert "123" in table
    assert "failed: &lt;b&gt;too&lt;/b&gt; few points" in table
    plain = write_report(tmp_path / "plain.html", model, X, y=y).read_text("utf-8")
    assert '<section id="methods"' not in plain
