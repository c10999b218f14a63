"""Saved winners of a search: pipelines and K-means come back the same, and crafted ones do not."""

from __future__ import annotations

import json
import socket
import warnings
import zipfile
from copy import copy

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from srsg.persistence.pipelines import TYPES

from srsg import L1Graph, RidgeGraph, StabilitySearch
from srsg.persistence import FORMAT, load_model, save_model
from support.cli_runs import good, run

FRAME = load_wine(as_frame=True).data
X = FRAME.to_numpy()


def kmeans():
    return KMeans(3, n_init=2, random_state=0)


def ridge(**options):
    return RidgeGraph(3, affine=True, random_state=0, **options)


MODELS = {
    "kmeans": kmeans,
    "standardised kmeans": lambda: make_pipeline(StandardScaler(), kmeans()),
    "scaled kmeans": lambda: make_pipeline(MinMaxScaler((-1.0, 1.0)), kmeans()),
    "standardised ridge": lambda: make_pipeline(StandardScaler(), ridge()),
    "scaled ridge": lambda: Pipeline([("unit", MinMaxScaler()), ("graph", ridge())]),
    "two scalers": lambda: make_pipeline(MinMaxScaler(), StandardScaler(with_mean=False), ridge()),
    "imputed kmeans": lambda: make_pipeline(
        StandardScaler(), SimpleImputer(strategy="median"), kmeans()
    ),
    "imputed ridge": lambda: make_pipeline(MinMaxScaler(), KNNImputer(), ridge()),
    "no scaler": lambda: make_pipeline(ridge()),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: model().fit(X[::2]) for name, model in MODELS.items()}


@pytest.fixture(scope="module")
def loaded(fitted, tmp_path_factory):
    """The same models after a round trip: the form in which a file holds them."""
    folder = tmp_path_factory.mktemp("saved")
    for name, model in fitted.items():
        save_model(model, folder / f"{name}.srsg")
    return {name: load_model(folder / f"{name}.srsg") for name in fitted}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.srsg"


def parts(model):
    return [model, *(step for _, step in model.steps)] if isinstance(model, Pipeline) else [model]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_same(fitted, path, name):
    model = fitted[name]
    save_model(model, path)
    loaded = load_model(path)
    for left, right in zip(parts(loaded), parts(model), strict=True):
        assert type(left) is type(right)
        assert vars(left).keys() == vars(right).keys()
    np.testing.assert_array_equal(parts(loaded)[-1].labels_, parts(model)[-1].labels_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("name", MODELS)
def test_models_that_are_not_fitted_are_saved_too(path, name):
    save_model(MODELS[name](), path)
    loaded = load_model(path)
    assert str(loaded) == str(MODELS[name]())
    with pytest.raises(NotFittedError):
        loaded.predict(X)


def test_single_precision_is_kept(path):
    model = make_pipeline(StandardScaler(), kmeans()).fit(X.astype(np.float32))
    save_model(model, path)
    new = X.astype(np.float32)
    np.testing.assert_array_equal(load_model(path).predict(new), model.predict(new))


@pytest.mark.parametrize("name", MODELS)
def test_names_of_features_are_kept(path, name):
    model = MODELS[name]().fit(FRAME)
    save_model(model, path)
    loaded = load_model(path)
    assert list(loaded.feature_names_in_) == list(FRAME.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[FRAME.columns[::-1]])


@pytest.mark.parametrize("name", ["kmeans", "standardised kmeans", "standardised ridge"])
def test_of_a_search_the_winner_is_saved(path, name):
    search = StabilitySearch({name: MODELS[name]()}, n_clusters=3, random_state=0).fit(FRAME)
    save_model(search, path)
    loaded = load_model(path)
    assert str(loaded) == str(search.best_estimator_)
    assert list(loaded.feature_names_in_) == list(FRAME.columns)
    np.testing.assert_array_equal(loaded.predict(FRAME), search.predict(FRAME))
    # The names go into the file, not into the model that was saved.
    assert not hasattr(search.best_estimator_, "feature_names_in_")


def test_where_a_pipeline_runs_is_not_saved(path, tmp_path):
    graph = ridge(n_jobs=1, memory=str(tmp_path / "graphs"))
    model = Pipeline(
        [("scaler", StandardScaler()), ("graph", graph)], memory=str(tmp_path / "m"), verbose=False
    ).fit(X)
    save_model(model, path)
    with zipfile.ZipFile(path) as archive:
        schema = archive.read("schema.json").decode()
    for name in ("memory", "n_jobs", "verbose", "_n_threads"):
        assert f'"{name}"' not in schema
    loaded = load_model(path)
    assert loaded.memory is None
    assert (loaded[-1].n_jobs, loaded[-1].memory) == (None, None)
    assert (model[-1].n_jobs, model.memory) == (1, str(tmp_path / "m"))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (make_pipeline(PCA(2), KMeans(3)), "got Pipeline .*PCA for a scaler"),
        (make_pipeline(StandardScaler(), PCA(2)), "PCA for the clusterer"),
        (Pipeline([("a", "passthrough"), ("b", KMeans(3))]), "a str for a scaler"),
        (StandardScaler(), "got StandardScaler"),
        (make_pipeline(StandardScaler(), make_pipeline(KMeans(3))), "a Pipeline for the clusterer"),
    ],
)
def test_other_steps_are_not_saved(path, model, words):
    with pytest.raises(TypeError, match=words):
        save_model(model, path)
    assert not path.exists()


