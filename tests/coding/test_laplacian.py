"""The Laplacian codes with and without the inner products of all points."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from srsg import LaplacianL1Graph, config_context
from srsg.coding import l1 as l1_module
from srsg.coding import l1_codes, laplacian, laplacian_codes
from srsg.datasets import make_union_of_subspaces
from srsg.estimators import laplacian_l1_graph
from srsg.points import unit_points
from srsg.running import ThreadEngine
from srsg.running.config import CODE_BYTES, NEIGHBOR_BYTES


@pytest.fixture(scope="module")
def problem():
    """Points of many features, so that the inner products pay, with their l1 codes."""
    X, _ = make_union_of_subspaces(
        150, n_subspaces=3, dimension=4, n_features=160, noise=0.02, random_state=0
    )
    points = unit_points(X)
    return points, l1_codes(points, 0.05, n_neighbors=5)


def coded(points, l1, **options):
    options = {"lam": 0.05, "gamma": 0.3, "max_sweeps": 3, "tol": 0.0} | options
    return laplacian_codes(points, l1.codes, l1.neighbors, **options)


def test_both_ways_find_the_same_codes(problem):
    with_gram = coded(*problem)
    without = coded(*problem, gram_bytes=0)
    assert (with_gram.codes.data != without.codes.data).any()  # other sums, so other rounding
    difference = abs(with_gram.codes - without.codes)
    assert difference.max() < 1e-8
    assert with_gram.codes.nnz > 5 * problem[0].n  # or there would be little to compare
    for result in (with_gram, without):
        assert result.kkt_violation.max() < 1e-9
        assert result.dual_gap.max() < 1e-9
    np.testing.assert_allclose(with_gram.objective, without.objective, rtol=1e-10)


@pytest.mark.parametrize("gamma", [1e-3, 10.0, 1e3])
def test_certified_for_weak_and_strong_pulls(problem, gamma):
    result = coded(*problem, gamma=gamma)
    assert result.kkt_violation.max() < 1e-9 * max(1.0, gamma)
    assert (np.diff(result.objective) <= 1e-9 * result.objective[:-1]).all()


def test_same_bits_on_any_number_of_threads(problem):
    one, two = (coded(*problem, engine=ThreadEngine(n)) for n in (1, 2))
    assert (one.codes.data == two.codes.data).all()
    assert (one.kkt_violation == two.kkt_violation).all()


def test_single_precision(problem):
    points, l1 = problem
    single = unit_points(points.x.astype(np.float32))
    result = coded(single, l1)
    assert result.kkt_violation.max() < 1e-9


def test_little_memory_does_without(problem, monkeypatch):
    points, _ = problem
    seen = []
    code = laplacian_l1_graph.laplacian_codes
    monkeypatch.setattr(
        laplacian_l1_graph,
        "laplacian_codes",
        lambda *inputs, **options: seen.append(options["gram_bytes"]) or code(*inputs, **options),
    )
    for memory in ("20MB", "100GB"):
        with config_context(max_memory=memory):
            LaplacianL1Graph(3, random_state=0).fit_graph(points.x)
    # Half of what the points (in float64 and float32), four codes and the neighbours leave.
    taken = len(points.x) * (12 * points.x.shape[1] + 4 * CODE_BYTES + 5 * NEIGHBOR_BYTES)
    assert seen == [(20_000_000 - taken) // 2, laplacian.GRAM_BYTES]


def plain_violations(points, codes, lam):
    """Of the l1 problems, from their definition; for half of the objective, twice."""
    z = codes.toarray()
    slopes = (points.x - z @ points.x) @ points.x.T
    violation = np.where(
        z == 0, np.maximum(abs(slopes) - lam / 2, 0), abs(slopes - lam / 2 * np.sign(z))
    )
    np.fill_diagonal(violation, 0)
    return 2 * violation.max(axis=1)


@pytest.mark.parametrize(("name", "value"), [("MAX_SCANS", 2), ("TOL", 1e-2)])
@pytest.mark.parametrize("gram_bytes", [0, laplacian.GRAM_BYTES])
def test_certificates_are_true_where_codes_are_not_optimal(monkeypatch, name, value, gram_bytes):
    """With hardly any pull the problems are those of the l1-graph, whose conditions are known."""
    points = unit_points(np.random.default_rng(0).standard_normal((150, 160)))
    l1 = l1_codes(points, 0.6, n_neighbors=5)
    monkeypatch.setattr(laplacian, name, value)  # MAX_SCANS: only for the message
    options = {"lam": 0.05, "gamma": 1e-12, "max_sweeps": 1, "gram_bytes": gram_bytes}
    if name == "MAX_SCANS":
        monkeypatch.setattr(l1_module, "MAX_SCANS", value)
        monkeypatch.setattr(laplacian, "JOINING_LIMIT", 4)
        with pytest.warns(ConvergenceWarning, match="codes not optimal"):
            result = coded(points, l1, **options)
    else:
        result = coded(points, l1, **options)
    plain = plain_violations(points, result.codes, 0.05)
    assert np.median(plain) > 1e-4
    np.testing.assert_allclose(result.kkt_violation, plain, atol=1e-9)
