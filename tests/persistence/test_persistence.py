"""Saved models: the same bits back, nothing executed, clear words for bad files."""

from __future__ import annotations

import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
    PreparedClusterer,
    RidgeGraph,
    StabilitySearch,
)
from srsg.explaining.unwrapping import clusterer_of
from srsg.files import FileError
from srsg.persistence import FORMAT, load_model, save_model
from support.cli_runs import good, run
from support.estimators import ALL_ESTIMATORS, assert_same
from support.file_samples import Exploit
from support.model_files import craft, model_parts

X = load_digits().data[:120]
FRAME = load_wine(as_frame=True).data
WINE = FRAME.to_numpy()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.srsg"


@pytest.fixture
def saved(path):
    save_model(L1Graph(3, random_state=0).fit(X), path)
    return path


def loaded_again(model, path):
    """The model from its file; loading and predicting warn of nothing."""
    save_model(model, path)
    with warnings.catch_warnings(action="error"):
        return load_model(path)


def assert_equal_models(loaded, model, new):
    """The same bits, in all that was learnt and all that follows from it."""
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert_same(loaded, model)
    for name in ("points", "affinity", "codes", "init_codes"):
        left, right = getattr(loaded.graph_, name), getattr(model.graph_, name)
        assert type(left) is type(right)
        assert getattr(left, "dtype", None) == getattr(right, "dtype", None)
    assert loaded.graph_.coder == model.graph_.coder
    np.testing.assert_array_equal(loaded.confidence_, model.confidence_)
    np.testing.assert_array_equal(loaded.outlier_score_, model.outlier_score_)
    with warnings.catch_warnings(action="ignore"):  # of rows of zeros
        left, right = loaded.transform(new), model.transform(new)
        assert type(left) is type(right)
        np.testing.assert_array_equal(left.toarray(), right.toarray())
        for method in ("predict", "predict_confidence", "predict_shares", "novelty_score"):
            expected = getattr(model, method)(new)
            np.testing.assert_array_equal(getattr(loaded, method)(new), expected)
    for n_clusters in (None, 2):
        relabelled = model.relabel(n_clusters, random_state=0)
        np.testing.assert_array_equal(loaded.relabel(n_clusters, random_state=0), relabelled)
    np.testing.assert_array_equal(loaded.spectrum(4), model.spectrum(4))


# Round trips


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_a_loaded_model_is_the_same(estimator, dtype, path):
    model = estimator(3, random_state=0).fit(X[:80].astype(dtype))
    assert_equal_models(loaded_again(model, path), model, X.astype(dtype))


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
@pytest.mark.filterwarnings("ignore:X has .* of zeros")
def test_copies_and_rows_of_zeros_come_back(estimator, path):
    points = np.concatenate([X[:50], X[10:20], np.zeros((3, 64)), X[:1], 2 * X[:2]])
    model = estimator(3, random_state=0).fit(points)
    assert_equal_models(loaded_again(model, path), model, np.concatenate([X, np.zeros((1, 64))]))


SETTINGS = [
    SRSG(3, step=0.01, affinity="codes", tol=1e-5),
    SRSG(3, affine=True),
    SRSG(3, affine=2.5),
    ElasticNetGraph(3, lam=0.1, n_nonzero=4, normalize=True),
    ElasticNetGraph(3, code_neighbors=5, affinity="agreement"),
    OMPGraph(3, n_nonzero=3, code_neighbors=4),
    RidgeGraph(3, affinity="codes", affine=True),
    SMCE(3, n_neighbors=500 // 5, lam=1),
    L1Graph(3, assign_labels="cluster_qr", random_state=None, n_neighbors=3),
    L1Graph(np.int64(3), lam=np.float64(0.1)),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.filterwarnings("ignore:The sweeps did not converge")
def test_parameters_come_back(settings, path):
    points = np.concatenate([X, X[:3]])
    model = settings.set_params(random_state=0).fit(points)
    assert_equal_models(loaded_again(model, path), model, X + 1)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG, OMPGraph, RidgeGraph])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_points_stay_sparse(estimator, dtype, path):
    points = sparse.random_array((90, 40), density=0.1, rng=0, dtype=dtype).tocsr()
    points = points[np.diff(points.indptr) > 0]
    points = sparse.csr_array(sparse.vstack([points, points[:4]]))
    model = estimator(3, random_state=0).fit(points)
    assert sparse.issparse(model.graph_.points)
    assert_equal_models(loaded_again(model, path), model, points[::2])


