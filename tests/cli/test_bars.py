"""Progress on a terminal: what runs, since when, and for how long still."""

from __future__ import annotations

import io
import re
import time

from rich.console import Console

from srsg.cli import bars as module
from srsg.cli.bars import Lines, Notes, bars


def shown(monkeypatch, work, width=140):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width)
    monkeypatch.setattr(module, "errors", console)
    with bars() as progress:
        work(progress)
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", screen.getvalue())


def test_elapsed_and_remaining_are_told_apart(monkeypatch):
    def work(progress):
        with progress.stage("all methods", 3) as stage, progress.stage("srsg: sweeps", 1):
            stage.advance()
            stage.advance()
            progress._display.refresh()

    printed = shown(monkeypatch, work)
    assert re.search(r"67 % elapsed: 0:00:0\d left: 0:00:0\d all methods", printed)
    assert re.search(r"elapsed: 0:00:0\d +srsg: sweeps", printed)  # nobody knows how long


def test_lines_stay_whole_on_a_narrow_terminal(monkeypatch):
    def work(progress):
        what = "srsg, standardised, affine: samples"
        with progress.stage("the whole search", 3) as stage, progress.stage(what, 1):
            stage.advance()
            stage.advance()
            progress._display.refresh()

    printed = shown(monkeypatch, work, width=80)
    assert re.search(r"67 % elapsed: 0:00:0\d left: 0:00:0\d the whole search", printed)
    assert re.search(r"elapsed: 0:00:0\d +srsg, standardised", printed)


def test_a_note_is_printed_once(monkeypatch):
    printed = []
    monkeypatch.setattr(module, "note", printed.append)
    notes = Notes()
    for message in ("compiling", "other", "compiling"):
        notes.note(message)
    assert printed == ["compiling", "other"]


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch):
    printed = []
    monkeypatch.setattr(module, "note", printed.append)
    monkeypatch.setattr(module, "EVERY", 0.02)
    with bars() as progress:
        assert isinstance(progress, Lines)
        with progress.stage("comparing 4 methods", 4) as stage, progress.stage("srsg: samples", 9):
            stage.advance(2)
            deadline = time.monotonic() + 20
            while not printed and time.monotonic() < deadline:
                time.sleep(0.01)
    line = r"0:00:\d\d comparing 4 methods: 50%, left: 0:00:\d\d; srsg: samples"
    assert re.fullmatch(line, printed[0])
    time.sleep(0.1)
    after = len(printed)
    time.sleep(0.1)
    assert len(printed) == after  # the thread has ended with the work


def test_short_work_without_a_terminal_prints_nothing(monkeypatch):
    printed = []
    monkeypatch.setattr(module, "note", printed.append)
    with bars() as progress, progress.stage("reading", 1):
        pass
    assert printed == []
