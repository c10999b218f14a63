"""The options of ``srsg cluster``, by subject, and which of them exclude each other."""

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import typer

from srsg.cli import options
from srsg.cli.console import flag_of
from srsg.cli.options import AUTO, METHODS, fitting, writing
from srsg.registry import Method, methods

SEARCH = Method(AUTO, "search by stability", None, "srsg:StabilitySearch")

# Options that need the points in this process; with --scheduler, points stay on the cluster.
NEED_POINTS = (
    *("drop_missing", "image_size", "gray", "id_column", "keep_ids", "scale", "impute"),
    *("treat", "text", "encoder", "skip_rows"),
    *("affine", "append", "model", "report", "weights", "known"),
)


@dataclass(frozen=True)
class Fitting:
    """The method, its parameters and how it runs; None keeps the method's default."""

    method: str | None = fitting(
        f"auto, which finds the method that suits the data, or one of {', '.join(METHODS)}.",
        *("--method", "-m"),
        parser=lambda text: text if text == AUTO else options.parse_method(text),
        metavar="NAME",
        autocompletion=lambda: [(AUTO, "the most stable method"), *METHODS.items()],
        show_default="auto; srsg if one of its options is given",
    )
    lam: float | None = fitting("Weight of the l1 norm.")
    gamma: float | None = fitting("For srsg and lr-l1: weight of the regularisation.")
    n_neighbors: int | None = fitting("Number of nearest neighbours of each point.")
    step: float | None = fitting("For srsg: step size.")
    lam_divisor: float | None = fitting(
        "For ensc: lam is the smallest at which a code is empty, divided by this."
    )
    l1_ratio: float | None = fitting("For ensc: share of the l1 norm.")
    n_nonzero: int | None = fitting("For omp, ridge and ensc: maximum number of points in a code.")
    scale_neighbor: int | None = fitting("For sc: the neighbour whose distance is a point's scale.")
    affine: bool | None = fitting(
        "Add a constant coordinate, so that a point and its mirror image differ.",
        "--affine/--no-affine",
        show_default="with --scale standard",
    )
    features: Literal["scattering"] | None = fitting(
        "Features of images to cluster by instead of their pixels: scattering.",
        show_default="the values of DATA",
    )
    n_candidates: int | None = fitting(
        "For very many points: number of candidates that each point is coded over, such as 100; an "
        "index finds them.",
        "--candidates",
        show_default="all points",
    )
    store: str | None = fitting(
        "Folder that keeps results: an interrupted run can continue, and another -k is quick.",
        metavar="FOLDER",
        show_default=False,
    )
    max_time: str = fitting(
        "Time to aim at, such as 90s or 2h. Where the graph of all points would take longer, auto "
        "builds that of a sample, and assigns all other points to its clusters.",
        "--time",
        default="5min",
        show_default=True,
    )
    max_memory: str | None = fitting(
        "Maximum memory besides the data, such as 2GB.",
        *("--memory", "--max-memory"),
        show_default="half of what is free",
    )
    scheduler: str | None = fitting(
        "Dask scheduler, such as tcp://127.0.0.1:8786: its workers read DATA (.npy .parquet .zarr) "
        "and code the points.",
        metavar="ADDRESS",
        show_default=False,
    )
    weights: str | None = fitting(
        "Column that says how many times each row counts.", metavar="COLUMN", show_default=False
    )
    known: str | None = fitting(
        "Column with the classes of some rows, blank for all others: clusters keep them.",
        metavar="COLUMN",
        show_default=False,
    )
    random_state: int = options.SEED
    n_jobs: int | None = options.JOBS

    def parameters(self) -> dict[str, Any]:
        """Parameters given for the estimator."""
        others = ("method", "features", "max_memory", "max_time", "scheduler", "weights", "known")
        given = {name: value for name, value in vars(self).items() if value is not None}
        return {name: value for name, value in given.items() if name not in others}

    def columns_aside(self) -> dict[str, str]:
        """Columns that are no features, by the option that names them."""
        given = {"weights": self.weights, "known": self.known}
        return {option: column for option, column in given.items() if column is not None}

    def chosen(self) -> Method:
        """The named method; by default the search, or srsg if its options are given."""
        # The search compares methods, so it does not have their options.
        own = self.scheduler or self.parameters().keys() - {"random_state", "n_jobs"}
        name = self.method or ("srsg" if own else AUTO)
        return SEARCH if name == AUTO else methods()[name]


@dataclass(frozen=True)
class Writing:
    """The files to write."""

    output: Path = options.LABELS_FILE
    append: bool = options.APPEND
    graph: Path | None = writing("The graph: .npz .graphml .csv.")
    model: Path | None = writing("The model, for srsg predict: .srsg.")
    report: Path | None = writing("A report to open in a browser: .html.")

    def by_content(self) -> dict[str, Path]:
        """The files to write, by their content, without standard output."""
        labels = None if self.output == options.STANDARD_OUTPUT else self.output
        files = {"labels": labels, "graph": self.graph, "model": self.model, "report": self.report}
        return {content: path for content, path in files.items() if path is not None}


def check_combinations(method: Method, clusters: Any, *groups: Any) -> None:
    """Raise an error for options that cannot be combined; ``groups`` hold all options but -k."""
    options_given = [item for group in groups for item in vars(group).items()]
    given = {name for name, value in options_given if value not in (None, False, "none", [], 0)}
    no_graph, name = not method.builds_graph, method.name
    problems = [
        (
            no_graph and not isinstance(clusters, int),
            f"the method {name} needs a number of clusters: -k.",
        ),
        (no_graph and "graph" in given, f"--graph is not an option of the method {name}."),
        (no_graph and "known" in given, f"--known is not an option of the method {name}."),
        (method is SEARCH and clusters == 1, "-k 1 needs a method: --method."),
        ({"features", "model"} <= given, "--model cannot be combined with --features."),
        ({"features", "scheduler"} <= given, "--scheduler cannot be combined with --features."),
    ]
    for name in NEED_POINTS:
        reason = "needs the points in this process, so it cannot be combined with --scheduler."
        problems.append(({"scheduler", name} <= given, f"{flag_of(name)} {reason}"))
    for exists, message in problems:
        if exists:
            raise typer.BadParameter(message)


def make_estimator(method: Method, clusters: Any, fitting: Fitting, files: Writing) -> Any:
    """The method's estimator, or an error for an option that it does not have."""
    parameters = fitting.parameters()
    known = signature(method.estimator).parameters
    unknown = [flag_of(name) for name in parameters if name not in known]
    coder = getattr(method.estimator, "coder", None)
    if fitting.scheduler is not None and not (coder and coder.on_cluster):
        unknown.append("--scheduler")
    if unknown:
        raise typer.BadParameter(f"{unknown[0]} is not an option of the method {method.name}.")
    if fitting.n_candidates is not None:
        from srsg.coding.candidates import check_faiss

        check_faiss()
    if method is SEARCH and files.graph is not None:
        parameters["candidates"] = "graphs"
    return method.default(clusters, **parameters)
