"""Progress on a terminal: what runs, since when, and for how long still."""

from __future__ import annotations

import io
import re

from rich.console import Console

from srsg.cli import bars as module
from srsg.cli.bars import Notes, bars


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
