"""``srsg cluster``: data in, labels out."""

from __future__ import annotations

import json as jsonlib
import time
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from srsg.cli import options, outputs
from srsg.cli.bars import bars
from srsg.cli.console import note, say
from srsg.registry import Method, methods

if TYPE_CHECKING:
    from srsg.files import Table


def _of_methods(text: str) -> Any:
    return typer.Option(help=text, show_default="the method's", rich_help_panel=options.FITTING)


def _file(text: str) -> Any:
    return typer.Option(help=text, rich_help_panel=options.WRITING, show_default=False)


def cluster(
    data: options.Data,
    clusters: options.Clusters = None,
    method: options.MethodName = "srsg",
    output: options.LabelsFile = options.STANDARD_OUTPUT,
    graph: Annotated[Path | None, _file("The graph: .npz .graphml .csv.")] = None,
    model: Annotated[Path | None, _file("The model, for srsg predict: .skops.")] = None,
    report: Annotated[Path | None, _file("A page to look at: .html.")] = None,
    lam: Annotated[float | None, _of_methods("Weight of the l1 norm.")] = None,
    gamma: Annotated[float | None, _of_methods("Weight of the regularisation.")] = None,
    n_neighbors: Annotated[int | None, _of_methods("Nearest neighbours of a point.")] = None,
    step: Annotated[float | None, _of_methods("Step of srsg.")] = None,
    l1_ratio: Annotated[float | None, _of_methods("Share of the l1 norm in ensc.")] = None,
    n_nonzero: Annotated[int | None, _of_methods("Most points that code a point in omp.")] = None,
    scale_neighbor: Annotated[int | None, _of_methods("Neighbour of sc's local scale.")] = None,
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="For very many points: code each over candidates that an index finds.",
            rich_help_panel=options.FITTING,
        ),
    ] = False,
    candidates: Annotated[int | None, _of_methods("Of a point, with --approximate.")] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps graphs: another -k is then quick.",
            rich_help_panel=options.FITTING,
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            help="Most memory that coding takes beside the data, such as 2GB.",
            show_default="half of what is free",
            rich_help_panel=options.FITTING,
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler, such as tcp://127.0.0.1:8786: its workers read DATA (.npy "
            ".parquet .zarr) and code the points.",
            rich_help_panel=options.FITTING,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the work done so far, for the next run after one cut short.",
            rich_help_panel=options.FITTING,
        ),
    ] = None,
    labels: options.Labels = None,
    drop_missing: options.DropMissing = False,
    columns: options.Columns = None,
    variable: options.Variable = None,
    image_size: options.ImageSize = None,
    gray: options.Gray = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster the points of a file or the images of a folder.

    Labels go to standard output as CSV, or to the file that -o names.
    """
    chosen, quiet = methods()[method], quiet or json
    _check_choices(chosen, clusters, graph, model)
    reading: dict[str, Any] = {
        "labels": labels,
        "drop_missing": drop_missing,
        "columns": columns,
        "variable": variable,
        "image_size": image_size,
        "gray": gray,
    }
    if scheduler is not None:
        _check_cluster(reading, model, report)
    if candidates is not None and not approximate:
        raise typer.BadParameter("--candidates goes with --approximate.")
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            estimator = _estimator(
                chosen,
                int(clusters) if clusters not in (None, "auto") else "auto",
                {
                    "lam": lam,
                    "gamma": gamma,
                    "n_neighbors": n_neighbors,
                    "step": step,
                    "l1_ratio": l1_ratio,
                    "n_nonzero": n_nonzero,
                    "scale_neighbor": scale_neighbor,
                    "approximate": approximate or None,
                    "n_candidates": candidates,
                    "memory": None if memory is None else str(memory),
                    "max_memory": max_memory,
                    "n_jobs": jobs,
                    "engine": scheduler,
                    "checkpoint": None if checkpoint is None else str(checkpoint),
                    "random_state": seed,
                },
            )
            if approximate:
                from srsg.neighbors.candidates import check_faiss

                check_faiss()
            outputs.check_labels(output)
            outputs.check_graph(graph)
            outputs.check_model(model)
            outputs.check_report(report)
        table = options.read_table(data, progress, quiet=quiet, scheduler=scheduler, **reading)
        start = time.perf_counter()
        estimator.fit(table.X)
        seconds = time.perf_counter() - start
        if clusters is None and not quiet:
            note(f"-k was not given: the graph suggests {estimator.n_clusters_} clusters")
        files = {"labels": output, "graph": graph, "model": model, "report": report}
        written = {
            kind: path for kind, path in files.items() if path and path != options.STANDARD_OUTPUT
        }
        if written:
            with progress.stage(f"writing {', '.join(written)}", 1):
                _write(written, estimator, table, seconds, title=f"{chosen.title} on {data}")
    if output == options.STANDARD_OUTPUT and not json:  # not below the bars
        _write({"labels": output}, estimator, table, seconds)
    found = _summary(data, chosen, estimator, table, seconds, written)
    if json:
        print(jsonlib.dumps(found, indent=2))
    for line in () if quiet else _lines(found):
        say(line)


def _check_choices(
    method: Method, clusters: str | None, graph: Path | None, model: Path | None
) -> None:
    """What the methods that build no graph cannot do."""
    if method.path.startswith("srsg:"):
        return
    if clusters in (None, "auto"):
        raise typer.BadParameter(f"the method {method.name} needs a number of clusters: -k.")
    for option, value in (("--graph", graph), ("--model", model)):
        if value is not None:
            raise typer.BadParameter(f"{option} is no option of the method {method.name}.")


def _check_cluster(reading: dict[str, Any], model: Path | None, report: Path | None) -> None:
    """What takes the points in this process, where a cluster's do not come."""
    images = {name: reading[name] for name in ("drop_missing", "image_size", "gray")}
    for name, value in {**images, "model": model, "report": report}.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{option} takes the points in this process: no --scheduler.")


