"""The options of ``srsg cluster``, by subject, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from srsg.cli import options
from srsg.cli.console import flag_of
from srsg.cli.groups import Reading
from srsg.cli.options import AUTO, METHODS, fitting, writing
from srsg.cli.outputs import check_outputs, endings_of_labels
from srsg.cli.preparation import Preparing
from srsg.registry import Method, methods

if TYPE_CHECKING:
    from srsg.files import Table

SEARCH = Method(AUTO, "search by stability", None, "srsg:StabilitySearch")


@dataclass(frozen=True)
class MethodOptions:
    """The method and its parameters; None keeps the method's default."""

    method: str | None = fitting(
        f"auto, which finds the method that suits the data, or one of {', '.join(METHODS)}.",
        *("--method", "-m"),
        parser=lambda text: text if text == AUTO else options.parse_method(text),
        metavar="NAME",
        autocompletion=lambda: [(AUTO, "the most stable method"), *METHODS.items()],
        show_default="auto; srsg if one of its options is given",
    )
    lam: float | None = fitting("Weight of the l1 norm.")
    gamma: float | None = fitting("Weight of the regularisation.")
    n_neighbors: int | None = fitting("Number of nearest neighbours of each point.")
    step: float | None = fitting("For srsg: step size.")
    l1_ratio: float | None = fitting("For ensc: share of the l1 norm.")
    n_nonzero: int | None = fitting("For omp and ridge: most points in a code.")
    scale_neighbor: int | None = fitting("For sc: the neighbour whose distance is a point's scale.")
    affine: bool | None = fitting(
        "Add a constant coordinate, so that a point and its mirror image differ.",
        "--affine/--no-affine",
        show_default="with --scale standard",
    )
    features: Literal["scattering"] | None = fitting(
        "Features of images to cluster by instead of their pixels.",
        show_default="the values of DATA",
    )
    n_candidates: int | None = fitting(
        "For very many points: code each point over this many candidates, such as 100, that an "
        "index finds.",
        "--candidates",
        show_default="all points",
    )

    def parameters(self) -> dict[str, Any]:
        """Parameters of the estimator that are given."""
        given = {**vars(self), "method": None, "features": None}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class RunningOptions:
    """Where and with what the method runs; labels depend on the seed only."""

    store: str | None = fitting(
        "Folder that keeps results: an interrupted run continues, and another -k is quick.",
        metavar="FOLDER",
        show_default=False,
    )
    max_memory: str | None = fitting(
        "Most memory to use besides the data, such as 2GB.", show_default="half of what is free"
    )
    scheduler: str | None = fitting(
        "Dask scheduler, such as tcp://127.0.0.1:8786: its workers read DATA (.npy .parquet .zarr) "
        "and code the points.",
        metavar="ADDRESS",
        show_default=False,
    )
    seed: int = options.SEED
    jobs: int | None = options.JOBS

    def parameters(self) -> dict[str, Any]:
        """Parameters of the estimator that are given."""
        given = {"store": self.store, "n_jobs": self.jobs, "random_state": self.seed}
        return {name: value for name, value in given.items() if value is not None}

    def config(self) -> dict[str, Any]:
        """Settings for :func:`srsg.config_context`."""
        engine = {} if self.scheduler is None else {"engine": self.scheduler}
        return {"max_memory": self.max_memory, **engine}


@dataclass(frozen=True)
class OutputFiles:
    """The files to write."""

    output: Path = options.LABELS_FILE
    append: bool = options.APPEND
    graph: Path | None = writing("The graph: .npz .graphml .csv.")
    model: Path | None = writing("The model, for srsg predict: .srsg.")
    report: Path | None = writing("A report to open in a browser: .html.")

    def check(self, inputs: Sequence[str | None]) -> None:
        """Raise an error now for a file that could not be written at the end."""
        from srsg.files.graphs import GRAPH_ENDINGS

        wanted = {
            "--output": (self.output, endings_of_labels(self.append)),
            "--graph": (self.graph, GRAPH_ENDINGS),
            "--model": (self.model, (".srsg",)),
            "--report": (self.report, (".html", ".htm")),
        }
        check_outputs(wanted, inputs)

    def by_content(self) -> dict[str, Path]:
        """The files that are asked for, by what goes into them, without standard output."""
        labels = None if self.output == options.STANDARD_OUTPUT else self.output
        files = {"labels": labels, "graph": self.graph, "model": self.model, "report": self.report}
        return {content: path for content, path in files.items() if path is not None}


