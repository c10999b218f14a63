"""``srsg cluster``: data in, labels out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from srsg.cli import options
from srsg.cli.bars import bars, tell
from srsg.cli.cluster_options import SEARCH, Fitting, Writing, check_combinations, make_estimator
from srsg.cli.console import say
from srsg.cli.groups import Preparing, Reading
from srsg.running.progress import announce_compiling

MOST_CHANGES = 3
"""Clusters that merge or fall apart which are named for another number of clusters."""


def cluster(
    data: list[str] = options.DATA,
    clusters: Any = options.CLUSTERS,
    *,
    fitting: Fitting,
    files: Writing,
    reading: Reading,
    preparing: Preparing,
    json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Cluster the points of a file or the images of a folder.

    Several methods are compared on samples of the points, and the one with the most stable clusters
    is used, unless --method names one.

    Labels are written to standard output as CSV, or to the file given by -o. Existing files are
    replaced, except DATA itself.
    """
    # Notes are for people, and JSON is for programs.
    quiet = quiet or json
    # All options are checked before DATA is read: a mistake should show at once, not after minutes.
    method = fitting.chosen()
    check_combinations(method, clusters, fitting, reading, preparing, files)
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from srsg import config_context
            from srsg.cli import inputs, outputs
            from srsg.files.reading import display_name
            from srsg.files.writing import as_json

            engine = fitting.scheduler or "threads"
            limits = {"max_memory": fitting.max_memory, "max_time": fitting.max_time}
            settings = config_context(engine=engine, **limits)
            estimator = make_estimator(method, clusters, fitting, files)
            outputs.check_files(files, [*data, reading.labels])
        table = inputs.read(
            *(data, reading, progress),
            impute=preparing.impute,
            append=files.append,
            scheduler=fitting.scheduler,
            aside=tuple(fitting.columns_aside().values()),
        )
        inputs.check_size(data, table, method)
        about_rows = inputs.about_rows(data, table, fitting)
        # Features and scaling are part of the time, reading is not.
        start = time.perf_counter()
        with progress.stage("features", 1):
            X = inputs.features_of(table, fitting.features, fitting.n_jobs)
            model, notes = inputs.prepare(estimator, X, table, preparing, fitting)
            if not quiet and method.name != "kmeans":
                notes += inputs.notes_on_near_rows(X)
        tell(progress, notes)
        if not quiet and method.builds_graph and method is not SEARCH:
            tell(progress, inputs.notes_on_cost(model, X, clusters, fitting, progress))
        with settings, announce_compiling(progress), _advice_if_stopped(fitting):
            model.fit(X, **about_rows)
        result = outputs.Result(
            display_name(data), method.name, model, table, X, time.perf_counter() - start
        )
        with progress.stage("other numbers of clusters", 1):
            choices = _choices(result.estimator, clusters)
        tell(progress, choices)
        written = files.by_content()
        if written:
            with progress.stage(f"writing {', '.join(written)}", 1):
                result.write(files)
    if files.output == options.STANDARD_OUTPUT and not json:  # after the bars are gone
        result.write_labels(files)
    summary = result.summary(written)
    if json:
        print(as_json(summary, indent=2))
    for line in () if quiet else outputs.lines_of(summary):
        say(line)


@contextmanager
def _advice_if_stopped(fitting: Fitting) -> Iterator[None]:
    """How to go on after Ctrl-C, or how to be quicker."""
    try:
        yield
    except KeyboardInterrupt:
        advice = "A shorter --time gives an answer sooner; --method srsg --store FOLDER can go on."
        if fitting.store is not None:
            advice = f"The same command goes on with what {fitting.store} has."
        elif fitting.chosen() is not SEARCH:
            advice = "With --store FOLDER, the same command could go on."
        raise KeyboardInterrupt(advice) from None


def _choices(estimator: Any, clusters: Any) -> list[str]:
    """Notes on what the program chose, and why."""
    lines = []
    if hasattr(estimator, "best_name_"):
        lines.append(
            f"The data look like {estimator.columns_}; the most stable clusters are those of "
            f"{estimator.best_name_}{_runner_up(estimator.results_, estimator.best_index_)}."
        )
    if len(getattr(estimator, "known_classes_", ())):
        names = [f"{place} is {name}" for place, name in enumerate(estimator.known_classes_)]
        lines.append(f"Known classes: cluster {', '.join(names)}; other clusters are new.")
    if getattr(estimator, "approximation_", None) is not None:
        lines.append(f"{estimator.approximation_} --time and --memory allow more.")
    if clusters == options.AUTO:
        lines += _counted(estimator)
    elif isinstance(clusters, tuple):
        lines += _counted(estimator, f"Of {clusters[0]} to {clusters[1]} clusters")
    if not getattr(estimator, "structure_found_", True):
        lines.append(
            "No structure was found: random points have clusters like these, so they may mean "
            "nothing."
        )
    return lines


def _counted(estimator: Any, start: str = "-k was not given") -> list[str]:
    """The number of clusters that was found, how sure it is, and what others would change."""
    from srsg.estimators.base import scored_counts

    number = estimator.n_clusters_
    counted = scored_counts(estimator) if hasattr(estimator, "cluster_counts_") else None
    if counted is None or counted.sure:
        return [f"{start}: {number} clusters were found."]
    others = " or ".join(str(other) for other, _ in counted.others())
    either = f" (or {others})" if others else ""
    lines = [f"{start}: probably {number} clusters{either}."]
    for other in estimator.other_counts_:
        for whole, parts in list(other.parts.items())[:MOST_CHANGES]:
            merged = f"clusters {', '.join(map(str, parts))} are one"
            change = merged if other.n_clusters < number else f"cluster {whole} is {len(parts)}"
            lines.append(f"With {other.n_clusters} clusters, {change}.")
    return lines


def _runner_up(results: dict[str, list[Any]], best: int) -> str:
    """The score of the best candidate, and the second best with its score."""
    pairs = list(zip(results["score"], results["candidate"], strict=True))
    score, _ = pairs.pop(best)
    if not pairs:
        return ""
    second, name = max(pairs, key=lambda pair: pair[0])
    return f" (score {score:.2f}; second {name}, {second:.2f})"
