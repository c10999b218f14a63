"""Files that workers read: the same features and labels as in one process, whatever comes late."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from srsg.files import FileError, read_points

pytest.importorskip("distributed", reason="needs srsg[dask]")

from srsg.running.dask.files import read_table_on

N_ROWS = 1500
"""More than the rows by which columns were once judged."""


@pytest.fixture(scope="module")
def address():
    import dask
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set({"distributed.worker.memory.pause": False}),
        LocalCluster(processes=False, **options) as cluster,
        Client(cluster, set_as_default=False),
    ):
        yield cluster.scheduler_address


def tricky(n_rows=N_ROWS):
    """Columns whose first thousand rows say something else than all of them."""
    rng = np.random.default_rng(0)
    late = np.arange(n_rows) >= 1200
    frame = pd.DataFrame({f"f{j}": rng.standard_normal(n_rows) for j in range(4)})
    frame.insert(0, "id", np.where(late, 7, np.arange(n_rows)))  # no identifier: repeats late
    frame["counts"] = np.arange(n_rows)
    frame["turns textual"] = ["1.5" if row < 600 else f"text {row}" for row in range(n_rows)]
    frame["empty at first"] = np.where(late, 1.0, np.nan)
    frame["one number at first"] = np.where(late, rng.standard_normal(n_rows), 3.0)
    frame["numbers in quotes"] = [str(value) for value in rng.integers(0, 9, n_rows)]
    frame["kind"] = np.where(late, "b", "a")
    frame["single"] = rng.standard_normal(n_rows).astype(np.float32)
    return frame


def on_cluster(address, path, columns=None, labels=None):
    return read_table_on(address, str(path), labels=labels, columns=columns)


@pytest.mark.parametrize("columns", [None, ["f2", "f0", "numbers in quotes"]])
def test_features_labels_and_notes_are_those_of_one_process(address, tmp_path, columns):
    frame = tricky().drop(columns="empty at first")
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=200, index=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = on_cluster(address, tmp_path / "t.parquet", columns, "kind")
    for name in ("t.parquet", "t.csv"):
        expected = read_points(tmp_path / name, labels="kind", columns=columns)
        assert found.feature_names == expected.feature_names
        assert found.notes == expected.notes
        assert found.class_names == expected.class_names
        np.testing.assert_array_equal(found.y, expected.y)
        np.testing.assert_array_equal(found.row_ids, expected.row_ids)
        if name == "t.parquet":
            np.testing.assert_array_equal(found.X.compute(), expected.X)
    assert len(found.X.chunks[0]) > 1
    assert ("id" in found.feature_names) == (columns is None)
    assert "turns textual" not in found.feature_names


def test_a_column_that_is_empty_at_first_is_a_feature_all_the_same(address, tmp_path):
    tricky()[["f0", "f1", "empty at first"]].to_parquet(tmp_path / "t.parquet", index=False)
    found = on_cluster(address, tmp_path / "t.parquet")
    assert found.feature_names == ("f0", "f1", "empty at first")


def test_a_word_among_numbers_is_named_with_its_row_among_all(address, tmp_path):
    frame = tricky()[["f0", "f1", "numbers in quotes"]].astype({"numbers in quotes": object})
    frame.loc[1400, "numbers in quotes"] = "many"
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=200, index=False)
    with pytest.raises(FileError, match="row 1400") as expected:
        read_points(tmp_path / "t.parquet")
    with pytest.raises(FileError, match="row 1400") as found:
        on_cluster(address, tmp_path / "t.parquet")
    assert str(found.value) == str(expected.value)


def test_missing_labels_are_refused_as_in_one_process(address, tmp_path):
    frame = tricky()[["f0", "f1", "kind"]].astype({"kind": object})
    frame.loc[1300, "kind"] = None
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(FileError, match="row 1300") as expected:
        read_points(tmp_path / "t.parquet", labels="kind")
    with pytest.raises(FileError, match="row 1300") as found:
        on_cluster(address, tmp_path / "t.parquet", labels="kind")
    assert str(found.value) == str(expected.value)


def test_single_precision_only_if_all_features_have_it(address, tmp_path):
    frame = tricky()[["single", "f0"]]
    frame.to_parquet(tmp_path / "mixed.parquet", index=False)
    frame.astype(np.float32).to_parquet(tmp_path / "single.parquet", index=False)
    assert on_cluster(address, tmp_path / "mixed.parquet").X.dtype == np.float64
    assert on_cluster(address, tmp_path / "single.parquet").X.dtype == np.float32


def test_an_index_that_was_written_names_the_rows(address, tmp_path):
    frame = tricky()[["f0", "f1"]].set_index(pd.Index([f"r{k}" for k in range(N_ROWS)]))
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=200)
    found, expected = (
        on_cluster(address, tmp_path / "t.parquet"),
        read_points(tmp_path / "t.parquet"),
    )
    assert found.feature_names == expected.feature_names == ("f0", "f1")
    np.testing.assert_array_equal(found.row_ids, expected.row_ids)
