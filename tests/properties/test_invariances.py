"""What must not change a result, or must change it in a known way, for points drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    OMPGraph,
    RidgeGraph,
    TSCGraph,
)
from srsg.coding import l1_codes, laplacian_codes, theorem_step
from srsg.coding import srsg_codes as algorithm_2
from srsg.points import unit_points
from srsg.running import ThreadEngine
from support.estimators import ALL_ESTIMATORS, CODE_ESTIMATORS

FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# SMCE and local scaling take the features as they are, where the lengths of points matter.
SCALED = CODE_ESTIMATORS


@st.composite
def points(draw, n_points=18, n_features=5):
    """Points in general position: ties would be broken by the order."""
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).standard_normal((n_points, n_features))


def graph(kind, X, **parameters):
    chosen = {"n_neighbors": 4, "scale_neighbor": 4, "n_jobs": 1, **parameters}
    names = kind().get_params()
    model = kind(3, **{name: value for name, value in chosen.items() if name in names})
    W = model.fit_graph(X).affinity_matrix_
    return W.toarray() if hasattr(W, "toarray") else W


def order_matters(kind):
    """Sweeps go through the points in their order."""
    return kind in (SRSG, LaplacianL1Graph)


@pytest.mark.parametrize("kind", [kind for kind in ALL_ESTIMATORS if not order_matters(kind)])
@FEW
@given(X=points(), seed=st.integers(0, 99))
def test_the_order_of_the_points(kind, X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    np.testing.assert_allclose(
        graph(kind, X[order]), graph(kind, X)[np.ix_(order, order)], atol=1e-7
    )


@FEW
@given(X=points(), seed=st.integers(0, 99))
def test_the_order_of_the_points_where_sweeps_follow_it(X, seed):
    """The codes they start from are moved with the points, and so are their certificates."""
    order = np.random.default_rng(seed).permutation(len(X))
    one, other = (SRSG(3, n_neighbors=4, n_jobs=1).fit_graph(each) for each in (X, X[order]))
    start = one.init_codes_.toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(other.init_codes_.toarray(), start, atol=1e-8)
    assert other.objective_history_[0] == pytest.approx(one.objective_history_[0])


@pytest.mark.parametrize("kind", ALL_ESTIMATORS)
@FEW
@given(X=points(), seed=st.integers(0, 99))
def test_the_order_of_the_features(kind, X, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_allclose(graph(kind, X[:, order]), graph(kind, X), atol=1e-6)


@pytest.mark.parametrize("kind", ALL_ESTIMATORS)
@FEW
@given(X=points(), seed=st.integers(0, 99))
def test_a_rotation(kind, X, seed):
    square = np.random.default_rng(seed).standard_normal((X.shape[1], X.shape[1]))
    rotation = np.linalg.qr(square)[0]
    np.testing.assert_allclose(graph(kind, X @ rotation), graph(kind, X), atol=1e-6)


@pytest.mark.parametrize("kind", ALL_ESTIMATORS)
@FEW
@given(X=points())
def test_a_feature_of_zeros(kind, X):
    wider = np.insert(X, 2, 0.0, axis=1)
    np.testing.assert_allclose(graph(kind, wider), graph(kind, X), atol=1e-6)


@pytest.mark.parametrize("kind", SCALED)
@FEW
@given(X=points(), seed=st.integers(0, 99))
def test_positive_factors_of_the_points(kind, X, seed):
    factors = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, (len(X), 1))
    np.testing.assert_allclose(graph(kind, X * factors), graph(kind, X), atol=1e-6)


@pytest.mark.parametrize("kind", [SMCE, LocalScalingSpectralClustering])
@FEW
@given(X=points(), exponent=st.integers(-60, 60), shift=st.integers(-8, 8))
def test_one_factor_and_a_shift_for_all_points(kind, X, exponent, shift):
    np.testing.assert_allclose(graph(kind, X * 2.0**exponent), graph(kind, X), atol=1e-9)
    np.testing.assert_allclose(graph(kind, X + shift), graph(kind, X), atol=1e-6)


def independent_subspaces(seed, n_each=20, n_subspaces=3, dimension=2, n_features=8):
    rng = np.random.default_rng(seed)
    bases = np.linalg.qr(rng.standard_normal((n_features, n_subspaces * dimension)))[0]
    parts = np.split(bases, n_subspaces, axis=1)
    X = np.vstack([rng.standard_normal((n_each, dimension)) @ part.T for part in parts])
    return X, np.repeat(np.arange(n_subspaces), n_each)


@pytest.mark.parametrize("kind", [L1Graph, SRSG, ElasticNetGraph, OMPGraph, TSCGraph])
@FEW
@given(seed=st.integers(0, 9999))
def test_no_edge_joins_independent_subspaces(kind, seed):
    """The guarantee of sparse subspace clustering; these subspaces are even orthogonal."""
    X, y = independent_subspaces(seed)
    between = graph(kind, X) * (y[:, None] != y)
    assert between.max() < 1e-10


# A point and its mirror image, in one subspace, are no neighbours.
@pytest.mark.parametrize("kind", [kind for kind in CODE_ESTIMATORS if kind is not NeighborGraph])
@FEW
@given(seed=st.integers(0, 9999))
def test_independent_subspaces_are_recovered(kind, seed):
    X, y = independent_subspaces(seed)
    names = kind().get_params()
    lam = {"lam": 0.02} if "lam" in names and kind is not ElasticNetGraph else {}
    labels = kind(3, n_neighbors=3, random_state=0, n_jobs=1, **lam).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("kind", [L1Graph, SRSG, OMPGraph, RidgeGraph, TSCGraph, NeighborGraph])
@FEW
@given(X=points(), row=st.integers(0, 17))
def test_a_duplicate_has_the_label_of_its_original(kind, X, row):
    twice = np.vstack([X, X[row]])
    labels = kind(3, n_neighbors=4, random_state=0, n_jobs=1).fit_predict(twice)
    assert labels[-1] == labels[row]


@pytest.mark.parametrize("kind", CODE_ESTIMATORS)
@FEW
@given(X=points(), length=st.floats(0.1, 10))
def test_affine_is_a_constant_feature(kind, X, length):
    longer = np.hstack([X, np.full((len(X), 1), length)])
    np.testing.assert_array_equal(graph(kind, X, affine=length), graph(kind, longer))


@FEW
@given(X=points())
def test_affine_true_is_the_root_mean_square_length(X):
    length = float(np.sqrt((X**2).sum(axis=1).mean()))
    np.testing.assert_allclose(
        graph(L1Graph, X, affine=True), graph(L1Graph, X, affine=length), atol=1e-9
    )


@FEW
@given(X=points(), gamma=st.floats(0.01, 1.0))
def test_no_sweep_raises_the_objective_of_the_laplacian(X, gamma):
    unit, engine = unit_points(X), ThreadEngine(1)
    start = l1_codes(unit, 0.1, n_neighbors=4, engine=engine)
    found = laplacian_codes(
        unit, start.codes, start.neighbors, lam=0.1, gamma=gamma, max_sweeps=5, engine=engine
    )
    assert (np.diff(found.objective) <= 1e-9).all()


@FEW
@given(X=points(), gamma=st.floats(0.01, 1.0))
def test_a_sweep_with_the_step_of_the_theorem_does_not_raise_the_objective(X, gamma):
    unit, engine = unit_points(X), ThreadEngine(1)
    start = l1_codes(unit, 0.1, n_neighbors=4, engine=engine)
    step = theorem_step(unit, gamma, 4)
    one_sweep = algorithm_2(
        unit, start.codes, start.neighbors, gamma=gamma, step=step, max_sweeps=1, engine=engine
    )
    assert one_sweep.objective[-1] <= one_sweep.objective[0] + 1e-9
