"""The paper's evaluation by one command: on small made-up data, and on the paper's."""

from __future__ import annotations

import csv
import os
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

import srsg
from paper import evaluation as running
from paper import published
from paper.__main__ import main
from paper.datasets import Dataset
from paper.evaluate import CellResult, Score, evaluate
from paper.evaluation import Evaluation, RowResults, chosen_rows
from paper.figures.point_problems import problems, theorem_bound
from paper.journal import (
    NO_PART_IN_RESULTS,
    Journal,
    Key,
    code_digest,
    digest_of_results,
)
from paper.published import compared_methods, published_rows
from paper.settings import SETTINGS, candidates
from paper.tables.pages import FIXED_METHODS, summary_lines, summary_markdown, table_markdown
from srsg import SMCE, SRSG
from srsg.points import unit_points
from support.subspaces import near_planes

SHARED = Path(__file__).parents[3] / "shared"


def made_up(n_classes, each):
    """Points near random planes, in order of their classes."""
    return near_planes(0, n_classes * each, 20, n_classes, noise=0.004)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small files under the names of some of the paper's sets; COIL-20 is not among them."""
    folder = tmp_path_factory.mktemp("data")
    sizes = {"UMIST": (8, 10), "YaleB": (10, 8), "Heart": (2, 20), "Ionosphere": (2, 25)}
    for name, (n_classes, each) in sizes.items():
        X, y = made_up(n_classes, each)
        np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


@dataclass
class Done:
    """What a run of the command left."""

    code: int
    output: str


def reproduce(*arguments):
    output, code = StringIO(), 0
    with redirect_stdout(output), redirect_stderr(output):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
    return Done(code, output.getvalue())


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("results")
    done = reproduce("--quick", "--seeds", 2, "--data", folder, "--output", output)
    assert done.code == 0, done.output
    return output, done


# Published figures


def test_published_figures_are_whole():
    rows = published_rows()
    assert [sum(row.table == table for row in rows) for table in (1, 2, 3)] == [10, 17, 3]
    assert sum(not row.dataset.startswith("Multi-PIE") for row in rows) == 26
    for row in rows:
        assert set(row.figures) == {"AC", "NMI"}
        for figures in row.figures.values():
            assert tuple(figures) == compared_methods()
            assert all(0 < figure <= 1 for figure in figures.values())


def test_published_figures_equal_the_paper():
    original = SHARED / "paper" / "tables.csv"
    if not original.exists():
        pytest.skip("the paper's tables are not beside the project")
    with original.open() as file:
        lines = list(csv.DictReader(file))
    ours = Path(published.__file__).with_suffix(".csv")
    with ours.open() as file:
        assert [
            {k: v for k, v in line.items() if k != "table"} for line in csv.DictReader(file)
        ] == lines


# The command


def test_quick_run_leaves_everything(finished):
    output, done = finished
    pictures = [*(f"table-{k}" for k in (1, 2, 3) if k > 1), "sensitivity", "adjacency"]
    for name in (*pictures, "convergence", "supports"):
        assert (output / f"{name}.png").stat().st_size > 10_000, name
    assert "4 rows of the paper's tables evaluated" in done.output
    assert "4 rows of the paper's tables evaluated" in (output / "summary.md").read_text()
    assert "COIL-20, c = 4: data absent" in done.output
    (duration,) = [line for line in done.output.splitlines() if line.startswith("this run took")]
    assert f"- {duration}" in (output / "summary.md").read_text()
    assert re.search(r"computed ([\d,]+) of ([\d,]+) results", duration)


def test_csv_has_a_line_for_every_setting(finished):
    with (finished[0] / "table-3.csv").open() as file:
        lines = list(csv.DictReader(file))
    per_row = {"paper": 6, "default": 6, "tuned": 2}
    for setting, count in per_row.items():
        own = [line for line in lines if line["settings"] == setting]
        assert len(own) == 2 * count
        assert {line["label_tuned"] for line in own} == {"yes" if setting == "tuned" else "no"}
    by = {(line["dataset"], line["method"], line["settings"]): line for line in lines}
    assert by["Heart", "srsg", "paper"]["ac_published"] == "0.6481"
    assert '"step": 0.01' in by["Heart", "srsg", "paper"]["parameters"]
    assert float(by["Heart", "l1", "tuned"]["ac_mean"]) >= float(
        by["Heart", "l1", "paper"]["ac_mean"]
    )


