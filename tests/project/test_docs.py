"""The documentation: it builds without a warning, its links lead somewhere, its snippets run."""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
import shutil
from pathlib import Path

import pytest

from support.cli_runs import good

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("start/*.md"), *DOCS.glob("guide/*.md"), *DOCS.glob("theory/*.md")])
BLOCK = re.compile(r"(<!-- not run: ([^>]+) -->\n)?^```(python|sh)\n(.*?)^```", re.DOTALL | re.M)


@pytest.fixture
def check_site(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from tools import check_site

    return check_site


def test_what_leads_nowhere_is_found(tmp_path, check_site):
    (tmp_path / "other.html").write_text("<p id='here'>")
    (tmp_path / "index.html").write_text(
        "<a href='other.html#here'></a> <a href='other.html#there'></a> <a href='none.html'></a>"
        "<img src='https://example.org/picture.png'>"
    )
    found = sorted(check_site.problems(tmp_path))
    assert len(found) == 3
    assert found[0].endswith("loads https://example.org/picture.png from elsewhere")
    assert found[1].endswith("none.html: there is no such file")
    assert found[2].endswith("other.html#there: there is no such place on that page")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.usefixtures("few_digits")
def test_snippets_of_the_pages_run(page, tmp_path, monkeypatch, capsys):
    """In order, in one folder that has the files of the start page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for table in DOCS.glob("start/*.csv"):
        shutil.copy(table, tmp_path)
    names: dict[str, object] = {}
    for _, reason, language, code in BLOCK.findall(page.read_text()):
        if reason:
            continue
        if language == "python":
            exec(compile(code, page.name, "exec"), names)
        for line in code.splitlines() if language == "sh" else ():
            program, *words = shlex.split(line, comments=True)
            assert program == "srsg", f"not run and no reason given: {line}"
            good(*words)
    if page.stem == "how-it-works":
        assert "of groups [0 0 0" in capsys.readouterr().out


def test_messages_of_the_troubleshooting_page_exist():
    page = (DOCS / "guide" / "troubleshooting.md").read_text()
    # Messages are split over lines of source, and have names in braces.
    source = " ".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    source = re.sub(r'"\s*(?:rf|fr|f|r)?"', "", source)
    quoted = re.findall(r'^(".+")$', page, re.MULTILINE)
    assert len(quoted) > 20
    for line in quoted:
        for message in re.findall(r'"([^"]+)"', line):
            assert message in source, message


def test_sections_of_the_report_are_those_that_the_guide_explains():
    page = (DOCS / "guide" / "report.md").read_text()
    explained = re.findall(r"^(.+)\n: ", page, re.MULTILINE)
    source = " ".join(path.read_text() for path in (ROOT / "src/srsg/report").glob("*.py"))
    headings = re.findall(r'section\("\w+", "([^"]+)"', source)
    assert len(headings) > 5
    assert set(headings) <= set(explained)
    for heading in explained:
        assert f'"{heading}"' in source, heading


def public_names():
    """The names on the pages of the reference."""
    for page in sorted(DOCS.glob("reference/*.rst")):
        module = ""
        for line in page.read_text().splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif (match := re.match(r"   ([A-Za-z][\w.]+)$", line)) and module:
                yield f"{module}.{match[1]}"


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_every_public_name_has_an_example(name):
    home, _, last = name.rpartition(".")
    documented = getattr(importlib.import_module(home), last)
    assert ">>>" in (inspect.getdoc(documented) or "")


def test_reference_has_all_public_names():
    import srsg

    listed = set(public_names())
    assert {f"srsg.{name}" for name in srsg.__all__} <= listed
    for module in ("metrics", "plot", "report", "features"):
        names = getattr(importlib.import_module(f"srsg.{module}"), "__all__", [])
        assert {f"srsg.{module}.{name}" for name in names} <= listed


def test_tables_of_results_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from tools import result_tables

    for path, text in result_tables.pages().items():
        assert path.read_text() == text, "run: python -m tools.result_tables"


def test_plan_for_dask_has_the_measured_costs():
    plan = (ROOT / "examples" / "plot_million_points_dask.py").read_text()
    costs = (DOCS / "results" / "dask-costs.md").read_text()
    figures = re.search(
        r"scanned ([\d.]+) times .* took ([\d.]+) ps .* took ([\d.]+) ms .* ([\d.]+) rows", costs
    )
    scans, pair, point, rows = figures.groups()
    for line in (
        f"SCANS = {scans}",
        f"SECONDS_PER_PAIR_AND_FEATURE = {pair}e-12",
        f"SECONDS_PER_POINT = {point}e-3",
        f"ROWS_FETCHED = {rows}",
    ):
        assert f"{line}\n" in plan
