"""``srsg cluster``: data in, labels out."""

from __future__ import annotations

import json as jsonlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srsg.cli import options, outputs
from srsg.cli.bars import bars
from srsg.cli.cluster_options import (
    SEARCH,
    MethodOptions,
    OutputFiles,
    RunningOptions,
    check_features,
    check_on_cluster,
    check_scheduler,
    check_searched_count,
    check_size,
    check_without_graph,
    chosen_method,
    features_of,
    make_estimator,
)
from srsg.cli.console import note, say
from srsg.cli.groups import Reading
from srsg.cli.preparation import Preparing, notes_on_near_rows, prepare
from srsg.registry import Method
from srsg.running.progress import SILENT, announce_compiling

if TYPE_CHECKING:
    from srsg.files import Table


def cluster(
    data: options.Data,
    clusters: options.Clusters = None,
    *,
    method: MethodOptions,
    files: OutputFiles,
    running: RunningOptions,
    reading: Reading,
    preparing: Preparing,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster the points of a file or the images of a folder.

    Several methods are compared on samples of the points, and the one whose clusters are most
    stable is taken; --method names one instead.

    Labels go to standard output as CSV, or to the file that -o names. Files that exist are
    replaced, except DATA itself.
    """
    # Notes are for people, and JSON is for programs.
    quiet = quiet or json
    # All options are checked before DATA is read: a mistake should show at once, not after minutes.
    chosen = chosen_method(method, running)
    check_without_graph(chosen, clusters, files)
    check_searched_count(chosen, clusters)
    check_features(method, running, files)
    if running.scheduler is not None:
        check_on_cluster(reading, preparing, files)
    written = files.asked_for()
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            given = {**method.parameters(), **running.parameters()}
            estimator = make_estimator(chosen, given, clusters, files)
            if method.candidates is not None:
                from srsg.coding.candidates import check_faiss

                check_faiss()
            check_scheduler(chosen, estimator, running)
            files.check([data, reading.labels])
        table = reading.read(
            data,
            progress,
            quiet=quiet,
            scheduler=running.scheduler,
            keep_missing=preparing.impute is not None,
            keep_frame=files.append,
        )
        check_size(data, table.X.shape, chosen)
        if files.append:
            outputs.check_append(table)
        # Features and scaling are part of the time, reading is not.
        start = time.perf_counter()
        with progress.stage("features", 1):
            X = features_of(table, method.features, running.jobs)
            model: Any = estimator
            notes: list[str] = []
            if running.scheduler is None:  # otherwise the points are with the workers
                model, notes = prepare(estimator, X, preparing, table, by_search=chosen is SEARCH)
        notes += _make_affine(model, method)
        if not quiet and chosen.name != "kmeans":
            notes += notes_on_near_rows(X)
        for line in () if quiet else notes:
            note(line)
        from srsg import config_context

        with announce_compiling(SILENT if quiet else progress), config_context(**running.config()):
            model.fit(X)
        estimator = vars(model).get("clusterer_", model)
        seconds = time.perf_counter() - start
        for line in () if quiet else _choices(estimator, clusters):
            note(line)
        if written:
            with progress.stage(f"writing {', '.join(written)}", 1):
                title = f"Clusters of {Path(data).name}"
                _write(files, model, estimator, table, X, seconds, title=title)
    if files.output == options.STANDARD_OUTPUT and not json:  # after the bars are gone
        _write_labels(files, model, table, X)
    found = _summary(data, chosen, estimator, table, seconds, written)
    if json:
        print(jsonlib.dumps(found, indent=2))
    for line in () if quiet else _lines(found):
        say(line)


def _make_affine(model: Any, method: MethodOptions) -> list[str]:
    """Add a constant coordinate if the columns are centred; notes for the user."""
    if getattr(model, "scale", None) != "standard" or method.affine is not None:
        return []
    if "affine" not in model.clusterer.get_params():
        return []
    # Centring moved the origin inside the data. Two clusters on opposite sides of it would lie in
    # the same directions but for their signs, which codes do not see.
    model.clusterer.set_params(affine=True)
    return ["columns are centred, so a constant coordinate was added (--no-affine leaves it out)"]


def _choices(estimator: Any, clusters: str | None) -> list[str]:
    """What was left to the program to choose, what it chose, and why."""
    lines = []
    search = hasattr(estimator, "best_name_")
    if search:
        results = estimator.results_
        lines.append(
            f"The data look like {estimator.columns_}; the most stable clusters are those of "
            f"{estimator.best_name_}{_runner_up(results, estimator.best_index_)}."
        )
    if clusters in (None, "auto"):
        found = f"-k was not given: {estimator.n_clusters_} clusters were found."
        next_best = estimator.best_counts(3)[1:] if hasattr(estimator, "cluster_counts_") else []
        if next_best:
            found += f" Next best: {', '.join(map(str, next_best))}."
        lines.append(found)
    if not getattr(estimator, "structure_found_", True):
        lines.append(
            "No structure was found: random points have clusters like these, so they may mean "
            "nothing."
        )
    return lines


def _runner_up(results: dict[str, list[Any]], best: int) -> str:
    """The best candidate, its score, and the second with its."""
    score, names = results["score"], results["candidate"]
    others = [place for place in range(len(names)) if place != best]
    if not others:
        return ""
    second = max(others, key=lambda place: score[place])
    return f" (score {score[best]:.2f}; second {names[second]}, {score[second]:.2f})"


def _write_labels(files: OutputFiles, model: Any, table: Table, X: Any) -> None:
    from srsg.explaining.confidence import confidence

    values = confidence(model, X).values
    outputs.write_labelled_rows(files.output, table, model.labels_, values, append=files.append)


def _write(
    files: OutputFiles,
    model: Any,
    estimator: Any,
    table: Table,
    X: Any,
    seconds: float,
    title: str = "",
) -> None:
    """Write all files that are asked for, each atomically."""
    if files.output != options.STANDARD_OUTPUT:
        _write_labels(files, model, table, X)
    if files.graph is not None:
        from srsg.explaining.unwrapping import clusterer_of
        from srsg.files import write_graph

        graph = clusterer_of(estimator).affinity_matrix_
        write_graph(files.graph, graph, labels=estimator.labels_)
    if files.model is not None:
        _save(files.model, model, table)
    if files.report is not None:
        from srsg.report import write_report

        # The page of a search explains its choice; any other model shows columns in their units.
        if model is estimator:
            shown, points = model, table.X
        elif hasattr(estimator, "best_name_"):
            shown, points = estimator, model.prepared(X)
        else:
            shown, points = model, model.columns_.undone(model.prepared(X))
        write_report(
            files.report,
            shown,
            points,
            y=table.y,
            class_names=table.class_names,
            image_shape=table.image_shape,
            feature_names=table.feature_names,
            row_ids=list(table.row_ids),
            title=title,
            seconds=seconds,
        )


def _save(path: Path, model: Any, table: Table) -> None:
    import numpy as np

    from srsg.persistence import save_model

    if table.feature_names is not None:
        model.feature_names_in_ = np.array(table.feature_names, dtype=object)
    save_model(model, path)


def _summary(
    data: str,
    method: Method,
    estimator: Any,
    table: Table,
    seconds: float,
    files: dict[str, Path],
) -> dict[str, Any]:
    import numpy as np

    from srsg.explaining.unwrapping import clusterer_of
    from srsg.metrics import scores

    sizes = np.unique(estimator.labels_, return_counts=True)[1]
    return {
        "data": data,
        "method": getattr(estimator, "best_name_", method.name),
        "n_points": table.X.shape[0],
        "n_features": table.X.shape[1],
        "n_clusters": len(sizes),
        "sizes": sizes.tolist(),
        "scores": None if table.y is None else scores(table.y, estimator.labels_),
        "seconds": round(seconds, 3),
        "certificates": _certificates(clusterer_of(estimator)),
        "notes": list(table.notes),
        "files": {kind: str(path) for kind, path in files.items()},
    }


def _certificates(estimator: Any) -> dict[str, Any] | None:
    """How far codes are from optimal over all points, and for how many points that is known."""
    quantiles = getattr(estimator, "kkt_quantiles_", None)
    if quantiles is None:
        return None
    return {
        "approximate": estimator.n_candidates is not None,
        "n_points": len(estimator.certified_),
        "kkt_quantiles": {f"{share:.0%}": value for share, value in quantiles.items()},
    }


def _range_of(sizes: list[int]) -> str:
    """The sizes of the clusters in words: 3 to 8 points, or 5 points each."""
    from srsg.files.errors import count_of

    least, most = min(sizes), max(sizes)
    if least != most:
        return f"{least} to {count_of(most, 'point')}"
    return count_of(most, "point") + (" each" if len(sizes) > 1 else "")


def _lines(found: dict[str, Any]) -> list[str]:
    """The summary as lines of text."""
    from srsg.files.errors import count_of

    points = count_of(found["n_points"], "point")
    clusters = count_of(found["n_clusters"], "cluster")
    lines = [
        f"{points} in {clusters} of {_range_of(found['sizes'])}, by {found['method']} in "
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
