"""Parameters of every estimator, up to the ends of what is allowed and sometimes beyond."""

from __future__ import annotations

from support.estimators import ALL_ESTIMATORS

POSITIVE = [1e-300, 1e-16, 1e-10, 1e-5, 0.01, 0.1, 0.1, 0.5, 1.0, 2.0, 10.0, 1e5, 1e16, 1e300]
WRONG = [0, -1, -0.5, float("nan"), float("inf"), "no", None, [], 1.5, True]


def positive(rng, n):
    return float(rng.choice(POSITIVE)) if rng.random() < 0.6 else float(10.0 ** rng.normal(-1, 1.5))


def tolerance(rng, n):
    return float(rng.choice([0.0, 1e-300, 1e-14, 1e-10, 1e-5, 0.1, 1e300]))


def count(rng, n):
    """Mostly below the number of points, sometimes more."""
    return int(rng.integers(1, n + 2)) if rng.random() < 0.15 else int(rng.integers(1, max(2, n)))


def few(rng, n):
    return int(rng.integers(1, 8))


def one_of(*values):
    return lambda rng, n: values[rng.integers(len(values))]


def either(share, first, second):
    return lambda rng, n: (first if rng.random() < share else second)(rng, n)


GENERATORS = {
    "n_clusters": either(0.97, count, one_of("auto")),
    "gamma": positive,
    "lam": positive,
    "ridge": positive,
    "step": either(0.5, one_of("auto", "theorem"), positive),
    "tol": tolerance,
    "n_neighbors": count,
    "scale_neighbor": count,
    "n_nonzero": count,
    "code_neighbors": either(0.7, one_of(None), count),
    "normalize": one_of(False, True),
    "max_sweeps": few,
    "max_residual": tolerance,
    "l1_ratio": one_of(1.0, 0.9, 0.5, 1e-3, 1e-16),
    "lam_divisor": one_of(50.0, 1.0000001, 2.0, 1e6, 1e300),
    "weight_share": one_of(0.95, 1.0, 0.5, 1e-16),
    "laplacian": one_of("neighbors", "codes"),
    "affinity": one_of("agreement", "codes"),
    "affine": either(0.6, one_of(False), either(0.6, one_of(True), positive)),
    "assign_labels": one_of("kmeans", "discretize", "cluster_qr", "tree"),
    "n_init": one_of(1, 1, 2),
    "n_jobs": one_of(1, 1, 1, 2),
}

OWN = {
    "lam": {"ElasticNetGraph": either(0.5, one_of("auto"), positive)},
    "n_nonzero": {"ElasticNetGraph": either(0.7, one_of(None), count)},
    "tol": {"SRSG": either(0.5, one_of(None), tolerance)},
}
"""Parameters that mean something else in some estimators."""


bridge = either(0.5, one_of("auto", None), either(0.2, one_of(0.0), positive))
"""Of a graph that is given."""


def estimator(rng, n):
    """An estimator with some of its parameters set; for about one in thirty, one is wrong."""
    kind = ALL_ESTIMATORS[rng.integers(len(ALL_ESTIMATORS))]
    chosen = {"n_clusters": 2, "n_neighbors": min(3, n - 1), "scale_neighbor": min(3, n - 1)}
    chosen |= {"n_init": 1, "n_jobs": 1, "random_state": 0}
    names = kind().get_params()
    share = rng.random()  # of the parameters that are not left at their defaults
    for name in sorted(names):
        make = OWN.get(name, {}).get(kind.__name__, GENERATORS.get(name))
        if make and rng.random() < share:
            chosen[name] = make(rng, n)
    if rng.random() < 1 / 30:
        name = sorted(set(names) & set(GENERATORS))[rng.integers(len(set(names) & set(GENERATORS)))]
        chosen[name] = WRONG[rng.integers(len(WRONG))]
    return kind(**{name: value for name, value in chosen.items() if name in names})
