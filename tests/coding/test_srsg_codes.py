"""Algorithm 2 on few coordinates against the same at full length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from srsg import SRSG
from srsg.coding import auto_step, l1_codes, srsg_codes, sweeps, theorem_step
from srsg.coding.neighbors import undirected
from srsg.graph import neighbor_graph
from srsg.kernels.arrays import Codes
from srsg.points import unit_points
from srsg.running import ThreadEngine
from support import plain
from support.subspaces import near_planes


def assert_same_as_full_length(X, n_neighbors=5, direction="directed", **settings):
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=n_neighbors)
    graph = undirected(neighbor_graph(l1.neighbors), direction)
    ours = srsg_codes(points, l1.codes, graph, **settings)
    exact = points.x.astype(np.float64)
    lists = [np.flatnonzero(row) for row in graph.toarray()]
    settings.setdefault("stop", "supports")
    Z, objectives = plain.srsg(exact, l1.codes.toarray(), lists, **settings)
    codes = ours.codes.toarray()
    np.testing.assert_array_equal(codes != 0, Z != 0)
    np.testing.assert_allclose(codes, Z, atol=1e-10)
    np.testing.assert_allclose(ours.objective, objectives, atol=1e-9)
    return ours


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([0.001, 0.01, 0.1, 1.0]),
    step=st.sampled_from([0.001, 0.01, 0.05, 0.3]),
    tol=st.sampled_from([0.0, 1e-5]),
    n_neighbors=st.sampled_from([1, 4, 5]),
    dtype=st.sampled_from("fd"),
    direction=st.sampled_from(["directed", "either", "mutual"]),
    stop=st.sampled_from(["supports", "objective"]),
)
def test_equal_to_full_length(seed, gamma, step, tol, n_neighbors, dtype, direction, stop):
    """An even number of neighbours has ties in the vote, c = 0, which cost nothing."""
    X, _ = near_planes(seed)
    settings = {"gamma": gamma, "step": step, "max_sweeps": 4, "max_iter": 30, "tol": tol}
    assert_same_as_full_length(X.astype(dtype), n_neighbors, direction, stop=stop, **settings)


def test_the_papers_rule_goes_on_when_supports_are_settled():
    """Both end at the same supports; the paper's rule refines the coefficients further."""
    X, _ = near_planes(1)
    settings = {"gamma": 0.1, "step": 0.01, "max_iter": 5, "tol": 1e-6}
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=5)
    early = srsg_codes(points, l1.codes, l1.neighbors, stop="supports", **settings)
    late = srsg_codes(points, l1.codes, l1.neighbors, stop="objective", **settings)
    assert len(late.objective) > len(early.objective)
    assert abs(late.objective[-1] - late.objective[-2]) < 1e-6
    assert abs(early.objective[-1] - early.objective[-2]) >= 1e-6
    np.testing.assert_array_equal(early.objective, late.objective[: len(early.objective)])


def test_array_of_neighbors_is_the_directed_graph():
    X, _ = near_planes(2)
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=4)
    by_array = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01)
    by_graph = srsg_codes(points, l1.codes, neighbor_graph(l1.neighbors), gamma=0.1, step=0.01)
    np.testing.assert_array_equal(by_array.codes.toarray(), by_graph.codes.toarray())


def pairwise_objective(X, Z, graph, gamma):
    """The fit, plus gamma for each index that one of two neighbours uses, each pair once."""
    used = Z != 0
    differ = sum(np.sum(used[i] != used[j]) for i, j in zip(*np.nonzero(graph), strict=True))
    return np.sum((X - Z @ X) ** 2) + gamma * differ / 2


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([0.01, 0.1, 0.5]),
    direction=st.sampled_from(["either", "mutual"]),
)
def test_sweeps_descend_if_all_neighbors_are_mutual(seed, gamma, direction):
    """With the step of Theorem 3.2; iterates of the accelerated steps are not monotone, so the
    point's problem is solved to its end."""
    X, _ = near_planes(seed)
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=5)
    graph = undirected(neighbor_graph(l1.neighbors), direction)
    step = theorem_step(points, gamma, np.diff(graph.indptr))
    codes, values = l1.codes, []
    for _ in range(4):
        values.append(pairwise_objective(points.x, codes.toarray(), graph.toarray(), gamma))
        settings = {"max_sweeps": 1, "max_iter": 2000, "tol": 0.0}
        codes = srsg_codes(points, codes, graph, gamma=gamma, step=step, **settings).codes
    assert np.all(np.diff(values) <= 1e-9)


