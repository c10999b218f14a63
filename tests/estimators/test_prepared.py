"""Columns that belong to a clusterer, against the pipelines of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from srsg import SRSG, L1Graph, PreparedClusterer
from srsg.estimators.prepared import Columns

X = load_wine().data
HALF = np.arange(len(X)) % 2 == 0


def with_gaps(table, share=0.1):
    table = table.copy()
    table[np.random.default_rng(0).random(table.shape) < share] = np.nan
    return table


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("clusterer", [SRSG(3, affine=True, random_state=0), KMeans(3, n_init=2)])
def test_standardised_columns_equal_a_pipeline_in_every_bit(dtype, clusterer):
    table = (10 * X).astype(dtype)
    clusterer = clone(clusterer).set_params(random_state=0)
    model = PreparedClusterer(clusterer, scale="standard").fit(table[HALF])
    pipeline = make_pipeline(StandardScaler(), clone(clusterer)).fit(table[HALF])
    np.testing.assert_array_equal(model.labels_, pipeline[-1].labels_)
    np.testing.assert_array_equal(model.predict(table), pipeline.predict(table))
    rows, expected = model.prepared(table), pipeline[:-1].transform(table)
    assert rows.dtype == expected.dtype
    # Versions of scikit-learn round the mean for single precision, or do not.
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-6 * (dtype == np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("impute", ["median", "knn"])
def test_gaps_are_filled_as_by_the_imputers(scale, impute, dtype):
    table = with_gaps(X).astype(dtype)
    model = PreparedClusterer(L1Graph(3, affine=True, random_state=0), scale=scale, impute=impute)
    model.fit(table[HALF])
    scalers = {"standard": [StandardScaler()], "minmax": [MinMaxScaler()], None: []}[scale]
    imputer = SimpleImputer(strategy="median") if impute == "median" else KNNImputer(n_neighbors=5)
    expected = make_pipeline(*scalers, imputer).fit(table[HALF]).transform(table)
    exact = {"rtol": 0, "atol": 0 if scale != "minmax" else 1e-15}
    rounding = exact if dtype == np.float64 else {"atol": 1e-6}
    np.testing.assert_allclose(model.prepared(table), expected, **rounding)
    assert model.prepared(table).dtype == dtype
    np.testing.assert_array_equal(
        model.predict(table[~HALF]), model.clusterer_.predict(model.prepared(table[~HALF]))
    )


def test_without_scale_and_gaps_nothing_changes():
    alone = SRSG(3, random_state=0).fit(X)
    model = PreparedClusterer(SRSG(3, random_state=0)).fit(X)
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    assert model.prepared(X).tobytes() == X.tobytes()


def test_scaling_can_be_undone():
    for scale in ("standard", "minmax", None):
        model = PreparedClusterer(KMeans(3, n_init=1, random_state=0), scale=scale).fit(X)
        np.testing.assert_allclose(model.columns_.undone(model.prepared(X)), X, rtol=1e-12)
    extent = Columns.learnt(X, "minmax", None).applied(X)
    np.testing.assert_array_equal([extent.min(axis=0), extent.max(axis=0)], [[0] * 13, [1] * 13])


def test_constant_columns_stay_finite():
    table = np.column_stack([X, np.full(len(X), 7.0)])
    for scale in ("standard", "minmax"):
        rows = Columns.learnt(table, scale, None).applied(table)
        assert not rows[:, -1].any()


@pytest.mark.parametrize(
    ("table", "impute", "message"),
    [
        (with_gaps(X), None, "contains NaN"),
        (np.where(X > 1000, np.inf, X), "median", "infinity"),
        (np.column_stack([X, np.full((len(X), 2), np.nan)]), "median", r"in columns 13, 14: leave"),
        (np.column_stack([X, np.full((len(X), 2), np.nan)]), "knn", r"in columns 13, 14: leave"),
    ],
)
def test_bad_values_are_named(table, impute, message):
    with pytest.raises(ValueError, match=message):
        PreparedClusterer(L1Graph(3), scale="standard", impute=impute).fit(table)


def test_new_gaps_are_refused_where_none_are_filled():
    model = PreparedClusterer(L1Graph(3, random_state=0), scale="standard").fit(X)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(with_gaps(X))
    with pytest.raises(ValueError, match="12 features"):
        model.predict(X[:, 1:])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": "log"}, "'scale' parameter"),
        ({"impute": "mean"}, "'impute' parameter"),
        ({"clusterer": "srsg"}, "'clusterer' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        PreparedClusterer(**{"clusterer": L1Graph(3), **parameters}).fit(X)


def test_names_of_columns_are_kept_and_compared():
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    model = PreparedClusterer(L1Graph(3, random_state=0), scale="standard").fit(frame)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    plain = PreparedClusterer(L1Graph(3, random_state=0), scale="standard").fit(X)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_sparse_points_are_made_dense_only_to_be_scaled():
    table = np.where(np.quantile(X, 0.8, axis=0) < X, X, 0)
    table[:, 0] += 1  # no row of zeros
    table = sparse.csr_array(np.hstack([table, np.zeros((len(X), 20))]))
    model = PreparedClusterer(L1Graph(3, random_state=0)).fit(table)
    assert sparse.issparse(model.clusterer_.fit_X_)
    scaled = PreparedClusterer(L1Graph(3, affine=True, random_state=0), scale="standard")
    of_array = clone(scaled).fit(table.toarray())
    np.testing.assert_array_equal(scaled.fit(table).labels_, of_array.labels_)
    np.testing.assert_array_equal(scaled.predict(table), of_array.predict(table.toarray()))


def test_the_clusterer_given_is_left_alone():
    clusterer = L1Graph(3, random_state=0)
    model = PreparedClusterer(clusterer, scale="standard")
    for method in ("predict", "prepared"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    assert not hasattr(model, "labels_")
    model.fit(X)
    assert not hasattr(clusterer, "labels_")
    assert model.clusterer is clusterer
    assert model.get_params()["clusterer__n_clusters"] == 3


def test_novelty_is_passed_on():
    model = PreparedClusterer(SRSG(3, affine=True, random_state=0), scale="standard").fit(X[HALF])
    assert (model.predict(100 * X[~HALF], novelty=0.05) == -1).all()
    kmeans = PreparedClusterer(KMeans(3, n_init=1, random_state=0), scale="standard").fit(X)
    with pytest.raises(ValueError, match="needs an estimator of this package"):
        kmeans.predict(X, novelty=0.05)


def test_images_in_single_precision_stay_so():
    pixels = load_digits().data[:100].astype(np.float32)
    model = PreparedClusterer(L1Graph(3, random_state=0), scale="minmax").fit(pixels)
    assert model.clusterer_.fit_X_.dtype == np.float32


@pytest.mark.parametrize("impute", [None, "median"])
def test_tags_say_what_is_accepted(impute):
    tags = PreparedClusterer(SRSG(2), impute=impute).__sklearn_tags__().input_tags
    assert tags.sparse
    assert tags.allow_nan == (impute is not None)
