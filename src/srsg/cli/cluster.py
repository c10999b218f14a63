"""``srsg cluster``: data in, labels out."""

from __future__ import annotations

import json as jsonlib
import time
from typing import Any

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.cluster_options import (
    SEARCH,
    MethodOptions,
    OutputFiles,
    RunningOptions,
    check_combinations,
    check_size,
    chosen_method,
    features_of,
    make_estimator,
)
from srsg.cli.console import say
from srsg.cli.groups import Reading
from srsg.cli.outputs import check_append
from srsg.cli.preparation import Preparing, notes_on_gaps, notes_on_near_rows
from srsg.cli.results import Result, lines_of
from srsg.running.progress import announce_compiling


def cluster(
    data: str = options.DATA,
    clusters: Any = options.CLUSTERS,
    *,
    method: MethodOptions,
    files: OutputFiles,
    running: RunningOptions,
    reading: Reading,
    preparing: Preparing,
    json: bool = options.JSON,
    quiet: bool = options.QUIET,
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
    check_combinations(chosen, clusters, method, running, reading, preparing, files)
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from srsg import config_context

            estimator = make_estimator(chosen, clusters, method, running, files)
            files.check([data, reading.labels])
        table = reading.read(
            data,
            progress,
            scheduler=running.scheduler,
            keep_missing=preparing.impute is not None,
            keep_frame=files.append,
        )
        check_size(data, table.X.shape, chosen)
        if files.append:
            check_append(table)
        # Features and scaling are part of the time, reading is not.
        start = time.perf_counter()
        with progress.stage("features", 1):
            X = features_of(table, method, running.jobs)
            scale, notes = preparing.chosen_scale(X, table, by_search=chosen is SEARCH)
            model = _prepared(estimator, scale, preparing.impute)
            notes += notes_on_gaps(X, preparing.impute)
            if scale == "standard" and method.affine is None and hasattr(estimator, "affine"):
                # Centring moved the origin inside the data. Two clusters on opposite sides of it
                # would have the same directions up to the sign, which codes do not see.
                estimator.affine = True
                notes.append(
                    "columns are centred, so a constant coordinate was added (--no-affine leaves "
                    "it out)"
                )
            if not quiet and chosen.name != "kmeans":
                notes += notes_on_near_rows(X)
        for line in notes:
            progress.note(line)
        with announce_compiling(progress), config_context(**running.config()):
            model.fit(X)
        result = Result(data, chosen.name, model, table, X, time.perf_counter() - start)
        for line in _choices(result.estimator, clusters):
            progress.note(line)
        written = files.by_content()
        if written:
            with progress.stage(f"writing {', '.join(written)}", 1):
                if "labels" in written:
                    result.write_labels(files.output, append=files.append)
                result.write(files)
    if "labels" not in written and not json:  # to standard output, after the bars are gone
        result.write_labels(files.output, append=files.append)
    summary = result.summary(written)
    if json:
        print(jsonlib.dumps(summary, indent=2))
    for line in () if quiet else lines_of(summary):
        say(line)


def _prepared(estimator: Any, scale: Any, impute: Any) -> Any:
    """The estimator, with its columns scaled and filled as asked for."""
    if scale is None and impute is None:
        return estimator
    from srsg import PreparedClusterer

    return PreparedClusterer(estimator, scale=scale, impute=impute)


def _choices(estimator: Any, clusters: int | str) -> list[str]:
    """What was left to the program to choose, what it chose, and why."""
    lines = []
    if hasattr(estimator, "best_name_"):
        lines.append(
            f"The data look like {estimator.columns_}; the most stable clusters are those of "
            f"{estimator.best_name_}{_runner_up(estimator.results_, estimator.best_index_)}."
        )
    if clusters == options.AUTO:
        counted = f"-k was not given: {estimator.n_clusters_} clusters were found."
        next_best = estimator.best_counts(3)[1:] if hasattr(estimator, "cluster_counts_") else []
        if next_best:
            counted += f" Next best: {', '.join(map(str, next_best))}."
        lines.append(counted)
    if not getattr(estimator, "structure_found_", True):
        lines.append(
            "No structure was found: random points have clusters like these, so they may mean "
            "nothing."
        )
    return lines


def _runner_up(results: dict[str, list[Any]], best: int) -> str:
    """The score of the best candidate, and the second best with its score."""
    score, names = results["score"], results["candidate"]
    others = [place for place in range(len(names)) if place != best]
    if not others:
        return ""
    second = max(others, key=lambda place: score[place])
    return f" (score {score[best]:.2f}; second {names[second]}, {score[second]:.2f})"
