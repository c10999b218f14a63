"""The options of ``srsg cluster``, by what they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srsg.cli import options, outputs
from srsg.cli.groups import Reading
from srsg.cli.options import FITTING, WRITING, one_of, option
from srsg.cli.preparation import Preparing
from srsg.registry import Method, methods

if TYPE_CHECKING:
    from srsg.files import Table


def _of_method(text: str) -> Any:
    return option(FITTING, text, show_default="the method's")


def _file(text: str) -> Any:
    return option(WRITING, text, show_default=False)


@dataclass(frozen=True)
class MethodOptions:
    """The method and its parameters; for None, the method's default holds."""

    method: options.MethodName = None
    lam: Annotated[float | None, _of_method("Weight of the l1 norm.")] = None
    gamma: Annotated[float | None, _of_method("Weight of the regularisation.")] = None
    n_neighbors: Annotated[
        int | None, _of_method("Number of nearest neighbours of each point.")
    ] = None
    step: Annotated[float | None, _of_method("For srsg: step size.")] = None
    l1_ratio: Annotated[float | None, _of_method("For ensc: share of the l1 norm.")] = None
    n_nonzero: Annotated[
        int | None, _of_method("For omp, ridge and ensc: most points in a code.")
    ] = None
    scale_neighbor: Annotated[
        int | None, _of_method("For sc: the neighbour whose distance is a point's scale.")
    ] = None
    affine: Annotated[
        bool | None,
        option(
            FITTING,
            "Add a constant coordinate, so that a point and its mirror image differ.",
            "--affine/--no-affine",
            show_default="with --scale standard",
        ),
    ] = None
    features: Annotated[
        str | None,
        option(
            FITTING,
            "Features of images to cluster by instead of their pixels: scattering.",
            callback=one_of(["scattering"]),
            show_default="the values of DATA",
        ),
    ] = None
    candidates: Annotated[
        int | None,
        option(
            FITTING,
            "For very many points: code each point over so many candidates, such as 100, that an "
            "index finds.",
            show_default="all points",
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Parameters of the estimator."""
        given = asdict(self)
        del given["method"], given["features"]
        given["n_candidates"] = given.pop("candidates")
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class RunningOptions:
    """Where and with what the method runs; labels depend on the seed only."""

    store: Annotated[
        Path | None,
        option(
            FITTING,
            "Folder that keeps results: an interrupted run goes on, and another -k is quick.",
        ),
    ] = None
    max_memory: Annotated[
        str | None,
        option(
            FITTING,
            "Most memory to use beside the data, such as 2GB.",
            show_default="half of what is free",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        option(
            FITTING,
            "Dask scheduler, such as tcp://127.0.0.1:8786: its workers read DATA (.npy "
            ".parquet .zarr) and code the points.",
            metavar="ADDRESS",
        ),
    ] = None
    seed: options.Seed = 0
    jobs: options.Jobs = None

    def parameters(self) -> dict[str, Any]:
        """Parameters of the estimator."""
        given = {
            "store": None if self.store is None else str(self.store),
            "n_jobs": self.jobs,
            "random_state": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None}

    def config(self) -> dict[str, Any]:
        """Settings of :func:`srsg.config_context`."""
        given = {"max_memory": self.max_memory, "engine": self.scheduler}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class OutputFiles:
    """The files to write."""

    output: options.LabelsFile = options.STANDARD_OUTPUT
    append: options.Append = False
    graph: Annotated[Path | None, _file("The graph: .npz .graphml .csv.")] = None
    model: Annotated[Path | None, _file("The model, for srsg predict: .srsg.")] = None
    report: Annotated[Path | None, _file("A report to open in a browser: .html.")] = None

    def check(self, inputs: Sequence[str | None]) -> None:
        """Refuse in advance what could not be written at the end, or would replace an input."""
        named = {
            f"--{name}": getattr(self, name) for name in ("output", "graph", "model", "report")
        }
        from srsg.files.graphs import GRAPH_ENDINGS

        outputs.check_not_inputs(named, inputs)
        outputs.check_labels_file(self.output, self.append)
        outputs.check_output(self.graph, GRAPH_ENDINGS, "--graph")
        outputs.check_output(self.model, (".srsg",), "--model")
        outputs.check_output(self.report, (".html", ".htm"), "--report")

    def asked_for(self) -> dict[str, Path]:
        """The files by what goes into them, standard output left out."""
        files = {
            "labels": self.output,
            "graph": self.graph,
            "model": self.model,
            "report": self.report,
        }
        return {
            kind: path
            for kind, path in files.items()
            if path is not None and path != options.STANDARD_OUTPUT
        }


SEARCH = Method(options.AUTO, "search by stability", None, "srsg:StabilitySearch")


def chosen_method(method: MethodOptions, running: RunningOptions) -> Method:
    """The method by its name; without a name, the search or, if options of srsg are given, srsg."""
    name = method.method
    if name is None:
        # The search compares methods, so it does not have their options.
        given = {**method.parameters(), **running.parameters(), **running.config()}
        own = given.keys() - {"n_jobs", "random_state", "max_memory"}
        name = "srsg" if own else options.AUTO
    return SEARCH if name == options.AUTO else methods()[name]


def features_of(table: Table, features: str | None, jobs: int | None) -> Any:
    """What is clustered: the values of a table, or features of its images."""
    if features is None:
        return table.X
    if table.image_shape is None or len(table.image_shape) != 2:
        raise typer.BadParameter(
            "--features scattering needs gray images: a folder of images, with --gray if they have "
            "colours, or a file that gives their shape."
        )
    from srsg.features import Scattering

    height, width = table.image_shape
    return Scattering((height, width), n_jobs=jobs).fit_transform(table.X)


def make_estimator(
    chosen: Method, given: dict[str, Any], clusters: str | None, files: OutputFiles
) -> Any:
    """The method's estimator; a parameter that it lacks is refused under the option's name."""
    known = signature(chosen.estimator).parameters
    for name in given:
        if name not in known:
            spelt = {"n_jobs": "--jobs", "n_candidates": "--candidates"}
            flag = spelt.get(name, f"--{name.replace('_', '-')}")
            raise typer.BadParameter(f"{flag} is not an option of the method {chosen.name}.")
    if chosen is SEARCH and files.graph is not None:
        given = {**given, "candidates": "graphs"}
    count = int(clusters) if clusters not in (None, "auto") else "auto"
    return chosen.estimator(n_clusters=count, **given)


def check_scheduler(method: Method, estimator: Any, running: RunningOptions) -> None:
    """Raise an error if the method cannot work on a cluster."""
    on_cluster = hasattr(estimator, "_coder") and estimator._coder().on_cluster
    if running.scheduler is not None and not on_cluster:
        raise typer.BadParameter(f"--scheduler is not an option of the method {method.name}.")


def check_without_graph(method: Method, clusters: str | None, files: OutputFiles) -> None:
    """Refuse what methods without a graph cannot do."""
    if method.path.startswith("srsg:"):
        return
    if clusters in (None, "auto"):
        raise typer.BadParameter(f"the method {method.name} needs a number of clusters: -k.")
    if files.graph is not None:
        raise typer.BadParameter(f"--graph is not an option of the method {method.name}.")


def check_searched_count(method: Method, clusters: str | None) -> None:
    """Refuse one cluster, of which there is nothing to compare."""
    if method is SEARCH and clusters == "1":
        raise typer.BadParameter("-k 1 needs a method: --method.")


def check_size(data: str, shape: tuple[int, int], method: Method) -> None:
    """Refuse points that are too few for the method, and say what takes them."""
    from srsg.files import FileError
    from srsg.files.errors import count_of
    from srsg.files.reading import display_name
    from srsg.search.search import LEAST_POINTS

    n_points, n_features = shape
    if method.path.startswith("srsg:") and n_features < 2:
        raise FileError(
            f"{display_name(data)}: has one column of numbers, and a graph needs two or more. "
            "--method kmeans takes one."
        )
    if method.path.startswith("srsg:") and n_points < 2:
        raise FileError(f"{display_name(data)}: has one row, and two or more are needed.")
    if method is SEARCH and n_points < LEAST_POINTS:
        raise FileError(
            f"{display_name(data)}: has {count_of(n_points, 'row')}, and the search for a method "
            f"needs {LEAST_POINTS} or more: name a method with --method."
        )


def check_features(method: MethodOptions, running: RunningOptions, files: OutputFiles) -> None:
    """Refuse options that cannot be combined with features of images."""
    if method.features is not None:
        unwanted = {"--model": files.model, "--scheduler": running.scheduler}
        _refuse(unwanted, "cannot be combined with --features.")


def check_on_cluster(reading: Reading, preparing: Preparing, files: OutputFiles) -> None:
    """Refuse options that need the points in this process: those of a cluster stay there."""
    unwanted = {
        "--drop-missing": reading.drop_missing,
        "--image-size": reading.image_size,
        "--gray": reading.gray,
        "--id": reading.id,
        "--keep-ids": reading.keep_ids,
        "--scale": preparing.scale not in (None, "none"),
        "--impute": preparing.impute,
        "--append": files.append,
        "--model": files.model,
        "--report": files.report,
    }
    _refuse(
        unwanted, "needs the points in this process, so it cannot be combined with --scheduler."
    )


def _refuse(unwanted: Mapping[str, Any], why: str) -> None:
    """Refuse the first of some options that is given."""
    for name, value in unwanted.items():
        if value:
            raise typer.BadParameter(f"{name} {why}")
