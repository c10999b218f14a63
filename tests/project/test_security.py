"""SECURITY.md names a test for each promise; the tests are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(
    r"^\| (.+?) \| .+ \| `(\S+)::(\w+)` \|$", (ROOT / "SECURITY.md").read_text(), re.M
)


@pytest.mark.parametrize(("what", "file", "test"), NAMED)
def test_the_test_of_a_promise_exists(what, file, test):
    assert f"\ndef {test}(" in (ROOT / file).read_text()


def test_every_kind_of_thing_has_promises():
    kinds = {what for what, _, _ in NAMED}
    assert {"a data file", "a model", "a store", "a scheduler", "a report"} <= kinds


def test_no_line_of_the_table_is_without_a_test():
    text = (ROOT / "SECURITY.md").read_text()
    table = text.partition("| test |\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert len(table) == len(NAMED)
