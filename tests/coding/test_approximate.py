"""Codes over candidates: exact on them, and honest about what they miss."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Lasso

from srsg import SRSG, L1Graph
from srsg.coding import approximate_l1_codes, l1_codes
from srsg.coding.candidates import CandidateIndex, check_candidates
from srsg.persistence import load_model, save_model
from srsg.points import unit_points
from srsg.report import write_report
from srsg.running import ThreadEngine
from support.cli_runs import good, the_error
from support.plain import kkt_violation, nearest_neighbors
from support.subspaces import near_planes

pytest.importorskip("faiss", reason="needs faiss: pip install 'srsg[approximate]'")

LAM = 0.1
DIGITS = unit_points(load_digits().data)


def signed_points(n_points=600):
    """Points of either sign, near subspaces."""
    X, _ = near_planes(0, n_points, 30, 10, noise=0.03)
    return unit_points(X)


def assert_same(a, b):
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("points", [signed_points(120), unit_points(DIGITS.x[:150])])
def test_with_all_points_as_candidates_the_codes_are_the_exact_ones(points):
    exact = l1_codes(points, LAM, n_neighbors=5)
    ours = approximate_l1_codes(points, LAM, n_candidates=points.n - 1, n_neighbors=5)
    assert_same(ours.codes, exact.codes)
    np.testing.assert_array_equal(ours.neighbors, exact.neighbors)
    assert ours.kkt_violation.max() <= 1e-9
    np.testing.assert_array_equal(ours.certified, np.arange(points.n))


def test_the_sample_is_certified_against_all_points():
    points = signed_points()
    result = approximate_l1_codes(points, LAM, n_candidates=8, n_certified=15)
    assert len(np.unique(result.certified)) == 15
    codes = result.codes[result.certified].toarray()
    lasso = Lasso(LAM / (2 * points.x.shape[1]), fit_intercept=False, tol=1e-12, max_iter=100_000)
    for i, z, violation, gap in zip(
        result.certified, codes, result.kkt_violation, result.dual_gap, strict=True
    ):
        assert violation == pytest.approx(kkt_violation(points.x, i, z, LAM), abs=1e-12)
        others = np.delete(points.x, i, axis=0)
        best = lasso.fit(others.T, points.x[i]).coef_
        excess = _objective(points.x[i], points.x, z) - _objective(points.x[i], others, best)
        assert -1e-9 <= excess <= gap + 1e-9
    assert result.kkt_violation.max() > 0.01  # few candidates miss something, and that is seen


def _objective(x, atoms, z):
    return ((x - z @ atoms) ** 2).sum() + LAM * np.abs(z).sum()


def test_more_candidates_miss_less():
    few, many = (
        np.median(approximate_l1_codes(DIGITS, LAM, n_candidates=count).kkt_violation)
        for count in (10, 100)
    )
    assert many < few / 2


@pytest.mark.parametrize("points", [signed_points(), DIGITS])
def test_codes_are_optimal_on_their_last_candidates(points, monkeypatch):
    from srsg.coding import approximate

    solve = approximate.code_over_candidates
    seen = []

    def spy(x, targets, start, candidates, half_lam):
        found = solve(x, targets, start, candidates, half_lam)
        for row in range(len(candidates)):
            before = start.index[row, : start.size[row]].tolist()
            chosen = {t for t in (*candidates[row].tolist(), *before) if t >= 0}
            seen.append((targets.double[row], sorted(chosen), found[0].to_csr(points.n)[[row]]))
        return found

    monkeypatch.setattr(approximate, "code_over_candidates", spy)
    approximate_l1_codes(points, LAM, n_candidates=30, n_certified=1, engine=ThreadEngine(1))
    assert len(seen) > 2 * points.n  # some went on after the first search by the residual
    lasso = Lasso(LAM / (2 * points.x.shape[1]), fit_intercept=False, tol=1e-14, max_iter=100_000)
    for target, chosen, code in seen[:: len(seen) // 20]:
        own = np.flatnonzero((points.x == target).all(axis=1))[0]
        assert own not in chosen
        expected = lasso.fit(points.x[chosen].T, target).coef_
        code = code.toarray()[0]
        np.testing.assert_allclose(code[chosen], expected, atol=1e-6)
        assert np.flatnonzero(code).size == np.flatnonzero(code[chosen]).size


def test_nearly_all_of_the_exact_codes_is_found():
    exact = l1_codes(DIGITS, LAM).codes
    found = approximate_l1_codes(DIGITS, LAM, n_certified=1).codes
    share = abs(exact).multiply(found != 0).sum() / abs(exact).sum()
    assert share > 0.95


def test_opposite_points_are_candidates():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 30))
    points = unit_points(np.concatenate([x, -x + 0.05 * rng.standard_normal(x.shape)]))
    codes = approximate_l1_codes(points, LAM, n_candidates=1).codes.toarray()
    np.testing.assert_array_equal(codes.argmin(axis=1), np.roll(np.arange(400), 200))
    assert (codes.min(axis=1) < -0.8).all()


def test_a_search_finds_most_of_the_strongest(monkeypatch):
    monkeypatch.setattr("srsg.coding.candidates.SCANNED", 500)
    monkeypatch.setattr("srsg.coding.candidates.LEAST_PROBES", 8)
    points = signed_points(4000)
    rows = np.arange(0, 4000, 40)
    index = CandidateIndex.of(points, 20)
    assert index.n_probes < index.cells.nlist / 4
    found = index.search(points.x[rows], rows, 60)  # which the index ranks roughly
    products = points.x[rows] @ points.x.T
    products[np.arange(len(rows)), rows] = -2
    true = np.argsort(-products, axis=1)[:, :20]
    shared = [len(set(a) & set(b)) / 20 for a, b in zip(found.ids, true, strict=True)]
    assert np.mean(shared) > 0.95
    assert not (found.ids == rows[:, None]).any()


def test_neighbours_are_there_even_if_the_cells_are_empty():
    x = np.random.default_rng(0).standard_normal((500, 20))
    x[0] = -50 * x[1:].mean(axis=0)  # nothing near it
    points = unit_points(x)
    index = CandidateIndex.of(points, 1)
    alone = CandidateIndex(index.cells, 1)
    found = alone.search(points.x, np.arange(500), 60, least=60)
    assert (found.ids >= 0).all()
    result = approximate_l1_codes(points, LAM, n_candidates=499, n_neighbors=7)
    np.testing.assert_array_equal(result.neighbors, nearest_neighbors(points.x, 7))


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
def test_the_same_bits_for_any_number_of_threads(estimator, block_size, tmp_path):
    X = signed_points(700).x
    settings = {"n_candidates": 15, "random_state": 3}
    one = estimator(10, **settings, n_jobs=1).fit(X)
    block_size(37)
    two = estimator(10, **settings, n_jobs=2, store=tmp_path).fit(X)
    assert_same(one.codes_, two.codes_)
    for name in ("labels_", "neighbors_", "certified_", "kkt_violation_", "dual_gap_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.kkt_quantiles_ == two.kkt_quantiles_
    np.testing.assert_array_equal(one.predict(X[:5]), two.predict(X[:5]))


def test_the_sample_follows_random_state_and_the_codes_do_not(tmp_path):
    settings = {"n_candidates": 10, "store": tmp_path}
    first, second = (
        L1Graph(10, **settings, random_state=seed).fit_graph(DIGITS.x) for seed in (0, 1)
    )
    assert len(first.certified_) == 1000
    assert (first.certified_ != second.certified_).any()
    assert_same(first.codes_, second.codes_)
    again = L1Graph(10, **{**settings, "store": None}, random_state=0).fit_graph(DIGITS.x)
    np.testing.assert_array_equal(again.certified_, first.certified_)
    np.testing.assert_array_equal(again.kkt_violation_, first.kkt_violation_)
    assert first.kkt_quantiles_[0.5] == np.median(first.kkt_violation_)
    assert first.kkt_quantiles_[1.0] == first.kkt_violation_.max()


def test_exact_codes_have_the_certificates_of_all_points():
    model = L1Graph(3).fit_graph(DIGITS.x[:100])
    np.testing.assert_array_equal(model.certified_, np.arange(100))
    assert list(model.kkt_quantiles_) == [0.5, 0.9, 0.99, 1.0]
    assert model.kkt_quantiles_[1.0] == model.kkt_violation_.max()


def test_page_and_file_have_the_quantiles(tmp_path):
    model = L1Graph(10, n_candidates=20, random_state=0).fit(DIGITS.x)
    save_model(model, tmp_path / "model.srsg")
    loaded = load_model(tmp_path / "model.srsg")
    assert loaded.kkt_quantiles_ == model.kkt_quantiles_
    np.testing.assert_array_equal(loaded.certified_, model.certified_)
    write_report(tmp_path / "page.html", loaded, DIGITS.x)
    page = (tmp_path / "page.html").read_text()
    assert f"90% {model.kkt_quantiles_[0.9]:.2e}" in page
    assert "1,000 random points" in page


def test_command_line(tmp_path):
    np.save(tmp_path / "digits.npy", DIGITS.x)
    options = ("cluster", tmp_path / "digits.npy", "-k", 10, "-o", tmp_path / "labels.csv")
    found = json.loads(good(*options, "--candidates", 20, "--json").stdout)
    assert found["certificates"]["n_points"] == 1000
    quantiles = found["certificates"]["kkt_quantiles"]
    assert 0 < quantiles["50%"] < quantiles["100%"]
    shown = good(*options, "--candidates", 20).stderr
    assert f"50% {quantiles['50%']:.2g}, 90% {quantiles['90%']:.2g}" in " ".join(shown.split())
    assert "--candidates is not an option of the method omp" in the_error(
        *options, "-m", "omp", "--candidates", 20, code=2
    )


def test_bad_choices_are_refused_before_any_work(monkeypatch):
    X = DIGITS.x[:50]
    with pytest.raises(ValueError, match="n_candidates=3 must be at least n_neighbors=5"):
        L1Graph(3, n_candidates=3).fit(X)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install 'srsg\[approximate\]'"):
        SRSG(3, n_candidates=20).fit(np.zeros((50, 5)))  # whose rows have no direction
    L1Graph(3).fit_graph(X)


def test_as_many_candidates_as_neighbors_are_enough():
    check_candidates(5, 5)
    with pytest.raises(ValueError, match="n_candidates=4 must be at least n_neighbors=5"):
        check_candidates(4, 5)


@pytest.mark.parametrize(("n_candidates", "half"), [(10, 5), (9, 5), (1, 1)])
def test_half_of_the_candidates_correlate_with_the_point(n_candidates, half):
    """The other half are found by what their code leaves over."""
    from srsg.coding import approximate

    points, asked = signed_points(60), []
    index = CandidateIndex.of(points, n_candidates)

    def search(vectors, rows, n_found, least=0):
        asked.append(n_found)
        return index.search(vectors, rows, n_found, least=least)

    task = approximate.Coding(SimpleNamespace(search=search), n_candidates, 0, 0.1)
    ThreadEngine(1).relay(task, points, [approximate.Block.of(np.arange(4))], label="codes")
    # For neighbours all of them are asked for; the residual has either sign, three times at most.
    assert asked[:3] == [n_candidates, half, half]
    assert asked[3:] in ([], 2 * [half], 4 * [half])