def test_page_lists_what_is_absent(finished):
    text = (finished[0] / "table-1.md").read_text()
    assert "| COIL-20, c = 4 | published | 0.6625 |" in text
    assert "Data absent, so only the paper's figures: COIL-20, c = 4." in text


def test_finished_cells_are_read_back(finished, folder, monkeypatch):
    output, _ = finished

    def contents():
        found = {path: path.read_bytes() for path in output.iterdir()}
        summary = output / "summary.md"
        lines = summary.read_text().splitlines()  # only a run of everything says how long it took
        return found | {summary: [line for line in lines if "this run took" not in line]}

    before = contents()

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(running, "evaluate", refuse)
    done = reproduce(
        "--quick", "--table", "all", "--seeds", 2, "--data", folder, "--output", output
    )
    assert done.code == 0, done.output
    assert contents() == before


def test_all_tables_and_all_figures_are_everything(finished, folder, monkeypatch):
    monkeypatch.setattr("paper.__main__._figure", lambda *_: True)  # drawn already
    wanted = ("--quick", "--table", "all", "--figure", "all", "--seeds", 2)
    done = reproduce(*wanted, "--data", folder, "--output", finished[0])
    assert "this run took" in done.output


def test_ctrl_c_loses_the_running_cell_only(folder, tmp_path, monkeypatch):
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return evaluate(*arguments)

    monkeypatch.setattr(running, "evaluate", interrupted)
    command = ("--quick", "--table", 3, "--seeds", 1, "--data", folder, "--output", tmp_path)
    stopped = reproduce(*command)
    assert stopped.code == 130
    assert "run the same command again to continue" in stopped.output
    assert len((tmp_path / "cells.csv").read_text().splitlines()) == 1 + 3
    assert reproduce(*command).code == 0
    cells = (tmp_path / "cells.csv").read_text().splitlines()[1:]
    assert len(calls) == len(cells) + 1
    assert len(set(cells)) == len(cells)


@pytest.mark.parametrize(
    ("place", "message"), [("nowhere", "there is no folder of data"), ("", "has none")]
)
def test_missing_data_are_one_clear_line(tmp_path, place, message):
    data = tmp_path / place
    done = reproduce("--table", 1, "--data", data, "--output", tmp_path / "results")
    assert done.code == 1
    (line,) = done.output.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert str(data) in line
    assert not (tmp_path / "results").exists()


def test_errors_of_a_cell_have_no_traceback(tmp_path):
    X, y = made_up(2, 3)  # six points have no seventh neighbour
    np.savez(tmp_path / "Heart.npz", X=X, y=y)
    done = reproduce("--quick", "--table", 3, "--data", tmp_path, "--output", tmp_path / "results")
    assert done.code == 1
    assert re.search(r"error: Heart, 2 clusters, .*: .*neighbor", done.output), done.output


# Its parts


def test_labels_of_a_seed_are_those_of_a_fit():
    X, y = made_up(4, 12)
    data = Dataset(X, y, "made up")
    for estimator in (SRSG(4, n_init=1), KMeans(4, n_init=2)):
        scores, _ = evaluate(estimator, data, [0, 1, 2], n_jobs=2)
        alone, _ = evaluate(estimator, data, [2], n_jobs=1)
        assert (scores[2].ac, scores[2].nmi) == (alone[0].ac, alone[0].nmi)


def test_relabel_spreads_labels_over_copies():
    X, _ = made_up(3, 10)
    X = np.vstack([X, X[:5], X[:2]])
    model = SMCE(3, n_neighbors=5, n_init=1, random_state=7).fit(X)
    np.testing.assert_array_equal(model.relabel(random_state=7), model.labels_)
    again = model.relabel(random_state=8)
    np.testing.assert_array_equal(again[30:35], again[:5])


