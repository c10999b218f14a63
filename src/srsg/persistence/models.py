"""Fitted models as files that are safe to load: no code in them, and none is run.

A file holds named arrays (:mod:`srsg.running.store`) and a header in JSON: the type of the model,
its parameters, the names of its features and the versions that wrote it. Where a model runs
(threads, folders) is not part of it: the person who loads it decides that.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from srsg import __version__, estimators
from srsg.coding.coder import Coder
from srsg.coding.kept import arrays_of_coded, coded_from_arrays, rules_of_coded, sizes_of_coded
from srsg.constraints import Constraints
from srsg.counting.reproducibility import ScoredCounts
from srsg.cutting.cut import Clusters
from srsg.estimators import GraphClusterer, PreparedClusterer
from srsg.estimators.base import refuse_truth_values
from srsg.estimators.prepared import Columns
from srsg.explaining.unwrapping import best_of
from srsg.files import atomic_write
from srsg.files.errors import one_line
from srsg.files.rules import checked_rules, feature_names
from srsg.graph import Coded, FittedGraph, symmetrized
from srsg.points import EqualPoints
from srsg.running import ThreadEngine
from srsg.running.checking import Rule, check_arrays, checked_csr, csr_arrays, require, rules_of_csr
from srsg.running.progress import quietly
from srsg.running.store import read_arrays, write_arrays
from srsg.types import FilePath

FORMAT = 4
"""The version of the file format, raised by one whenever older versions of this package could not
read the files of this one."""

CLUSTERERS: dict[str, Any] = {
    name: getattr(estimators, name)
    for name in estimators.__all__
    if name not in ("GraphClusterer", "PreparedClusterer")
} | {"KMeans": KMeans}
"""Estimators that a file may hold, by name."""

HEADER = {
    "format": (int,),
    "clusterer": (str,),
    "parameters": (dict,),
    "columns": (list,),
    "n_clusters": (int, type(None)),
    "n_features": (int,),
    "feature_names": (list, type(None)),
}
"""Types of the entries of the header."""

MOST_NESTED = 9
"""How deep clusterers with columns may be nested; a search inside of one makes two."""

MOST_ROUNDS = 100_000
"""Sweeps and iterations that a file may ask for: a prediction must come to an end."""

WHERE_IT_RUNS = {"store", "n_jobs", "verbose", "copy_x"}
"""Parameters that a file does not have: the person who loads it chooses them."""

KMEANS: dict[str, Rule] = {
    "cluster_centers": Rule("float", ("clusters", "width")),
    "labels": Rule("int", (None,), least=0, below="clusters"),
    "inertia": Rule("float", (), least=0),
}

SCALED = {"offset": Rule("float", ("width",)), "factor": Rule("float", ("width",))}

FILLED = {
    None: {},
    "median": {"fill": Rule("float", ("width",))},
    "knn": {"similar": Rule("float", ("n", "width")), "gaps": Rule("bool", ("n", "width"))},
}
"""Rules for the arrays of columns, by what fills their gaps."""

UNIT_NORM = 1e-3
"""How far from 1 the squared length of a fitted point may be: single precision is within."""

POINTS: dict[str, Rule] = {
    "first_equal": Rule("int", ("n",), least=-1, below="n"),
    "constant": Rule("float", (), least=0),
}

LENGTHS = Rule("float", ("n",), least=0)
"""The lengths of points that were scaled to unit length in one process."""

WEIGHTS = Rule("float", ("n",), least=np.finfo(float).tiny)
"""How many times each point counts, if not once."""

CONSTRAINTS: dict[str, Rule] = {
    "known": Rule("int", ("n",), least=-1, below="classes"),
    "must_link": Rule("int", (None, 2), least=0, below="n"),
    "cannot_link": Rule("int", (None, 2), least=0, below="n"),
}
"""Rules for what is known about some points."""

CLUSTERS: dict[str, Rule] = {
    "labels": Rule("int", ("n",), least=0, below="clusters"),
    "embedding": Rule("float", ("n", "clusters"), least=-1.01, most=1.01),
    "eigenvalues": Rule("float", ("clusters",)),
}
"""Rules for the fields of :class:`~srsg.cutting.cut.Clusters`."""

COUNTS: dict[str, Rule] = {
    "cluster_counts": Rule("int", ("counts",), least=1, most="n"),
    "cluster_count_scores": Rule("float", ("counts",)),
    "structure_found": Rule("bool", ()),
}
"""Rules for the evidence for a number of clusters that was not given."""


def save_model(model: Any, path: FilePath) -> None:
    """Write a fitted model to a file, which :func:`load_model` reads.

    The file is written atomically: it is complete or not there. It holds the fitted points, so
    keep it as secret as those. It does not hold where the model runs (``n_jobs``, ``store``,
    ``verbose``): set these after loading.

    Of a :class:`srsg.StabilitySearch`, its ``best_estimator_`` is saved, with the names of the
    features; the other candidates and the scores are not.

    Parameters
    ----------
    model : estimator, KMeans, PreparedClusterer or StabilitySearch
        Fitted: an estimator of this package or K-means, alone or in a
        :class:`srsg.PreparedClusterer`; or a search whose best estimator is one of these.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    TypeError
        If the model is none of these, or a parameter is not a plain value.
    NotFittedError
        If it has not been fitted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> from srsg import L1Graph
    >>> from srsg.persistence import load_model, save_model
    >>> X = load_digits().data[:200]
    >>> model = L1Graph(n_clusters=3, random_state=0).fit(X[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "digits.srsg")
    ...     loaded = load_model(Path(folder) / "digits.srsg")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    check_is_fitted(model)
    clusterer: Any = best_of(model)
    columns: list[dict[str, Any]] = []
    arrays: dict[str, NDArray] = {}
    while type(clusterer) is PreparedClusterer:
        check_is_fitted(clusterer, "clusterer_")
        for part, array in _column_arrays(clusterer.columns_).items():
            arrays[f"columns {len(columns)}/{part}"] = array
        rules = None if clusterer.rules is None else list(map(vars, clusterer.rules))
        columns.append({"scale": clusterer.scale, "impute": clusterer.impute, "rules": rules})
        clusterer = best_of(clusterer.clusterer_)
    name = type(clusterer).__name__
    if CLUSTERERS.get(name) is not type(clusterer):
        raise TypeError(
            "save_model takes a fitted estimator of srsg or KMeans, alone or in a "
            f"PreparedClusterer, or a StabilitySearch; got {type(model).__name__}. "
            "PreparedClusterer(clusterer, scale='standard') takes the place of a pipeline."
        )
    check_is_fitted(clusterer)
    names = vars(model).get("feature_names_in_", vars(best_of(model)).get("feature_names_in_"))
    n_clusters = vars(clusterer).get("n_clusters_")  # None after fit_graph, which finds no clusters
    header: dict[str, Any] = {
        "format": FORMAT,
        "srsg": __version__,
        "columns": columns,
        "clusterer": name,
        "parameters": _plain_parameters(clusterer),
        "n_clusters": None if n_clusters is None else int(n_clusters),
        "n_features": int(clusterer.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
    }
    if isinstance(clusterer, GraphClusterer):
        own = _graph_arrays(clusterer)
    else:
        own = {part: np.asarray(getattr(clusterer, f"{part}_")) for part in KMEANS}
    arrays |= {f"clusterer/{part}": array for part, array in own.items()}
    try:
        _model(header, arrays)
    except ValueError as error:  # what could not be loaded is not written
        raise ValueError(f"The model cannot be saved: {one_line(error)}.") from error
    with atomic_write(path) as unfinished:
        write_arrays(unfinished, {"header": np.array(json.dumps(header)), **arrays})


def load_model(path: FilePath) -> Any:
    """Read a model that :func:`save_model` wrote. Nothing in the file is executed.

    Everything is checked before it is used: types, shapes, ranges, the indices of codes.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator, KMeans or PreparedClusterer

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a model of this package, is damaged, was written by a newer version of the
        format, or has values that no fit leaves.

    Examples
    --------
    >>> import tempfile
    >>> from srsg import SRSG
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.persistence import load_model, save_model
    >>> X, _ = make_union_of_subspaces(60, random_state=0)
    >>> model = SRSG(n_clusters=3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.srsg")
    ...     same = load_model(f"{folder}/model.srsg")
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    try:
        arrays = read_arrays(path)
        header = json.loads(arrays.pop("header").item())
        written, by = int(header["format"]), str(header["srsg"])
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # damaged archives raise nearly anything
        raise ValueError(f"{path} is not a model that srsg saved, or is incomplete.") from error
    if written > FORMAT:
        raise ValueError(
            f"{path} has format {written}, written by srsg {by}; this is srsg {__version__}, which "
            f"reads format {FORMAT}. Install a newer srsg."
        )
    try:
        return _model(header, arrays)
    except Exception as error:  # a crafted header may have anything in it
        raise ValueError(f"{path} holds an invalid model: {one_line(error)}.") from error


def _model(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> Any:
    """The model that a header and arrays describe."""
    for name, kinds in HEADER.items():
        kind = type(header.get(name))
        require(kind in kinds, name, f"is a {kind.__name__}")
    require(header["format"] == FORMAT, "format", f"is not {FORMAT}")
    require(len(header["columns"]) <= MOST_NESTED, "columns", "are nested too often")
    width, names = header["n_features"], header["feature_names"]
    prepared = [_prepared(width, **columns) for columns in header["columns"]]
    groups: dict[str, dict[str, NDArray]] = {"clusterer": {}}
    groups |= {f"columns {place}": {} for place in range(len(prepared))}
    for key, array in arrays.items():
        group, _, name = key.partition("/")
        require(group in groups, key, "is not expected here")
        groups[group][name] = array
    model = _clusterer(header, groups["clusterer"])
    for place, outer in reversed(list(enumerate(prepared))):
        outer.set_params(clusterer=model)._validate_params()
        outer.columns_ = _columns(outer, groups[f"columns {place}"], width)
        outer.clusterer_, outer.n_features_in_ = model, width
        model = outer
    if names is not None:
        good = len(names) == width and all(type(name) is str for name in names)
        require(good, "feature_names", f"are not {width} texts")
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _prepared(width: int, scale: Any, impute: Any, rules: Any) -> PreparedClusterer:
    """The preparation of columns that an entry of the header describes, without its clusterer."""
    if rules is not None:
        rules = checked_rules(rules)
        require(len(feature_names(rules)) == width, "rules", f"do not make {width} columns")
    return PreparedClusterer(None, scale=scale, impute=impute, rules=rules)


def _clusterer(header: Mapping[str, Any], arrays: dict[str, NDArray]) -> Any:
    """The clusterer itself, without the preparation of its columns."""
    require(header["clusterer"] in CLUSTERERS, "clusterer", "is none that a file may hold")
    kind = CLUSTERERS[header["clusterer"]]
    clusterer = kind(**_checked_parameters(kind, header["parameters"]))
    clusterer._validate_params()
    if isinstance(clusterer, KMeans):
        _learn_kmeans(clusterer, arrays, header["n_features"])
    else:
        refuse_truth_values(clusterer)
        names = {"n_features_in_": header["n_features"]}
        _learn_graph(clusterer, arrays, names, header["n_clusters"])
    return clusterer


def _plain_parameters(clusterer: Any) -> dict[str, Any]:
    """The parameters, without those that say where it runs."""
    parameters = {}
    for name, value in clusterer.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value
        if name in WHERE_IT_RUNS:
            continue
        plain = isinstance(value, bool | int | float | str | None)
        if not plain and not (name == "n_clusters" and isinstance(value, tuple)):
            raise TypeError(
                f"{name}={value!r} cannot be saved: set the parameter to a number, a text or None."
            )
        parameters[name] = list(value) if isinstance(value, tuple) else value
    return parameters


def _checked_parameters(kind: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    allowed = signature(kind).parameters.keys() - WHERE_IT_RUNS
    checked = dict(parameters)
    for name, value in parameters.items():
        require(name in allowed, name, "is not a parameter that a file may set")
        if name == "n_clusters" and type(value) is list:  # a range
            require(len(value) == 2 and {*map(type, value)} == {int}, name, "is not a range")
            checked[name] = tuple(value)
            continue
        plain = value is None or type(value) in (bool, int, float, str)
        require(plain, name, f"is a {type(value).__name__}")
        endless = name in ("max_sweeps", "max_iter") and not value <= MOST_ROUNDS
        require(not endless, name, f"is more than {MOST_ROUNDS}")
    return checked


def _learn_kmeans(kmeans: KMeans, arrays: Mapping[str, NDArray], n_features: int) -> None:
    """Give K-means its centres, which compiled loops read without checking bounds."""
    check_arrays(arrays, KMEANS, {"clusters": kmeans.n_clusters, "width": n_features})
    centres = np.ascontiguousarray(arrays["cluster_centers"])
    parameters = kmeans.get_params()
    # A fit of the centres themselves leaves all that prediction needs.
    with quietly():
        kmeans.set_params(init=centres, n_init=1, max_iter=1).fit(centres)
    kmeans.set_params(**parameters)
    kmeans.cluster_centers_, kmeans.labels_ = centres, arrays["labels"]
    kmeans.inertia_, kmeans.n_features_in_ = arrays["inertia"].item(), n_features


def _column_arrays(columns: Columns) -> dict[str, NDArray]:
    """The arrays of some columns; gaps are kept apart, because all floats in a file are finite."""
    arrays = {name: value for name, value in vars(columns).items() if value is not None}
    if columns.similar is not None:
        arrays["gaps"] = np.isnan(columns.similar)
        arrays["similar"] = np.nan_to_num(columns.similar)
    return arrays


def _columns(model: PreparedClusterer, arrays: dict[str, NDArray], width: int) -> Columns:
    """The columns that :func:`_column_arrays` described."""
    rules = (SCALED if model.scale is not None else {}) | FILLED[model.impute]
    check_arrays(arrays, rules, {"width": width})
    if model.scale is not None:
        require((arrays["factor"] > 0).all(), "factor", "is not positive")
    if model.impute == "knn":
        gaps = arrays.pop("gaps")
        require((~gaps).any(axis=0).all(), "gaps", "has columns without a value")
        arrays["similar"] = np.where(gaps, np.nan, arrays["similar"])
    return Columns(**arrays)


def _graph_arrays(model: GraphClusterer) -> dict[str, NDArray]:
    """The arrays of a fitted estimator."""
    graph, learnt = model.graph_, vars(model)
    if hasattr(graph.points, "compute"):
        raise TypeError("The fitted points are a dask array: fit on X.compute() to save the model.")
    # The graph of points of unit length follows from their codes.
    affinity = None if graph.coder.unit else graph.affinity
    coded = Coded(graph.codes, graph.neighbors, affinity, graph.init_codes, graph.learnt)
    arrays: dict[str, Any] = {"first_equal": graph.equal.first_equal, "constant": graph.constant}
    if graph.lengths is not None:
        arrays["lengths"] = graph.lengths
    if graph.equal.row_weights is not None:
        arrays["weights"] = graph.equal.row_weights
    if graph.constraints is not None:
        arrays |= vars(graph.constraints)
    points = graph.points
    if points is None:  # the graph is all that was given
        points = np.empty((graph.n, 0))
    arrays |= csr_arrays("points", points) if sparse.issparse(points) else {"points": points}
    arrays |= {name: learnt[f"{name}_"] for name in CLUSTERS | COUNTS if f"{name}_" in learnt}
    return arrays_of_coded(coded) | {name: np.asarray(value) for name, value in arrays.items()}


def _learn_graph(
    model: GraphClusterer,
    arrays: Mapping[str, NDArray],
    names: dict[str, Any],
    n_clusters: int | None,
) -> None:
    """Give an estimator what :func:`_graph_arrays` returned.

    Raises
    ------
    InvalidArrayError
        If an array is missing, not expected, or not what a fit leaves.
    """
    for name in POINTS:
        require(name in arrays, name, "is missing")
    coder, n = model._coder(), arrays["first_equal"].size
    arrays = dict(arrays)
    classes = arrays.pop("classes", np.empty(0, int))
    named = classes.ndim == 1 and classes.dtype.kind in "iU"
    require(named and len(np.unique(classes)) == len(classes), "classes", "are not names")
    sizes = {
        **sizes_of_coded(coder, n),
        "width": names["n_features_in_"] + bool((arrays["constant"] != 0).any())
        if coder.has_points
        else 0,
        "clusters": n_clusters or 0,
        "classes": len(classes),
    }
    dense = {"points": Rule("float", ("n", "width"))}
    rules = {
        **POINTS,
        **(dense if "points" in arrays else rules_of_csr("points", "width")),
        **({"lengths": LENGTHS} if "lengths" in arrays and coder.unit else {}),
        **({"weights": WEIGHTS} if "weights" in arrays else {}),
        **(CONSTRAINTS if "known" in arrays else {}),
        **rules_of_coded(coder),
        **(CLUSTERS if n_clusters is not None else {}),
        **(COUNTS if n_clusters is not None and "cluster_counts" in arrays else {}),
    }
    check_arrays(arrays, rules, sizes)
    same = coder.has_points or names["n_features_in_"] == n
    require(same, "n_features", "is not the number of vertices")
    # An index of candidates is not needed any more.
    replace(coder, n_candidates=None).check(n, ThreadEngine(1))
    equal = replace(_equal(arrays["first_equal"], coder), row_weights=arrays.get("weights"))
    coded = coded_from_arrays(coder, equal.first_equal, arrays)
    if coder.unit:  # the graph as FittedGraph.of makes it
        assert coded.codes is not None
        edges = coder.edges(equal.merge_codes(coded.codes))
        edges = equal.weigh_rows(equal.spread_codes(edges))
        coded = replace(coded, affinity=symmetrized(edges))
    points = _points(arrays, coder, equal, sizes["width"])
    scaling = {"constant": arrays["constant"].item(), "lengths": arrays.get("lengths")}
    graph = FittedGraph(coder, points, equal, **vars(coded), **scaling)
    if "known" in arrays:
        known, *pairs = (arrays[name] for name in CONSTRAINTS)
        graph = replace(graph, constraints=Constraints(known, classes, *pairs))
    clusters = counted = None
    if n_clusters is not None:
        require(1 <= n_clusters <= n, "n_clusters", f"is not from 1 to {n}")
        labels, embedding, eigenvalues = (arrays[name] for name in CLUSTERS)
        clusters = Clusters(labels, embedding, eigenvalues, n_clusters)
        if "cluster_counts" in arrays:
            counts, scores, structure_found = (arrays[name] for name in COUNTS)
            counted = ScoredCounts(n_clusters, counts, scores, structure_found.item())
    model._learn(graph, names, clusters, counted)


def _equal(first: NDArray, coder: Coder) -> EqualPoints:
    """Which points are equal; each must name the first of its kind."""
    firsts = first[first >= 0]
    require(firsts.size > 0, "first_equal", "has no points")
    in_order = (first[firsts] == firsts).all() and (first <= np.arange(len(first))).all()
    require(in_order, "first_equal", "names points that are not first")
    require(coder.unit or first.min() >= 0, "first_equal", "leaves out points")
    return EqualPoints.from_first(first)


def _points(arrays: Mapping[str, NDArray], coder: Coder, equal: EqualPoints, width: int) -> Any:
    """The fitted points, if they are such as the coder codes."""
    points: Any
    if "points" in arrays:
        points = np.ascontiguousarray(arrays["points"])
    else:
        require(coder.unit, "points", "are sparse, which this model never has")
        points = checked_csr("points", arrays, (equal.n, width))
    if not coder.unit:
        require(not arrays["constant"].any(), "constant", "is not zero")
        return points if coder.has_points else None
    with np.errstate(over="ignore"):  # infinite is not of unit length either
        is_dense = isinstance(points, np.ndarray)
        squares = np.einsum("ij,ij->i", points, points) if is_dense else (points**2).sum(axis=1)
    expected = equal.first_equal >= 0  # 1, or 0 for a row of zeros
    unit = np.abs(squares - expected).max() < UNIT_NORM
    require(unit, "points", "are not of unit length")
    return points
