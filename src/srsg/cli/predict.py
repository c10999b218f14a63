"""``srsg predict``: the clusters of new points."""

from pathlib import Path
from typing import Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.cluster_options import Writing
from srsg.cli.console import say
from srsg.cli.groups import Reading
from srsg.running.progress import announce_compiling

MODEL: Any = typer.Argument(help="A model written by srsg cluster --model.", show_default=False)
NOVELTY = options.option(
    "Label points -1, for no cluster, if they are explained worse than this share of the fitted "
    "points, such as 0.05.",
    "--novelty",
)


def predict(
    model: Path = MODEL,
    data: list[str] = options.DATA,
    output: Path = options.LABELS_FILE,
    append: bool = options.APPEND,
    *,
    novelty: float | None = NOVELTY,
    reading: Reading,
    quiet: bool = options.QUIET,
) -> None:
    """Find the clusters of new points with a model, each with its confidence from 0 to 1.

    Columns are matched by name with those of the model, in any order; in files without a header,
    the order of the columns counts. Labels are written to standard output as CSV, or to the file
    given by -o, which is replaced if it exists.
    """
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from srsg.cli import inputs, outputs
            from srsg.explaining.confidence import predict_with_confidence
            from srsg.explaining.unwrapping import clusterer_of
            from srsg.files.errors import check_file, count_of
            from srsg.metrics import scores
            from srsg.persistence import load_model

            files = Writing(output, append, graph=None, model=None, report=None)
            outputs.check_files(files, [*data, model, reading.labels])
            check_file(model)
            fitted = load_model(model)
        names = getattr(fitted, "feature_names_in_", None)
        fills_gaps = getattr(fitted, "impute", None) is not None and not reading.drop_missing
        table = inputs.read(
            *(data, reading, progress),
            impute="model" if fills_gaps else None,
            append=append,
            features=None if names is None else names.tolist(),
            rules=getattr(fitted, "rules", None),
        )
        inputs.check_width(data, table, fitted.n_features_in_)
        with announce_compiling(progress):
            labels, confidence = predict_with_confidence(fitted, table.X, novelty=novelty)
    outputs.write_rows(files, table, labels, confidence)
    if quiet:
        return
    clusterer, n_used = clusterer_of(fitted), len(set(labels[labels >= 0].tolist()))
    # K-means has the number of clusters as a parameter only.
    n_clusters = getattr(clusterer, "n_clusters_", clusterer.n_clusters)
    say(f"{count_of(len(labels), 'point')} in {n_used} of {count_of(n_clusters, 'cluster')}")
    if novelty is not None:
        say(f"{(labels < 0).sum()} of them belong to none of the clusters: their label is -1")
    if table.y is not None:
        say(outputs.score_line(scores(table.y, labels)))
