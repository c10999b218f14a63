"""What is counted in the code: on a small package, and in the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BASE = '''"""A docstring

of three lines."""

# A comment.
class Base:
    """Hooks."""

    def _hook(self):
        return None  # nothing

    def _other(self): ...

    def __len__(self):
        return getattr(self, "n", 0)


class Part(Base):
    def _hook(self):
        def inner():
            return 1

        return hasattr(self, "n") and inner()
'''

WRITES = '''
class Thing:
    def forget(self, name):
        """Not vars(self).clear()."""
        learnt = self.__dict__
        learnt[name] = 1
        learnt |= {}
        vars(self).update({})
        return vars(self)[name], learnt.get(name)


def change(thing, learnt):
    learnt["a"] = 1
    thing.__dict__ = {}
    del vars(thing)["a"]
'''


@pytest.fixture
def house(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import house

    return house


@pytest.fixture
def counts(house, tmp_path):
    for name, text in {
        "estimators/base.py": BASE,
        "files/writes.py": WRITES,
        "types.py": "X = 1\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return house.size(tmp_path)


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ("code lines", 23),
        ("code lines: `estimators/`", 11),
        ("code lines: modules at the top level", 1),
        ("files", 3),
        ("longest file, code lines", 11),
        ("classes", 3),
        ("functions", 7),
        ("code lines of a function, median", 2),
        ("code lines of a function, 90th percentile", 6),
        ("code lines of a function, longest", 6),
        ("comments per 100 code lines", 8.7),
        ("private methods defined in two or more classes of `estimators/`", 1),
        ("calls of `getattr` and `hasattr` in `estimators/`", 2),
        ("writes to `vars()` or `__dict__`", 5),
    ],
)
def test_counts_of_a_small_package(counts, row, count):
    assert counts[row] == count


def test_rooms_of_other_checkouts_have_rows_of_their_own(house):
    columns = [{"lines": 1, "a/": 1, "files": 2, "walk": []}, {"lines": 3, "b/": 1, "files": 1}]
    assert house.table(columns, ["old", "new"]).splitlines() == [
        "|       | old | new |",
        "| ----- | --: | --: |",
        "| lines |   1 |   3 |",
        "| b/    |   - |   1 |",
        "| a/    |   1 |   - |",
        "| files |   2 |   1 |",
    ]


def test_page_has_the_numbers_and_the_command(house, tmp_path, capsys):
    house.main(["--write", str(tmp_path / "house.md")])
    text = (tmp_path / "house.md").read_text()
    assert capsys.readouterr().out.strip() in text
    assert "`python -m benchmarks.house --src src --write house.md`" in text
    for row in ("classes in SRSG's MRO, all", "parameters: StabilitySearch", "files of one fit"):
        assert f"| {row} " in text
    assert str(ROOT) not in text
