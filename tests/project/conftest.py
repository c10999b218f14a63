"""Fixtures of the tests of the repository."""

from __future__ import annotations

import pytest
from sklearn import datasets


@pytest.fixture
def few_digits(monkeypatch):
    """A quarter of all digits: snippets of the documentation are run, not measured."""
    load_digits = datasets.load_digits

    def few(**options):
        if options == {"return_X_y": True}:
            return tuple(part[::4] for part in load_digits(**options))
        return load_digits(**options)

    monkeypatch.setattr(datasets, "load_digits", few)