def test_relabel_needs_a_fit():
    with pytest.raises(Exception, match="not fitted"):
        SRSG(3).relabel()


def test_warnings_of_a_cell_are_reported():
    X, y = made_up(3, 12)
    _, messages = evaluate(SRSG(3, max_sweeps=1, tol=0), Dataset(X, y, "made up"), [0])
    assert any("did not converge" in message for message in messages)


def test_journal_survives_a_crash_and_other_code(tmp_path):
    path = tmp_path / "cells.csv"
    key = Key("Heart", 2, "sc", '{"n_init": 10}', "data", code_digest())
    other = Key("Heart", 2, "sc", '{"n_init": 10}', "data", "other")
    score = Score(0, 0.5, 0.25, 1.0)
    Journal(path).add(key, [score])
    Journal(path).add(other, [Score(0, 0.1, 0.1, 1.0)])
    with path.open("a") as file:
        file.write('Heart,2,l1,"{""lam')  # a line cut short
    journal = Journal(path)
    assert journal.find(key, [0]) == (score,)
    assert journal.find(key, [0, 1]) is None
    journal.add(key, [Score(1, 0.75, 0.5, 1.0)])
    assert Journal(path).find(key, [0, 1]) == (score, Score(1, 0.75, 0.5, 1.0))
    journal.forget_other_code()
    assert Journal(path).find(other, [0]) is None
    assert Journal(path).find(key, [0]) == (score,)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("coding/l1.py", True),
        ("metrics.py", True),
        ("cli/cluster.py", False),
        ("running/progress.py", False),
        ("running/engine.py", True),
    ],
)
def test_results_are_those_of_the_code_they_depend_on(tmp_path, name, counts):
    package = tmp_path / "srsg"
    shutil.copytree(Path(srsg.__file__).parent, package, ignore=shutil.ignore_patterns("__*"))
    before = digest_of_results(package)
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert (digest_of_results(package) != before) == counts


def test_what_has_no_part_in_results_exists():
    for name in NO_PART_IN_RESULTS:
        assert (Path(srsg.__file__).parent / name).exists(), name


def results_for(row, **accuracies):
    """Results as if every method had the same accuracy, but for those named."""
    found = RowResults(row)
    for setting in SETTINGS:
        for name in compared_methods():
            ac = accuracies.get(name, 0.5)
            found.results[setting, name] = CellResult(
                name, {"lam": 0.1, "gamma": 0.2}, (Score(0, ac, 0.9, 1.0), Score(1, ac, 0.9, 1.0))
            )
    return found


def test_best_of_a_line_is_bold():
    row = chosen_rows([3])[0]
    found = results_for(row, l1=0.61, srsg=0.61)
    del found.results["tuned", "srsg"]
    lines = table_markdown(3, [found], 2).split("## AC")[1].split("## NMI")[0].splitlines()
    ours = next(line for line in lines if "paper's settings" in line)
    assert ours.count("**0.6100** ± 0.000") == 2
    assert ours.count("**") == 4
    assert "**0.6481** |" in next(line for line in lines if "published" in line)
    assert "**" not in next(line for line in lines if "tuned with the labels" in line)


def test_summary_counts():
    heart, ionosphere, breast = chosen_rows([3])
    near = {name: heart.figures["AC"][name] for name in compared_methods()}
    rows = [
        results_for(heart, **near),  # all as published
        results_for(ionosphere, **{**near, "srsg": 0.7635}),
        results_for(breast, srsg=0.9050),  # one digit short
    ]
    text = " ".join(summary_lines(rows))
    assert "AC and in NMI on 2 of 3 rows" in text
    gaps = [abs(near[name] - ionosphere.figures["AC"][name]) for name in FIXED_METHODS[:-1]]
    # All five of the first row, SRSG's of the other two, and what happens to be near.
    close, near_ones = (7 + sum(gap <= bound for gap in gaps) for bound in (0.03, 0.02))
    assert "of 15 figures" in text
    assert f"{close} ({close / 15:.0%}) are within 0.03 of the published AC" in text
    assert f"and {near_ones} ({near_ones / 15:.0%}) within 0.02" in text
    assert "SRSG itself, on all 3 rows, is within 0.03 of the published AC on 3 (100%)" in text
    assert "SRSG has the highest AC of the six methods on 3 of 3 rows" in text
    page = summary_markdown(rows)
    assert "| Breast | K-means | AC | 0.8541 | 0.5000 | -0.3541 |" in page
    assert "| Heart | K-means | AC" not in page