def _estimator(
    method: Method, n_clusters: int | Literal["auto"], parameters: dict[str, Any]
) -> Any:
    """The method's estimator; what it does not have is refused by the name of its option."""
    known = signature(method.estimator).parameters
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in given:
        if name not in known:
            spelt = {"n_jobs": "--jobs", "engine": "--scheduler", "n_candidates": "--candidates"}
            option = spelt.get(name, f"--{name.replace('_', '-')}")
            raise typer.BadParameter(f"{option} is no option of the method {method.name}.")
    return method.default(n_clusters, **given)


def _write(
    files: dict[str, Path], estimator: Any, table: Table, seconds: float, title: str = ""
) -> None:
    """All that is asked for; each file whole or not at all."""
    from srsg.files import write_graph, write_labels
    from srsg.graph.confidence import confidence

    if "labels" in files:
        share = confidence(estimator, table.X).share.round(6)
        write_labels(
            files["labels"],
            estimator.labels_,
            row_ids=table.row_ids,
            columns={"confidence": share},
        )
    if "graph" in files:
        write_graph(files["graph"], estimator.affinity_matrix_, labels=estimator.labels_)
    if "model" in files:
        from srsg.persistence import save_model

        save_model(estimator, files["model"])
    if "report" in files:
        from srsg.report import write_report

        write_report(
            files["report"],
            estimator,
            table.X,
            y=table.y,
            class_names=table.class_names,
            image_shape=table.image_shape,
            feature_names=table.feature_names,
            row_ids=list(table.row_ids),
            title=title,
            seconds=seconds,
        )


def _summary(
    data: str,
    method: Method,
    estimator: Any,
    table: Table,
    seconds: float,
    files: dict[str, Path],
) -> dict[str, Any]:
    import numpy as np

    from srsg.metrics import scores

    sizes = np.unique(estimator.labels_, return_counts=True)[1]
    return {
        "data": data,
        "method": method.name,
        "n_points": len(table.X),
        "n_features": table.X.shape[1],
        "n_clusters": len(sizes),
        "sizes": sizes.tolist(),
        "scores": None if table.y is None else scores(table.y, estimator.labels_),
        "seconds": round(seconds, 3),
        "certificates": _certificates(estimator),
        "notes": list(table.notes),
        "files": {
            kind: str(path) for kind, path in files.items() if path != options.STANDARD_OUTPUT
        },
    }


def _certificates(estimator: Any) -> dict[str, Any] | None:
    """How far codes are from optimal over all points, and of how many points that is known."""
    quantiles = getattr(estimator, "kkt_quantiles_", None)
    if quantiles is None:
        return None
    return {
        "approximate": estimator.approximate,
        "n_points": len(estimator.certified_),
        "kkt_quantiles": {f"{share:.0%}": value for share, value in quantiles.items()},
    }


def _lines(found: dict[str, Any]) -> list[str]:
    """The summary for people."""
    lines = [
        f"{found['n_points']} points in {found['n_clusters']} clusters of "
        f"{min(found['sizes'])} to {max(found['sizes'])} points, by {found['method']} in "
        f"{found['seconds']:.1f} s"
    ]
    if found["scores"]:
        lines.append(outputs.score_line(found["scores"]))
    known = found["certificates"]
    if known and known["approximate"]:
        shares = (f"{share} {value:.2g}" for share, value in known["kkt_quantiles"].items())
        lines.append(
            f"KKT violation of the codes of {known['n_points']} random points, over all points, "
            f"by quantiles: {', '.join(shares)} (0 is exact)"
        )
    return lines + [f"{kind}: {path}" for kind, path in found["files"].items()]
