"""The constant coordinate that turns linear subspaces into affine ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from srsg import SRSG, L1Graph
from srsg.metrics import clustering_accuracy
from support.estimators import CODE_ESTIMATORS


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_equals_a_column_appended_by_hand(estimator, wine):
    X, _ = wine
    length = np.sqrt((X**2).sum(axis=1).mean())
    model = estimator(3, affine=True, random_state=0).fit(X)
    by_hand = estimator(3, random_state=0).fit(np.column_stack([X, np.full(len(X), length)]))
    assert model.affine_ == pytest.approx(length, rel=1e-12)
    assert by_hand.affine_ == 0
    np.testing.assert_allclose(model.codes_.toarray(), by_hand.codes_.toarray(), atol=1e-9)
    number = clone(model).set_params(affine=length).fit(X)
    np.testing.assert_allclose(model.codes_.toarray(), number.codes_.toarray(), atol=1e-9)


def test_new_points_get_the_coordinate_of_the_fitted_ones(wine):
    X, _ = wine
    model = L1Graph(3, affine=True, random_state=0).fit(X)
    one_by_one = np.concatenate([model.predict(x[None]) for x in X[:20]])
    np.testing.assert_array_equal(model.predict(X[:20]), one_by_one)
    np.testing.assert_array_equal(one_by_one, model.labels_[:20])


def test_a_point_and_its_mirror_image_differ():
    rng = np.random.default_rng(0)
    blob = rng.standard_normal((30, 6)) * 0.3 + 2
    X = np.vstack([blob, -blob])
    truth = np.repeat([0, 1], 30)
    assert clustering_accuracy(truth, SRSG(2, affine=True, random_state=0).fit_predict(X)) == 1
    assert SRSG(2, random_state=0).fit(X).codes_[:30, 30:].nnz > 0


def test_standardised_tables_need_it(wine):
    X, y = wine
    plain = clustering_accuracy(y, SRSG(3, random_state=0).fit_predict(X))
    affine = clustering_accuracy(y, SRSG(3, affine=True, random_state=0).fit_predict(X))
    assert affine > 0.95 > plain


def test_a_row_of_zeros_has_a_direction(wine):
    X = wine[0].copy()
    X[4] = 0.0
    assert L1Graph(3, affine=True, random_state=0).fit(X).labels_.shape == (len(X),)
    with pytest.warns(UserWarning, match="rows 4"):
        assert not L1Graph(3).fit_graph(X).fit_X_[4].any()


@pytest.mark.parametrize("value", [-1.0, "yes", None, np.inf])
def test_bad_values_are_named(wine, value):
    with pytest.raises(ValueError, match="'affine' parameter"):
        L1Graph(3, affine=value).fit(wine[0])


@pytest.mark.parametrize("scale", [1e-300, 1e150])
def test_huge_and_tiny_numbers(wine, scale):
    X, _ = wine
    reference = L1Graph(3, affine=True, random_state=0).fit(X)
    scaled = L1Graph(3, affine=True, random_state=0).fit(X * scale)
    np.testing.assert_allclose(scaled.codes_.toarray(), reference.codes_.toarray(), atol=1e-8)
