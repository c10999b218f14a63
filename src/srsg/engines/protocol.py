"""What algorithms ask of the place where their blocks of points run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from srsg.engines.checkpoint import Checkpoint
from srsg.engines.progress import Progress
from srsg.points import Points, Rows
from srsg.types import IntArray

Block = TypeVar("Block")


Result = TypeVar("Result")


Block_in = TypeVar("Block_in", contravariant=True)


Begun = TypeVar("Begun")


Begun_out = TypeVar("Begun_out", covariant=True)


Seen = TypeVar("Seen")


Result_out = TypeVar("Result_out", covariant=True)


class Beginning(Protocol[Block_in, Begun_out]):
    """Work on a block that needs some of the points."""

    def rows(self, block: Block_in) -> IntArray:
        """The points that it needs, in rising order."""

    def begin(self, rows: Rows, block: Block_in) -> Begun_out:
        """The work."""


class Round(Beginning[Block_in, Begun], Protocol[Block_in, Begun, Seen, Result_out]):
    """Work on a block that needs some points first, and then a look at every point.

    No worker has to hold all points: each has a shard, some of them in a row. What is seen in
    one shard must not depend on the others, and the end not on how many there are.
    """

    def look(self, shard: Points, begun: Begun) -> Seen:
        """What the points of one shard have to say."""

    def end(self, begun: Begun, seen: Sequence[Seen]) -> Result_out:
        """Put it together; ``seen`` is in the order of the shards."""


class Engine(Protocol):
    """What an algorithm needs: share the data once, then map blocks over it."""

    progress: Progress
    checkpoint: Checkpoint
    block_size: int
    """Points that are compared with all points at once."""

    @property
    def n_workers(self) -> int:
        """Blocks that run at once."""

    def share(self, data: Any) -> Any:
        """Make ``data`` available to every worker; what it returns goes into :meth:`map`."""

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

    def go_round(
        self,
        task: Round[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        """What ``task`` makes of every block on its way round all points, in that order.

        ``done`` is told of every result as soon as it is there.
        """

    def hold(
        self,
        task: Beginning[Block, Any],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> Any:
        """Begin blocks and leave what comes of it where it is; its reports can be had at once:
        ``reports`` of the result has the attribute ``report`` of each."""

    def map_held(
        self,
        task: Callable[[Any, Block], Result],
        held: Any,
        blocks: Mapping[int, Block],
        points: Points,
        *,
        label: str,
    ) -> dict[int, Result]:
        """``task(held[place], block)`` for every place and block, where the workers hold it."""

    def rows_a_block(self, points: Points, n_rows: int, rows_each: float = 1.0) -> int:
        """How many of ``n_rows`` rows a block should have that goes round the points, if it needs
        so many points for each to begin."""

    def points(self, x: Any) -> Points:
        """Unit-norm points, where the workers have them."""

    def fingerprint(self, points: Points) -> str:
        """Tells these points from others."""

    def quiet(self) -> Engine:
        """The same workers, without progress: for pieces of a larger stage."""
