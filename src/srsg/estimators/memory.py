"""The graph from a cache, so that another number of clusters need not build it again."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_memory

from srsg import __version__
from srsg.engines import Engine

NOT_OF_THE_GRAPH = {
    "n_clusters",
    "affinity",
    "bridge",
    "assign_labels",
    "n_init",
    "memory",
    "block_size",
    "max_memory",
    "n_jobs",
    "engine",
    "checkpoint",
    "random_state",
    "verbose",
}
"""Parameters that no graph depends on, but for the sample that certifies an approximate one."""


def learnt_by(estimator: Any, x: NDArray, engine: Engine) -> dict[str, Any]:
    """The attributes that ``_build_graph`` of an estimator sets, from its ``memory`` if there.

    They are kept by the points, the parameters that the graph depends on, and the version of
    this package.
    """
    parameters = estimator.get_params(deep=False)
    ignored = NOT_OF_THE_GRAPH & parameters.keys()
    if parameters.get("approximate"):
        ignored -= {"random_state"}
    options = {name: parameters.pop(name) for name in ignored}
    cached = check_memory(estimator.memory).cache(_learn, ignore=["options", "engine"])
    return cached(type(estimator), parameters, __version__, x, options, engine)


def _learn(
    kind: type,
    parameters: dict[str, Any],
    version: str,
    x: NDArray,
    options: dict[str, Any],
    engine: Engine,
) -> dict[str, Any]:
    model: Any = kind(**parameters, **options)
    given = set(vars(model))
    model._build_graph(x, engine)
    return {name: value for name, value in vars(model).items() if name not in given}
