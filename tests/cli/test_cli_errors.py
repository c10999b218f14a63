"""The command line on bad input: one clear line, no traceback, nothing half-written."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import srsg.files.atomic
from srsg import SRSG, StabilitySearch
from srsg.cli import comparison
from support.cli_runs import run, start, table_of_planes, the_error
from support.file_samples import cut, raw, saved, saved_array, text


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return table_of_planes(tmp_path_factory.mktemp("cli") / "planes.csv")


def broken_image(at):
    Image.fromarray(np.zeros((9, 9), np.uint8)).save(at / "a.png")
    cut(at / "a.png")
    return at


BROKEN = {
    "missing": (lambda at: at / "nowhere.csv", "there is no such file"),
    "empty": (lambda at: text(at / "f.csv", ""), "is empty"),
    "cut off": (lambda at: cut(saved(at / "f.parquet")), "cannot be read as Parquet"),
    "rubbish": (lambda at: raw(at / "f.csv"), "binary, not text"),
    "rubbish npy": (lambda at: raw(at / "f.npy"), "cannot be read as"),
    "ragged": (lambda at: text(at / "f.csv", "a,b\n1,2\n3,4\n5,6,7\n"), "f.csv"),
    "text": (lambda at: text(at / "f.csv", "a,b\nu,v\nu,w\n"), "has no column of numbers"),
    "ending": (lambda at: text(at / "f.doc", "1 2"), "files ending in .doc are not read"),
    "image": (broken_image, "cannot be read as an image"),
    "no images": (lambda at: at, "has no images"),
    "dimensions": (lambda at: saved_array(at / "f.npy", np.ones(5)), "1 dimension"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [*(("cluster", kind) for kind in BROKEN), ("compare", "cut off"), ("info", "cut off")],
)
def test_broken_files(tmp_path, name, kind):
    make, message = BROKEN[kind]
    assert message in the_error(name, make(tmp_path), *(["-k", 2] if name != "info" else []))


def test_empty_standard_input():
    assert "standard input: is empty" in the_error("cluster", "-", "-k", 2)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--method", "magic"], 2, "no method is called 'magic'. Known: kmeans, sc, l1, smce"),
        (
            ["-k", "some"],
            2,
            "'some' is neither a number of clusters, nor a range such as 3-6, nor auto",
        ),
        (["-k", "0"], 2, "'0' is neither"),
        (["-k", "500"], 1, "-k 500 exceeds the number of points"),
        (["--n-neighbors", "60"], 1, "--n-neighbors 60 must be smaller"),
        (["--lam", "-1"], 1, "error: --lam must be a float"),
        (["-k", "1"], 2, "-k 1 needs a method: --method."),
        (["--columns", ""], 2, "'' has a column without a name"),
        (["--columns", "f0,"], 2, "'f0,' has a column without a name"),
        (["-m", "omp", "--gamma", "1"], 2, "--gamma is not an option of the method omp"),
        (
            ["-m", "kmeans", "-k", "3", "--jobs", "2"],
            2,
            "--jobs is not an option of the method kmeans",
        ),
        (
            ["-m", "kmeans", "-k", "3", "--graph", "g.npz"],
            2,
            "--graph is not an option of the method",
        ),
        (["-m", "kmeans"], 2, "the method kmeans needs a number of clusters: -k"),
        (["--image-size", "big"], 2, "'big' is not a size such as 32x24"),
        (["--columns", "f0,f99"], 1, "has no column called 'f99'"),
        (["--labels", "colour"], 1, "has no column called 'colour'"),
        (["--labels", "nowhere.txt"], 1, "nowhere.txt: there is no such file"),
        (["--magic"], 2, "--magic"),
        (["-o", "nowhere/l.csv"], 1, "nowhere/l.csv: there is no folder"),
        (["-o", "l.doc"], 1, "--output l.doc: its name must end in .csv or .tsv"),
        (["--graph", "g.doc"], 1, "--graph g.doc: its name must end in .npz"),
        (["--model", "m.pkl"], 1, "--model m.pkl: its name must end in .srsg"),
        (["--report", "nowhere/r.html"], 1, "nowhere/r.html: there is no folder"),
    ],
)
def test_wishes_that_cannot_be_met(tmp_path, table, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    columns = [] if "--columns" in options or "--labels" in options else ["--labels", "kind"]
    assert message in the_error("cluster", table, *columns, *options, code=code)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["-o", "--graph", "--model", "--report"])
def test_outputs_are_checked_before_the_work(tmp_path, table, monkeypatch, option):
    def refuse(*_):
        raise AssertionError("it worked before it checked")

    monkeypatch.setattr(SRSG, "fit", refuse)
    endings = {"-o": ".csv", "--graph": ".npz", "--model": ".srsg", "--report": ".html"}
    folder = tmp_path / f"folder{endings[option]}"
    folder.mkdir()
    assert "is a folder" in the_error("cluster", table, "-k", 3, option, folder)

    def full(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "touch", full)
    line = the_error("cluster", table, "-k", 3, option, tmp_path / f"f{endings[option]}")
    assert "cannot be written (Read-only file system)" in line


def test_tables_that_are_too_small_are_named(tmp_path):
    column = text(tmp_path / "column.csv", "a\n" + "1.5\n2.5\n" * 10)
    for options in ([], ["-m", "l1"]):
        line = the_error("cluster", column, "-k", 2, *options)
        assert "column.csv: has one column of numbers" in line
        assert "--method kmeans takes one." in line
    assert run("cluster", column, "-k", 2, "-m", "kmeans", "-q").exit_code == 0
    rows = text(tmp_path / "rows.csv", "a,b\n1.5,2\n2,1.5\n1,1\n")
    line = the_error("cluster", rows, "-k", 2)
    assert "rows.csv: has 3 rows, and the search for a method needs 10 or more" in line
    row = text(tmp_path / "row.csv", "a,b\n1.5,2\n")
    assert "row.csv: has one row" in the_error("cluster", row, "-k", 2, "-m", "l1")


def test_predict_names_a_file_of_another_width(tmp_path, table):
    model = tmp_path / "m.srsg"
    options = ("-k", 3, "-m", "kmeans", "--columns", "f0, f1", "--model", model, "-q")
    assert run("cluster", table, *options).exit_code == 0
    line = the_error("predict", model, text(tmp_path / "n.csv", "1.5,2,3\n2,1.5,4\n"))
    assert "n.csv: has 3 columns of numbers, and the model was fitted on 2." in line


def test_compare_and_predict_say_what_they_need(tmp_path, table):
    assert "(-k)" in the_error("compare", table, code=2)
    assert "'magic'" in the_error("compare", table, "-k", 2, "--methods", "l1,magic", code=2)
    assert "exceeds the number" in the_error("compare", table, "-k", 99)
    assert "there is no such file" in the_error("predict", tmp_path / "m.srsg", table)
    assert "not a model that srsg saved" in the_error("predict", raw(tmp_path / "m.srsg"), table)
    assert "No such command 'magic'" in the_error("magic", code=2)


def test_other_features_than_the_model_has(tmp_path, table):
    model = tmp_path / "m.srsg"
    assert run("cluster", table, "-k", 3, "--labels", "kind", "--model", model).exit_code == 0
    line = the_error("predict", model, table, "--columns", "f0,f1")
    assert "missing: f2, f3, f4, f5, f6, f7, f8, f9, f10, f11)" in line
    np.save(tmp_path / "two.npy", np.eye(2))  # without names
    line = the_error("predict", model, tmp_path / "two.npy")
    assert "two.npy: has 2 columns of numbers, and the model was fitted on 12." in line


def test_full_disk_leaves_the_old_file(tmp_path, table, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = text(tmp_path / "labels.csv", "old")
    monkeypatch.setattr(srsg.files.atomic.os, "fsync", full)
    line = the_error("cluster", table, "-k", 3, "-m", "kmeans", "-o", path)
    assert "labels.csv: cannot be written (No space left on device)" in line
    assert [file.name for file in tmp_path.iterdir()] == ["labels.csv"]
    assert path.read_text() == "old"


def test_missing_index(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    line = the_error("cluster", table, "-k", 3, "--candidates", 100)
    assert "pip install 'srsg[approximate]'" in line


def test_interrupt_in_process(table, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(SRSG, "fit", interrupted)
    monkeypatch.setattr(StabilitySearch, "fit", interrupted)
    for options, advice in {
        ("-m", "srsg"): "With --store FOLDER, the same command could go on.",
        ("--store", "kept"): "The same command goes on with what kept has.",
        (): "A shorter --time gives an answer sooner; --method srsg --store FOLDER can go on.",
    }.items():
        told = the_error("cluster", table, "-k", 3, *options, code=130)
        assert told == f"error: stopped. {advice}"


def test_bugs_keep_their_traceback(table, monkeypatch):
    def bug(*_):
        raise KeyError("bug")

    monkeypatch.setattr(SRSG, "fit", bug)
    assert isinstance(run("cluster", table, "-k", 3, "-m", "srsg").exception, KeyError)


def test_warnings_are_one_line(table, monkeypatch):
    fit = SRSG.fit

    def doubtful(model, X):
        warnings.warn("take\ncare", stacklevel=1)
        return fit(model, X)

    monkeypatch.setattr(SRSG, "fit", doubtful)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run("cluster", table, "-k", 3, "--labels", "kind", "-m", "srsg")
    assert done.exit_code == 0
    assert "warning: take care" in done.stderr.splitlines()
    assert ".py" not in done.stderr


def test_method_whose_process_dies(monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 4))
    monkeypatch.setattr(comparison, "_measure", os.getpgid)  # fails in the other process at once
    [found] = comparison.compare_methods(X, 2, names=["kmeans"])
    assert found.labels is None
    assert "its process ended with status 1" in found.error


# What only a process of its own can show


def test_closed_pipe_is_quiet(tmp_path):
    long = table_of_planes(tmp_path / "long.csv", n_classes=2, each=6000)
    reader, writer = os.pipe()
    os.close(reader)
    process = start(
        *("cluster", long, "-k", 2, "--labels", "kind", "-m", "kmeans", "-q"),
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert process.communicate()[1] == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_standard_output(table):
    with open("/dev/full", "w") as full:
        process = start(
            *("cluster", table, "-k", 3, "--labels", "kind", "-m", "kmeans", "-q"),
            stdout=full,
            stderr=subprocess.PIPE,
        )
    line = process.communicate()[1].decode()
    assert line == "error: standard output: No space left on device.\n"
    assert process.returncode == 1


@pytest.mark.parametrize("library", ["typer", "numpy"])
def test_ctrl_c_while_libraries_load(tmp_path, library):
    program = (
        "import sys\n"
        "class Stopped:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == '{library}': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stopped())\n"
        "sys.argv = ['srsg', 'info', 'x.csv']\n"
        "from srsg.__main__ import main\n"
        "main()"
    )
    text(tmp_path / "x.csv", "a,b\n1,2\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=tmp_path)
    assert done.stderr == b"error: stopped.\n"
    # Python may end itself by the signal after a stopped import; shells show 130 for both.
    assert done.returncode in (130, -signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
@pytest.mark.parametrize("name", ["cluster", "compare"])
def test_ctrl_c(tmp_path, name):
    X = np.random.default_rng(0).standard_normal((20000, 40))
    np.save(tmp_path / "x.npy", X)
    output = tmp_path / "out.csv"
    process = start(
        *(name, tmp_path / "x.npy", "-k", 3, "-o", output, "--jobs", 1),
        *(["--methods", "l1"] if name == "compare" else ["-m", "l1"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(4)
    assert process.poll() is None, "it ended before it was stopped"
    os.killpg(process.pid, signal.SIGINT)
    printed, told = process.communicate()
    assert process.returncode == 130
    assert printed == b""
    assert told.startswith(b"error: stopped.")
    assert told.count(b"\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize(
    ("amount", "message"), [("1 banana", "is not an amount of memory"), ("10kB", "is too little")]
)
def test_bad_budgets_of_memory(table, amount, message):
    assert message in the_error(
        "cluster", table, "-k", 3, "--labels", "kind", "--max-memory", amount
    )


@pytest.mark.parametrize("kind", ["rubbish npy", "dimensions", "objects", "cut npy"])
def test_broken_files_that_would_be_mapped(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("srsg.files.arrays.MAPPED_FROM", 0)
    made = {
        **{name: make for name, (make, _) in BROKEN.items()},
        "objects": lambda at: saved_array(at / "f.npy", np.array([[1, "a"]], dtype=object)),
        "cut npy": lambda at: cut(saved_array(at / "f.npy", np.ones((50, 5)))),
    }
    assert "f.npy" in the_error("cluster", made[kind](tmp_path), "-k", 2)


def test_a_file_in_the_place_of_a_folder(table):
    line = the_error("cluster", table, "-k", 3, "--labels", "kind", "-m", "l1", "--store", table)
    assert f"--store '{table}': is a file, not a folder." in line
