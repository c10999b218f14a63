"""A few hundred random cases with fixed numbers, and the watchdog that runs the many."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz import watchdog
from fuzz.cases import LARGE, case_of
from fuzz.outcomes import FindingError, expect, outcome_of
from fuzz.pretended import pretend


@pytest.mark.parametrize("start", range(0, 400, 20))
def test_cases(start):
    for number in range(start, start + 20):
        _, case, rng = case_of(number)
        try:
            outcome_of(case, rng)
        except Exception as error:
            raise AssertionError(f"python -m fuzz --only {number}") from error


@pytest.mark.parametrize("number", [1, 5, 7, 22, 30, 39])
def test_large_cases(number):
    """Quick ones: four changes of the points, a model and a store."""
    _, case, rng = case_of(LARGE + number)
    outcome_of(case, rng)


def test_a_case_is_the_same_each_time():
    one, other = case_of(12), case_of(12)
    assert one[0] == other[0]
    assert one[2].random() == other[2].random()


def overflow(rng):
    np.array([1e300]) * 1e300


def by_accident(rng):
    np.ones(2) + np.ones(3)


def wrong_result(rng):
    expect(False, "wrong", 1)


@pytest.mark.parametrize(
    ("case", "error"),
    [(overflow, RuntimeWarning), (by_accident, ValueError), (wrong_result, FindingError)],
)
def test_what_nobody_meant_is_found(case, error):
    with pytest.raises(error):
        outcome_of(case, np.random.default_rng(0))


def test_what_was_meant_is_no_finding():
    def refused(rng):
        from srsg import L1Graph

        L1Graph(2, lam=-1).fit(np.eye(4))

    assert outcome_of(refused, np.random.default_rng(0)) == "InvalidParameterError"


def test_hangs_and_crashes_are_written_down_and_the_rest_goes_on(monkeypatch):
    monkeypatch.setattr(watchdog, "WORK", pretend)
    report = watchdog.run_cases(0, 10, n_workers=2, case_seconds=3.0)
    assert report.n_cases == 10
    assert [number for number, _, _ in sorted(report.findings)] == [3, 5, 6]
    said = {number: what for number, _, what in report.findings}
    assert said[3] == "hung for 3 s"
    assert said[5] == "died with code -11"
    assert said[6] == "bad"
