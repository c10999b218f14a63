"""Confidence and maps of models that are pipelines or searches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import RidgeGraph, StabilitySearch
from srsg.explaining.confidence import confidence, predict_with_confidence
from srsg.explaining.layout import plane
from srsg.explaining.unwrapping import clusterer_of, points_as_clustered

FRAME = load_wine(as_frame=True).data
X = FRAME.to_numpy()
SCALED = StandardScaler().fit_transform(X)


def kmeans():
    return KMeans(3, n_init=2, random_state=0)


def ridge():
    return RidgeGraph(3, affine=True, random_state=0)


@pytest.mark.parametrize("clusterer", [kmeans, ridge])
@pytest.mark.parametrize("wrapped", ["pipeline", "search"])
def test_a_wrapped_clusterer_is_as_sure_as_on_scaled_points(clusterer, wrapped):
    plain = clusterer().fit(SCALED)
    model = make_pipeline(StandardScaler(), clusterer())
    if wrapped == "search":
        model = StabilitySearch({"only": model}, n_clusters=3, random_state=0)
    model.fit(FRAME)
    np.testing.assert_array_equal(clusterer_of(model).labels_, plain.labels_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names of features, in particular
        for given in (X, FRAME):
            np.testing.assert_array_equal(points_as_clustered(model, given), SCALED)
            found, expected = confidence(model, given), confidence(plain, SCALED)
            np.testing.assert_array_equal(found.values, expected.values)
            np.testing.assert_array_equal(found.centrality, expected.centrality)
            assert found.meaning == expected.meaning
            np.testing.assert_array_equal(plane(model, given)[0], plane(plain, SCALED)[0])
            for left, right in zip(
                predict_with_confidence(model, given),
                predict_with_confidence(plain, SCALED),
                strict=True,
            ):
                np.testing.assert_array_equal(left, right)


def test_kmeans_is_as_sure_of_new_points_as_of_fitted_ones():
    model = kmeans().set_params(tol=0, max_iter=1000).fit(SCALED)
    labels, share = predict_with_confidence(model, SCALED)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(share, confidence(model, SCALED).values, atol=1e-9)


def test_graphs_tell_labels_and_confidence_at_once():
    model = ridge().fit(SCALED)
    labels, sure = predict_with_confidence(model, SCALED)
    np.testing.assert_array_equal(labels, model.predict(SCALED))
    np.testing.assert_array_equal(labels, model.predict_shares(SCALED).argmax(axis=1))
    np.testing.assert_array_equal(sure, model.predict_confidence(SCALED))


def test_two_points_are_each_other_s_nearest():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    places, line = plane(KMeans(2, n_init=1, random_state=0).fit(X), X)
    assert places.shape == (2, 2)
    assert "Nearest neighbours" in line
