"""Files that commands write: refused before long work if they could not be written after it."""

from __future__ import annotations

from pathlib import Path

from srsg.cli.options import STANDARD_OUTPUT


def check_output(path: Path | None, endings: tuple[str, ...], option: str) -> None:
    """Refuse an ending that is not known, and a place that may not be written to."""
    from srsg.files import FileError, check_writable

    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise FileError(f"{option} {path}: its name must end in {' or '.join(endings)}.")
    check_writable(path)


def check_labels(path: Path) -> None:
    """Refuse labels that could not be written there."""
    from srsg.files.errors import needed
    from srsg.files.writing import LABEL_ENDINGS

    if path == STANDARD_OUTPUT:
        return
    check_output(path, LABEL_ENDINGS, "--output")
    if path.suffix.lower() in (".parquet", ".feather"):
        needed("pandas", "Parquet and Feather files")
        needed("pyarrow", "Parquet and Feather files")


def check_graph(path: Path | None) -> None:
    """Refuse a graph that could not be written there."""
    from srsg.files.writing import GRAPH_ENDINGS

    check_output(path, GRAPH_ENDINGS, "--graph")


def check_model(path: Path | None) -> None:
    """Refuse a model that could not be saved there."""
    check_output(path, (".skops",), "--model")
    if path is not None:
        from srsg.persistence import check_skops

        check_skops()


def check_report(path: Path | None) -> None:
    """Refuse a page that could not be written there."""
    check_output(path, (".html", ".htm"), "--report")


def score_line(scores: dict[str, float]) -> str:
    """The scores for people."""
    named = (f"{name} {value:.4f}" for name, value in scores.items())
    return f"against the known classes: {', '.join(named)}"
