"""No command writes over what it reads, by whatever path or link."""

from __future__ import annotations

import os

import numpy as np
import pytest

from support.cli_runs import good, run, table_of_planes


@pytest.fixture
def table(tmp_path):
    return table_of_planes(tmp_path / "points.csv")


def same(path):
    return path


def dotted(path):
    return path.parent / "." / ".." / path.parent.name / path.name


def symbolic(path):
    link = path.with_name("link.csv")
    link.symlink_to(path)
    return link


def hard(path):
    link = path.with_name("hard.csv")
    os.link(path, link)
    return link


@pytest.mark.parametrize("other", [same, dotted, symbolic, hard])
@pytest.mark.parametrize("command", [("cluster", "-k", 3), ("compare", "-k", 3)])
def test_the_data_is_no_output(table, other, command):
    before = table.read_bytes()
    name, *options = command
    done = run(name, table, *options, "-o", other(table), "--columns", "f0,f1,f2")
    assert done.exit_code == 1
    assert "is an input" in " ".join(done.stderr.split())
    assert table.read_bytes() == before


def test_a_link_to_an_output_is_no_data_either(table):
    link = symbolic(table)
    before = table.read_bytes()
    assert run("cluster", link, "-k", 3, "-o", table).exit_code == 1
    assert table.read_bytes() == before


@pytest.mark.parametrize("option", ["--graph", "-o"])
def test_labels_are_no_output(tmp_path, table, option):
    known = tmp_path / "known.csv"
    known.write_text("\n".join(["label", *"abc" * 20]))
    before = known.read_bytes()
    done = run("cluster", table, "-k", 3, "--labels", known, option, known)
    assert "is an input" in " ".join(done.stderr.split())
    assert known.read_bytes() == before


def test_one_file_for_two_outputs_is_refused(tmp_path, table):
    (tmp_path / "link.csv").symlink_to(tmp_path / "out.csv")
    done = run(
        *("cluster", table, "-k", 3, "-o", tmp_path / "out.csv", "--graph", tmp_path / "link.csv")
    )
    assert done.exit_code == 1
    assert "--graph" in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_a_model_and_new_points_are_no_output_of_predict(tmp_path, table):
    model = tmp_path / "model.srsg"
    good("cluster", table, "-k", 3, "--labels", "kind", "--model", model, "-q")
    before = model.read_bytes(), table.read_bytes()
    labels = tmp_path / "labels.csv"
    labels.symlink_to(model)
    for output in (table, labels):
        done = run("predict", model, table, "-o", output)
        assert "is an input" in " ".join(done.stderr.split())
    assert (model.read_bytes(), table.read_bytes()) == before


def test_other_files_are_replaced(tmp_path, table):
    output = tmp_path / "labels.csv"
    output.write_text("old")
    good("cluster", table, "-k", 3, "--labels", "kind", "-o", output, "-q")
    assert len(np.loadtxt(output, delimiter=",", skiprows=1)) == 60