def test_a_search_must_be_fitted(path):
    with pytest.raises(NotFittedError):
        save_model(StabilitySearch(), path)


def craft(model, path):
    """A file as somebody who means harm would write it, past ``save_model``."""
    skops.io.dump(model, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("srsg.json", json.dumps({"format": FORMAT, "srsg": "0.1.0"}))


def changed(model, step=None, /, **attributes):
    """A copy in which a step, or the model itself, has other attributes; None takes one away."""
    other = copy(model)
    part = other
    if step is not None:
        part = copy(model.steps[step][1])
        other.steps = list(model.steps)
        other.steps[step] = (model.steps[step][0], part)
    for name, value in attributes.items():
        if value is None:
            del part.__dict__[name]
        else:
            part.__dict__[name] = value
    return other


def without_types(model):
    """A pipeline whose imputer has no attributes that are types, as in a file."""
    return changed(model, 1, **dict.fromkeys(TYPES))


def test_what_is_crafted_from_is_valid(loaded, path):
    for name, model in loaded.items():
        craft(without_types(model) if name == "imputed kmeans" else model, path)
        np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))


NAN = np.full(13, np.nan)
OF_KMEANS = {
    "centres of other features": {"cluster_centers_": np.zeros((3, 2))},
    "centres of more features": {"cluster_centers_": np.zeros((3, 99))},
    "centres of other clusters": {"cluster_centers_": np.zeros((4, 13))},
    "centres not finite": {"cluster_centers_": np.full((3, 13), np.inf)},
    "centres of integers": {"cluster_centers_": np.zeros((3, 13), int)},
    "centres of one dimension": {"cluster_centers_": np.zeros(39)},
    "centres missing": {"cluster_centers_": None},
    "features missing": {"n_features_in_": None},
    "features": {"n_features_in_": 4},
    "features are text": {"n_features_in_": "13"},
    "names": {"feature_names_in_": np.array(["a"], dtype=object)},
    "labels beyond": {"labels_": np.full(89, 3)},
    "labels below": {"labels_": np.full(89, -1)},
    "labels too few": {"labels_": np.zeros(2, int)},
    "labels are floats": {"labels_": np.zeros(89)},
    "inertia": {"inertia_": -1.0},
    "iterations": {"n_iter_": -1},
    "features out": {"_n_features_out": 10**9},
    "starts": {"_n_init": 0},
    "tolerance": {"_tol": float("nan")},
    "algorithm": {"_algorithm": "other"},
    "a parameter": {"n_clusters": -3},
    "another number": {"n_clusters": 4},
    "the place of a method": {"predict": "nothing"},
}


@pytest.mark.parametrize("what", OF_KMEANS)
@pytest.mark.parametrize("name", ["kmeans", "standardised kmeans"])
def test_values_that_kmeans_does_not_leave_are_refused(loaded, path, what, name):
    step = None if name == "kmeans" else 1
    craft(changed(loaded[name], step, **OF_KMEANS[what]), path)
    with pytest.raises(ValueError, match=r"model\.srsg holds an invalid model"):
        load_model(path)


