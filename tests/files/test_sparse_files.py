"""Sparse matrices in files: read as they are, described, refused if they are damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from srsg.cli.inspection import inspect_table
from srsg.files import read_points
from srsg.files.errors import FileError
from support.cli_runs import good
from support.text import term_weights


@pytest.fixture
def saved(tmp_path):
    X, topics = term_weights(60, 400)
    sparse.save_npz(tmp_path / "texts.npz", X)
    np.save(tmp_path / "topics.npy", topics)
    return tmp_path / "texts.npz", tmp_path / "topics.npy", X, topics


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_stay_sparse(kind, matrix, tmp_path):
    X = term_weights(30, 200)[0]
    sparse.save_npz(tmp_path / "texts.npz", matrix(X).asformat(kind))
    found = read_points(tmp_path / "texts.npz").X
    assert isinstance(found, sparse.csr_array)
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), X.toarray())


def test_labels_from_another_file(saved):
    path, topics_path, X, topics = saved
    table = read_points(path, labels=topics_path)
    np.testing.assert_array_equal(table.y, topics)
    assert table.X.shape == X.shape
    with pytest.raises(FileError, match="one sparse matrix only"):
        read_points(path, labels="topic")


def test_infinite_values_are_found_and_dropped(tmp_path):
    X = term_weights(30, 200)[0]
    X.data[X.indptr[7]] = np.inf
    sparse.save_npz(tmp_path / "texts.npz", X)
    with pytest.raises(FileError, match="row 7 "):
        read_points(tmp_path / "texts.npz")
    table = read_points(tmp_path / "texts.npz", drop_missing=True)
    assert table.X.shape[0] == 29
    assert table.row_ids.tolist() == [row for row in range(30) if row != 7]


def test_places_beyond_the_end_are_refused(saved, tmp_path):
    path, _, X, _ = saved
    for name, value in (("indices", X.shape[1]), ("indptr", X.nnz + 5)):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
        arrays[name][-1 if name == "indices" else 3] = value
        np.savez(tmp_path / "bad.npz", **arrays)
        with pytest.raises(FileError, match=r"bad\.npz"):
            read_points(tmp_path / "bad.npz")


def test_facts_about_a_sparse_matrix():
    from srsg.files import Table

    X = sparse.csr_array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    facts = {fact.about: fact for fact in inspect_table(Table(X, np.arange(4)))}
    assert facts["sparse matrix"].found.startswith("3 non-zeros, 25.00% of all values")
    assert facts["duplicates"].found == "1 row repeats another"
    assert facts["rows of zeros"].found == "1 (row 2, counted from 0)"
    assert facts["empty columns"].found == "1"


def test_commands_take_sparse_files(saved, tmp_path):
    path, topics, _, _ = saved
    shown = good("info", path, "--json")
    facts = {fact["about"]: fact["found"] for fact in json.loads(shown.stdout)["facts"]}
    assert "non-zeros" in facts["sparse matrix"]
    model = tmp_path / "texts.srsg"
    options = ["-k", 4, "--method", "l1", "--model", model, "-o", tmp_path / "labels.csv"]
    found = good("cluster", path, *options, "--labels", topics, "--json")
    summary = json.loads(found.stdout)
    assert summary["n_points"] == 60
    assert summary["n_features"] == 400
    again = good("predict", model, path, "-o", tmp_path / "again.csv")
    assert "60 points" in again.stdout + again.stderr
