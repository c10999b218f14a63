"""The paper's data sets: ``python -m paper.datasets`` lists them, ``--fetch NAME`` gets one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from paper.datasets import data_folder, dataset_path, fetch_dataset, list_datasets
from paper.terminal import one_line_errors


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        "python -m paper.datasets",
        description="List the paper's data sets: their sizes, and where they are or how to get "
        "them.",
    )
    add = parser.add_argument
    add("--fetch", metavar="NAME", help="download a data set, if it is absent; print its path")
    add("--data", type=Path, help="folder of the data ($SRSG_DATA or the user's cache)")
    options = parser.parse_args(arguments)
    with one_line_errors():
        if options.fetch:
            print(fetch_dataset(options.fetch, options.data, verbose=True))
        else:
            print_list(options.data)


def print_list(folder: Path | None) -> None:
    """Print one line for each data set."""
    print(f"folder: {data_folder(folder)}")
    print(f"{'name':<16}{'points':>8}{'features':>10}{'classes':>9}  where")
    for entry in list_datasets():
        try:
            where = str(dataset_path(entry.name, folder=folder))
        except FileNotFoundError:
            where = entry.obtain
        sizes = (entry.n_samples, entry.n_features, entry.n_classes)
        points, features, classes = ("-" if size is None else str(size) for size in sizes)
        print(f"{entry.name:<16}{points:>8}{features:>10}{classes:>9}  {where}")


if __name__ == "__main__":
    main()
