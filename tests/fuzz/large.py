"""Cases of 1,000 to 100,000 rows: what must not change a graph, wide files, planted files.

Rounding may turn a decision over for a few points: a nearest neighbour, a step of a greedy method.
So two graphs count as one if all but a few rows agree.
"""

from __future__ import annotations

import functools
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone

from fuzz.invariants import check_labels, check_same_bits
from fuzz.outcomes import expect
from fuzz.readers import damaged, some_in_new_processes
from fuzz.stores import check_planted_model, plant, rewritten, without_graphs
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
from srsg.files import FileError, read_points
from srsg.persistence import save_model
from support.estimators import CODE_ESTIMATORS

MOST_ROWS = {
    NeighborGraph: 100_000,
    TSCGraph: 20_000,
    L1Graph: 10_000,
    RidgeGraph: 5_000,
    OMPGraph: 5_000,
    ElasticNetGraph: 5_000,
    SRSG: 5_000,
    SMCE: 5_000,
    LaplacianL1Graph: 2_000,
    LocalScalingSpectralClustering: 3_000,
}
"""The most rows that a method is tried on: most cases end in seconds."""

FEW_ROWS = 0.003
"""The share of rows that rounding may change: ties among neighbours, a step of a greedy method. At
1,000 rows none did, and 95 % of the rows changed by less than 1e-8 of their length (1e-5 in
float32)."""

SWEEPS = (SRSG, LaplacianL1Graph)
"""Methods that go through the points in their order."""

AS_THEY_ARE = (SMCE, LocalScalingSpectralClustering)
"""Methods that do not scale the points to unit length."""


def rows(rng, most):
    """A number of rows: mostly 1,000 to 2,000, seldom as many as the method is tried on."""
    if rng.random() < 0.9:
        most = min(most, 2_000)
    return int(np.exp(rng.uniform(np.log(1_000), np.log(most + 1))))


