"""Plain, slow implementations of the paper, as the tests' reference."""

from __future__ import annotations

import numpy as np


def l1_objective(x, A, z, lam):
    """Eq. (1) for one point."""
    return np.sum((x - A @ z) ** 2) + lam * np.abs(z).sum()


def kkt_violation(X, i, z, lam):
    """Largest violation of the optimality conditions of eq. (1)."""
    gradient = 2 * X @ (X[i] - z @ X)
    violation = np.where(z != 0, np.abs(gradient - lam * np.sign(z)), np.abs(gradient) - lam)
    violation[i] = 0
    return max(0.0, violation.max())


def nearest_neighbors(X, n_neighbors):
    """All distances, sorted; ties by index."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]


def fpgd_sp(A, b, c, gamma, z0, step, max_iter, tol, fixed_zero):
    """Algorithm 1, line by line, on all n coordinates.

    Returns the last iterate and which coordinates were ever non-zero.
    """
    penalized = c > 0
    free = np.ones(len(z0), dtype=bool)
    free[fixed_zero] = False
    threshold = np.sqrt(2 * step * gamma * np.where(penalized, c, 0))

    def objective(z):
        return np.sum((b - A @ z) ** 2) + gamma * c[penalized & (z != 0)].sum()

    z, v = z0.copy(), z0.copy()
    touched = z0 != 0
    value = objective(z)
    for k in range(1, max_iter + 1):
        alpha, lambda_k = 2 / (k + 1), step / 2 * k
        m = (1 - alpha) * z + alpha * v
        gradient = 2 * A.T @ (A @ m - b)
        u = m - step * gradient
        z = np.where(free & ~(penalized & (np.abs(u) <= threshold)), u, 0.0)
        v = np.where(free & ~(penalized & (z == 0)), v - lambda_k * gradient, 0.0)
        touched |= (z != 0) | (v != 0)
        previous, value = value, objective(z)
        if abs(value - previous) < tol:
            break
    return z, touched


def stable_step(X, chosen, step):
    """Half the inverse of the largest eigenvalue of the Gram matrix, if the step exceeds it."""
    if not chosen.any():
        return step
    return min(step, 0.5 / np.linalg.eigvalsh(X[chosen] @ X[chosen].T)[-1])


def support_distance(Z, i, j):
    """Eq. (4)."""
    differ = (Z[i] != 0) != (Z[j] != 0)
    differ[[i, j]] = False
    return differ.sum()


def srsg_objective(X, Z, neighbors, gamma):
    """L(Z) of eq. (3)."""
    regularization = sum(support_distance(Z, i, j) for i, row in enumerate(neighbors) for j in row)
    return np.sum((X - Z @ X) ** 2) + gamma * regularization


def srsg(X, Z, neighbors, gamma, step, max_sweeps, max_iter, tol, stop="objective"):
    """Algorithm 2 at full length; Z has the codes as rows. Returns codes and objectives.

    ``stop="supports"`` is not in the paper: it also ends when no support has changed.
    """
    Z = Z.copy()
    objectives = [srsg_objective(X, Z, neighbors, gamma)]
    for _ in range(max_sweeps):
        supports = Z != 0
        for i in range(len(X)):
            if not len(neighbors[i]):
                continue  # nothing regularises it: it keeps its code
            used = (Z[neighbors[i]] != 0).sum(axis=0)
            c = len(neighbors[i]) - 2.0 * used
            starts = (Z[i] != 0) | (c <= 0)
            starts[i] = False
            own_step = stable_step(X, starts, step)
            while True:
                z, touched = fpgd_sp(X.T, X[i], c, gamma, Z[i], own_step, max_iter, tol, i)
                safe = stable_step(X, touched, own_step)
                if safe >= own_step:
                    break
                own_step = safe
            Z[i] = z
        objectives.append(srsg_objective(X, Z, neighbors, gamma))
        settled = stop == "supports" and np.array_equal(supports, Z != 0)
        if abs(objectives[-1] - objectives[-2]) < tol or settled:
            break
    return Z, np.array(objectives)


def smce_problem(X, i, neighbors):
    """Unit directions from point i to its neighbours, and the relative distances q."""
    differences = X[neighbors] - X[i]
    distances = np.linalg.norm(differences, axis=1)
    return differences / distances[:, None], distances / distances.sum()


def smce_objective(Y, q, c, lam):
    """SMCE's problem for one point; the constraint is sum c = 1."""
    return lam * np.sum(q * np.abs(c)) + 0.5 * np.sum((c @ Y) ** 2)


def smce_violation(Y, q, c, lam):
    """Largest violation of SMCE's optimality conditions, with the best multiplier for them."""
    slope = Y @ (c @ Y)
    lower = np.where(c > 0, slope + lam * q, slope - lam * q)
    upper = np.where(c < 0, slope - lam * q, slope + lam * q)
    return max(0.0, (lower.max() - upper.min()) / 2)


def smce_admm(Y, q, lam, n_iterations=20_000, rho=0.1):
    """SMCE's problem for one point by plain ADMM: slow, simple, feasible."""
    inverse = np.linalg.inv(Y @ Y.T + rho * np.eye(len(q)))
    ones = inverse.sum(axis=1)
    z = np.zeros(len(q))
    v = np.zeros(len(q))
    for _ in range(n_iterations):
        free = rho * inverse @ (z - v)
        c = free + (1 - free.sum()) / ones.sum() * ones
        z = np.sign(c + v) * np.maximum(np.abs(c + v) - lam / rho * q, 0)
        v += c - z
    return c
