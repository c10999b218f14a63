"""Every figure in the README, the site and the changelog has a source.

Measured figures stand in blocks that ``tools.result_tables`` writes, or in parts of the archive
that pages include; both come from the manifest of the results. What is left in the text are
settings, each with the place in the repository that has it. Figures are decimals, shares in per
cent, and amounts of time, memory and "times"; code, formulas and links are not searched.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import result_tables, results

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ARCHIVE = {"results", "_build", "gallery", "generated"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "paper" / "joss" / "paper.md",
    *sorted(path for path in DOCS.rglob("*.md") if not ARCHIVE & {*path.relative_to(DOCS).parts}),
]
GENERATED = r"<!-- ([\w ]+): python -m [\w.]+ -->.*?<!-- end of \1 -->"
NOT_TEXT = re.compile(rf"{GENERATED}|^```.*?^```|\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
NOT_WORDS = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|https?://\S+|Theorem \d\.\d")
FIGURE = re.compile(
    r"(?<![\w.])(?:\d+\.\d+|\.\d{2,})(?![\w.]*\d)"
    r"|\d[\d,.]* ?%|\d[\d,.]* (?:per cent|times|seconds|minutes|s|ms|MB|GB)\b"
)
PROJECT, VALLEYS = (
    ("pyproject.toml", 'requires-python = ">=3.11"'),
    "src/srsg/explaining/valleys.py",
)
TREES = ("src/srsg/search/comparison.py", "CUT_TIE = 0.05")

SETTINGS = {
    "README.md": {"3.11": PROJECT},
    "CHANGELOG.md": {
        "0.4": ("src/srsg/moved.py", "until 0.4"),
        "1.9": ("src/srsg/estimators/callbacks.py", "1.9"),
        "5 %": (VALLEYS, "LEVEL = 0.05"),
    },
    "docs/about/checklists.md": {"3.11": PROJECT},
    "docs/guide/dask.md": {
        "60 %": ("docs/guide/dask.md", "above that, Dask writes data to disk"),  # Dask's own
        "150 MB": ("docs/guide/dask.md", "Use chunks of 50 to"),  # advice, not a measurement
    },
    "docs/guide/large-data.md": {"64 MB": ("src/srsg/files/arrays.py", "MAPPED_FROM = 64 * 2**20")},
    "docs/guide/n-clusters.md": {
        "1.25": ("src/srsg/counting/reproducibility.py", "APART = 1.25"),
    },
    "docs/guide/new-points.md": {
        "0.8": ("docs/guide/new-points.md", "about 80 % should"),  # what calibrated means
        "80 %": ("docs/guide/new-points.md", "a confidence of 0.8"),
        "95 %": ("docs/guide/new-points.md", "novelty=0.05"),
    },
    "docs/guide/preparing.md": {"5 %": ("src/srsg/files/kinds.py", "numbers > 0], 0.05")},
    "docs/guide/which-method.md": {"5 %": TREES},
    "docs/results.md": {"0.8": ("docs/results.md", "four fifths should be")},
    "docs/start/index.md": {"3.11": PROJECT},
    "docs/theory/stability.md": {
        "0.02": ("src/srsg/search/search.py", "TIE = 0.02"),
        "0.85": ("src/srsg/counting/density.py", "THIN = 0.85"),
    },
}
"""Figures that are no results: where each comes from."""


def figures(text):
    """Figures in the sentences of a page."""
    return set(FIGURE.findall(NOT_WORDS.sub("", NOT_TEXT.sub("", text))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_figures_have_a_source(page):
    allowed = SETTINGS.get(page.relative_to(ROOT).as_posix(), {})
    found = figures(page.read_text())
    assert found - allowed.keys() == set(), "take it from a part: tools/result_tables.py"
    assert allowed.keys() - found == set(), "no longer in the page"
    for place, words in allowed.values():
        assert words in (ROOT / place).read_text(), (place, words)


@pytest.mark.parametrize(
    "text", ["reaches 0.93", "in 96 % of draws", "took 12 s", "is 40 times", ".71"]
)
def test_figures_are_seen(text):
    assert figures(text)
    assert not figures(f"`{text}`")
    assert not figures(f"<!-- a b: python -m tools.c -->\n{text}\n<!-- end of a b -->")


def test_what_pages_include_is_in_the_manifest():
    parts = {results.file_of(part) for part in results.COMMANDS}
    for page in PAGES:
        for name in re.findall(r"^```\{\w*include\} (.*results/parts/.*)$", page.read_text(), re.M):
            assert (page.parent / name).resolve() in parts, name


def test_what_tables_are_made_of_is_in_the_manifest():
    source = Path(result_tables.__file__).read_text()
    read = {
        *re.findall(r'part_table\("([\w-]+)"', source),
        *re.findall(r'RESULTS / "([\w-]+)\.md"', source),
    }
    assert len(read) > 3
    assert read <= results.COMMANDS.keys()
