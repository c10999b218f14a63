"""Names of columns and files that are many, strange or not text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from srsg.files import read_points, write_labels
from srsg.files.text_tables import distinct_names
from support.cli_runs import command, good, run, start


def test_many_equal_names_take_no_time():
    start = time.process_time()
    names = distinct_names(["a"] * 20_000 + [f"a.{k}" for k in range(20_000)])
    assert len(set(names)) == 40_000
    numbers = [str(k) for k in range(20_000)]
    assert distinct_names(numbers) == numbers
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "a", "a"], ["a", "a.1", "a.2"]),
        (["a", "a.1", "a"], ["a", "a.1", "a.2"]),
        (["a", "a", "a.1"], ["a", "a.2", "a.1"]),
        (["", "Unnamed: 0", ""], ["Unnamed: 0", "Unnamed: 0.1", "Unnamed: 2"]),
    ],
)
def test_names_are_those_of_pandas(given, expected):
    assert distinct_names(given) == expected


def test_json_has_no_infinite_numbers(tmp_path):
    odd = [np.inf, -np.inf, np.nan, 0.5]
    write_labels(tmp_path / "l.json", [0, 1, 0, 1], columns={"confidence": odd})

    def refuse(word):
        raise AssertionError(word)

    rows = json.loads((tmp_path / "l.json").read_text(), parse_constant=refuse)
    assert [row["confidence"] for row in rows] == [None, None, None, 0.5]


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("a,b\x1b]0;title\x07,c\n" + "1.5,word,2\n2.5,other,1\n0.5,third,1\n")
    for done in (good("info", table), run("cluster", table, "-k", 2, "-m", "kmeans")):
        assert "b\\x1b]0;title\\x07" in done.output
        assert "\x1b]" not in done.output
    done = run("cluster", table, "--columns", "\x1b[2J")
    assert "\x1b" not in done.output


NO_UTF8 = b"caf\xe9.csv"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are UTF-8 there")
def test_names_of_files_that_are_not_utf8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), NO_UTF8)
    rows = "\n".join(f"{k % 2}.5,{k}.25" for k in range(12))
    with open(path, "w") as file:
        file.write(f"a,b\n{rows}\n")
    options = ["-k", "2", "-m", "kmeans", "--report", tmp_path / "page.html"]
    done = subprocess.run([*command(), "cluster", path, *options], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "caf\\udce9" in (tmp_path / "page.html").read_text()
    done = subprocess.run([*command(), "cluster", path + b".gz"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "caf\\udce9.csv.gz: there is no such file." in done.stderr


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are UTF-8 there")
def test_names_of_images_that_are_not_utf8(tmp_path, capsys):
    for folder in ("s\udce9", "t"):
        (tmp_path / folder).mkdir()
        Image.new("L", (2, 2), len(folder)).save(tmp_path / folder / "a.png")
    table = read_points(tmp_path)
    assert table.row_ids.tolist() == ["s\\xe9/a.png", "t/a.png"]
    write_labels("-", table.y, row_ids=table.row_ids)
    assert capsys.readouterr().out == "id,label\ns\\xe9/a.png,0\nt/a.png,1\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a shell of POSIX")
@pytest.mark.parametrize("arguments", [["info", "x.csv"], ["--help"], ["info", "--help"]])
@pytest.mark.parametrize("closed", [">&-", "| true", ">&- 2>&-"])
def test_closed_outputs_are_quiet(tmp_path, arguments, closed):
    (tmp_path / "x.csv").write_text("a,b\n1,2.5\n3,4.5\n")
    line = " ".join([*map(str, command()), *arguments, closed])
    if "|" in closed:
        reader, writer = os.pipe()
        os.close(reader)
        process = start(*arguments, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path)
        os.close(writer)
        assert process.communicate()[1] == b""
        # rich, which prints the help, ends the program with 1.
        assert process.returncode == int("--help" in arguments)
    else:
        done = subprocess.run(line, shell=True, capture_output=True, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
