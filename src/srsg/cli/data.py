"""``srsg data``: the paper's data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from srsg.cli.bars import bars
from srsg.cli.options import Quiet

data = typer.Typer(help="The paper's data sets: list, fetch, path.")

Name = Annotated[str, typer.Argument(help="A name that srsg data list shows.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder", help="Folder that holds the data.", show_default="$SRSG_DATA or the cache"
    ),
]


@data.command("list")
def list_all(folder: Folder = None) -> None:
    """List the data sets: their sizes, and where they are or how to get them."""
    from srsg.datasets import data_folder, dataset_path, list_datasets

    print(f"folder: {data_folder(folder)}")
    print(f"{'name':<16}{'points':>8}{'features':>10}{'classes':>9}  where")
    for entry in list_datasets():
        try:
            where = str(dataset_path(entry.name, folder=folder))
        except FileNotFoundError:
            where = f"srsg data fetch {entry.name!r}" if entry.home else entry.obtain
        sizes = (entry.n_samples, entry.n_features, entry.n_classes)
        points, features, classes = ("-" if size is None else str(size) for size in sizes)
        print(f"{entry.name:<16}{points:>8}{features:>10}{classes:>9}  {where}")


@data.command()
def fetch(name: Name, folder: Folder = None, quiet: Quiet = False) -> None:
    """Download a data set, unless it is on this machine, and print its path."""
    from srsg.datasets import fetch_dataset

    with bars(quiet) as progress, progress.stage(f"fetching {name}", 1):
        found = fetch_dataset(name, folder)
    print(found)


@data.command()
def path(name: Name, folder: Folder = None) -> None:
    """Print the path of a data set that is on this machine."""
    from srsg.datasets import dataset_path

    print(dataset_path(name, folder=folder))