def chosen_method(method: MethodOptions, running: RunningOptions) -> Method:
    """The method by its name; without a name, the search or, if options of srsg are given, srsg."""
    # The search compares methods, so it does not have their options.
    own = method.parameters() or running.store or running.scheduler
    name = method.method or ("srsg" if own else AUTO)
    return SEARCH if name == AUTO else methods()[name]


def check_combinations(
    chosen: Method,
    clusters: int | str,
    method: MethodOptions,
    running: RunningOptions,
    reading: Reading,
    preparing: Preparing,
    files: OutputFiles,
) -> None:
    """Raise an error for options that cannot be combined."""
    # The points of a cluster stay there.
    needs_points = {
        "--drop-missing": reading.drop_missing,
        "--image-size": reading.image_size,
        "--gray": reading.gray,
        "--id": reading.id_column,
        "--keep-ids": reading.keep_ids,
        "--scale": preparing.scale not in (None, "none"),
        "--impute": preparing.impute,
        "--affine": method.affine,
        "--candidates": method.n_candidates,
        "--append": files.append,
        "--model": files.model,
        "--report": files.report,
    }
    here = "needs the points in this process, so it cannot be combined with --scheduler."
    no_graph, no_option = (
        not _builds_graph(chosen),
        f"is not an option of the method {chosen.name}.",
    )
    _refuse(
        (
            no_graph and clusters == AUTO,
            f"the method {chosen.name} needs a number of clusters: -k.",
        ),
        (no_graph and files.graph, f"--graph {no_option}"),
        (chosen is SEARCH and clusters == 1, "-k 1 needs a method: --method."),
        (method.features and files.model, "--model cannot be combined with --features."),
        (method.features and running.scheduler, "--scheduler cannot be combined with --features."),
        *((running.scheduler and on, f"{flag} {here}") for flag, on in needs_points.items()),
    )


def make_estimator(
    chosen: Method,
    clusters: int | str,
    method: MethodOptions,
    running: RunningOptions,
    files: OutputFiles,
) -> Any:
    """The method's estimator, or an error for an option that it does not have."""
    parameters = {**method.parameters(), **running.parameters()}
    known = signature(chosen.estimator).parameters
    no_option = f"is not an option of the method {chosen.name}."
    _refuse(*((name not in known, f"{flag_of(name)} {no_option}") for name in parameters))
    if chosen is SEARCH and files.graph is not None:
        parameters["candidates"] = "graphs"
    if method.n_candidates is not None:
        from srsg.coding.candidates import check_faiss

        check_faiss()
    estimator: Any = chosen.estimator(n_clusters=clusters, **parameters)
    if running.scheduler is not None:
        on_cluster = hasattr(estimator, "_coder") and estimator._coder().on_cluster
        _refuse((not on_cluster, f"--scheduler {no_option}"))
    return estimator


def check_size(data: str, shape: tuple[int, int], method: Method) -> None:
    """Raise an error if there are too few points or columns for the method."""
    from srsg.files import FileError
    from srsg.files.errors import count_of
    from srsg.files.reading import display_name
    from srsg.search.search import LEAST_POINTS

    n_points, n_features = shape
    graph, rows = _builds_graph(method), count_of(n_points, "row")
    _refuse(
        (
            graph and n_features < 2,
            "has one column of numbers, and a graph needs two or more. --method kmeans takes one.",
        ),
        (graph and n_points < 2, "has one row, and two or more are needed."),
        (
            method is SEARCH and n_points < LEAST_POINTS,
            f"has {rows}, and the search for a method needs {LEAST_POINTS} or more: name a method "
            "with --method.",
        ),
        error=lambda problem: FileError(f"{display_name(data)}: {problem}"),
    )


def features_of(table: Table, method: MethodOptions, jobs: int | None) -> Any:
    """What is clustered: the values of a table, or features of its images."""
    if method.features is None:
        return table.X
    if table.image_shape is None or len(table.image_shape) != 2:
        raise typer.BadParameter(
            "--features scattering needs gray images: a folder of images, with --gray if they have "
            "colours, or a file that gives their shape."
        )
    from srsg.features import Scattering

    height, width = table.image_shape
    return Scattering((height, width), n_jobs=jobs).fit_transform(table.X)


def _builds_graph(method: Method) -> bool:
    return method.path.startswith("srsg:")


def _refuse(
    *problems: tuple[Any, str], error: Callable[[str], Exception] = typer.BadParameter
) -> None:
    """Raise an error with the message of the first problem that exists."""
    for exists, message in problems:
        if exists:
            raise error(message)