def test_bound_of_the_theorem_holds_for_the_figure():
    X, _ = near_planes(0, n_points=60, n_features=10)
    points = unit_points(X)
    step = srsg.coding.theorem_step(points, 0.1, 5)
    for problem in problems(points, gamma=0.1, n_neighbors=5, lam=0.1)[::6]:
        history = problem.fpgd_sp(step, 300)
        bound = theorem_bound(problem, history, step)
        k = np.arange(bound.k0, 301)
        gap = history.objective[bound.k0 :] - bound.least
        assert (gap >= -1e-12).all()
        assert (gap <= bound.constant / (k * (k + 1)) + 1e-12).all()
        end, values = problem.descend(step, 300)
        assert (np.diff(values) <= 1e-12).all()
        assert problem.least_with_support(end)[1] <= values[-1] + 1e-12


# The paper's data


def cell(tmp_path, dataset, n_clusters, method, setting):
    folder = os.environ.get("SRSG_DATA")
    if not folder:
        pytest.skip("SRSG_DATA is not set: it names the folder of the paper's data")
    evaluation = Evaluation(Journal(tmp_path / "cells.csv"), range(3), folder=Path(folder))
    data = evaluation.load(dataset, n_clusters)
    (estimator,) = candidates(srsg.methods()[method], setting, data.n_clusters)
    return evaluation.result(method, estimator, data)


@pytest.mark.parametrize(
    ("dataset", "n_clusters", "method", "accuracy", "nmi", "tolerance"),
    [
        ("COIL-20", 4, "kmeans", 0.6625, 0.5100, 0.03),
        ("UMIST Face", 4, "kmeans", 0.4848, 0.2889, 0.02),
        ("UMIST Face", 4, "smce", 0.5203, 0.3314, 0.003),
        pytest.param(
            *("UMIST Face", 4, "srsg", 0.5854, 0.4640, 0.03),
            # Ten pairs of these pictures are equal, and the paper's figure rests on which twin a
            # code happened to use. Equal points are merged now: 0.675 on every machine.
            marks=pytest.mark.xfail(reason="equal pictures count once"),
        ),
        ("Heart", None, "kmeans", 0.5889, 0.0182, 0.01),
        ("Breast", None, "kmeans", 0.8541, 0.4223, 0.0001),
    ],
)
def test_cells_of_the_tables(tmp_path, dataset, n_clusters, method, accuracy, nmi, tolerance):
    result = cell(tmp_path, dataset, n_clusters, method, "paper")
    assert result.mean("AC") == pytest.approx(accuracy, abs=tolerance)
    assert result.mean("NMI") == pytest.approx(nmi, abs=tolerance)


@pytest.mark.parametrize(
    ("dataset", "n_clusters", "least"),
    [
        # Equal pictures count once since. The sweeps depend on the order of the points: in eight
        # random orders 4 people give 0.72 to 0.89 and 12 people 0.79 to 0.97, and the order of
        # the file is not the luckiest any more.
        pytest.param("UMIST Face", 4, 0.90, marks=pytest.mark.xfail(reason="equal pictures")),
        pytest.param("UMIST Face", 12, 0.88, marks=pytest.mark.xfail(reason="equal pictures")),
        ("UMIST Face", 12, 0.86),
        ("Yale-B", 10, 0.90),
        ("COIL-100", 20, 0.92),
        ("Breast", None, 0.895),
    ],
)
def test_defaults_of_srsg_keep_what_they_won(tmp_path, dataset, n_clusters, least):
    result = cell(tmp_path, dataset, n_clusters, "srsg", "default")
    assert result.mean("AC") >= least
