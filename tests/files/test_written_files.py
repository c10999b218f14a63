"""Labels and graphs written to files, whole or not at all."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from srsg.files import FileError, atomic_write, read_points, write_graph, write_labels
from support.file_samples import (
    X,
    Y,
    saved_array,
    text,
)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".parquet", ".feather"])
def test_labels_written_are_read_again(tmp_path, ending):
    path = tmp_path / f"labels{ending}"
    ids = np.array(["a b", 'c"d', "é,f", "g"], dtype=object)
    write_labels(path, Y, row_ids=ids, columns={"confidence": X[:, 0]})
    if ending == ".npz":
        with np.load(path) as file:
            columns = dict(file)
    else:
        readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
        read = readers.get(ending, lambda at: pd.read_csv(at, sep="\t"))
        columns = dict(read(path))
    assert list(columns) == ["id", "label", "confidence"]
    assert list(columns["id"]) == list(ids)
    np.testing.assert_array_equal(columns["label"], Y)
    np.testing.assert_array_equal(columns["confidence"], X[:, 0])
    assert os.listdir(tmp_path) == [path.name]


def test_labels_alone(tmp_path):
    write_labels(tmp_path / "l.NPY", Y)
    np.testing.assert_array_equal(np.load(tmp_path / "l.NPY"), Y)
    np.testing.assert_array_equal(
        read_points(saved_array(tmp_path / "f.npy"), labels=tmp_path / "l.NPY").y, Y
    )


def test_labels_to_standard_output(capsys):
    write_labels("-", Y, columns={"confidence": X[:, 2]})
    assert capsys.readouterr().out.splitlines()[:4] == [
        "id,label,confidence",
        "0,3,-3.0",
        "1,1,6.0",
        "2,3,1e-09",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_ids": [1, 2]}, r"id of shape \(2,\) does not fit 4 labels"),
        ({"columns": {"c": X}}, r"c of shape \(4, 3\)"),
        ({"columns": {"label": Y}}, "written already"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_labels(tmp_path / "l.csv", Y, **arguments)
    assert os.listdir(tmp_path) == []


GRAPH = sparse.csr_array(np.array([[0, 0.1, 0], [0.1, 0, 1 / 3], [0, 1 / 3, 2.0]]))


def test_graphs_for_scipy(tmp_path):
    write_graph(tmp_path / "g.npz", GRAPH)
    np.testing.assert_array_equal(sparse.load_npz(tmp_path / "g.npz").toarray(), GRAPH.toarray())


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_as_edges(tmp_path, directed):
    graph = sparse.csr_array(sparse.triu(GRAPH)) if directed else GRAPH
    write_graph(tmp_path / "g.csv", graph)
    edges = pd.read_csv(tmp_path / "g.csv")
    again = np.zeros((3, 3))
    again[edges["source"], edges["target"]] = edges["weight"]
    np.testing.assert_array_equal(again, np.triu(GRAPH.toarray()))


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_as_graphml(tmp_path, directed):
    from xml.etree import ElementTree

    graph = sparse.csr_array(sparse.triu(GRAPH)) if directed else GRAPH
    write_graph(tmp_path / "g.graphml", graph, labels=["<a>", "b&c", "d"])
    space = "{http://graphml.graphdrawing.org/xmlns}"
    drawn = ElementTree.parse(tmp_path / "g.graphml").getroot().find(f"{space}graph")
    assert drawn.get("edgedefault") == ("directed" if directed else "undirected")
    labels = [node.find(f"{space}data").text for node in drawn.iter(f"{space}node")]
    assert labels == ["<a>", "b&c", "d"]
    again = np.zeros((3, 3))
    for edge in drawn.iter(f"{space}edge"):
        ends = int(edge.get("source")[1:]), int(edge.get("target")[1:])
        again[ends] = float(edge.find(f"{space}data").text)
    np.testing.assert_array_equal(again, np.triu(GRAPH.toarray()))


def test_graphs_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="must be square"):
        write_graph(tmp_path / "g.npz", GRAPH[:2])
    with pytest.raises(ValueError, match="do not fit 3 nodes"):
        write_graph(tmp_path / "g.graphml", GRAPH, labels=[1])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_failures_leave_the_old_file_and_nothing_else(tmp_path, error):
    target = text(tmp_path / "f.csv", "old")

    def fail():
        with atomic_write(target) as path:
            path.write_text("half of")
            raise error

    with pytest.raises(error):
        fail()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.csv"]


@pytest.mark.parametrize(
    "write",
    [lambda path: write_labels(path, np.arange(10**6)), lambda path: write_graph(path, GRAPH)],
    ids=["labels", "graph"],
)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, write):
    resource = pytest.importorskip("resource", reason="limits on file sizes are Unix's")
    signal = pytest.importorskip("signal")
    target = text(tmp_path / "f.csv", "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(FileError, match=r"f\.csv: cannot be written \(File too large\)"):
            write(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.csv"]


def test_success_keeps_links_and_permissions(tmp_path):
    real = text(tmp_path / "real.txt", "old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with atomic_write(link) as path:
        assert path.suffix == ".txt"
        path.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_devices_are_written_to_not_replaced():
    with atomic_write("/dev/null") as path:
        assert str(path) == "/dev/null"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a folder"),
        ("none/l.csv", r"there is no folder .*none"),
        ("l.doc", r"l\.doc: cannot be written: its name must end in one of \.csv"),
        ("l", "l: cannot be written: its name must end in one of"),
    ],
)
def test_places_that_cannot_be_written_to(tmp_path, name, message):
    path = tmp_path.with_suffix(".csv") if not name else tmp_path / name
    if not name:
        path.mkdir()
    with pytest.raises(FileError, match=message):
        write_labels(path, Y)
