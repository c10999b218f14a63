"""``srsg demo``: all methods on data of scikit-learn, and a report on SRSG."""

import time
from pathlib import Path

from srsg.cli.bars import bars
from srsg.cli.compare import row_of, show
from srsg.cli.console import say
from srsg.cli.options import JOBS, METHODS, QUIET, option
from srsg.running.progress import announce_compiling

FOLDER = option("Folder for the results.", "-o", "--output", default=Path("demo"))


def demo(output: Path = FOLDER, jobs: int | None = JOBS, quiet: bool = QUIET) -> None:
    """Compare all methods on scikit-learn's digits and write a report, in about a minute."""
    from srsg.files import check_writable

    output.mkdir(parents=True, exist_ok=True)
    page, table = output / "report.html", output / "methods.csv"
    # Nobody should wait for a minute to learn that the folder is read-only.
    check_writable(page)
    check_writable(table)
    if not quiet:
        say(f"1797 handwritten digits, {len(METHODS)} methods: {', '.join(METHODS)}")
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from sklearn.datasets import load_digits

            from srsg import SRSG
            from srsg.cli.comparison import compare_methods
            from srsg.report import write_report

            X, y = load_digits(return_X_y=True)
        results = compare_methods(X, 10, y=y, n_jobs=jobs, progress=progress)
        start = time.perf_counter()
        with announce_compiling(progress):
            model = SRSG(10, n_jobs=jobs, random_state=0).fit(X)
        seconds = time.perf_counter() - start
        with progress.stage("writing the report", 1):
            write_report(
                page,
                model,
                X,
                y=y,
                image_shape=(8, 8),
                title="SRSG on handwritten digits",
                seconds=seconds,
                methods=[row_of(result) for result in results],
            )
    show(results, table, quiet=quiet)
    print(f"The report, to open in a browser: {page}")
