"""Results: each part with its command, its commit and the code that decides it."""

from __future__ import annotations

import pytest

from tools import results

COMPANIONS = {".csv", ".json", ".png"}
"""What a part is drawn from, or draws."""


def test_every_file_of_the_archive_is_a_part():
    files = {path for path in results.PARTS.iterdir() if path.suffix not in COMPANIONS}
    assert files <= {results.file_of(part) for part in results.COMMANDS}


def test_the_list_of_parts_is_up_to_date():
    assert results.INDEX.read_text() == results.index(), "run: python -m tools.results"


def test_every_part_is_in_the_manifest():
    noted = results.manifest()
    assert noted.keys() == results.COMMANDS.keys()
    for part, facts in noted.items():
        assert facts.keys() == {"command", "commit", "versions", "code", "content"}
        assert facts["content"] == results.digest_of_page(part), f"{part} was edited by hand"


@pytest.mark.parametrize("part", results.COMMANDS)
def test_results_are_those_of_this_code(part):
    """Long evaluations cannot run with the tests: what is out of date is named, not failed."""
    command = results.stale().get(part)
    if command is not None:
        pytest.skip(f"{part} was made by older code: run {command}")


def test_a_change_of_code_is_seen(tmp_path, monkeypatch):
    before = results.digest_of_code(("graph.py",))
    (tmp_path / "src/srsg").mkdir(parents=True)
    (tmp_path / "src/srsg/graph.py").write_text("changed = True\n")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    assert results.digest_of_code(("graph.py",)) != before
