"""``srsg predict``: the clusters of new points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import note, say
from srsg.cli.groups import Reading
from srsg.cli.outputs import (
    check_append,
    check_labels_file,
    check_not_inputs,
    score_line,
    write_labelled_rows,
)
from srsg.cli.preparation import fills_gaps, notes_on_gaps
from srsg.running.progress import SILENT, announce_compiling

if TYPE_CHECKING:
    from srsg.files import Table


def predict(
    model: Annotated[
        Path,
        typer.Argument(help="A model that srsg cluster --model wrote.", show_default=False),
    ],
    data: options.Data,
    output: options.LabelsFile = options.STANDARD_OUTPUT,
    append: options.Append = False,
    *,
    novelty: Annotated[
        float | None,
        typer.Option(
            help="Give the label -1, for none of the clusters, to points that are explained worse "
            "than this share of the fitted points, such as 0.05.",
            show_default=False,
        ),
    ] = None,
    reading: Reading,
    quiet: options.Quiet = False,
) -> None:
    """Find the clusters of new points with a model, each with its confidence from 0 to 1.

    Columns are matched by name with those that the model was fitted on, whatever their order;
    in files without a header, the order of the columns counts. Labels go to standard output as CSV,
    or to the file that -o names, which is replaced if it exists.
    """
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            check_labels_file(output, append)
            check_not_inputs({"--output": output}, [data, model, reading.labels])
            fitted = _load(model)
            features = getattr(fitted, "feature_names_in_", None)
            names = None if features is None else features.tolist()
            fills_in = fills_gaps(fitted) and not reading.drop_missing
        table = reading.read(
            data,
            progress,
            quiet=quiet,
            features=names,
            keep_missing=fills_in,
            keep_frame=append,
        )
        _check_width(data, table, fitted)
        if append:
            check_append(table)
        for line in notes_on_gaps(table.X) if fills_in and not quiet else ():
            note(line)
        from srsg.explaining.confidence import predict_with_confidence

        with announce_compiling(SILENT if quiet else progress):
            found, sure = predict_with_confidence(fitted, table.X, novelty=novelty)
    write_labelled_rows(output, table, found, sure, append=append)
    if quiet:
        return
    from srsg.files.errors import count_of

    n_used = len(set(found[found >= 0].tolist()))
    clusters = count_of(_n_clusters(fitted), "cluster")
    say(f"{count_of(len(found), 'point')} in {n_used} of {clusters}")
    if novelty is not None:
        say(f"{(found < 0).sum()} of them belong to none of the clusters: their label is -1")
    if table.y is not None:
        from srsg.metrics import scores

        say(score_line(scores(table.y, found)))


def _load(path: Path) -> Any:
    from srsg.explaining.unwrapping import clusterer_of
    from srsg.files import FileError
    from srsg.files.errors import check_file
    from srsg.persistence import load_model

    check_file(path)
    model = load_model(path)
    if not hasattr(clusterer_of(model), "labels_"):
        raise FileError(f"{path}: holds a model that has not been fitted.")
    return model


def _check_width(data: str, table: Table, model: Any) -> None:
    """Refuse points of another length than those that the model was fitted on."""
    from srsg.files import FileError
    from srsg.files.errors import count_of
    from srsg.files.reading import display_name

    found, expected = table.X.shape[1], model.n_features_in_
    if found != expected:
        raise FileError(
            f"{display_name(data)}: has {count_of(found, 'column')} of numbers, and the model was "
            f"fitted on {expected}."
        )


def _n_clusters(model: Any) -> int:
    from srsg.explaining.unwrapping import clusterer_of

    clusterer = clusterer_of(model)
    # K-means has the number as a parameter only.
    return getattr(clusterer, "n_clusters_", clusterer.n_clusters)
