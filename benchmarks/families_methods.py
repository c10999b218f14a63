"""What ``benchmarks/families.py`` runs: ours and peers, each a function to labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from benchmarks.families_data import Sample
from srsg import SRSG, L1Graph, NeighborGraph, RidgeGraph, StabilitySearch
from srsg.cutting.cut import CutOptions, cut_graph
from srsg.explaining.unwrapping import clusterer_of
from srsg.metrics import clustering_accuracy, normalized_mutual_info
from srsg.registry import STARTS
from srsg.running import ThreadEngine
from srsg.search.candidates import auto_candidates, look_at_columns
from srsg.search.fits import fresh
from tools.results import CHOICE, LABELS, digest_of_code

N_JOBS = 2
COMPONENTS = 50
"""Principal components that Gaussian mixtures get, which need many points for each dimension."""

BISECTIONS = 25
Labels = NDArray[np.integer]
Cell = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """One column of the page.

    Attributes
    ----------
    title : str
    run : callable
        From a sample and a seed to what is noted.
    package : str or None
        The distribution that it comes from; None for ours.
    code : tuple of str
        The places in ``src/srsg`` that decide the results of ours.
    counts : bool
        Whether the number of clusters is found, not given.
    random : bool
        Whether the seed changes anything.
    """

    title: str
    run: Callable[[Sample, int], Cell]
    package: str | None = "scikit-learn"
    code: tuple[str, ...] = ()
    counts: bool = False
    random: bool = True

    @property
    def is_installed(self) -> bool:
        return self.package is None or bool(
            find_spec(self.package.replace("scikit-learn", "sklearn"))
        )

    @property
    def digest(self) -> str:
        """By which results of other code are told from these."""
        return (
            f"{self.package} {version(self.package)}" if self.package else digest_of_code(self.code)
        )


def scored(sample: Sample, labels: Labels) -> Cell:
    """Both scores, and the number of clusters; noise is one more cluster in the scores."""
    return {
        "ac": round(clustering_accuracy(sample.y, labels), 6),
        "nmi": round(normalized_mutual_info(sample.y, labels), 6),
        "count": len(np.unique(labels[labels >= 0])),
    }


def dense(sample: Sample) -> NDArray:
    """The points as peers get them: tables standardised, sparse ones as arrays."""
    X = sample.X.toarray() if sparse.issparse(sample.X) else sample.X
    return StandardScaler().fit_transform(X) if sample.family == "tables" else X


def components(sample: Sample) -> NDArray:
    X = dense(sample)
    if min(X.shape) <= COMPONENTS:
        return X
    return TruncatedSVD(COMPONENTS, random_state=0).fit_transform(X - X.mean(axis=0))


def k_means(sample: Sample, seed: int) -> Cell:
    model = KMeans(sample.n_clusters, n_init=STARTS, random_state=seed)
    return scored(sample, model.fit_predict(dense(sample)))


def spectral(sample: Sample, seed: int) -> Cell:
    model = SpectralClustering(
        sample.n_clusters, affinity="nearest_neighbors", n_init=STARTS, random_state=seed
    )
    return scored(sample, model.fit_predict(dense(sample)))


def ward(sample: Sample, seed: int) -> Cell:
    return scored(sample, AgglomerativeClustering(sample.n_clusters).fit_predict(dense(sample)))


def mixture(sample: Sample, seed: int) -> Cell:
    model = GaussianMixture(
        sample.n_clusters, covariance_type="diag", n_init=STARTS, random_state=seed, reg_covar=1e-4
    )
    X = components(sample)
    return scored(sample, model.fit_predict(X / (X.std() or 1.0)))


def hdbscan(sample: Sample, seed: int) -> Cell:
    return scored(sample, HDBSCAN(copy=True).fit_predict(dense(sample)))


def neighbours(sample: Sample) -> Any:
    """The 15 nearest neighbours as igraph has them, of unit points unless they are a table."""
    import igraph

    X = dense(sample)
    if sample.family != "tables":
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.finfo(float).tiny)
    links = kneighbors_graph(X, min(15, len(X) - 1))
    pairs = sparse.triu(links + links.T).tocoo()
    return igraph.Graph(len(X), np.column_stack([pairs.row, pairs.col]).tolist())


def leiden_labels(graph: Any, resolution: float, seed: int) -> Labels:
    import leidenalg

    kind = leidenalg.RBConfigurationVertexPartition
    found = leidenalg.find_partition(graph, kind, resolution_parameter=resolution, seed=seed)
    return np.array(found.membership)


def leiden(sample: Sample, seed: int) -> Cell:
    return scored(sample, leiden_labels(neighbours(sample), 1.0, seed))


def leiden_given(sample: Sample, seed: int) -> Cell:
    """Bisect the logarithm of the resolution until the number of communities is met."""
    graph, wanted = neighbours(sample), sample.n_clusters
    low, high = np.log(1e-3), np.log(1e2)
    best: Labels = np.zeros(len(sample.y), dtype=np.intp)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        labels = leiden_labels(graph, float(np.exp(middle)), seed)
        if abs(np.ptp(labels) + 1 - wanted) <= abs(np.ptp(best) + 1 - wanted):
            best = labels
        count = np.ptp(labels) + 1
        if count == wanted:
            break
        low, high = (middle, high) if count < wanted else (low, middle)
    return scored(sample, best)


def evoc(sample: Sample, seed: int) -> Cell:
    return scored(sample, _evoc(sample, seed))


def evoc_given(sample: Sample, seed: int) -> Cell:
    """The number is a wish that EVoC comes near to, not more."""
    return scored(sample, _evoc(sample, seed, approx_n_clusters=sample.n_clusters))


def _evoc(sample: Sample, seed: int, **options: Any) -> Labels:
    from evoc import EVoC

    X = np.ascontiguousarray(dense(sample), dtype=np.float32)
    try:
        return np.asarray(EVoC(random_state=seed, **options).fit_predict(X))
    except (ValueError, IndexError, ZeroDivisionError):  # it finds no cluster in few points
        return np.zeros(len(X), dtype=np.intp)


def points_of(sample: Sample) -> tuple[Any, dict[str, Any]]:
    """Points for our graphs, and options: tables are standardised and affine, as the guide says."""
    if sample.family == "tables":
        return dense(sample), {"affine": True, "n_jobs": N_JOBS}
    return sample.X, {"n_jobs": N_JOBS}


def one_graph(estimator: Any, sample: Sample, seed: int) -> Cell:
    X, options = points_of(sample)
    model = estimator(sample.n_clusters, random_state=seed, n_init=STARTS, **options)
    return scored(sample, model.fit_predict(X))


def l1(sample: Sample, seed: int) -> Cell:
    """l1 codes with SRSG's agreement and cut: all of its default but the support regularisation."""
    X, options = points_of(sample)
    graph = L1Graph(**options).fit_graph(X).graph_
    cut = CutOptions("agreement", n_init=STARTS)
    labels = cut_graph(graph, sample.n_clusters, cut, seed, ThreadEngine(N_JOBS)).labels
    return scored(sample, labels) | {"support": round(graph.codes.nnz / len(labels), 2)}