def test_sparse_points_whose_columns_are_in_no_order(path):
    points = sparse.random_array((60, 30), density=0.1, rng=0).tocsr()
    points = points[np.diff(points.indptr) > 1]
    for start, end in zip(points.indptr, points.indptr[1:], strict=False):
        points.indices[start:end] = points.indices[start:end][::-1]
    points.has_sorted_indices = False
    model = L1Graph(3, random_state=0).fit(points)
    assert_equal_models(loaded_again(model, path), model, points)


@pytest.mark.parametrize("estimator", [SRSG, SMCE, LocalScalingSpectralClustering])
def test_the_evidence_for_a_number_of_clusters_comes_back(estimator, path):
    model = estimator("auto", random_state=0).fit(X)
    loaded = loaded_again(model, path)
    assert_equal_models(loaded, model, X)
    assert loaded.best_counts() == model.best_counts()
    assert loaded.structure_found_ is model.structure_found_


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_graph_without_labels_comes_back(path, n_clusters):
    model = SRSG(n_clusters, random_state=0).fit_graph(X)
    loaded = loaded_again(model, path)
    assert_same(loaded, model)
    with pytest.raises(NotFittedError):
        loaded.predict(X)
    np.testing.assert_array_equal(loaded.fit_labels().labels_, model.fit_labels().labels_)


def test_candidates_need_no_index_once_they_are_found(path, monkeypatch):
    pytest.importorskip("faiss", reason="needs srsg[approximate]")
    model = L1Graph(3, n_candidates=30, random_state=0).fit(np.concatenate([X, X[:4]]))
    monkeypatch.setattr("srsg.coding.candidates.check_faiss", lambda: 1 / 0)
    assert_equal_models(loaded_again(model, path), model, X)


def test_names_of_features_come_back(path):
    frame = pd.DataFrame(X).add_prefix("pixel ")
    model = L1Graph(3, random_state=0).fit(frame)
    loaded = loaded_again(model, str(path))
    assert list(loaded.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_where_a_model_runs_is_not_saved(path, tmp_path):
    model = L1Graph(3, store=tmp_path / "kept", n_jobs=1, verbose=0, random_state=0).fit(X)
    loaded = loaded_again(model, path)
    assert not {"store", "n_jobs", "verbose"} & model_parts(path)[0]["parameters"].keys()
    assert (loaded.store, loaded.n_jobs, loaded.verbose) == (None, None, False)
    assert model.n_jobs == 1  # the model that was saved stays as it is
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


# Columns and searches


def kmeans():
    return KMeans(3, n_init=2, random_state=0)


def ridge():
    return RidgeGraph(3, affine=True, random_state=0)


GAPS = WINE.copy()
GAPS[::7, 3] = np.nan
GAPS[1::5, 8] = np.nan


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("impute", ["median", "knn", None])
@pytest.mark.parametrize("clusterer", [kmeans, ridge])
def test_columns_come_back(scale, impute, clusterer, path):
    points = WINE if impute is None else GAPS
    model = PreparedClusterer(clusterer(), scale=scale, impute=impute).fit(points[::2])
    loaded = loaded_again(model, path)
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.prepared(points), model.prepared(points))
    np.testing.assert_array_equal(loaded.predict(points), model.predict(points))
    assert vars(loaded).keys() == vars(model).keys()
    assert vars(loaded.clusterer_).keys() == vars(model.clusterer_).keys()


