"""Least squares regression codes, for points that many others explain."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from srsg.coding import ridge_codes
from srsg.coding.neighbors import nearest_neighbors
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE
from srsg.estimators.coded import AgreementClusterer
from srsg.points import Points
from srsg.running import Engine
from srsg.types import AssignLabels, Bridge, FloatArray, Memory, NClusters, RandomState


class RidgeGraph(AgreementClusterer):
    """Clustering on ridge codes (least squares regression, Lu et al., ECCV 2012), exact.

    Every point, scaled to unit norm, is coded over all others by ``min ||x_i - X z||^2 + ridge
    |z|^2`` with ``z_i = 0``, in closed form, and the largest entries of its code are kept. A ridge
    uses many points a little where the l1 norm picks a few: it is far ahead where all points of a
    cluster share a subspace, such as faces under changing light, and behind where clusters are
    curved, such as objects that turn. :class:`srsg.StabilitySearch` finds out which of the two
    suits the data.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    ridge : float
        Weight of the squared l2 norm.
    n_nonzero : int
        Entries of largest magnitude that are kept per code.
    n_neighbors : int
        Nearest neighbours, for bridges between components.
    affinity : {"agreement", "codes"}
        What the spectral step works on. "codes" is ``affinity_matrix_``, of which it takes the
        normalised cut. "agreement" weighs its edges by what their neighbours agree on
        (:func:`srsg.cutting.weights.agreement`), and takes the ratio cut.
    affine : bool or float
        Append a constant coordinate to every point before scaling it to unit length: clusters may
        then lie near affine subspaces, which miss the origin, and a point and its mirror image
        differ. True takes the root mean square length of the points; False appends nothing.
    bridge : "auto", float or None
        Weak edges between nearest neighbours, see :func:`srsg.cluster_graph`.
    n_components : int or None
        Eigenvectors that the points are embedded in; None takes one for each cluster. A number
        takes that many after the constant one and weighs them by commute times, see
        :func:`srsg.cutting.embedding.commute_time_embedding`: twice the number of clusters can
        help where clusters merge.
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
        Row i holds the largest entries of the code of point i; zero diagonal.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    residual_ : ndarray of shape (n,)
        Certificate: no normal equation of the full code is violated by more than this.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
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

    See Also
    --------
    SRSG : Sparse codes, for points that a few others explain.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import RidgeGraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = RidgeGraph(n_clusters=3, random_state=0).fit(X)
    >>> bool(model.residual_.max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AgreementClusterer._parameter_constraints,
        "ridge": [POSITIVE],
        "n_nonzero": [AT_LEAST_ONE],
        "affinity": [StrOptions({"agreement", "codes"})],
    }

    residual_: FloatArray

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        ridge: float = 0.1,
        n_nonzero: int = 10,
        n_neighbors: int = 5,
        affinity: Literal["agreement", "codes"] = "agreement",
        affine: bool | float = False,
        bridge: Bridge = "auto",
        n_components: int | None = None,
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.ridge = ridge
        self.n_nonzero = n_nonzero
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.affine = affine
        self.bridge = bridge
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        # Every point has a little of many others: squares let the few large entries decide.
        return codes.power(2)

    def _code(self, points: Points, engine: Engine) -> None:
        result = ridge_codes(points, self.ridge, n_nonzero=self.n_nonzero, engine=engine)
        self.codes_, self.residual_ = result.codes, result.residual
        self.neighbors_ = nearest_neighbors(points, self._neighbor_count(points), engine=engine)

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        options: dict[str, Any] = {"n_nonzero": self.n_nonzero, "queries": new, "engine": engine}
        return ridge_codes(points, self.ridge, **options).codes
