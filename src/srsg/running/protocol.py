"""The interface of engines, which run blocks of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Protocol, Self, TypeVar

from srsg.points import Points, Rows
from srsg.running.progress import NO_STORE, SILENT, Progress, Store
from srsg.running.store import combine_digests
from srsg.types import IntArray

Block = TypeVar("Block")
Result = TypeVar("Result")
Block_in = TypeVar("Block_in", contravariant=True)
Started = TypeVar("Started")
Seen = TypeVar("Seen")
Result_out = TypeVar("Result_out", covariant=True)


class ShardScan(Protocol[Block_in, Started, Seen, Result_out]):
    """Work on a block that needs some points first, and then a scan of all points.

    No worker has to hold all points: each holds shards of consecutive points. The result of one
    shard must not depend on the others, nor the result of a block on the number of shards.
    """

    def rows(self, block: Block_in) -> IntArray:
        """The points needed first, in rising order."""

    def start(self, rows: Rows, block: Block_in) -> Started:
        """Work on these points."""

    def scan_shard(self, shard: Points, started: Started) -> Seen:
        """Compare the block with the points of one shard."""

    def finish(self, started: Started, found: Sequence[Seen]) -> Result_out:
        """Combine the results ``found`` in all shards, which are in order."""


class Engine(Protocol):
    """Runs the blocks of an algorithm."""

    progress: Progress
    store: Store
    block_size: int
    """Points to compare with all points at once."""
    spare_memory: float
    """Bytes that algorithms may use, besides those of blocks, to be faster."""

    @property
    def n_workers(self) -> int:
        """How many blocks run at the same time."""

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        """``[task(data, block) for block in blocks]``, on threads of this process."""

    def scan(
        self,
        task: ShardScan[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        """Run every block on all points: start it, scan every shard, finish it.

        The results are in the order of the blocks. ``done`` is called with every result as it
        arrives.
        """

    def rows_per_block(
        self, points: Points, n_rows: int, rows_each: Callable[[], float] | None = None
    ) -> int:
        """Rows per block for a scan of ``n_rows`` rows, each of which needs ``rows_each()`` points
        to start: by default one."""

    def points(self, x: Any) -> Points:
        """Unit-norm points, placed where the workers can use them."""

    def gathered(self, points: Points) -> Points:
        """The points in this process."""

    def fingerprint(self, points: Points) -> str:
        """A text that differs for different points."""
        return combine_digests([self.row_digests(points)])

    def row_digests(self, points: Points) -> bytes:
        """A digest of every point, one after the other: the same for equal points only."""

    def quiet(self) -> Self:
        """The same workers, without progress messages or store, for parts of a larger stage."""
        same = copy(self)
        same.progress, same.store = SILENT, NO_STORE
        return same
