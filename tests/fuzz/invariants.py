"""What must be true of every fit, computed again in plain NumPy."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fuzz.outcomes import expect
from srsg.graph import neighbor_graph
from support import plain

EPS = 1e-9


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def check_fit(model, n):
    """Everything that a fit promises, as far as it can be computed in another way."""
    check_labels(model.labels_, n, model.n_clusters_)
    kept = distinct(model, n)
    if model.n_clusters != "auto":
        # Equal points have one label, so there may be fewer labels than were asked for.
        most = min(model.n_clusters, max(1, len(kept)))
        expect(most <= model.n_clusters_ <= model.n_clusters, "n_clusters_", model.n_clusters_)
    check_graph(model.affinity_matrix_, n)
    if len(kept):
        own = dense(model.affinity_matrix_)[np.ix_(kept, kept)]
        check_graph(own, len(kept), model.n_connected_components_)
    expect(np.isfinite(model.embedding_).all(), "embedding_ is not finite")
    expect(len(model.embedding_) == n, "rows of embedding_", model.embedding_.shape)
    values = model.eigenvalues_
    expect(np.isfinite(values).all(), "eigenvalues_ are not finite")
    expect((np.abs(values) <= 1 + 1e-6).all(), "eigenvalues_ beyond one", values)
    if hasattr(model, "neighbors_"):
        check_neighbors(model, n)
    if hasattr(model, "codes_"):
        check_codes(model, n)
    own = CHECKS.get(type(model).__name__)
    if own:
        own(model)


def distinct(model, n):
    """The first of every set of equal points; rows of zeros are left out."""
    first = getattr(model, "first_equal_", np.arange(n))
    return np.flatnonzero(first == np.arange(n))


def has_equals(model):
    return len(distinct(model, len(model.labels_))) < len(model.labels_)


def check_labels(labels, n, n_clusters):
    expect(labels.shape == (n,), "shape of labels", labels.shape)
    expect(labels.dtype.kind == "i", "labels are no integers", labels.dtype)
    expect(labels.min() >= 0 and labels.max() < n_clusters, "labels out of range", labels)


def check_graph(graph, n, n_components=None):
    W = dense(graph)
    expect(W.shape == (n, n), "shape of the graph", W.shape)
    expect(np.isfinite(W).all(), "graph is not finite")
    expect((W >= 0).all(), "negative weights")
    expect(np.array_equal(W, W.T), "graph is not symmetric")
    if n_components is not None:
        found = sparse.csgraph.connected_components(sparse.csr_array(W != 0), directed=False)[0]
        expect(found == n_components, "n_connected_components_", n_components, found)


def check_neighbors(model, n):
    index = model.neighbors_
    expect(index.shape[0] == n, "rows of neighbors_", index.shape)
    # Rows of zeros have no neighbours, which is written as -1.
    expect((index >= -1).all() and (index < n).all(), "neighbors_ out of range")
    expect((index != np.arange(n)[:, None]).all(), "a point is its own neighbour")
    if has_equals(model):  # of which each counts once
        return
    expect((index >= 0).all(), "neighbors_ are missing")
    expect(all(len(set(row)) == len(row) for row in index.tolist()), "a neighbour comes twice")
    if type(model).__name__ == "SMCE":  # its points are as they are, not of unit length
        return
    X = dense(model.fit_X_).astype(float)
    distances = 2 - 2 * X @ X.T
    np.fill_diagonal(distances, np.inf)
    best = np.sort(distances, axis=1)[:, : index.shape[1]]
    found = np.take_along_axis(distances, index, axis=1)
    expect(np.abs(found - best).max(initial=0) < 1e-6, "others are nearer")


def check_codes(model, n):
    codes = model.codes_
    expect(codes.shape == (n, n), "shape of codes_", codes.shape)
    expect(np.isfinite(codes.data).all(), "codes_ are not finite")
    expect(not codes.diagonal().any(), "a point codes itself")
    expect((codes.indices >= 0).all() and (codes.indices < n).all(), "codes_ out of range")


def l1_violation(X, Z, lam, ridge=0.0):
    """Largest violation of the optimality conditions, and the scale of its rounding."""
    gradient = 2 * (X - Z @ X) @ X.T - 2 * np.reshape(ridge, (-1, 1)) * Z
    lam = np.reshape(lam, (-1, 1)) + np.zeros_like(gradient)
    violation = np.where(Z != 0, np.abs(gradient - lam * np.sign(Z)), np.abs(gradient) - lam)
    np.fill_diagonal(violation, 0)
    sizes = 1 + np.abs(Z).sum(axis=1) * (1 + np.max(ridge)) + lam[:, 0]
    return np.maximum(0, violation.max(axis=1)), sizes


def check_certificate(claimed, X, Z, lam, ridge=0.0):
    found, sizes = l1_violation(X, Z, lam, ridge)
    wrong = np.abs(found - claimed) > 1e-12 * sizes
    expect(not wrong.any(), "kkt_violation_ claimed and found", claimed[wrong], found[wrong])


def certificate_of_distinct(model, X, codes, lam, ridge=0.0):
    """Equal points are coded over the others only, so the conditions hold among those."""
    kept = distinct(model, len(X))
    if len(kept) > 1:
        Z = dense(codes)[np.ix_(kept, kept)]
        parts = (np.broadcast_to(part, len(X))[kept] for part in (lam, ridge))
        check_certificate(model.kkt_violation_[kept], dense(X)[kept], Z, *parts)


def exact(model):
    """The points as the fit has them; None if float32 rounding would hide what is checked."""
    X = dense(model.fit_X_)
    return X if X.dtype == np.float64 else None


def check_l1(model):
    X = exact(model)
    if X is not None:
        certificate_of_distinct(model, X, model.codes_, model.lam)


def check_elastic_net(model):
    X = exact(model)
    if X is None:
        return
    lam = np.broadcast_to(model.lam_, len(X)).astype(float)
    if lam.max() > 1e100:
        return
    ridge = lam * (1 - model.l1_ratio) / 2
    certificate_of_distinct(model, X, model.codes_, lam * model.l1_ratio, ridge)


def check_srsg(model):
    X = exact(model)
    if X is None:
        return
    certificate_of_distinct(model, X, model.init_codes_, model.lam)
    history = model.objective_history_
    expect(np.isfinite(history).all(), "objective is not finite", history)
    if has_equals(model):
        return
    S = dense(neighbor_graph(model.neighbors_))
    neighbors = [np.flatnonzero(row) for row in S]
    for codes, value in ((model.init_codes_, history[0]), (model.codes_, history[-1])):
        found = plain.srsg_objective(X, dense(codes), neighbors, model.gamma)
        # The fit is computed from inner products: its rounding grows with the squares of the codes.
        slack = 1e-9 * (1 + abs(value)) + 1e-13 * float(abs(codes).sum(axis=1).max()) ** 2
        expect(abs(found - value) <= slack, "objective", value, found)


def check_laplacian(model):
    X = exact(model)
    history = model.objective_history_
    if X is None or model.laplacian != "neighbors" or model.gamma > 1e8:
        return
    # Each step solves a convex problem exactly, so no sweep raises the objective.
    slack = 1e-9 * (1 + np.abs(history[:-1]))
    expect((np.diff(history) <= slack).all(), "a sweep raised the objective", history)


def check_omp(model):
    X, Z = exact(model), dense(model.codes_)
    used = (Z != 0).sum(axis=1)
    expect(used.max() <= model.n_nonzero, "more points than n_nonzero", used)
    if X is None:
        return
    # A least squares fit leaves a residual orthogonal to what it uses.
    left = np.where(Z != 0, (X - Z @ X) @ X.T, 0)
    sizes = 1 + np.abs(Z).max(axis=1, initial=0)
    expect((np.abs(left).max(axis=1) <= 1e-7 * sizes).all(), "codes are no least squares fit")


def check_ridge(model):
    Z = dense(model.codes_)
    expect((Z != 0).sum(axis=1).max() <= model.n_nonzero, "more points than n_nonzero")
    X = exact(model)
    if X is None or has_equals(model) or not 1e-4 < model.ridge < 1e4:
        return
    P = np.linalg.inv(X @ X.T + model.ridge * np.eye(len(X)))
    full = -P / np.diag(P)[:, None]
    expect(np.abs(np.where(Z != 0, Z - full, 0)).max() < 1e-8 / model.ridge, "not the ridge codes")


def check_tsc(model):
    X, Z = exact(model), dense(model.codes_)
    if X is not None and not has_equals(model):
        cosines = np.minimum(np.abs(X @ X.T), 1.0)
        # The angle of nearly parallel points loses half of the digits.
        wrong = np.abs(np.where(Z != 0, Z - np.exp(-2 * np.arccos(cosines)), 0))
        expect(wrong.max() < 1e-6, "not the weights of the angles", wrong.max())
        np.fill_diagonal(cosines, -1)
        least = np.where(Z != 0, cosines, 2).min(axis=1)
        left_out = np.where(Z != 0, -1, cosines).max(axis=1)
        expect((left_out <= least + 1e-12).all(), "points at smaller angles are left out")


def check_neighbor_graph(model):
    Z = dense(model.codes_)
    expect(Z.min() >= 0, "negative weights", Z.min())
    expect(Z.max() <= 1, "weights beyond one", Z.max())
    X = exact(model)
    if X is not None and not has_equals(model):
        squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        rows = np.arange(len(X))[:, None]
        farthest = squared[rows, model.neighbors_].max(axis=1)
        squared[rows, model.neighbors_] = np.inf
        expect((squared.min(axis=1) >= farthest * (1 - 1e-9)).all(), "nearer points are left out")


def check_smce(model):
    sums = np.asarray(model.codes_.sum(axis=1)).ravel()
    if model.neighbors_.shape[1] and not has_equals(
        model
    ):  # equal points have no directions to each other
        expect(np.abs(sums - 1).max() < 1e-6, "codes do not add up to one", sums)
    expect((model.dual_gap_ >= 0).all(), "negative duality gap", model.dual_gap_)


def check_local_scaling(model):
    W = dense(model.affinity_matrix_)
    expect((W <= 1).all(), "a kernel beyond one")


CHECKS = {
    "L1Graph": check_l1,
    "ElasticNetGraph": check_elastic_net,
    "SRSG": check_srsg,
    "LaplacianL1Graph": check_laplacian,
    "OMPGraph": check_omp,
    "RidgeGraph": check_ridge,
    "TSCGraph": check_tsc,
    "NeighborGraph": check_neighbor_graph,
    "SMCE": check_smce,
    "LocalScalingSpectralClustering": check_local_scaling,
}


def check_same_bits(one, other):
    """Two fits that must not differ in anything they learnt."""
    expect(vars(one).keys() == vars(other).keys(), "other attributes")
    for name, value in vars(one).items():
        if name.endswith("_") and name != "graph_":  # which is made of the others
            found = getattr(other, name)
            if isinstance(value, dict):
                value, found = list(value.items()), list(found.items())
            expect(np.array_equal(dense(value), dense(found)), f"{name} has other bits")
