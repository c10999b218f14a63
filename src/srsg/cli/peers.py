"""Methods of other packages that ours are compared with, as far as they are installed."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def _hdbscan(X: Any, seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True).fit_predict(X)


def _leiden(X: Any, seed: int) -> Any:
    igraph, leidenalg = map(import_module, ("igraph", "leidenalg"))
    from sklearn.neighbors import kneighbors_graph

    joined = sparse.triu(kneighbors_graph(X, min(15, len(X) - 1)).maximum(0), 1).tocoo()
    graph = igraph.Graph(len(X), list(zip(joined.row.tolist(), joined.col.tolist(), strict=True)))
    kind = leidenalg.ModularityVertexPartition
    return leidenalg.find_partition(graph, kind, seed=seed).membership


def _umap(X: Any, seed: int) -> Any:
    umap = import_module("umap").UMAP(random_state=seed, n_jobs=1)
    return _hdbscan(umap.fit_transform(X), seed)


def _evoc(X: Any, seed: int) -> Any:
    return import_module("evoc").EVoC(random_state=seed).fit_predict(np.asarray(X, np.float32))


PEERS: dict[str, tuple[tuple[str, ...], Callable[[Any, int], Any]]] = {
    "hdbscan": ((), _hdbscan),
    "leiden": (("leidenalg", "igraph"), _leiden),
    "umap+hdbscan": (("umap",), _umap),
    "evoc": (("evoc",), _evoc),
}
"""What each needs, and its labels with its defaults. Each finds the number of clusters itself."""


def installed_peers() -> list[str]:
    """Those whose packages are there."""
    return [name for name, (needs, _) in PEERS.items() if all(map(find_spec, needs))]


@dataclass
class Peer:
    """One of them, as an estimator."""

    name: str
    random_state: int = 0
    labels_: NDArray[np.intp] | None = None

    def fit(self, X: Any) -> Self:
        """Cluster; noise has the label -1."""
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        self.labels_ = np.asarray(PEERS[self.name][1](dense, self.random_state), np.intp)
        return self
