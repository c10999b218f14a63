"""Confidence, outliers and novelty of the estimators."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import (
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    PreparedClusterer,
    RidgeGraph,
    StabilitySearch,
)
from srsg.datasets import make_union_of_subspaces
from srsg.explaining.confidence import _by_centres, confidence, predict_with_confidence
from srsg.explaining.unwrapping import clusterer_of
from support.estimators import ALL_ESTIMATORS

ON_DEMAND = ("confidence_", "explained_", "outlier_score_")
DIGITS, CLASSES = load_digits(return_X_y=True)
HALF = np.arange(len(DIGITS)) % 2 == 0


@pytest.fixture(scope="module")
def without_a_class():
    """A model of digits without the fours, new digits, and which of these are fours."""
    model = SRSG(9, random_state=0).fit(DIGITS[HALF & (CLASSES != 4)])
    new = ~HALF
    return model, DIGITS[new], CLASSES[new] == 4


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_values_are_found_on_demand_and_forgotten_by_the_next_fit(estimator):
    model = estimator(3, random_state=0).fit(DIGITS[:80])
    assert not set(ON_DEMAND) & set(vars(model))
    for name in ON_DEMAND:
        values = getattr(model, name)
        assert values.shape == (80,)
        assert values.min() >= 0
        assert values.max() <= 1
        assert np.ptp(values) > 0
    assert set(ON_DEMAND) <= set(vars(model))
    memberships = model.memberships_
    assert memberships.shape == (80, 3)
    np.testing.assert_allclose(memberships.sum(axis=1), 1)
    assert memberships.data.min() > 0
    assert not set(ON_DEMAND) & set(vars(model.fit(DIGITS[:60])))
    assert len(model.confidence_) == 60


@pytest.mark.parametrize("name", ON_DEMAND)
def test_only_labelled_points_have_them(name):
    assert not hasattr(SRSG(), name)
    with pytest.raises(NotFittedError):
        getattr(SRSG(3).fit_graph(DIGITS[:60]), name)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (SRSG(10, random_state=0), DIGITS, CLASSES),
        (
            PreparedClusterer(SRSG(3, affine=True, random_state=0), scale="standard"),
            *load_wine(return_X_y=True),
        ),
    ],
    ids=["digits", "wine"],
)
def test_confidence_is_calibrated(model, X, y):
    labels = model.fit_predict(X)
    table = contingency_matrix(labels, y)
    right = linear_sum_assignment(-table)[1][labels] == y
    sure = confidence(model, X).values
    bins = np.minimum((10 * sure).astype(int), 9)
    assert np.abs(np.bincount(bins, sure - right)).sum() / len(y) < 0.1
    assert roc_auc_score(right, sure) > 0.8
    # So are memberships, in the own cluster and in the others.
    memberships = clusterer_of(model).memberships_
    own = memberships.toarray()[np.arange(len(y)), labels]
    bins = np.minimum((10 * own).astype(int), 9)
    assert np.abs(np.bincount(bins, own - right)).sum() / len(y) < 0.1
    second = np.where(np.arange(len(table)) == labels[:, None], 0, memberships.toarray())
    by_class = linear_sum_assignment(-table)[1]
    right_by_second = by_class[second.argmax(axis=1)] == y
    assert abs(second.max(axis=1).mean() - right_by_second.mean()) < 0.05
    assert second.max(axis=1)[right_by_second].mean() > 2 * second.max(axis=1)[right].mean()


@pytest.mark.parametrize("estimator", [SRSG, RidgeGraph, L1Graph])
def test_what_no_cluster_explains_has_low_confidence(estimator):
    model = estimator(10, random_state=0).fit(DIGITS[HALF])
    assert np.median(model.predict_confidence(DIGITS[~HALF])) > 0.7
    assert np.median(model.predict_confidence(-DIGITS[~HALF])) < 0.1


def test_on_subspaces_a_mirror_image_is_as_good_as_the_point():
    X, _ = make_union_of_subspaces(240, n_subspaces=3, random_state=0)
    model = L1Graph(3, random_state=0).fit(X[:180])
    labels, sure = model.predict_with_confidence(X[180:])
    mirrored, of_mirrored = model.predict_with_confidence(-X[180:])
    np.testing.assert_array_equal(labels, mirrored)
    assert np.median(of_mirrored) > 0.9
    assert np.abs(sure - of_mirrored).max() < 0.2


def test_a_far_point_has_low_confidence_where_lengths_count():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((60, 5)), 9 + rng.standard_normal((60, 5))])
    model = LocalScalingSpectralClustering(2, random_state=0).fit(X)
    near, far = model.predict_confidence(np.vstack([np.full(5, 9.0), np.full(5, 60.0)]))
    assert near > 0.9
    assert far < 0.2


def test_noise_among_the_points_has_high_outlier_scores():
    X, _ = make_union_of_subspaces(150, n_subspaces=3, n_features=30, random_state=0)
    noise = np.random.default_rng(0).standard_normal((20, 30))
    model = L1Graph(3, random_state=0).fit(np.vstack([X, noise]))
    assert roc_auc_score(np.arange(170) >= 150, model.outlier_score_) > 0.99


def test_a_class_that_was_not_fitted_is_novel(without_a_class):
    model, new, novel = without_a_class
    assert roc_auc_score(novel, model.novelty_score(new)) > 0.97
    labels = model.predict(new, novelty=0.05)
    assert (labels[novel] == -1).mean() > 0.8
    # Others should be called new about as often as was asked for.
    assert (labels[~novel] == -1).mean() < 0.12
    kept = labels >= 0
    np.testing.assert_array_equal(labels[kept], model.predict(new)[kept])
    assert model.predict(new).min() >= 0


def test_more_novelty_calls_more_points_novel(without_a_class):
    model, new, _ = without_a_class
    few, many = (model.predict(new, novelty=share) == -1 for share in (0.01, 0.2))
    assert few.sum() < many.sum()
    assert (many | ~few).all()


def test_one_coding_gives_labels_and_confidence(without_a_class):
    model, new, _ = without_a_class
    labels, sure = model.predict_with_confidence(new, novelty=0.05)
    np.testing.assert_array_equal(labels, model.predict(new, novelty=0.05))
    np.testing.assert_array_equal(sure, model.predict_confidence(new))


@pytest.mark.parametrize("novelty", [0, 1, 1.5, -0.1, True, "5%", np.nan])
def test_novelty_that_is_no_share_is_refused(without_a_class, novelty):
    model, new, _ = without_a_class
    for method in (model.predict, model.predict_with_confidence):
        with pytest.raises(ValueError, match="must be a share between 0 and 1"):
            method(new, novelty=novelty)


def test_pipelines_and_searches_pass_novelty_on():
    X = load_wine().data
    pipeline = make_pipeline(StandardScaler(), SRSG(3, affine=True, random_state=0)).fit(X[::2])
    far = 100 * X[1::2]
    assert (pipeline.predict(far, novelty=0.05) == -1).all()
    search = StabilitySearch({"srsg": pipeline}, n_clusters=3, random_state=0).fit(X[::2])
    assert (search.predict(far, novelty=0.05) == -1).all()
    np.testing.assert_array_equal(search.confidence_, search.best_estimator_[-1].confidence_)


def test_kmeans_knows_no_novelty():
    model = KMeans(3, n_init=1, random_state=0).fit(DIGITS[:60])
    with pytest.raises(ValueError, match=r"novelty=0.05 needs an estimator of this package: a KMe"):
        predict_with_confidence(model, DIGITS[:60], novelty=0.05)


def test_kmeans_is_less_sure_far_from_the_centres():
    model = KMeans(2, n_init=1, random_state=0).fit(np.array([[0.0], [1.0], [9.0], [10.0]]))
    near, between, beyond = predict_with_confidence(model, np.array([[9.5], [5.1], [40.0]]))[1]
    assert near > 0.99
    assert between < 0.1
    assert beyond < 0.1


def test_one_centre_leaves_no_doubt():
    X = DIGITS[:40]
    one = confidence(KMeans(1, n_init=1).fit(X), X).values
    assert one.max() == 1  # lower only for points far from the centre
    assert predict_with_confidence(KMeans(1, n_init=1).fit(X), X)[1].max() == 1
    same = np.ones((6, 3))
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KMeans(2, n_init=1).fit(same)
    assert np.isfinite(predict_with_confidence(model, same)[1]).all()


def test_how_sure_kmeans_is_does_not_depend_on_the_unit():
    """Centres 1e-13 apart counted as one place."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    X[:20, 0] += 9
    labels = np.repeat([0, 1], 20)
    values = [_by_centres(unit * X, labels, None).values for unit in (1.0, 1e-14)]
    np.testing.assert_allclose(*values, atol=1e-9)
    assert values[0].max() > 0.9