OF_SCALERS = {
    "no mean": ("standardised ridge", {"mean_": None}),
    "means of other features": ("standardised ridge", {"mean_": np.zeros(12)}),
    "means not finite": ("standardised ridge", {"mean_": NAN}),
    "means are text": ("standardised ridge", {"mean_": np.full(13, "a")}),
    "a mean that is no array": ("standardised ridge", {"mean_": 1.0}),
    "variance below zero": ("standardised ridge", {"var_": np.full(13, -1.0)}),
    "scale of zero": ("standardised ridge", {"scale_": np.zeros(13)}),
    "scale missing": ("standardised ridge", {"scale_": None}),
    "points seen": ("standardised ridge", {"n_samples_seen_": 0}),
    "points seen are an array": ("standardised ridge", {"n_samples_seen_": np.ones(13)}),
    "other features than the graph": (
        "standardised ridge",
        {name: np.ones(12) for name in ("mean_", "var_", "scale_")} | {"n_features_in_": 12},
    ),
    "names": ("standardised ridge", {"feature_names_in_": np.array(["a"] * 12, dtype=object)}),
    "names are numbers": (
        "standardised ridge",
        {"feature_names_in_": np.arange(13).astype(object)},
    ),
    "a parameter": ("standardised ridge", {"with_mean": "yes"}),
    "the place of a method": ("standardised ridge", {"transform": "nothing"}),
    "least": ("scaled ridge", {"min_": NAN}),
    "scale": ("scaled ridge", {"scale_": -np.ones(13)}),
    "data": ("scaled ridge", {"data_min_": np.zeros(3)}),
    "largest": ("scaled ridge", {"data_max_": np.zeros((13, 1))}),
    "range": ("scaled ridge", {"data_range_": -np.ones(13)}),
    "range to scale to": ("scaled ridge", {"feature_range": (1, 0)}),
    "range of text": ("scaled ridge", {"feature_range": ("a", "b")}),
    "range of one": ("scaled ridge", {"feature_range": (1,)}),
}


@pytest.mark.parametrize("what", OF_SCALERS)
def test_values_that_a_scaler_does_not_leave_are_refused(loaded, path, what):
    name, attributes = OF_SCALERS[what]
    craft(changed(loaded[name], 0, **attributes), path)
    with pytest.raises(ValueError, match=r"model\.srsg holds an invalid model"):
        load_model(path)


POINTS = np.zeros((89, 13))
OF_IMPUTERS = {
    "medians of other features": ("imputed kmeans", {"statistics_": np.zeros(12)}),
    "medians missing": ("imputed kmeans", {"statistics_": NAN}),
    "medians of text": ("imputed kmeans", {"statistics_": np.full(13, "a")}),
    "another strategy": ("imputed kmeans", {"strategy": "most_frequent"}),
    "an indicator": ("imputed kmeans", {"indicator_": "a"}),
    "points of other features": ("imputed ridge", {"_fit_X": np.zeros((89, 12))}),
    "infinite points": ("imputed ridge", {"_fit_X": np.full((89, 13), np.inf)}),
    "gaps elsewhere": ("imputed ridge", {"_mask_fit_X": POINTS == 0}),
    "gaps of fewer points": ("imputed ridge", {"_mask_fit_X": POINTS[:5] > 0}),
    "features left out": ("imputed ridge", {"_valid_mask": np.zeros(13, bool)}),
    "a metric": ("imputed ridge", {"metric": "nothing"}),
}


@pytest.mark.parametrize("what", OF_IMPUTERS)
def test_values_that_an_imputer_does_not_leave_are_refused(loaded, path, what):
    name, attributes = OF_IMPUTERS[what]
    model = without_types(loaded[name]) if name == "imputed kmeans" else loaded[name]
    craft(changed(model, 1, **attributes), path)
    with pytest.raises(ValueError, match=r"model\.srsg holds an invalid model"):
        load_model(path)


def test_missing_values_are_filled_in_as_in_the_fit(path):
    gaps = X.copy()
    gaps[::7, 3] = np.nan
    for imputer in (SimpleImputer(strategy="median"), KNNImputer()):
        model = make_pipeline(StandardScaler(), imputer, kmeans()).fit(gaps)
        save_model(model, path)
        np.testing.assert_array_equal(load_model(path).predict(gaps), model.predict(gaps))


