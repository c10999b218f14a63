"""``srsg predict``: the clusters of new points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import say
from srsg.cli.groups import Reading
from srsg.cli.outputs import (
    check_append,
    check_outputs,
    endings_of_labels,
    score_line,
    write_rows,
)
from srsg.cli.preparation import notes_on_gaps
from srsg.running.progress import announce_compiling

if TYPE_CHECKING:
    from srsg.files import Table

MODEL: Any = typer.Argument(help="A model that srsg cluster --model wrote.", show_default=False)
NOVELTY = options.option(
    "Give the label -1, for none of the clusters, to points that are explained worse than this "
    "share of the fitted points, such as 0.05.",
    "--novelty",
)


def predict(
    model: Path = MODEL,
    data: str = options.DATA,
    output: Path = options.LABELS_FILE,
    append: bool = options.APPEND,
    *,
    novelty: float | None = NOVELTY,
    reading: Reading,
    quiet: bool = options.QUIET,
) -> None:
    """Find the clusters of new points with a model, each with its confidence from 0 to 1.

    Columns are matched by name with those that the model was fitted on, whatever their order;
    in files without a header, the order of the columns counts. Labels go to standard output as CSV,
    or to the file that -o names, which is replaced if it exists.
    """
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from srsg.explaining.confidence import predict_with_confidence
            from srsg.files.errors import check_file, count_of
            from srsg.metrics import scores
            from srsg.persistence import load_model

            wanted = {"--output": (output, endings_of_labels(append))}
            check_outputs(wanted, [data, model, reading.labels])
            check_file(model)
            fitted = load_model(model)
            names = getattr(fitted, "feature_names_in_", None)
        table = reading.read(
            data,
            progress,
            features=None if names is None else names.tolist(),
            keep_missing=getattr(fitted, "impute", None) is not None and not reading.drop_missing,
            keep_frame=append,
        )
        _check_width(data, table, fitted)
        if append:
            check_append(table)
        for line in notes_on_gaps(table.X):
            progress.note(line)
        with announce_compiling(progress):
            labels, confidence = predict_with_confidence(fitted, table.X, novelty=novelty)
    write_rows(output, table, labels, confidence, append=append)
    if quiet:
        return
    n_used = len(set(labels[labels >= 0].tolist()))
    clusters = count_of(_n_clusters(fitted), "cluster")
    say(f"{count_of(len(labels), 'point')} in {n_used} of {clusters}")
    if novelty is not None:
        say(f"{(labels < 0).sum()} of them belong to none of the clusters: their label is -1")
    if table.y is not None:
        say(score_line(scores(table.y, labels)))


def _check_width(data: str, table: Table, model: Any) -> None:
    """Raise an error if the model was fitted on points of another length."""
    from srsg.files import FileError
    from srsg.files.errors import count_of
    from srsg.files.reading import display_name

    width, expected = table.X.shape[1], model.n_features_in_
    if width != expected:
        raise FileError(
            f"{display_name(data)}: has {count_of(width, 'column')} of numbers, and the model was "
            f"fitted on {expected}."
        )


def _n_clusters(model: Any) -> int:
    from srsg.explaining.unwrapping import clusterer_of

    clusterer = clusterer_of(model)
    # K-means has the number as a parameter only.
    return getattr(clusterer, "n_clusters_", clusterer.n_clusters)
