"""Results: few pages, each part with its command, its commit and the code that decides it."""

from __future__ import annotations

import re

import pytest

from tools import results

PAGES = sorted((results.ROOT / "docs" / "results").glob("*.md"))


def test_there_are_few_pages_and_they_show_every_part():
    assert len(PAGES) <= 8
    shown = [part for page in PAGES for part in re.findall(r"parts/(.+)\.md", page.read_text())]
    assert sorted(shown) == sorted(results.COMMANDS)


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