STEPS = {
    "none": lambda steps: [],
    "text": lambda steps: "steps",
    "no pairs": lambda steps: [step for _, step in steps],
    "lists": lambda steps: [list(step) for step in steps],
    "the same name twice": lambda steps: [("a", step) for _, step in steps],
    "names that are numbers": lambda steps: [(7, steps[0][1]), steps[1]],
    "names of parameters": lambda steps: [("a__b", steps[0][1]), steps[1]],
    "a scaler at the end": lambda steps: steps[:1],
    "the wrong way round": lambda steps: steps[::-1],
    "a clusterer before the end": lambda steps: [("a", kmeans().fit(X)), steps[1]],
    "a pipeline inside": lambda steps: [("a", make_pipeline(StandardScaler())), steps[1]],
    "text for a step": lambda steps: [("a", "passthrough"), steps[1]],
    "another class": lambda steps: [("a", PCA(2).fit(X)), steps[1]],
}


@pytest.mark.parametrize("what", STEPS)
def test_other_steps_are_refused(loaded, path, what):
    model = loaded["standardised kmeans"]
    craft(changed(model, steps=STEPS[what](model.steps)), path)
    with pytest.raises(ValueError, match=r"model\.srsg (holds|is damaged)"):
        load_model(path)


@pytest.mark.parametrize("attributes", [{"transform_input": ["sample_weight"]}, {"predict": "no"}])
def test_other_attributes_of_a_pipeline_are_refused(loaded, path, attributes):
    craft(changed(loaded["standardised kmeans"], **attributes), path)
    with pytest.raises(
        ValueError, match=rf"model\.srsg holds an invalid model: {next(iter(attributes))}"
    ):
        load_model(path)


def test_a_crafted_graph_in_a_pipeline_is_refused(loaded, path):
    model = loaded["standardised ridge"]
    craft(changed(model, 1, labels_=model[-1].labels_ + 7), path)
    with pytest.raises(ValueError, match="labels_: has values outside"):
        load_model(path)


def test_a_graph_that_does_not_know_its_features_is_refused(path):
    """Others than those of the fit would not be noticed when new points come."""
    craft(changed(L1Graph(3, random_state=0).fit(X), n_features_in_=None), path)
    with pytest.raises(ValueError, match="n_features_in_: is missing"):
        load_model(path)


def test_a_scaler_alone_is_refused(path):
    craft(StandardScaler().fit(X), path)
    with pytest.raises(ValueError, match="holds a StandardScaler, which is not a model"):
        load_model(path)


def test_a_step_that_names_a_scheduler_connects_to_nobody(path, tmp_path):
    graph = L1Graph(3, affine=True, random_state=0)
    save_model(make_pipeline(StandardScaler(), graph).fit(X), path)
    model = load_model(path)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        craft(changed(changed(model, 1, engine=address), memory=str(tmp_path / "cache")), path)
        with pytest.warns(UserWarning, match="memory=.*engine=.*which a file may not choose"):
            found = load_model(path)
        np.testing.assert_array_equal(found.predict(X), model.predict(X))
        with pytest.raises(TimeoutError):
            server.accept()
    assert [each.name for each in tmp_path.iterdir()] == ["model.srsg"]


def test_a_file_does_not_choose_the_threads_of_kmeans(loaded, path):
    craft(changed(loaded["kmeans"], _n_threads=10**6), path)
    assert load_model(path)._n_threads < 10**4


@pytest.mark.parametrize("name", ["kmeans", "standardised kmeans", "standardised ridge"])
def test_the_command_line_matches_columns_by_name(name, path, tmp_path):
    model = MODELS[name]().fit(FRAME)
    save_model(model, path)
    FRAME[FRAME.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    done = good("predict", path, tmp_path / "new.csv", "-o", tmp_path / "labels.csv")
    assert "warning" not in done.stderr.lower()
    assert "178 points in 3 of 3 clusters" in done.stderr
    found = pd.read_csv(tmp_path / "labels.csv")
    np.testing.assert_array_equal(found["label"], model.predict(FRAME))
    assert found["confidence"].between(0, 1).all()
    assert found["confidence"].nunique() > 10
    FRAME.drop(columns="hue").to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", path, tmp_path / "new.csv")
    assert done.exit_code == 1
    assert "hue" in done.stderr


def test_the_command_line_wants_a_fitted_pipeline(path, tmp_path):
    save_model(MODELS["standardised kmeans"](), path)
    FRAME.to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", path, tmp_path / "new.csv")
    assert done.exit_code == 1
    assert "has not been fitted" in done.stderr
