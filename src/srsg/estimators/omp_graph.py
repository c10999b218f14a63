"""Subspace clustering by orthogonal matching pursuit."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy import sparse

from srsg.coding import omp_codes
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE
from srsg.estimators.coded import PostprocessedClusterer
from srsg.points import Points
from srsg.running import Engine
from srsg.types import AssignLabels, Bridge, Memory, NClusters, RandomState


class OMPGraph(PostprocessedClusterer):
    """Clustering on codes by orthogonal matching pursuit (You, Robinson and Vidal, CVPR 2016).

    For every point, scaled to unit norm, the other point most correlated with its residual is
    selected, and the point is fitted by all those selected so far: ``n_nonzero`` times.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    n_nonzero : int
        Most points in a code.
    tol : float
        A code is done when the squared norm of its residual is at most this.
    normalize, keep_largest, code_neighbors
        What happens to the codes before they make a graph: they are scaled to unit norm; cut to
        this many of their largest entries; replaced by the graph that joins every point with this
        many others of most similar codes.
    n_neighbors : int
        Nearest neighbours found along the way, for bridges between components.
    affine : bool or float
        Append a constant coordinate to every point before scaling it to unit length: clusters may
        then lie near affine subspaces, which miss the origin, and a point and its mirror image
        differ. True takes the root mean square length of the points; False appends nothing.
    bridge : "auto", float or None
        Weak edges between nearest neighbours, see :func:`srsg.cluster_graph`.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}
        How the embedded points get their labels.
    n_init : int
        Restarts of K-means.
    memory : str, joblib.Memory or None
        Folder that keeps graphs: a later fit on the same points with another ``n_clusters`` finds
        its graph there.
    max_memory : int, str or None
        Most memory that coding may take besides its input, in bytes or as text such as "2GB"; None
        allows half of what is free.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, RandomState or None
        Starts of K-means; all else is deterministic.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    confidence_ : ndarray of shape (n,)
        How sure each label is, from 0 to 1; computed when first used, as are the next two.
    explained_ : ndarray of shape (n,)
        How well the members of its own cluster explain each point, from 0 to 1.
    outlier_score_ : ndarray of shape (n,)
        From 0 to 1: ranks the points, outliers highest.
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i, before any post-processing.
    affinity_matrix_ : csr_array of shape (n, n)
    neighbors_ : ndarray of shape (n, n_neighbors)
    n_components_ : int
        Connected components of the graph.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_, cluster_count_scores_ : ndarray of shape (n_counts,)
        For ``n_clusters="auto"``: the numbers of clusters tried, and their scores, see
        :mod:`srsg.estimators.cluster_counts`. There is only one number where the components of the
        graph are the clusters.
    structure_found_ : bool
        For ``n_clusters="auto"``: whether any of these scores is above zero.
    embedding_ : ndarray of shape (n, n_clusters_)
    eigenvalues_ : ndarray of shape (n_clusters_,)
    affine_ : float
        The constant coordinate that was appended; 0 if none was.
    first_equal_ : ndarray of shape (n,)
        For every point the one that stands for it: the first that equals it, after scaling; -1 for
        a row of zeros. Points closer than inner products can resolve (1.5e-8, or 2.4e-7 in
        float32) count as equal, and any of them may stand for the others. Equal points have one
        code, over the points that differ from them (of each set of equals, over the first), and
        one label. They count as many times as they occur: by their edges, in a ratio cut and in
        K-means. A row of zeros has no code, no edge, neighbours of -1, and the label of the
        largest cluster.
    fit_X_ : ndarray or csr_array of shape (n, n_features)
        The fitted points, of unit length, which new ones are coded over.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import OMPGraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = OMPGraph(n_clusters=3, n_nonzero=4, random_state=0).fit(X)
    >>> int((model.codes_[[0]] != 0).sum())
    4
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PostprocessedClusterer._parameter_constraints,
        "n_nonzero": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        n_nonzero: int = 5,
        tol: float = 1e-6,
        normalize: bool = False,
        keep_largest: int | None = None,
        code_neighbors: int | None = None,
        n_neighbors: int = 5,
        affine: bool | float = False,
        bridge: Bridge = "auto",
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.normalize = normalize
        self.keep_largest = keep_largest
        self.code_neighbors = code_neighbors
        self.n_neighbors = n_neighbors
        self.affine = affine
        self.bridge = bridge
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _code(self, points: Points, engine: Engine) -> None:
        result = omp_codes(
            points,
            self.n_nonzero,
            tol=self.tol,
            n_neighbors=self._neighbor_count(points),
            engine=engine,
        )
        self.codes_ = result.codes
        self.neighbors_ = result.neighbors

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        return omp_codes(
            points,
            self.n_nonzero,
            tol=self.tol,
            queries=new,
            engine=engine,
        ).codes
