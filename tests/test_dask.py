"""A Dask cluster: the same bits as threads, whatever happens to its workers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from srsg import SRSG, L1Graph

distributed = pytest.importorskip("distributed", reason="needs srsg[dask]")
da = pytest.importorskip("dask.array", reason="needs srsg[dask]")

X = load_digits().data[:400]


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with distributed.LocalCluster(**options, dashboard_address=None, memory_limit="1GB") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def learnt(model):
    """All that a fit learns, but for the points themselves."""
    return {
        name: value.toarray() if hasattr(value, "toarray") else value
        for name, value in vars(model).items()
        if name.endswith("_") and name != "fit_X_"
    }


def assert_same(model, expected):
    expected = learnt(expected)
    found = learnt(model)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
@pytest.mark.parametrize("rows", [200, 150, 37])
def test_the_same_bits_in_any_chunks(client, estimator, rows):
    expected = estimator(10, random_state=0).fit(X)
    model = estimator(10, random_state=0, engine=client).fit(da.from_array(X, chunks=(rows, 30)))
    assert_same(model, expected)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
def test_an_array_of_the_client_is_sent_to_the_workers(client, estimator):
    expected = estimator(10, random_state=0).fit(X.astype(np.float32))
    model = estimator(10, random_state=0, engine="dask").fit(X.astype(np.float32))
    assert_same(model, expected)


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
def test_new_points_are_coded_where_the_fitted_ones_are(client, estimator):
    expected = estimator(10, random_state=0).fit(X[:300])
    model = estimator(10, random_state=0, engine=client).fit(
        da.from_array(X[:300], chunks=(90, -1))
    )
    new = X[300:]
    np.testing.assert_array_equal(model.transform(new).toarray(), expected.transform(new).toarray())
    np.testing.assert_array_equal(model.predict_confidence(new), expected.predict_confidence(new))


def test_who_is_let_in_is_found_in_all_shards(client):
    settings = {"gamma": 0.02, "step": 0.3, "max_sweeps": 4, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = SRSG(10, random_state=0, **settings).fit(X[:200])
        chunks = da.from_array(X[:200], chunks=(70, -1))
        model = SRSG(10, random_state=0, engine=client, **settings).fit(chunks)
    assert expected.n_let_in_ > 0
    assert_same(model, expected)
