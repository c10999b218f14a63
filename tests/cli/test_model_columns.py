"""A model knows the names of its columns: new tables are matched by them, or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from srsg.persistence import load_model
from support.cli_runs import good, planes, run

NAMES = [f"f{j}" for j in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of points with names, one of points without, and new points."""
    folder = tmp_path_factory.mktemp("models")
    X, y = planes()
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(0, "id", np.arange(500, 560))
    frame["kind"] = [f"c{label}" for label in y]
    frame.to_csv(folder / "named.csv", index=False)
    np.savetxt(folder / "bare.csv", X, delimiter=",", fmt="%.17g")
    np.save(folder / "array.npy", X)
    for name, options in (("named", ["--labels", "kind"]), ("bare", [])):
        model = folder / f"{name}.srsg"
        good("cluster", folder / f"{name}.csv", "-k", 3, *options, "--model", model, "-q")
    good("cluster", folder / "array.npy", "-k", 3, "--model", folder / "array.srsg", "-q")
    return folder


@pytest.fixture
def new():
    return pd.DataFrame(planes()[0] * 1.5, columns=NAMES)


def labels(folder, model, path, *options):
    output = path.with_name("labels-out.csv")
    done = good("predict", folder / f"{model}.srsg", path, "-o", output, "-q", *options)
    assert "warning" not in done.stderr
    return pd.read_csv(output)["label"].tolist()


def test_names_are_stored(folder):
    assert load_model(folder / "named.srsg").feature_names_in_.tolist() == NAMES
    numbers = load_model(folder / "bare.srsg").feature_names_in_.tolist()
    assert numbers == [str(j) for j in range(12)]
    assert not hasattr(load_model(folder / "array.srsg"), "feature_names_in_")


def test_columns_in_another_order_give_the_same_labels(folder, new, tmp_path):
    new.to_csv(tmp_path / "a.csv", index=False)
    new[NAMES[::-1]].to_csv(tmp_path / "b.csv", index=False)
    new[NAMES[::-1]].to_parquet(tmp_path / "c.parquet", index=False)
    expected = labels(folder, "named", tmp_path / "a.csv")
    assert len(set(expected)) == 3
    assert labels(folder, "named", tmp_path / "b.csv") == expected
    assert labels(folder, "named", tmp_path / "c.parquet") == expected


def test_identifiers_and_text_beside_them_do_not_matter(folder, new, tmp_path):
    new.to_csv(tmp_path / "a.csv", index=False)
    beside = new.assign(remark="none", id=np.arange(len(new)))
    beside.to_csv(tmp_path / "b.csv", index=False)
    assert labels(folder, "named", tmp_path / "b.csv") == labels(
        folder, "named", tmp_path / "a.csv"
    )


@pytest.mark.filterwarnings("ignore:X has .* far longer or shorter")  # the counter is
def test_a_feature_that_looks_like_an_identifier_is_a_feature(folder, new, tmp_path):
    counting = new.assign(f0=np.arange(len(new)))  # in the first place, and counts the rows
    counting.to_csv(tmp_path / "a.csv", index=False)
    counting[NAMES[::-1]].to_csv(tmp_path / "b.csv", index=False)
    assert labels(folder, "named", tmp_path / "a.csv") == labels(
        folder, "named", tmp_path / "b.csv"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda new: new.drop(columns=["f3", "f7"]), ["missing: f3, f7)"]),
        (lambda new: new.assign(weight=1.5, y=2.5), ["(not in the model: weight, y)"]),
        (lambda new: new.rename(columns={"f2": "g2"}), ["missing: f2;", "not in the model: g2)"]),
    ],
)
def test_other_columns_are_an_error_that_lists_them(folder, new, tmp_path, change, words):
    change(new).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", folder / "named.srsg", tmp_path / "new.csv")
    assert done.exit_code == 1
    message = " ".join(done.stderr.split())
    for each in (*words, "new.csv", "--columns"):
        assert each in message
    assert done.stdout == ""


def test_extra_columns_can_be_left_out(folder, new, tmp_path):
    new.to_csv(tmp_path / "a.csv", index=False)
    new.assign(weight=1.5).to_csv(tmp_path / "b.csv", index=False)
    chosen = labels(folder, "named", tmp_path / "b.csv", "--columns", ",".join(NAMES[::-1]))
    assert chosen == labels(folder, "named", tmp_path / "a.csv")


@pytest.mark.parametrize("model", ["named", "bare", "array"])
def test_files_without_a_header_go_by_number(folder, new, tmp_path, model):
    new.to_csv(tmp_path / "named.csv", index=False)
    new.to_csv(tmp_path / "bare.csv", index=False, header=False)
    np.save(tmp_path / "array.npy", new.to_numpy())
    expected = labels(folder, model, tmp_path / "array.npy")
    for name in ("named.csv", "bare.csv"):
        assert labels(folder, model, tmp_path / name) == expected


def test_too_few_numbered_columns_are_an_error(folder, new, tmp_path):
    new.iloc[:, :9].to_csv(tmp_path / "bare.csv", index=False, header=False)
    for model in ("named", "array", "bare"):
        done = run("predict", folder / f"{model}.srsg", tmp_path / "bare.csv")
        assert done.exit_code == 1
        assert "12" in done.stderr or "missing: 9, 10, 11" in " ".join(done.stderr.split())


def test_points_that_no_cluster_explains_get_no_cluster(folder, new, tmp_path):
    new.iloc[:5] = np.random.default_rng(0).standard_normal((5, 12))
    new.to_csv(tmp_path / "new.csv", index=False)
    found = labels(folder, "named", tmp_path / "new.csv", "--novelty", "0.02")
    assert found[:5] == [-1] * 5
    assert found[5:].count(-1) <= 5
    done = good("predict", folder / "named.srsg", tmp_path / "new.csv", "--novelty", "0.02")
    assert "of them belong to none of the clusters" in done.stderr
    done = run("predict", folder / "named.srsg", tmp_path / "new.csv", "--novelty", "3")
    assert done.exit_code != 0
    assert "--novelty 3.0 must be a share between 0 and 1" in done.stderr
