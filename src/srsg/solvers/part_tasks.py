"""What workers do for sweeps by parts: small problems, points in reach, and the solving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from srsg.engines.sizes import Sized
from srsg.kernels.codes import Codes, residuals
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.parts import (
    Part,
    Problems,
    Reached,
    State,
    fill_problems,
    reached_points,
    solve_part,
)
from srsg.kernels.sweep import Outcome, new_outcome
from srsg.points import Points, Queries, Rows, row_slices
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class Candidates(Sized):
    """Points and the coordinates that their codes may use: a ragged array, sorted a row."""

    targets: Queries
    starts: IntArray
    index: IntArray
    codes: Codes | None = None
    """Their codes, if the fit of these is asked for."""


class SmallProblems(Sized):
    """The problems of some points; the report is the fit of the codes they have."""

    def __init__(self, problems: Problems, fits: FloatArray | None) -> None:
        self.problems, self.report = problems, fits


class MakeProblems:
    """Gram matrices, next to the points."""

    def rows(self, block: Candidates) -> IntArray:
        return block.targets.needed(block.index)

    def start(self, rows: Rows, block: Candidates) -> SmallProblems:
        targets = block.targets.vectors(rows)
        sizes = np.diff(block.starts)
        ends = np.cumsum(sizes**2)
        problems = Problems(
            block.starts,
            rows.places(block.index),
            np.empty(len(block.index)),
            ends - sizes**2,
            np.empty(int(ends[-1]) if len(ends) else 0),
            np.empty(len(targets)),
        )
        fill_problems(rows.x, targets, problems)
        fits = None
        if block.codes is not None:
            places = block.codes._replace(index=rows.places(block.codes.index))
            fits = fits_of(rows.x, targets, places)
        return SmallProblems(problems._replace(index=block.index), fits)


def fits_of(x: NDArray, targets: NDArray, codes: Codes) -> FloatArray:
    """``||x_i - X z_i||^2`` of every code."""
    resid = np.empty(targets.shape)
    residuals(x, targets, codes, resid)
    return np.einsum("ij,ij->i", resid, resid)


def the_problems(held: SmallProblems, block: None) -> Problems:
    return held.problems


@dataclass(frozen=True)
class Residuals(Sized):
    """Codes whose residuals are compared with all points, down to a floor."""

    targets: Queries
    codes: Codes
    floor: FloatArray


@dataclass(frozen=True)
class FindReached:
    """The way of residuals round all points, for those that a step may let in."""

    block_size: int

    def rows(self, block: Residuals) -> IntArray:
        return block.targets.needed(block.codes.index[block.codes.used])

    def start(self, rows: Rows, block: Residuals) -> tuple[FloatArray, FloatArray]:
        targets = block.targets.vectors(rows)
        resid = np.empty(targets.shape)
        places = block.codes._replace(index=rows.places(block.codes.index))
        residuals(rows.x, targets, places, resid)
        return resid, block.floor

    def scan_shard(self, shard: Points, started: tuple[FloatArray, FloatArray]) -> list[Reached]:
        resid, floor = started
        return [
            reached_points(
                shard.x,
                shard.first,
                resid[rows],
                shard.correlations(resid[rows]),
                shard.correlation_error,
                floor[rows],
            )
            for rows in row_slices(len(floor), self.block_size)
        ]

    def finish(
        self, started: tuple[FloatArray, FloatArray], found: Sequence[list[Reached]]
    ) -> list[tuple[IntArray, FloatArray]]:
        """Of every residual the points in reach, in rising order, and their correlations."""
        reached: list[tuple[IntArray, FloatArray]] = []
        for parts in zip(*found, strict=True):  # the same rows in all shards
            for p in range(len(parts[0].floor)):
                cuts = [(part, slice(part.starts[p], part.starts[p + 1])) for part in parts]
                index = np.concatenate([part.index[cut] for part, cut in cuts])
                strength = np.concatenate([part.strength[cut] for part, cut in cuts])
                reached.append((index, strength))
        return reached


class PackedCodes(Sized):
    """Codes as they travel: one after the other, with values for some rows only."""

    def __init__(self, codes: Codes, valued: IntArray) -> None:
        self.size, self.valued = codes.size, valued
        self.index = codes.index[codes.used]
        some = codes.take(valued)
        self.value = some.value[some.used]

    def unpacked(self, width: int) -> Codes:
        """In rows of the given width; zeros where there are no values."""
        codes = Codes(
            np.zeros((len(self.size), width), np.int64),
            np.zeros((len(self.size), width)),
            self.size.copy(),
        )
        codes.index[codes.used] = self.index
        values = np.zeros((len(self.valued), width))
        values[codes.used[self.valued]] = self.value
        codes.value[self.valued] = values
        return codes


@dataclass(frozen=True)
class PartTask(Sized):
    """A part as it is sent to the worker that holds its problems."""

    part: Part
    """With its codes packed."""
    width: int
    more: Problems
    slots: IntArray
    reached: Reached

    @classmethod
    def of(
        cls, part: Part, width: int, more: Problems, slots: IntArray, reached: Reached
    ) -> PartTask:
        before = PackedCodes(part.before, part.rows)
        codes = PackedCodes(part.codes, part.rows[:0])
        return cls(part._replace(before=before, codes=codes), width, more, slots, reached)


@dataclass(frozen=True)
class PartResult(Sized):
    """The codes of a part, what came of each, and what is missing."""

    codes: Codes
    outcome: Outcome
    state: State


@dataclass(frozen=True)
class SolvePart:
    settings: Settings

    def __call__(self, held: SmallProblems, task: PartTask) -> PartResult:
        part, n_points = task.part, len(task.part.todo)
        part = part._replace(before=part.before.unpacked(task.width))
        codes = task.part.codes.unpacked(task.width)
        outcome = new_outcome(n_points)
        state = State(np.zeros(n_points, np.int64), np.zeros(n_points, bool), np.zeros(n_points))
        solve_part(
            part._replace(codes=codes),
            held.problems,
            task.more,
            task.slots,
            task.reached,
            self.settings,
            outcome,
            state,
        )
        return PartResult(codes.take(part.rows), outcome, state)
