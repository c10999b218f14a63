"""The map of the code in CONTRIBUTING.md is that of the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def house_map(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from tools import house_map

    return house_map


def test_map_and_walk_are_those_of_the_code(house_map):
    text = house_map.CONTRIBUTING.read_text()
    assert house_map.with_tables(text) == text, "run: python -m tools.house_map"


def test_every_room_is_on_the_map(house_map):
    named = set(re.findall(r"^\| `(\w+)/` ", house_map.rooms(), re.MULTILINE))
    assert named == {path.parent.name for path in house_map.PACKAGE.glob("*/__init__.py")}


OTHER_TESTS = {"project", "paper", "tour", "fuzz", "faults", "properties"}
"""Tests of no single room: of the repository, the paper, whole runs, and all estimators at once."""


def test_tests_mirror_the_rooms(house_map):
    rooms = {path.parent.name for path in house_map.PACKAGE.glob("*/__init__.py")}
    folders = {path.parent.relative_to(ROOT / "tests") for path in ROOT.glob("tests/**/test_*.py")}
    assert {path.parts[0] for path in folders if path.parts} <= rooms | OTHER_TESTS


def test_files_that_are_named_exist(house_map):
    text = house_map.CONTRIBUTING.read_text()
    names = set(re.findall(r"`([\w/.]+\.(?:py|md|toml|cff))`", text))
    assert len(names) > 20
    for name in names:
        places = [ROOT / name, ROOT / "src" / name, house_map.PACKAGE / name]
        assert any(place.exists() for place in places), name


def test_no_test_imports_another():
    for path in ROOT.glob("tests/**/*.py"):
        for line in path.read_text().splitlines():
            assert not re.match(r"\s*(from|import) (\w+\.)*test_", line), f"{path}: {line}"
