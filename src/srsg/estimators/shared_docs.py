"""What the docstrings of the estimators share, written once.

A line that holds nothing but a name in braces stands for the text of that name.
"""

from __future__ import annotations

import re
from inspect import cleandoc

TEXTS = {
    "n_clusters": """
        n_clusters : int or "auto"
            Number of clusters; "auto" finds it, see :mod:`srsg.counting.counts`.
        """,
    "n_candidates": """
        n_candidates : int or None
            Code every point over so many candidates that an index finds, instead of over all
            points (None): for more points than can all be compared. Codes are exact on their
            candidates; how far they are from those over all points is measured on a random
            sample, see ``kkt_quantiles_``. Needs faiss: ``pip install 'srsg[approximate]'``. New
            points are coded over all fitted ones.
        """,
    "bridging_neighbors": """
        n_neighbors : int
            Nearest neighbours found along the way. Weak links to them join the connected
            components of the graph where these outnumber the clusters.
        """,
    "affine": """
        affine : bool or float
            Append a constant coordinate to every point before scaling it to unit length: clusters
            may then lie near affine subspaces, which miss the origin, and a point and its mirror
            image differ. True takes the root mean square length of the points; False appends
            nothing.
        """,
    "affinity": """
        affinity : {"agreement", "codes"}
            The graph that is cut. "codes" is ``affinity_matrix_``, of which it takes the
            normalised cut. "agreement" weighs the edges by what their neighbours agree on
            (:func:`srsg.cutting.weights.agreement`), and takes the ratio cut.
        """,
    "running": """
        assign_labels : {"kmeans", "discretize", "cluster_qr"}
            How the embedded points get their labels.
        n_init : int
            Restarts of K-means.
        store : str, path or None
            Folder that keeps results: after an interruption, a fit on the same points with the
            same parameters goes on where the last one stopped, and a fit with another
            ``n_clusters`` finds its graph there.
        n_jobs : int or None
            Threads; None takes all cores. The result does not depend on it. Where else the work
            can run, and how much memory it may take, is said by :func:`srsg.config_context`.
        random_state : int, RandomState or None
            Starts of K-means; all else is deterministic.
        verbose : bool
            Show progress on standard error.
        """,
    "labels": """
        labels_ : ndarray of shape (n,)
        confidence_ : ndarray of shape (n,)
            How sure each label is, from 0 to 1; computed when first used, as are the next two.
        explained_ : ndarray of shape (n,)
            How well the members of its own cluster explain each point, from 0 to 1.
        outlier_score_ : ndarray of shape (n,)
            From 0 to 1: ranks the points, outliers highest.
        """,
    "certificates": """
        certified_ : ndarray of shape (n_certified,)
            The points that have certificates: all or, with ``n_candidates``, a random thousand.
        kkt_violation_ : ndarray of shape (n_certified,)
            Largest violation of the optimality conditions of their l1 codes over all points.
        dual_gap_ : ndarray of shape (n_certified,)
            Duality gap of these codes: the objective is at most this far from its minimum.
        kkt_quantiles_ : dict
            Quantiles of ``kkt_violation_`` by their shares 0.5, 0.9, 0.99 and 1.
        n_scans_ : int
            Passes over the data, each a matrix product; none with ``n_candidates``.
        """,
    "graph": """
        graph_ : FittedGraph
            The graph as one value, see :class:`srsg.graph.FittedGraph`.
        n_connected_components_ : int
            Connected components of the graph.
        n_clusters_ : int
            Number of clusters.
        cluster_counts_, cluster_count_scores_ : ndarray of shape (n_counts,)
            For ``n_clusters="auto"``: the numbers of clusters tried, and their scores, see
            :mod:`srsg.counting.counts`. There is only one number where the components of the
            graph are the clusters.
        structure_found_ : bool
            For ``n_clusters="auto"``: whether any of these scores is above zero.
        embedding_ : ndarray of shape (n, n_clusters_)
        eigenvalues_ : ndarray of shape (n_clusters_,)
        n_features_in_ : int
        """,
    "unit_points": """
        affine_ : float
            The constant coordinate that was appended; 0 if none was.
        first_equal_ : ndarray of shape (n,)
            For every point the first that equals it in every bit, after scaling; -1 for a row of
            zeros. Equal points have one code, over the points that differ from them (of each set
            of equals, over the first), and one label. They count as many times as they occur: by
            their edges, in a ratio cut and in K-means. A row of zeros has no code, no edge,
            neighbours of -1, and the label of the largest cluster.
        fit_X_ : ndarray or csr_array of shape (n, n_features)
            The fitted points, of unit length, which new ones are coded over.
        """,
    "raw_points": """
        first_equal_ : ndarray of shape (n,)
            For every point the first that equals it. Equal points get one label, and count as
            many times as they occur.
        fit_X_ : ndarray of shape (n, n_features)
            The fitted points, which new ones are coded over.
        """,
}


def with_shared_parameters(doc: str) -> str:
    """A docstring with the shared texts filled in.

    Examples
    --------
    >>> from srsg.estimators.shared_docs import with_shared_parameters
    >>> print(with_shared_parameters("Parameters\\n----------\\n{n_clusters}"))
    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.counting.counts`.
    """
    return re.sub(r"^\{(\w+)\}$", lambda line: cleandoc(TEXTS[line[1]]), doc, flags=re.MULTILINE)
