"""Sparse points stay sparse, and get the codes that they would get as an array."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import DataConversionWarning

from srsg import (
    SMCE,
    SRSG,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
    RidgeGraph,
    StabilitySearch,
    config_context,
)
from srsg.coding.coder import _why_dense
from srsg.persistence import load_model, save_model
from support.estimators import CODE_ESTIMATORS
from support.text import term_weights

KEPT_SPARSE = [estimator for estimator in CODE_ESTIMATORS if estimator is not LaplacianL1Graph]


@pytest.fixture(scope="module")
def texts():
    return term_weights(100, 1500)[0]


@pytest.fixture(scope="module")
def new_texts():
    return term_weights(20, 1500, seed=1)[0]


def same_bits(a, b):
    left, right = sparse.csr_array(a.affinity_matrix_), sparse.csr_array(b.affinity_matrix_)
    np.testing.assert_array_equal(left.indices, right.indices)
    np.testing.assert_array_equal(left.data, right.data)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    return True


def equal_codes(found, wanted):
    np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("estimator", KEPT_SPARSE)
def test_codes_are_those_of_the_array(estimator, affine, texts, new_texts):
    found = estimator(4, affine=affine, random_state=0).fit(texts)
    wanted = estimator(4, affine=affine, random_state=0).fit(texts.toarray())
    assert sparse.issparse(found.fit_X_)
    equal_codes(found.fit_X_, sparse.csr_array(wanted.fit_X_))
    equal_codes(found.codes_, wanted.codes_)
    np.testing.assert_array_equal(found.neighbors_, wanted.neighbors_)
    np.testing.assert_array_equal(found.labels_, wanted.labels_)
    # New points may be sparse or not.
    equal_codes(found.transform(new_texts), wanted.transform(new_texts.toarray()))
    equal_codes(found.transform(new_texts.toarray()), wanted.transform(new_texts.toarray()))
    np.testing.assert_array_equal(found.predict(new_texts), wanted.predict(new_texts.toarray()))


@pytest.mark.parametrize("estimator", KEPT_SPARSE)
def test_same_bits_on_any_number_of_threads(estimator, texts):
    models = [estimator(4, n_jobs=n_jobs, random_state=0).fit(texts) for n_jobs in (1, 3)]
    assert same_bits(*models)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG, OMPGraph])
def test_same_bits_whatever_the_blocks(estimator, texts):
    reference = estimator(4, random_state=0).fit(texts)
    with config_context(max_memory="3MB"):
        tight = estimator(4, n_jobs=1, random_state=0).fit(texts)
    assert same_bits(tight, reference)


def test_certificates_hold(texts):
    model = L1Graph(4, random_state=0).fit(texts)
    assert model.kkt_violation_.max() < 1e-9
    # Recomputed from the definition, by dense products.
    x, codes = model.fit_X_.toarray(), model.codes_.toarray()
    gradient = 2 * (x - codes @ x) @ x.T
    np.fill_diagonal(gradient, 0)
    outside = np.where(codes == 0, np.abs(gradient) - model.lam, 0).max()
    inside = np.where(codes != 0, np.abs(gradient - model.lam * np.sign(codes)), 0).max()
    assert max(outside, inside) < 1e-9
    ridge = RidgeGraph(4, random_state=0).fit(texts)
    assert ridge.residual_.max() < 1e-9


def test_theorem_step(texts):
    few = texts[:50]
    for X in (few, texts):
        found = SRSG(2, step="theorem", max_sweeps=2, random_state=0)
        wanted = clone(found)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert found.fit(X).step_ == pytest.approx(wanted.fit(X.toarray()).step_, rel=1e-7)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG, OMPGraph])
def test_memory_grows_with_the_non_zeros(estimator):
    """Adding 50,000 features that hold nothing must not take 50,000 numbers per point."""
    X = term_weights(400, 2000)[0]
    wide = sparse.csr_array((X.data, X.indices, X.indptr), shape=(400, 52_000))
    model = estimator(4, n_jobs=1, random_state=0)
    with config_context(max_memory="100MB"):
        model.fit(X)  # compiles
        tracemalloc.start()
        clone(model).fit(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = 8 * 400 * 52_000
    assert peak < 110e6 < dense


@pytest.mark.parametrize("estimator", [LaplacianL1Graph, SMCE, LocalScalingSpectralClustering])
def test_what_needs_dense_points_says_so(estimator, texts):
    with pytest.warns(DataConversionWarning, match=r"100 x 1500 values .* 1\.2 MB instead of"):
        found = estimator(4, random_state=0).fit(texts)
    assert not sparse.issparse(found.fit_X_)
    assert same_bits(found, estimator(4, random_state=0).fit(texts.toarray()))


def test_matrices_with_few_zeros_are_coded_as_arrays():
    X = np.repeat(load_digits().data[:50], 40, axis=1)
    X = np.vstack([X, X[::-1] ** 2])
    with pytest.warns(DataConversionWarning, match="% of its values are not zero"):
        model = L1Graph(4, random_state=0).fit(sparse.csr_array(X))
    assert not sparse.issparse(model.fit_X_)
    with pytest.warns(DataConversionWarning, match="the fitted points are dense"):
        model.predict(sparse.csr_array(X))


def test_nothing_is_said_where_nothing_is_made_dense(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SRSG(4, random_state=0).fit(texts).predict(texts)


def test_float32_and_other_formats(texts):
    reference = L1Graph(4, random_state=0).fit(texts)
    assert same_bits(clone(reference).fit(sparse.csc_array(texts)), reference)
    single = clone(reference).fit(texts.astype(np.float32))
    np.testing.assert_allclose(single.codes_.toarray(), reference.codes_.toarray(), atol=1e-5)


def test_number_of_clusters(texts):
    X = sparse.csr_array(sparse.vstack([texts, texts[:20]]))  # with copies, of which one counts
    found = L1Graph("auto", random_state=0).fit(X)
    assert found.n_clusters_ == L1Graph("auto", random_state=0).fit(X.toarray()).n_clusters_


@pytest.mark.filterwarnings("ignore:X has 2 row")
def test_equal_documents_and_empty_ones(texts):
    empty = sparse.csr_array((2, texts.shape[1]))
    X = sparse.csr_array(sparse.vstack([texts, texts[:5], empty]))
    found = SRSG(4, random_state=0).fit(X)
    wanted = SRSG(4, random_state=0).fit(X.toarray())
    np.testing.assert_array_equal(found.first_equal_, wanted.first_equal_)
    equal_codes(found.codes_, wanted.codes_)
    np.testing.assert_array_equal(found.labels_, wanted.labels_)
    np.testing.assert_array_equal(found.predict(X), wanted.predict(X.toarray()))
    for name in ("confidence_", "explained_", "outlier_score_"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)


def test_store(texts, tmp_path):
    model = SRSG(4, store=tmp_path, random_state=0)
    first = clone(model).fit(texts)
    assert same_bits(first, clone(model).fit(texts))
    other = texts.copy()
    other.data[0] *= 3
    assert (clone(model).fit(other).codes_ != first.codes_).nnz > 0


def test_saved_models_keep_sparse_points(texts, new_texts, tmp_path):
    model = SRSG(4, affine=True, random_state=0).fit(texts)
    save_model(model, tmp_path / "texts.srsg")
    assert (tmp_path / "texts.srsg").stat().st_size < 8 * 100 * 1500
    loaded = load_model(tmp_path / "texts.srsg")
    assert sparse.issparse(loaded.fit_X_)
    np.testing.assert_array_equal(loaded.predict(new_texts), model.predict(new_texts))


def test_search_of_texts(texts, new_texts):
    search = StabilitySearch(n_clusters=4, random_state=0).fit(texts)
    assert search.columns_ == "many features"
    assert sparse.issparse(search.best_estimator_.fit_X_)
    dense = StabilitySearch(n_clusters=4, random_state=0).fit(texts.toarray())
    assert search.best_name_ == dense.best_name_
    np.testing.assert_array_equal(search.labels_, dense.labels_)
    np.testing.assert_array_equal(search.predict(new_texts), dense.predict(new_texts.toarray()))


def test_search_of_a_sparse_table():
    """Columns that are standardised are dense: the search makes them so itself."""
    X = np.abs(np.random.default_rng(0).standard_normal((120, 12)))
    X[X < 0.8] = 0
    X[:, 0] += 1
    found = StabilitySearch(n_clusters=2, random_state=0).fit(sparse.csr_array(X))
    wanted = StabilitySearch(n_clusters=2, random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, wanted.labels_)
    np.testing.assert_array_equal(found.predict(sparse.csr_array(X)), wanted.predict(X))


def test_only_matrices_that_are_mostly_filled_are_made_dense():
    def why(share):
        X = sparse.csr_array((np.arange(2000).reshape(20, 100) < 2000 * share).astype(float))
        return _why_dense(L1Graph()._coder(), X, None, False)

    assert why(0.05) == ""
    assert why(0.9) == "90% of its values are not zero"
