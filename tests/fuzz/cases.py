"""The kinds of cases, and which of them a number stands for."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fuzz import data, large, parameters
from fuzz.invariants import check_fit, check_labels, check_same_bits
from fuzz.outcomes import expect
from fuzz.readers import damaged_file, damaged_text
from fuzz.stores import damaged_model, damaged_store, kept_and_saved
from srsg import cluster_graph
from srsg.coding import fpgd_sp
from support import plain


def fit(rng):
    """A fit of any estimator; some also predict, or fit again on other threads and blocks."""
    X = data.points(rng)
    model = parameters.estimator(rng, X.shape[0]).fit(X)
    check_fit(model, X.shape[0])
    next_step = rng.random()
    if next_step < 0.1:
        predict(rng, model, X)
    elif next_step < 0.2:
        again = type(model)(**model.get_params()).set_params(n_jobs=2)
        check_same_bits(model, again.fit(X))
    elif next_step < 0.3:
        smaller_blocks(model, X)
    elif next_step < 0.35:
        labels = model.relabel(2, random_state=0)
        check_labels(labels, X.shape[0], 2)
    elif next_step < 0.45:
        kept_and_saved(model, X)


def predict(rng, model, X):
    new = X if rng.random() < 0.3 else rng.standard_normal((3, X.shape[1]))
    labels = model.predict(new)
    check_labels(labels, new.shape[0], model.n_clusters_)


def smaller_blocks(model, X):
    """The same bits if every point is a block of its own."""
    from unittest.mock import patch

    again = type(model)(**model.get_params())
    with patch("srsg.running.config.blocks_within", lambda *_: (1, 0.0)):
        check_same_bits(model, again.fit(X))


def graph(rng):
    """Any graph through the spectral step."""
    n = int(rng.integers(1, 14))
    W = rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.0, 0.1, 0.3, 1.0]))
    if rng.random() < 0.3:
        W = W * 10.0 ** rng.integers(-300, 300, size=rng.choice([1, n]))
    if rng.random() < 0.2:
        W = (W > 0).astype(float)
    if rng.random() < 0.95:
        W = np.maximum(W, W.T)
    if rng.random() < 0.03:
        W[0, -1] = rng.choice([np.nan, np.inf, -1.0])
    if rng.random() < 0.5:
        W = sparse.csr_array(W)
    n_clusters = "auto" if rng.random() < 0.05 else parameters.count(rng, n)
    neighbors = None
    if rng.random() < 0.4 and n > 1:
        # Sometimes out of range by one.
        high = n + (rng.random() < 0.05)
        neighbors = rng.integers(-(rng.random() < 0.05), high, size=(n, int(rng.integers(1, n))))
    labels = cluster_graph(
        W,
        n_clusters,
        neighbors=neighbors,
        bridge=parameters.bridge(rng, n),
        cut=rng.choice(["normalized", "ratio"]),
        assign_labels=parameters.GENERATORS["assign_labels"](rng, n),
        n_init=1,
        random_state=0,
        n_jobs=1,
    )
    check_labels(labels, n, n if n_clusters == "auto" else n_clusters)


def algorithm_1(rng):
    """Algorithm 1 against the plain one on all coordinates."""
    d, n = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    tame = rng.random() < 0.5
    A = rng.standard_normal((d, n))
    b, z0 = rng.standard_normal(d), rng.standard_normal(n) * (rng.random(n) < 0.5)
    c = rng.integers(-3, 4, size=n).astype(float)
    gamma, step = 0.1, float(0.5 / np.linalg.norm(A, 2) ** 2)
    if not tame:
        gamma, step = parameters.positive(rng, n), parameters.positive(rng, n)
        which = rng.integers(4)
        scale = 10.0 ** rng.integers(-200, 200)
        A, b, z0 = (v * scale if which == k else v for k, v in enumerate((A, b, z0)))
    fixed = None if rng.random() < 0.5 else int(rng.integers(-1, n + 1))
    max_iter, tol = int(rng.integers(1, 30)), float(rng.choice([0.0, 1e-6]))
    options = {"step": step, "max_iter": max_iter, "tol": tol, "fixed_zero": fixed}
    z, history = fpgd_sp(A, b, c, gamma, z0, **options)
    expect(z.shape == (n,) and np.isfinite(z).all(), "iterate is not finite", z)
    expect(np.isfinite(history.objective).all(), "objective is not finite", history.objective)
    if tame:
        fixed_zero = [] if fixed is None else fixed
        z0 = z0.copy()
        z0[fixed_zero] = 0
        expected, _ = plain.fpgd_sp(A, b, c, gamma, z0, step, max_iter, tol, fixed_zero)
        expect(np.abs(z - expected).max() < 1e-8 * (1 + np.abs(expected).max()), "not Algorithm 1")


KINDS = {
    "fit": (fit, 70),
    "graph": (graph, 12),
    "algorithm 1": (algorithm_1, 6),
    "file": (damaged_file, 4),
    "text": (damaged_text, 4),
    "model": (damaged_model, 2),
    "store": (damaged_store, 2),
}
"""Each kind with its share in per cent."""

LARGE = 1_000_000_000
"""The number of the first large case."""


def _order(kinds):
    return [name for name, (_, share) in kinds.items() for _ in range(share)]


def case_of(number):
    """Name, function and random numbers of a case."""
    kinds = large.KINDS if number >= LARGE else KINDS
    rng = np.random.default_rng([17, number] if number >= 0 else [18, -number])
    order = _order(kinds)
    name = order[rng.integers(len(order))]
    return name, kinds[name][0], rng
