"""What algorithms ask of the place where their blocks of points run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from srsg.points import Points, Rows
from srsg.running.progress import Progress
from srsg.running.store import Store
from srsg.types import IntArray

Block = TypeVar("Block")


Result = TypeVar("Result")


Block_in = TypeVar("Block_in", contravariant=True)


Started = TypeVar("Started")


Seen = TypeVar("Seen")


Result_out = TypeVar("Result_out", covariant=True)


class ShardScan(Protocol[Block_in, Started, Seen, Result_out]):
    """Work on a block that needs some points first, and then a scan of all points.

    No worker has to hold all points: each holds shards, which are consecutive points. What is
    found in one shard must not depend on the others, nor the result on how many there are.
    """

    def rows(self, block: Block_in) -> IntArray:
        """The points that it needs first, in rising order."""

    def start(self, rows: Rows, block: Block_in) -> Started:
        """The work on these points."""

    def scan_shard(self, shard: Points, started: Started) -> Seen:
        """What the block needs to know about the points of one shard."""

    def finish(self, started: Started, found: Sequence[Seen]) -> Result_out:
        """Put the parts together; ``found`` is in the order of the shards."""


class Engine(Protocol):
    """What an algorithm needs: map blocks of work over the data."""

    progress: Progress
    store: Store
    block_size: int
    """How many points are compared with all points at once."""
    spare_memory: float
    """Bytes that algorithms may take to be faster, in addition to what blocks take."""

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
        """``[task(data, block) for block in blocks]``, in that order, wherever it runs.

        ``task`` is a module-level function or a partial of one, so that it can travel.
        """

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

        The results are in the order of the blocks. ``done`` is called with every result as soon as
        it is there.
        """

    def rows_per_block(
        self, points: Points, n_rows: int, rows_each: Callable[[], float] | None = None
    ) -> int:
        """How many of ``n_rows`` rows a block of a scan should have, if it needs ``rows_each()``
        points per row to start: one, unless said otherwise."""

    def points(self, x: Any) -> Points:
        """Unit-norm points, placed where the workers can use them."""

    def gathered(self, points: Points) -> Points:
        """The points in this process, for work that is not worth sharing among workers."""

    def fingerprint(self, points: Points) -> str:
        """A text that differs for different points."""

    def row_digests(self, points: Points) -> bytes:
        """A digest of every point, one after the other: the same for equal points only."""

    def quiet(self) -> Engine:
        """The same workers, without progress messages or store, for parts of a larger stage."""