def _subspaces(rng, n, d):
    k, rank = int(rng.integers(2, 8)), int(rng.integers(1, max(2, d // 2)))
    bases = rng.standard_normal((k, rank, d))
    X = np.einsum("nr,nrd->nd", rng.standard_normal((n, rank)), bases[rng.integers(k, size=n)])
    return X + 10.0 ** rng.uniform(-4, -1) * rng.standard_normal((n, d))


def _blobs(rng, n, d):
    centers = rng.uniform(0, 8) * rng.standard_normal((int(rng.integers(1, 9)), d))
    return centers[rng.integers(len(centers), size=n)] + rng.standard_normal((n, d))


def _heavy_tails(rng, n, d):
    return rng.standard_t(2, size=(n, d))


def _positive(rng, n, d):
    return rng.lognormal(size=(n, d))


def _curve(rng, n, d):
    t = rng.uniform(0, 2 * np.pi, (n, 1))
    frequencies, phases = rng.integers(1, 4, size=(1, d)), rng.uniform(0, 6, (1, d))
    return np.cos(frequencies * t + phases) + 0.01 * rng.standard_normal((n, d))


MAKERS = [_subspaces, _blobs, _heavy_tails, _positive, _curve]


def points(rng, n):
    d = int(rng.integers(3, 12 if n > 20_000 else 60))
    return MAKERS[rng.integers(len(MAKERS))](rng, n, d)


def graph_of(model, X, name="codes_"):
    found = clone(model).fit_graph(X)
    return sparse.csr_array(getattr(found, name if hasattr(found, name) else "affinity_matrix_"))


def expect_same(one, other, what, *, tolerance=1e-6, share=FEW_ROWS):
    """All but a few rows agree."""
    expect(one.shape == other.shape, f"{what}: another shape", one.shape, other.shape)
    expect(np.isfinite(other.data).all(), f"{what}: not finite")
    difference = abs(one - other)
    sizes = 1e-12 + np.asarray(abs(one).sum(axis=1)).ravel()
    wrong = np.asarray(difference.sum(axis=1)).ravel() > tolerance * sizes
    expect(wrong.mean() <= share, f"{what}: rows that differ", float(wrong.mean()), one.shape[0])


def scaled(rng, model, X):
    factors = 10.0 ** rng.integers(-9, 9)
    if not isinstance(model, AS_THEY_ARE) and rng.random() < 0.5:
        factors = 10.0 ** rng.uniform(-6, 6, (len(X), 1))
    expect_same(graph_of(model, X), graph_of(model, X * factors), "scale")


def shifted(rng, model, X):
    """Invariant, or new points far from all that was fitted are warned of."""
    if isinstance(model, AS_THEY_ARE):
        shift = float(rng.uniform(-10, 10)) * X.std()
        expect_same(graph_of(model, X), graph_of(model, X + shift), "shift")
        return
    fitted = clone(model).fit(X)
    far = X[:200] + 1e4 * np.abs(X).max() if rng.random() < 0.5 else X[:200] * 1e6
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        labels = fitted.predict(far)
    check_labels(labels, 200, fitted.n_clusters_)
    expect(any("longer" in str(each.message) for each in told), "far points without a warning")


def float32(rng, model, X):
    X = X.astype(np.float32)
    # A greedy step or a sweep goes another way after a tie, and takes other rows along.
    share = 0.05 if isinstance(model, (*SWEEPS, OMPGraph)) else 0.01
    one, other = graph_of(model, X.astype(float)), graph_of(model, X)
    expect_same(one, other, "float32", tolerance=1e-4, share=share)


def reordered(rng, model, X):
    order = rng.permutation(len(X))
    name = "init_codes_" if isinstance(model, SRSG) else "codes_"
    if isinstance(model, LaplacianL1Graph):
        return
    one, other = graph_of(model, X, name), graph_of(model, X[order], name)
    expect_same(one[order][:, order], other, "order of rows")


def duplicated(rng, model, X):
    """Equal points have one label, and the codes of the others do not change."""
    n = len(X)
    again = rng.integers(n, size=int(rng.integers(1, n // 2)))
    both = np.vstack([X, X[again]])
    if isinstance(model, (*SWEEPS, *AS_THEY_ARE)) or rng.random() < 0.3:
        found = clone(model).fit(both)
        check_labels(found.labels_, len(both), found.n_clusters_)
        if not isinstance(model, AS_THEY_ARE):
            expect((found.labels_[n:] == found.labels_[again]).all(), "equal points differ")
        return
    one, other = graph_of(model, X), graph_of(model, both)
    expect_same(one, other[:n, :n], "duplicates")
    expect_same(other[again], other[n:], "codes of duplicates", tolerance=0.0, share=0.0)


def with_zeros(rng, model, X):
    wider = np.insert(X, int(rng.integers(X.shape[1] + 1)), 0.0, axis=1)
    expect_same(graph_of(model, X), graph_of(model, wider), "a column of zeros")


def rotated(rng, model, X):
    rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    expect_same(graph_of(model, X), graph_of(model, X @ rotation), "rotation")


def certified(rng, model, X):
    """Some certificates are computed again from the points and the codes; labels are in range."""
    found = clone(model).fit(X)
    check_labels(found.labels_, len(X), found.n_clusters_)
    W = sparse.csr_array(found.affinity_matrix_)
    expect(W.nnz == 0 or W.data.min() >= 0, "negative weights")
    expect(abs(W - W.T).max() == 0, "graph is not symmetric")
    if not isinstance(model, (L1Graph, SRSG)):
        return
    some = np.sort(rng.permutation(len(X))[:100])
    P = np.asarray(found.fit_X_)
    Z = (found.init_codes_ if isinstance(model, SRSG) else found.codes_)[some].toarray()
    gradient = 2 * (P[some] - Z @ P) @ P.T
    lam = found.lam
    violation = np.where(Z != 0, np.abs(gradient - lam * np.sign(Z)), np.abs(gradient) - lam)
    violation[np.arange(len(some)), some] = 0
    claimed = found.kkt_violation_[some]
    wrong = np.abs(np.maximum(0, violation.max(axis=1)) - claimed)
    sizes = 1 + np.abs(Z).sum(axis=1) + lam
    expect((wrong <= 1e-11 * sizes).all(), "kkt_violation_ claimed and found", wrong.max())
    expect(claimed.max() < 1e-3, "codes are not optimal", claimed.max())


RELATIONS = [
    *(scaled, shifted, float32, reordered, duplicated, with_zeros, rotated, certified),
]


def metamorphic(rng):
    """One method, one change of the points that it must not mind."""
    kinds = list(MOST_ROWS)
    kind = kinds[rng.integers(len(kinds))]
    n = rows(rng, MOST_ROWS[kind])
    model = kind(int(rng.integers(2, 9)), n_jobs=1, random_state=0, **OWN.get(kind, {}))
    relation = RELATIONS[rng.integers(len(RELATIONS))]
    if n > 5_000 and relation in (shifted, certified):  # which cut the graph as well
        relation = rotated
    relation(rng, model, points(rng, n))


OWN = {
    **{kind: {"n_init": 1} for kind in CODE_ESTIMATORS},
    SRSG: {"n_init": 1, "max_sweeps": 3},
    LaplacianL1Graph: {"n_init": 1, "max_sweeps": 2},
}


NAMES = [
    lambda rng, d: [f"c{k}" for k in range(d)],
    lambda rng, d: ["x"] * d,
    lambda rng, d: ["x", "x_2", "x_2_2"] * (d // 3) + ["x_3"] * (d % 3),
    lambda rng, d: rng.choice(["", " ", "id", "1", "é", "a\tb", "=1+1"], size=d).tolist(),
    lambda rng, d: [str(k) for k in rng.permutation(d)],
    lambda rng, d: ["n" * int(rng.integers(1, 200)) for _ in range(d)],
]


def wide_file(rng):
    """A table of up to 20,000 columns: read as it was written, or refused with one line."""
    d, n = int(np.exp(rng.uniform(np.log(1_000), np.log(20_001)))), int(rng.integers(2, 30))
    X = rng.standard_normal((n, d)).round(3)
    names = NAMES[rng.integers(len(NAMES))](rng, d)
    kind = str(rng.choice(["csv", "tsv", "csv.gz", "npy", "npz", "mat", "parquet", "feather"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"f.{kind}"
        _write(path, kind, X, names)
        harmed = rng.random() < 0.3
        if harmed:
            path.write_bytes(damaged(rng, path.read_bytes()))
        try:
            with some_in_new_processes(rng):
                table = read_points(path)
        except FileError as error:
            expect("\n" not in str(error) and folder in str(error), "an unclear error", str(error))
            expect(len(str(error)) < 2_000, "an error of many words", len(str(error)))
            raise
        expect(np.isfinite(table.X).all(), "values that are not finite")
        if not harmed:
            # A column may be taken for names of rows or for labels, and names that are numbers for
            # a row.
            expect(len(table.X) in (n - 1, n, n + 1), "other rows", table.X.shape)
            expect(d - 2 <= table.X.shape[1] <= d, "other columns", table.X.shape, d)


def _write(path, kind, X, names):
    if kind in ("npy", "npz", "mat"):
        import scipy.io

        save = {"npy": np.save, "npz": lambda p, x: np.savez(p, X=x)}
        save.get(kind, lambda p, x: scipy.io.savemat(p, {"X": x}))(path, X)
        return
    import pandas as pd

    if kind in ("parquet", "feather"):  # which want names that differ
        frame = pd.DataFrame(X, columns=[f"{k}:{name}" for k, name in enumerate(names)])
        getattr(frame, f"to_{kind}")(path)
    else:
        pd.DataFrame(X, columns=names).to_csv(path, sep="\t" if kind == "tsv" else ",", index=False)


def kept_models():
    return [
        L1Graph(3, n_jobs=1, random_state=0, n_init=1),
        SRSG(3, n_jobs=1, random_state=0, n_init=1, max_sweeps=2),
        RidgeGraph(3, n_jobs=1, random_state=0, n_init=1),
        NeighborGraph(3, n_jobs=1, random_state=0, n_init=1),
        SMCE(3, n_jobs=1, random_state=0, n_init=1),
    ]


@functools.cache
def kept_points():
    return _subspaces(np.random.default_rng(5), 1_000, 20)


@functools.cache
def kept_fit(number):
    return kept_models()[number].fit(kept_points())


@functools.cache
def kept_bytes(number):
    with tempfile.TemporaryDirectory() as folder:
        save_model(kept_fit(number), Path(folder) / "model.srsg")
        return (Path(folder) / "model.srsg").read_bytes()


def planted_model(rng):
    """A model of 1,000 points with one wrong value: refused, or it labels without harm."""
    check_planted_model(rewritten(rng, kept_bytes(int(rng.integers(5)))), kept_points())


def planted_store(rng):
    """A store with one wrong value in each file, or with damaged files."""
    number = int(rng.integers(5))
    X = kept_points()
    with tempfile.TemporaryDirectory() as folder:
        model = kept_models()[number].set_params(store=folder).fit(X)
        if rng.random() < 0.5:
            without_graphs(None, folder)
        planted = rng.random() < 0.5
        for path in sorted(Path(folder).rglob("*.npz")):
            if planted:
                plant(rng, path)
            else:
                path.write_bytes(damaged(rng, path.read_bytes()))
        model = kept_models()[number].set_params(store=folder).fit(X)
        check_labels(model.labels_, len(X), 3)
        check_labels(model.predict(X[:50]), 50, 3)
        if not planted:
            model.store = None
            check_same_bits(model, kept_fit(number))


KINDS = {
    "metamorphic": (metamorphic, 70),
    "wide file": (wide_file, 14),
    "large model": (planted_model, 8),
    "large store": (planted_store, 8),
}
"""Each kind with its share in per cent."""