def test_equal_to_full_length_on_coil20(paper_data):
    X, _ = paper_data("COIL20", 4)
    ours = assert_same_as_full_length(X, gamma=0.1, step=0.01, max_sweeps=3, max_iter=100, tol=1e-5)
    assert len(ours.objective) == 4


@pytest.mark.parametrize("n_threads", [2, 5])
def test_points_solved_at_once_change_no_bit(monkeypatch, n_threads):
    """Levels of a few points, shared among threads, and codes that outgrow their room."""
    points = unit_points(np.random.default_rng(8).random((400, 12)))
    l1 = l1_codes(points, 0.01, n_neighbors=5)
    settings = {"gamma": 0.001, "step": 0.1, "max_sweeps": 6, "tol": 0.0}
    one = srsg_codes(points, l1.codes, l1.neighbors, engine=ThreadEngine(1), **settings)
    monkeypatch.setattr(sweeps, "LEAST_SHARED", 4)
    monkeypatch.setattr(sweeps, "POINTS_PER_CALL", 3)
    from_csr = Codes.from_csr
    monkeypatch.setattr(Codes, "from_csr", lambda codes, spare=0: from_csr(codes))
    several = srsg_codes(points, l1.codes, l1.neighbors, engine=ThreadEngine(n_threads), **settings)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(several.codes, name), getattr(one.codes, name))
    np.testing.assert_array_equal(several.objective, one.objective)


def test_the_check_lets_coordinates_in():
    """Otherwise the equalities above would say nothing of it."""
    X, _ = near_planes(3)
    ours = assert_same_as_full_length(X, gamma=0.001, step=0.3, max_sweeps=2, max_iter=30, tol=1e-5)
    assert ours.n_let_in > 0


def test_steps_beyond_the_stable_bound_are_cut():
    X, _ = near_planes(4)
    ours = assert_same_as_full_length(X, gamma=0.1, step=10.0, max_sweeps=2, max_iter=30, tol=1e-5)
    assert ours.n_steps_cut > 0
    assert np.isfinite(ours.codes.data).all()


def test_codes_may_outgrow_their_room():
    """Twenty points favour the same forty, which the first had no use for."""
    X, _ = near_planes(0, n_points=60, n_features=50, n_subspaces=1)
    init = np.zeros((60, 60))
    init[1:20, 20:] = 0.02
    points = unit_points(X)
    neighbors = np.array([[j for j in range(6) if j != i][:5] for i in range(60)])
    settings = {"gamma": 0.1, "step": 0.001, "max_sweeps": 2, "max_iter": 20, "tol": 0.0}
    narrow = sparse.csr_array(init)
    ours = srsg_codes(points, narrow, neighbors, **settings)
    Z, _ = plain.srsg(X, init, neighbors, **settings)
    assert np.diff(ours.codes.indptr).max() <= 60
    np.testing.assert_allclose(ours.codes.toarray(), Z, atol=1e-10)


def test_points_without_codes_are_no_obstacle():
    """lam = 2 makes all codes zero: nothing to vote for, nothing to cut."""
    X, _ = near_planes(0)
    model = SRSG(2, lam=2.0, random_state=0).fit(X)
    assert model.codes_.nnz == 0
    assert model.n_sweeps_ == 1
    assert model.labels_.shape == (len(X),)


def test_the_theorem_step_cuts_hardly_anything():
    X, _ = near_planes(9, n_points=60, n_features=6, noise=0.03)
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=5)
    model = SRSG(step="theorem").fit_graph(X)
    assert model.step_ == theorem_step(points, 0.1, 5)
    assert SRSG().fit_graph(X).step_ == auto_step(l1.codes, 0.1)

    def share_kept(model):
        return (abs(model.codes_) > 0).multiply(abs(l1.codes) > 0).nnz / l1.codes.nnz

    assert share_kept(model) > 0.8 > 0.6 > share_kept(SRSG(step=0.05).fit_graph(X))


def test_unfinished_sweeps_are_reported():
    from sklearn.exceptions import ConvergenceWarning

    X, _ = near_planes(0, n_points=60)
    with pytest.warns(ConvergenceWarning, match="max_sweeps=1"):
        SRSG(3, max_sweeps=1, tol=0.0, step=0.05).fit(X)