def test_columns_in_single_precision_come_back(path):
    points = GAPS.astype(np.float32)
    for impute in ("median", "knn"):
        model = PreparedClusterer(ridge(), scale="standard", impute=impute).fit(points)
        loaded = loaded_again(model, path)
        np.testing.assert_array_equal(loaded.predict(points), model.predict(points))


@pytest.mark.parametrize(
    "model",
    [
        kmeans(),
        PreparedClusterer(kmeans(), scale="standard"),
        PreparedClusterer(ridge(), scale="minmax", impute="median"),
        PreparedClusterer(PreparedClusterer(ridge(), scale="standard"), scale="minmax"),
    ],
    ids=str,
)
def test_names_of_columns_come_back(path, model):
    model = model.fit(FRAME)
    loaded = loaded_again(model, path)
    assert list(loaded.feature_names_in_) == list(FRAME.columns)
    with warnings.catch_warnings(action="error"):
        np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[FRAME.columns[::-1]])


def test_kmeans_comes_back(path):
    model = kmeans().fit(WINE)
    loaded = loaded_again(model, path)
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.inertia_ == model.inertia_
    np.testing.assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.transform(WINE), model.transform(WINE))
    single = kmeans().fit(WINE.astype(np.float32))
    new = WINE.astype(np.float32)
    np.testing.assert_array_equal(loaded_again(single, path).predict(new), single.predict(new))


WINNERS = {
    "kmeans": kmeans,
    "prepared kmeans": lambda: PreparedClusterer(kmeans(), scale="standard"),
    "prepared graph": lambda: PreparedClusterer(ridge(), scale="standard"),
    "graph": ridge,
}


@pytest.mark.parametrize(
    ("name", "n_clusters"),
    [*((name, 3) for name in WINNERS), ("graph", "auto"), ("prepared graph", "auto")],
)
def test_of_a_search_the_winner_is_saved(path, name, n_clusters):
    search = StabilitySearch({name: WINNERS[name]()}, n_clusters, random_state=0).fit(FRAME)
    loaded = loaded_again(search, path)
    assert str(clusterer_of(loaded)) == str(clusterer_of(search))
    assert list(loaded.feature_names_in_) == list(FRAME.columns)
    with warnings.catch_warnings(action="error"):
        np.testing.assert_array_equal(loaded.predict(FRAME), search.predict(FRAME))
    # The names go into the file, not into the model that was saved.
    assert not hasattr(search.best_estimator_, "feature_names_in_")
    if n_clusters == "auto":
        counts = clusterer_of(loaded).cluster_counts_
        np.testing.assert_array_equal(counts, search.cluster_counts_)


def test_a_search_of_our_own_candidates_inside_prepared_columns(path):
    search = StabilitySearch(n_clusters=3, random_state=0)
    model = PreparedClusterer(search, impute="median").fit(GAPS)
    loaded = loaded_again(model, path)
    assert type(loaded.clusterer_) is PreparedClusterer
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.predict(GAPS), model.predict(GAPS))


