"""New points unlike the fitted ones: far away, in other units, zero; and huge numbers."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from srsg import SMCE, SRSG, LocalScalingSpectralClustering, RidgeGraph
from srsg.persistence import load_model, save_model
from support.estimators import ALL_ESTIMATORS, CODE_ESTIMATORS

RNG = np.random.default_rng(0)
X = np.vstack([5 + RNG.standard_normal((30, 6)), RNG.standard_normal((20, 6)) - [5, 5, 5, 0, 0, 0]])


@pytest.mark.filterwarnings("ignore:X has 3 row")
@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_rows_of_zeros_alone(estimator):
    model = estimator(2, random_state=0).fit(X)
    zeros = np.zeros((3, 6))
    labels, shares = model.predict(zeros), model.predict_shares(zeros)
    assert len(model.predict_with_confidence(zeros)[1]) == 3
    assert len(model.novelty_score(zeros)) == 3
    assert model.transform(zeros).shape == (3, 50)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    if estimator in CODE_ESTIMATORS:
        np.testing.assert_allclose(shares[0], np.bincount(model.labels_) / 50)
        assert (labels == np.bincount(model.labels_).argmax()).all()


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_shifted_and_scaled_points_are_novel(estimator, tmp_path):
    model = estimator(2, random_state=0).fit(X)
    save_model(model, tmp_path / "model")
    for each in (model, load_model(tmp_path / "model")):
        for far in (X + 1000, X * 1e6, X * 1e-6):
            assert (each.predict(far, novelty=0.05) == -1).all()
            assert each.novelty_score(far).min() > 0.5
            with pytest.warns(UserWarning, match="50 row.*longer or shorter.*rows 0, 1, 2"):
                each.predict(far)


def test_points_like_the_fitted_ones_bring_no_warning(recwarn):
    SRSG(2, random_state=0).fit(X[::2]).predict(X[1::2])
    assert not recwarn.list


@pytest.mark.parametrize("estimator", [SMCE, LocalScalingSpectralClustering, RidgeGraph])
def test_huge_numbers_have_explanations(estimator):
    model, huge = (estimator(2, random_state=0).fit(points) for points in (X, X * 1e160))
    np.testing.assert_allclose(huge.explained_, model.explained_, rtol=1e-6)
    assert np.isfinite(huge.outlier_score_).all()
    assert np.isfinite(huge.confidence_).all()


def test_codes_of_points_that_differ_by_rounding_bring_a_warning():
    base = np.random.default_rng(0).standard_normal((15, 3))
    with pytest.warns(UserWarning, match="may be wrong: rows .*rounding errors"):
        SMCE(2, random_state=0).fit(np.vstack([base, base * (1 + 4e-16), base - 1e-16]))


def test_a_prediction_sees_one_fit():
    """While another thread fits again, with other sizes."""
    model = RidgeGraph(2, random_state=0).fit(X)
    errors: list[Exception] = []
    stop = threading.Event()

    def predict() -> None:
        while not stop.is_set():
            try:
                model.predict_with_confidence(X[:5])
            except Exception as error:
                errors.append(error)
                return

    thread = threading.Thread(target=predict)
    thread.start()
    for turn in range(12):
        model.fit(X if turn % 2 else X[:40])
    stop.set()
    thread.join()
    assert not errors


def test_a_file_cannot_ask_for_endless_work(tmp_path):
    model = SRSG(2, random_state=0).fit(X)
    model.set_params(max_sweeps=10**15)
    with pytest.raises(ValueError, match="max_sweeps: is more than 100000"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_noise_has_little_confidence(estimator):
    noise = np.random.default_rng(1).standard_normal((3, 200, 20))
    sure = [np.median(estimator(2, random_state=0).fit(X).confidence_) for X in noise]
    assert np.median(sure) <= 0.6
