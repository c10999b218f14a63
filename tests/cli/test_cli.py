"""The command line on good input: every command, every kind of file."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse

import srsg
from srsg.cli.cluster import _counted
from srsg.cli.comparison import compare_methods, pairwise_ari
from srsg.files import write_graph
from srsg.running.progress import Progress
from support.cli_runs import command, good, planes, run, start, table_of_planes
from support.file_samples import FRAME, TABLES, WITH_LABELS, Y, saved, saved_array

HEAVY = {"numpy", "numba", "sklearn", "matplotlib", "pandas", "scipy"}
COMMANDS = [[], *([name] for name in ("cluster", "compare", "predict", "info", "demo"))]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return table_of_planes(tmp_path_factory.mktemp("cli") / "planes.csv")


def labels_of(text):
    return [int(row["label"]) for row in csv.DictReader(text.splitlines())]


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


# Files in


@pytest.mark.parametrize("kind", WITH_LABELS)
def test_cluster_reads_arrays(tmp_path, kind):
    done = good("cluster", WITH_LABELS[kind](tmp_path), "-k", 3, "-m", "kmeans")
    model = srsg.methods()["kmeans"].default(3, random_state=0)
    assert labels_of(done.stdout) == model.fit(FRAME.to_numpy()).labels_.tolist()
    assert "AC 1.0000" not in done.stdout
    assert "against the known classes: AC" in done.stderr


@pytest.mark.parametrize("ending", TABLES)
def test_cluster_reads_tables(tmp_path, ending):
    done = good("cluster", saved(tmp_path / f"f{ending}"), "-k", 2, "-m", "kmeans")
    model = srsg.methods()["kmeans"].default(2, random_state=0)
    assert labels_of(done.stdout) == model.fit(FRAME.to_numpy()).labels_.tolist()


def test_cluster_reads_npy_and_labels_of_their_own(tmp_path):
    np.savetxt(tmp_path / "y.txt", Y, fmt="%d")
    points = saved_array(tmp_path / "x.npy")
    done = good("cluster", points, "-k", 2, "-m", "kmeans", "--labels", tmp_path / "y.txt")
    assert "against the known classes" in done.stderr


def test_cluster_reads_standard_input(table):
    piped = good("cluster", "-", "-k", 3, "--labels", "kind", "-q", input=table.read_bytes())
    named = good("cluster", table, "-k", 3, "--labels", "kind", "-q")
    assert piped.stdout == named.stdout
    assert piped.stderr == ""


def test_cluster_reads_folders_of_images(tmp_path):
    rng = np.random.default_rng(0)
    for place in range(8):
        folder = tmp_path / f"s{place % 2}"
        folder.mkdir(exist_ok=True)
        shade = rng.integers(0, 20, (6, 5)) + 200 * (place % 2)
        Image.fromarray(shade.astype(np.uint8)).save(folder / f"{place}.png")
    done = good("cluster", tmp_path, "-k", 2, "-m", "kmeans", "--image-size", "3x3")
    assert "AC 1.0000" in done.stderr
    assert done.stdout.splitlines()[1].startswith("s0/0.png,")


def test_options_choose_columns_and_arrays(tmp_path, table):
    few = good("cluster", table, "-k", 3, "--columns", "f0,f1,f2", "-m", "kmeans", "--json")
    assert json.loads(few.stdout)["n_features"] == 3
    np.savez(tmp_path / "two.npz", first=planes()[0], second=planes()[0][:30])
    second = good("cluster", tmp_path / "two.npz", "--variable", "second", "-k", 2, "--json")
    assert json.loads(second.stdout)["n_points"] == 30


def test_rows_with_gaps_are_dropped_if_asked_for(tmp_path, table):
    lines = table.read_text().splitlines()
    lines[4] = lines[4].replace(lines[4].split(",")[0], "", 1)
    (tmp_path / "gap.csv").write_text("\n".join(lines))
    gap = tmp_path / "gap.csv"
    refused = run("cluster", gap, "--labels", "kind", "-k", 3)
    assert refused.exit_code == 1
    assert re.search(r"row 3 \(counted from 0\).*drop them with --drop-missing", refused.stderr)
    done = good("cluster", gap, "--labels", "kind", "-k", 3, "--drop-missing")
    assert len(labels_of(done.stdout)) == 59
    assert "was dropped: row 3" in done.stderr


# Files out


def test_cluster_writes_everything_and_predict_reads_it(tmp_path, table):
    X, _ = planes()
    names = {
        "-o": "labels.csv",
        "--graph": "graph.npz",
        "--model": "model.srsg",
        "--report": "report.html",
    }
    files = [part for option, name in names.items() for part in (option, tmp_path / name)]
    done = good("cluster", table, "-k", 3, "--labels", "kind", *files)
    assert done.stdout == ""
    assert "AC 1.0000, NMI 1.0000, ARI 1.0000" in done.stderr
    model = srsg.SRSG(3, random_state=0).fit(X)
    written = pd.read_csv(tmp_path / "labels.csv")
    assert list(written) == ["id", "label", "confidence"]
    np.testing.assert_array_equal(written["label"], model.labels_)
    graph = sparse.load_npz(tmp_path / "graph.npz")
    assert (graph != model.affinity_matrix_).nnz == 0
    assert "<html" in (tmp_path / "report.html").read_text()

    again = good("predict", tmp_path / "model.srsg", table, "--labels", "kind")
    assert labels_of(again.stdout) == model.labels_.tolist()
    assert "60 points in 3 of 3 clusters" in again.stderr
    good("predict", tmp_path / "model.srsg", table, "--labels", "kind", "-o", tmp_path / "p.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), model.labels_)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".feather"])
def test_labels_in_every_format(tmp_path, table, ending):
    path = tmp_path / f"labels{ending}"
    good("cluster", table, "-k", 3, "--labels", "kind", "-m", "kmeans", "-o", path, "-q")
    assert path.stat().st_size > 60
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".graphml", ".csv"])
def test_graph_in_every_format(tmp_path, table, ending):
    path = tmp_path / f"graph{ending}"
    good("cluster", table, "-k", 3, "--labels", "kind", "-m", "omp", "--graph", path)
    model = srsg.methods()["omp"].default(3, random_state=0).fit(planes()[0])
    expected = tmp_path / f"expected{ending}"
    write_graph(expected, model.affinity_matrix_, labels=model.labels_)
    assert path.read_bytes() == expected.read_bytes()


def test_summary_as_json(tmp_path, table):
    path = tmp_path / "labels.csv"
    done = good("cluster", table, "-k", 3, "--labels", "kind", "--json", "-o", path)
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["sizes"] == [20, 20, 20]
    assert found["scores"] == {"AC": 1.0, "NMI": 1.0, "ARI": 1.0}
    assert found["files"] == {"labels": str(path)}


def test_a_guess_is_not_called_found():
    """Too few points for samples: the largest eigengap of noise is a guess."""
    X = np.random.default_rng(0).standard_normal((12, 100))
    (line,) = _counted(srsg.SRSG("auto", random_state=0).fit(X))
    assert re.fullmatch(r"-k was not given: probably \d+ clusters\.", line)


def test_number_of_clusters_is_found_without_k(table):
    done = good("cluster", table, "--labels", "kind")
    assert "-k was not given: 3 clusters were found" in done.stderr
    assert set(labels_of(done.stdout)) == {0, 1, 2}


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("srsg", {"lam": 0.2, "gamma": 0.3, "n-neighbors": 4, "step": 0.02}),
        ("ensc", {"l1-ratio": 0.8, "n-nonzero": 4}),
        ("omp", {"n-nonzero": 2}),
        ("sc", {"scale-neighbor": 4}),
    ],
)
def test_options_reach_the_method(table, method, options):
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    done = good("cluster", table, "-k", 3, "--labels", "kind", "-m", method, *given)
    parameters = {name.replace("-", "_"): value for name, value in options.items()}
    model = srsg.methods()[method].default(3, random_state=0, **parameters)
    assert labels_of(done.stdout) == model.fit(planes()[0]).labels_.tolist()


def test_store_keeps_the_graph(tmp_path, table):
    for k in (3, 2):
        good("cluster", table, "-k", k, "--labels", "kind", "--store", tmp_path / "graphs")
    assert len(list((tmp_path / "graphs").rglob("graph.*.npz"))) == 1


# Other commands


def test_compare_writes_tables(tmp_path, table):
    for name in ("t.csv", "t.md"):
        done = good(
            *("compare", table, "--labels", "kind", "--methods", "kmeans,srsg"),
            *("-o", tmp_path / name),
        )
    assert re.search(r"srsg +1\.0000 +1\.0000 +1\.0000 +\d+\.\d\d +\d+", done.stdout)
    rows = rows_of(tmp_path / "t.csv")
    assert [row["method"] for row in rows] == ["kmeans", "srsg"]
    assert float(rows[1]["AC"]) == 1.0
    assert float(rows[1]["megabytes"]) >= 0
    markdown = (tmp_path / "t.md").read_text().splitlines()
    assert markdown[0] == "| method | AC | NMI | ARI | seconds | megabytes |"
    assert markdown[3].startswith("| srsg | **1.0000** |")


def test_compare_with_what_people_use(tmp_path, table, monkeypatch):
    """Other packages, seeds with their spread, stability, and a picture of it all."""
    monkeypatch.setitem(sys.modules, "leidenalg", None)
    picture, wanted = tmp_path / "m.svg", ("--methods", "kmeans,hdbscan,leiden", "--seeds", 2)
    done = good("compare", table, "--labels", "kind", *wanted, "-o", picture)
    heads = done.stdout.splitlines()[0].split()
    assert heads[:6] == ["method", "AC", "spread", "NMI", "ARI", "stability"]
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[1:] if line.strip()}
    assert 0 <= float(rows["hdbscan"][5]) <= 1
    assert float(rows["hdbscan"][2]) == 0  # it does not depend on a seed
    assert "leiden: " in done.stderr  # not installed
    assert picture.read_text().count("<svg") == 1


def test_compare_without_classes_shows_agreement(table):
    done = good("compare", table, "-k", 3, "--methods", "l1,srsg", "--columns", "f0,f1,f2,f3")
    assert "AC" not in done.stdout
    assert re.search(r"srsg +[-\d.]+ +1\.00", done.stdout.split("agreement")[1])


def test_memory_of_a_method_is_what_it_holds():
    X = np.random.default_rng(0).standard_normal((1500, 5))
    [found] = compare_methods(X, 2, names=["sc"])  # a dense kernel and more of that size
    assert found.megabytes is None or 8 * 1500**2 / 2**20 < found.megabytes < 500


class Recorder(Progress):
    def __init__(self):
        self.labels = []

    def stage(self, label, total):
        self.labels.append(label)
        return super().stage(label, total)


def test_progress_and_failures_cross_the_processes():
    recorder = Recorder()
    good_one, bad = compare_methods(
        planes()[0][::9][:12], 3, names=["l1", "smce"], progress=recorder
    )
    assert "l1: eigenvectors and labels" in recorder.labels
    assert bad.labels is None
    assert "n_neighbors=15 must be smaller" in bad.error
    assert good_one.error is None
    np.testing.assert_array_equal(pairwise_ari([good_one, good_one]), np.ones((2, 2)))


def test_info_gives_advice(tmp_path):
    frame = pd.DataFrame(
        {"a": [0, 1, 1, 0, 0.5], "b": [0, 900, 900, 0, np.nan], "c": [0.0] * 5, "t": list("uvwxy")}
    )
    frame["d"] = [0, 1, 1, 0, 1]
    frame.to_csv(tmp_path / "f.csv", index=False)
    printed = good("info", tmp_path / "f.csv").stdout
    for line in (
        r"rows: +4$",
        r"missing values: +in 1 of 5 rows +-> .*--drop-missing",
        r"duplicates: +2 rows repeat another",
        r"rows of zeros: +2 \(rows 0, 3, counted from 0\)",
        r"constant columns: 1 \(c\)",
        r"scales: .* column b outweighs",
        r"column t set aside: text",
        r"Fit for clustering: not yet, see missing values\.",
    ):
        assert re.search(line, printed, re.MULTILINE), line
    found = json.loads(good("info", tmp_path / "f.csv", "--json").stdout)
    assert {fact["about"] for fact in found["facts"] if fact["prevents"]} == {"missing values"}


def test_info_names_options(tmp_path):
    (tmp_path / "f.csv").write_text("x,y\n1,2\n2,0.5\n0.25,4\n")
    assert "--labels 'y' prevents it" in good("info", tmp_path / "f.csv").stdout


def test_one_cluster(table):
    done = good("cluster", table, "-k", 1, "-m", "kmeans", "--labels", "kind")
    assert "60 points in 1 cluster of 60 points" in done.stderr


def test_info_is_content_with_good_data(table):
    assert "Fit for clustering: yes." in good("info", table, "--labels", "kind").stdout


def test_demo_ends_with_its_report(tmp_path):
    done = good("demo", "-o", tmp_path / "demo")
    page = tmp_path / "demo" / "report.html"
    assert done.stdout.splitlines()[-1].endswith(str(page))
    assert page.stat().st_size > 100_000
    rows = rows_of(tmp_path / "demo" / "methods.csv")
    assert [row["method"] for row in rows] == list(srsg.methods())
    best = max(rows, key=lambda row: float(row["NMI"]))
    assert best["method"] == "srsg"


# The program


@pytest.mark.parametrize("names", COMMANDS, ids=lambda names: " ".join(names) or "srsg")
def test_help_loads_nothing_heavy(names):
    program = (
        f"import sys; from srsg.cli import main; sys.argv = ['srsg', *{names}, '--help']\n"
        "try: main()\nexcept SystemExit: print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    help_text, loaded = done.stdout.split("LOADED")
    assert "Usage: srsg" in help_text
    assert not set(loaded.split()) & HEAVY


def test_version():
    assert good("--version").stdout == f"srsg {srsg.__version__}\n"


def test_shell_completes_methods():
    environment = {**os.environ, "_SRSG_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": "srsg cluster x.csv --method s", "COMP_CWORD": "4"}
    done = subprocess.run(command(), env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["sc", "smce", "srsg"]


def everything(terminal):
    """What a terminal gets until nobody writes to it any more."""
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux tells of the end
            part = b""
        if not part:
            return shown.decode()
        shown += part


def test_labels_are_piped_while_a_terminal_shows_progress(table):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = start(
        *("cluster", table, "-k", 3, "--labels", "kind"), stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    with ThreadPoolExecutor(1) as pool:  # or a full terminal would stop the program
        terminal = pool.submit(everything, ours)
        printed = process.communicate()[0].decode()
        shown = terminal.result()
    os.close(ours)
    assert process.returncode == 0
    assert len(labels_of(printed)) == 60
    assert "left:" in shown
    assert "id,label" not in shown


def test_commands_of_the_documentation_run(tmp_path, table, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text()
    section = page.split("## On the command line")[1].split("\n## ")[0]
    lines = [line.split("#")[0] for line in re.findall(r"^srsg .*", section, re.MULTILINE)]
    assert len(lines) > 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flowers.csv").write_bytes(table.read_bytes())
    (tmp_path / "new.csv").write_bytes(table.read_bytes())
    for line in lines:
        if "demo" not in line:  # has a test of its own
            words = shlex.split(line.split(" | ")[0])
            good(*words[1:])