@pytest.mark.parametrize("name", WINNERS)
def test_the_command_line_matches_columns_by_name(name, path, tmp_path):
    model = WINNERS[name]().fit(FRAME)
    save_model(model, path)
    FRAME[FRAME.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    done = good("predict", path, tmp_path / "new.csv", "-o", tmp_path / "labels.csv")
    assert "warning" not in done.stderr.lower()
    assert "178 points in 3 of 3 clusters" in done.stderr
    table = pd.read_csv(tmp_path / "labels.csv")
    np.testing.assert_array_equal(table["label"], model.predict(FRAME))
    assert table["confidence"].between(0, 1).all()
    assert table["confidence"].nunique() > 10
    FRAME.drop(columns="hue").to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", path, tmp_path / "new.csv")
    assert done.exit_code == 1
    assert "hue" in done.stderr


# What is not saved


@pytest.mark.parametrize(
    "model",
    [
        L1Graph(3),
        kmeans(),
        PreparedClusterer(kmeans()),
        StabilitySearch(),
        make_pipeline(StandardScaler(), kmeans()),
    ],
    ids=str,
)
def test_a_model_must_be_fitted(path, model):
    with pytest.raises(NotFittedError):
        save_model(model, path)
    assert not path.exists()


class Derived(L1Graph):
    """An estimator that no file may name."""


OTHERS = {
    "MiniBatchKMeans": lambda: MiniBatchKMeans(2, n_init=1).fit(WINE),
    "StandardScaler": lambda: StandardScaler().fit(WINE),
    "Pipeline": lambda: make_pipeline(StandardScaler(), kmeans()).fit(WINE),
    "Derived": lambda: Derived(3, random_state=0).fit(WINE),
    "PreparedClusterer": lambda: PreparedClusterer(make_pipeline(kmeans())).fit(WINE),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_are_refused(path, name):
    with pytest.raises(TypeError, match=rf"save_model takes .*; got {name}\. Prepared"):
        save_model(OTHERS[name](), path)
    assert not path.exists()


def test_what_is_no_model_is_refused(path):
    with pytest.raises(TypeError):
        save_model("model", path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"random_state": np.random.RandomState(0)}, r"random_state=RandomState.* cannot be saved"),
        ({"lam": -1.0}, "The model cannot be saved: The 'lam' parameter"),
        ({"n_neighbors": 500}, "The model cannot be saved: n_neighbors=500"),
    ],
)
def test_a_failed_save_leaves_the_old_file_alone(saved, tmp_path, change, message):
    before = saved.read_bytes()
    model = L1Graph(3, random_state=0).fit(X).set_params(**change)
    with pytest.raises((TypeError, ValueError), match=message):
        save_model(model, saved)
    assert saved.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.srsg"]


def test_a_disk_that_is_full_is_named_and_the_old_file_stays(saved, tmp_path, monkeypatch):
    def full(file, **arrays):
        file.write(b"some of it")
        raise OSError(28, "No space left on device")

    before = saved.read_bytes()
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(FileError, match=r"model\.srsg: cannot be written \(No space left"):
        save_model(L1Graph(3, random_state=0).fit(X), saved)
    assert saved.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.srsg"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match="there is no folder"):
        save_model(L1Graph(3, random_state=0).fit(X), tmp_path / "nowhere" / "model.srsg")


def test_a_model_can_be_written_to_a_device():
    save_model(L1Graph(3, random_state=0).fit(X), os.devnull)


# Files


def test_a_file_says_which_versions_wrote_it(saved):
    header, _ = model_parts(saved)
    assert header["format"] == FORMAT
    assert header["srsg"]


def test_a_newer_format_is_refused(saved):
    craft(saved, format=FORMAT + 1, srsg="9.9")
    with pytest.raises(ValueError, match=rf"model\.srsg has format {FORMAT + 1}.*srsg 9\.9"):
        load_model(saved)


def test_pickles_are_refused_and_not_run(path, tmp_path):
    path.write_bytes(pickle.dumps(Exploit(tmp_path / "was run")))
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(path)
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize("name", ["header", "clusterer/points", "anything"])
def test_pickles_among_the_arrays_are_not_run(saved, tmp_path, name):
    with np.load(saved) as file:
        arrays = dict(file)
    arrays[name] = np.array([Exploit(tmp_path / "was run")], dtype=object)
    with saved.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(saved)
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_cut_short_is_named(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(
        ValueError, match=r"model\.srsg is not a model that srsg saved, or is incomplete"
    ):
        load_model(saved)


@pytest.mark.parametrize("lost", [1, 2, 40])
def test_a_file_that_lost_its_beginning(saved, lost):
    # Its first part then begins before the file.
    saved.write_bytes(saved.read_bytes()[lost:])
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(saved)


def test_a_byte_that_changed_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(saved)


def test_a_missing_file(path):
    with pytest.raises(FileNotFoundError, match=r"model\.srsg"):
        load_model(path)
    with pytest.raises(IsADirectoryError):
        load_model(path.parent)
