"""``srsg predict``: the clusters of new points."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import say
from srsg.cli.groups import Reading
from srsg.cli.outputs import check_labels_file, check_not_inputs, score_line


def predict(
    model: Annotated[
        Path,
        typer.Argument(help="A model that srsg cluster --model wrote.", show_default=False),
    ],
    data: options.Data,
    output: options.LabelsFile = options.STANDARD_OUTPUT,
    *,
    reading: Reading,
    quiet: options.Quiet = False,
) -> None:
    """Find the clusters of new points with a model, each with the share of its code that agrees.

    With K-means, the share is how much nearer a point is to the centre of its cluster than to the
    next. Columns are matched by name with those that the model was fitted on, whatever their order;
    in files without a header, the order of the columns counts. Labels go to standard output as CSV,
    or to the file that -o names, which is replaced if it exists.
    """
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            check_labels_file(output)
            check_not_inputs({"--output": output}, [data, model, reading.labels])
            fitted = _load(model)
            features = getattr(fitted, "feature_names_in_", None)
        names = None if features is None else features.tolist()
        table = reading.read(data, progress, quiet=quiet, features=names)
        from srsg.graph.confidence import predict_with_confidence

        found, share = predict_with_confidence(fitted, table.X)
    from srsg.files import write_labels

    write_labels(output, found, row_ids=table.row_ids, columns={"confidence": share.round(6)})
    if quiet:
        return
    say(f"{len(found)} points in {len(set(found.tolist()))} of {_n_clusters(fitted)} clusters")
    if table.y is not None:
        from srsg.metrics import scores

        say(score_line(scores(table.y, found)))


def _load(path: Path) -> Any:
    from srsg.files import FileError
    from srsg.files.errors import check_file
    from srsg.graph.unwrapping import clusterer_of
    from srsg.persistence import load_model

    check_file(path)
    model = load_model(path)
    if not hasattr(clusterer_of(model), "labels_"):
        raise FileError(f"{path}: holds a model that has not been fitted.")
    return model


def _n_clusters(model: Any) -> int:
    from srsg.graph.unwrapping import clusterer_of

    clusterer = clusterer_of(model)
    # K-means has the number as a parameter only.
    return getattr(clusterer, "n_clusters_", clusterer.n_clusters)
