"""All methods by name, for tables and the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

STARTS = 10
"""Random starts of every method, the default ``n_init`` of the package's own."""


@dataclass(frozen=True)
class Method:
    """One way to cluster.

    Attributes
    ----------
    name : str
        Short name, as on the command line.
    title : str
        Full name, as tables and messages show it.
    column : str or None
        Its column in the paper's tables, if it has one.
    path : str
        Module and class of its estimator.
    paper_settings : mapping
        Parameters that reproduce the paper's tables, or those of the method's own paper.
    settings : mapping
        Parameters that make it comparable: estimators of other packages may start only once.
    """

    name: str
    title: str
    column: str | None
    path: str
    paper_settings: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def estimator(self) -> type:
        """The estimator's class, imported only now."""
        module, name = self.path.split(":")
        return getattr(import_module(module), name)

    @property
    def builds_graph(self) -> bool:
        """Whether it is a method of this package, which all build a graph."""
        return self.path.startswith("srsg:")

    def paper(self, n_clusters: int, **parameters: Any) -> Any:
        """The estimator with the paper's settings."""
        settings = {**self.settings, **self.paper_settings, **parameters}
        return self.estimator(n_clusters=n_clusters, **settings)

    def default(self, n_clusters: Any, **parameters: Any) -> Any:
        """The estimator with its default settings, and as many starts as all others."""
        return self.estimator(n_clusters=n_clusters, **{**self.settings, **parameters})


_SHARED = {"lam": 0.1, "n_neighbors": 5}
"""Settings of the paper for both of its methods with neighbours."""

_METHODS = (
    Method("kmeans", "K-means", "KM", "sklearn.cluster:KMeans", settings={"n_init": STARTS}),
    Method("sc", "spectral clustering", "SC", "srsg:LocalScalingSpectralClustering"),
    Method("l1", "l1-graph (SSC)", "l1-graph", "srsg:L1Graph", {"lam": 0.1}),
    Method("smce", "SMCE", "SMCE", "srsg:SMCE", {"lam": 0.1, "n_neighbors": 15}),
    Method(
        "lr-l1",
        "Laplacian l1-graph",
        "LR-l1-graph",
        "srsg:LaplacianL1Graph",
        {**_SHARED, "gamma": 0.2, "max_sweeps": 1},
    ),
    Method(
        "srsg",
        "SRSG",
        "SRSG",
        "srsg:SRSG",
        {**_SHARED, "gamma": 0.1, "step": 0.01, "affinity": "codes", "tol": 1e-5},
    ),
    Method("ensc", "elastic net (EnSC)", None, "srsg:ElasticNetGraph"),
    Method("ridge", "ridge (least squares regression)", None, "srsg:RidgeGraph"),
    Method("omp", "OMP (SSC-OMP)", None, "srsg:OMPGraph"),
    Method("tsc", "thresholding (TSC)", None, "srsg:TSCGraph"),
    Method("knn", "nearest neighbours", None, "srsg:NeighborGraph"),
)


def methods() -> Mapping[str, Method]:
    """All methods by their short names, in the order of the paper's tables.

    Examples
    --------
    >>> import srsg
    >>> list(srsg.methods())
    ['kmeans', 'sc', 'l1', 'smce', 'lr-l1', 'srsg', 'ensc', 'ridge', 'omp', 'tsc', 'knn']
    >>> srsg.methods()["srsg"].paper(n_clusters=20)
    SRSG(affinity='codes', n_clusters=20, step=0.01, tol=1e-05)
    """
    return MappingProxyType({method.name: method for method in _METHODS})