def search(sample: Sample, seed: int) -> Cell:
    """The search with the number given, and what each of its candidates would have scored."""
    X = sample.X
    found = StabilitySearch(n_clusters=sample.n_clusters, random_state=seed, n_jobs=N_JOBS).fit(X)
    candidates = {found.best_name_: round(clustering_accuracy(sample.y, found.labels_), 6)}
    cuts = dict(zip(found.results_["candidate"], found.results_["cut"], strict=True))
    for name, candidate in auto_candidates(look_at_columns(X), {"n_jobs": N_JOBS}):
        if name in cuts and name not in candidates:
            model = fresh(candidate, sample.n_clusters, seed)
            if cuts[name]:
                model.set_params(assign_labels=cuts[name])
            labels = clusterer_of(model.fit(X)).labels_
            candidates[name] = round(clustering_accuracy(sample.y, labels), 6)
    terms = {
        key: [None if np.isnan(value) else round(float(value), 6) for value in values]
        for key, values in found.results_.items()
        if key.startswith("stability") or key in ("consensus", "score")
    }
    noted = {"chosen": found.best_name_, "candidates": candidates, "cuts": cuts}
    return scored(sample, found.labels_) | noted | {"of": found.results_["candidate"], **terms}


def search_counts(sample: Sample, seed: int) -> Cell:
    found = StabilitySearch(random_state=seed, n_jobs=N_JOBS).fit(sample.X)
    three = [int(found.n_clusters_), *(other.n_clusters for other in found.other_counts_)]
    noted = {"three": three, "structure": bool(found.structure_found_)}
    return scored(sample, found.labels_) | noted


METHODS = {
    "kmeans": Method("K-means", k_means),
    "spectral": Method("spectral, 10-NN", spectral),
    "ward": Method("Ward", ward, random=False),
    "mixture": Method("Gaussian mixture", mixture),
    "leiden-k": Method("Leiden, number given", leiden_given, "leidenalg"),
    "evoc-k": Method("EVoC, number wished", evoc_given, "evoc"),
    "hdbscan": Method("HDBSCAN", hdbscan, counts=True, random=False),
    "leiden": Method("Leiden", leiden, "leidenalg", counts=True),
    "evoc": Method("EVoC", evoc, "evoc", counts=True),
    "knn": Method("NeighborGraph", partial(one_graph, NeighborGraph), None, LABELS),
    "ridge": Method("RidgeGraph", partial(one_graph, RidgeGraph), None, LABELS),
    "l1": Method("l1, agreement", l1, None, LABELS),
    "srsg": Method("SRSG", partial(one_graph, SRSG), None, LABELS),
    "search": Method("search", search, None, CHOICE),
    "search-count": Method("search", search_counts, None, CHOICE, counts=True),
}
