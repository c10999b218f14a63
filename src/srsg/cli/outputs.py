"""What commands write: files, checked before long work, and the summary of a clustering."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.cli.cluster_options import Writing
from srsg.cli.console import printable
from srsg.cli.options import STANDARD_OUTPUT
from srsg.explaining.clusters import Explanation, explain
from srsg.explaining.confidence import Confidence, confidence
from srsg.explaining.unwrapping import clusterer_of
from srsg.files import FileError, Table, append_labels, check_writable, write_graph, write_labels
from srsg.files.errors import count_of, ending_of
from srsg.files.graphs import GRAPH_ENDINGS
from srsg.files.texts import text_rule, weighed_words
from srsg.files.writing import LABEL_ENDINGS, TABLE_ENDINGS
from srsg.metrics import scores

MOST_DESCRIBED = 12
"""Clusters that are described on the terminal."""


def check_outputs(
    outputs: Mapping[str, tuple[Path | None, tuple[str, ...]]], inputs: Sequence[str | Path | None]
) -> None:
    """Raise an error now for a file that could not be written at the end.

    Parameters
    ----------
    outputs : mapping of str to tuple
        For each option, the file and the endings that it may have.
    inputs : sequence
        Files that must not be replaced, whatever paths or links lead there.
    """
    taken: dict[str, str] = {}
    for option, (path, endings) in outputs.items():
        if path is None or path == STANDARD_OUTPUT:
            continue
        for source in inputs:
            # Through links or different spellings.
            if source and path.exists() and os.path.exists(source) and path.samefile(source):
                raise FileError(f"{option} {path}: is an input ({source}), which it would replace.")
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise FileError(f"{option} {path}: is also the file of {other}.")
        if ending_of(path) not in endings:
            raise FileError(f"{option} {path}: its name must end in {' or '.join(endings)}.")
        check_writable(path)


def check_files(files: Writing, inputs: Sequence[str | Path | None]) -> None:
    """Raise an error now for a file that could not be written at the end."""
    wanted = {
        "--output": (files.output, TABLE_ENDINGS if files.append else LABEL_ENDINGS),
        "--graph": (files.graph, GRAPH_ENDINGS),
        "--model": (files.model, (".srsg",)),
        "--report": (files.report, (".html", ".htm")),
    }
    check_outputs(wanted, inputs)


def write_rows(files: Writing, table: Table, labels: NDArray, confidence: NDArray) -> None:
    """Write labels and confidences next to the names of the rows, or next to all columns."""
    # More digits may differ between machines.
    rounded = confidence.round(6)
    if files.append:
        append_labels(files.output, table, {"cluster": labels, "confidence": rounded})
    else:
        columns = {"confidence": rounded}
        write_labels(files.output, labels, row_ids=table.row_ids, columns=columns)


def score_line(scores: Mapping[str, float]) -> str:
    """The scores as a line of text."""
    named = (f"{name} {value:.4f}" for name, value in scores.items())
    return f"against the known classes: {', '.join(named)}"


@dataclass(frozen=True)
class Result:
    """A fitted model, and what it was fitted on.

    Attributes
    ----------
    data : str
        DATA of the command.
    method : str
        The method's name.
    model : estimator
        The fitted estimator, or a PreparedClusterer around it.
    table : Table
        What was read.
    X : array or sparse matrix
        What was clustered: the values of the table, or features of its images.
    seconds : float
        Duration of the fit.
    """

    data: str
    method: str
    model: Any
    table: Table
    X: Any
    seconds: float

    @property
    def estimator(self) -> Any:
        """The estimator, without the preparation of its columns."""
        return getattr(self.model, "clusterer_", self.model)

    @property
    def approximation(self) -> Any:
        """What a search did not do exactly, or None."""
        return getattr(self.estimator, "approximation_", None)

    @cached_property
    def confidence(self) -> Confidence:
        """How surely each point belongs to its cluster; computed once."""
        return confidence(self.model, self.X)

    @cached_property
    def explanation(self) -> Explanation | None:
        """What the clusters are, in the units of a table; None if its columns have no names."""
        table = self.table
        points, rules, texts = table.X, table.rules, table.texts
        vectors = any(rule.kind == "vector" for rule in rules or ())
        if vectors and texts is not None:  # its words say more than its numbers
            try:
                rules = (text_rule(self.data, "text", texts.tolist()),)
            except FileError:
                return None
            points = weighed_words(rules[0], texts.tolist())
        elif vectors or (texts is None and not isinstance(self.X, np.ndarray)):
            return None
        if table.feature_names is None or table.image_shape or self.X is not table.X:
            return None
        names = table.feature_names
        known: Any = {"rules": rules, "texts": texts, "certainty": self.confidence}
        return explain(self.model, points, names=names, **known)

    def write(self, files: Writing) -> None:
        """Write all files that are asked for, each atomically."""
        if files.output != STANDARD_OUTPUT:
            self.write_labels(files)
        if files.graph is not None:
            write_graph(files.graph, self._graph(), labels=self.model.labels_)
        if files.report is not None:
            self._write_report(files.report)
        if files.model is not None:
            from srsg.persistence import save_model

            if self.table.feature_names is not None:
                self.model.feature_names_in_ = np.array(self.table.feature_names, dtype=object)
            save_model(self.model, files.model)

    def write_labels(self, files: Writing) -> None:
        """Write the label and the confidence of every row."""
        write_rows(files, self.table, self.model.labels_, self.confidence.values)

    def _graph(self) -> Any:
        """The graph of all points; those that are not in a sample have no edges."""
        graph = clusterer_of(self.model).affinity_matrix_
        if self.approximation is None:
            return graph
        edges, rows, n_points = graph.tocoo(), self.approximation.rows, len(self.model.labels_)
        places = rows[edges.row], rows[edges.col]
        return sparse.csr_array((edges.data, places), shape=(n_points, n_points))

    def _write_report(self, path: Path) -> None:
        from srsg.report import write_report

        images = self.X is not self.table.X  # the page shows them, not their features
        search = hasattr(self.estimator, "best_name_")  # the page explains its choice
        shown = self.estimator if images or search else self.model
        points = self.table.X
        if self.model is not self.estimator and not images:
            points = self.model.prepared(points)
        if shown is not self.estimator:
            points = shown.columns_.undone(points)  # columns in their units
        write_report(
            path,
            shown,
            points,
            y=self.table.y,
            class_names=self.table.class_names,
            image_shape=self.table.image_shape,
            feature_names=None if self.explanation is None else self.table.feature_names,
            row_ids=list(self.table.row_ids),
            title=f"Clusters of {printable(Path(self.data).name)}",
            seconds=self.seconds,
            certainty=self.confidence,
            explanation=self.explanation,
        )

    def summary(self, files: Mapping[str, Path]) -> dict[str, Any]:
        """The result in numbers, as printed by --json."""
        labels, y = self.model.labels_, self.table.y
        sizes = np.unique(labels, return_counts=True)[1]
        return {
            "data": self.data,
            "method": getattr(self.estimator, "best_name_", self.method),
            "n_points": self.table.X.shape[0],
            "n_features": self.table.X.shape[1],
            "n_clusters": len(sizes),
            "sizes": sizes.tolist(),
            "clusters": self._clusters(),
            "scores": None if y is None else scores(y, labels),
            "seconds": round(self.seconds, 3),
            "certificates": self._certificates(),
            "approximation": self._approximation(),
            "notes": list(self.table.notes),
            "files": {content: str(path) for content, path in files.items()},
        }

    def _approximation(self) -> dict[str, Any] | None:
        """The size of the sample that has a graph, and how far labels by a sample agree."""
        found = self.approximation
        return found and {
            "n_fitted": len(found.rows),
            "agreement": found.agreement,
            "n_compared": found.n_compared,
        }

    def _clusters(self) -> list[dict[str, Any]] | None:
        if self.explanation is None:
            return None
        return [
            {
                "label": cluster.label,
                "size": cluster.size,
                "name": cluster.name,
                "text": str(cluster),
                "differences": [str(trait) for trait in cluster.traits],
                "thresholds": cluster.thresholds._asdict(),
                "typical": [str(self.table.row_ids[row]) for row in cluster.typical],
                "doubtful": [str(self.table.row_ids[row]) for row in cluster.doubtful],
            }
            for cluster in self.explanation.clusters
        ]

    def _certificates(self) -> dict[str, Any] | None:
        """How far codes are from optimal over all points, and for how many points that is known."""
        clusterer = clusterer_of(self.model)
        if not hasattr(clusterer, "kkt_quantiles_"):
            return None
        quantiles = clusterer.kkt_quantiles_.items()
        return {
            "approximate": clusterer.n_candidates is not None,
            "n_points": len(clusterer.certified_),
            "kkt_quantiles": {f"{share:.0%}": value for share, value in quantiles},
        }


def lines_of(summary: Mapping[str, Any]) -> list[str]:
    """The summary as lines of text."""
    least, most = min(summary["sizes"]), max(summary["sizes"])
    size = count_of(most, "point")
    if summary["n_clusters"] > 1:
        size = f"{size} each" if least == most else f"{least} to {size}"
    lines = [
        f"{count_of(summary['n_points'], 'point')} in {count_of(summary['n_clusters'], 'cluster')} "
        f"of {size}, by {summary['method']} in {summary['seconds']:.1f} s"
    ]
    for cluster in (summary["clusters"] or [])[:MOST_DESCRIBED]:
        lines += cluster["text"].splitlines()
    if summary["scores"]:
        lines.append(score_line(summary["scores"]))
    certified = summary["certificates"]
    if certified and certified["approximate"]:
        shares = (f"{share} {value:.2g}" for share, value in certified["kkt_quantiles"].items())
        lines.append(
            f"KKT violation of the codes of {certified['n_points']} random points, over all "
            f"points, by quantiles: {', '.join(shares)} (0 is exact)"
        )
    return lines + [f"{content}: {path}" for content, path in summary["files"].items()]
