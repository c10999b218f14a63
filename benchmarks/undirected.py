"""SRSG with neighbours that are mutual or of either point, which the paper leaves open.

A method of one's own takes as much: a coder, and an estimator with its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsg import SRSG
from srsg.coding import srsg_codes
from srsg.coding.coder import Coder
from srsg.coding.l1 import certified_l1_codes
from srsg.coding.neighbors import undirected
from srsg.estimators.srsg import TOL, SRSGCoder
from srsg.graph import Coded, neighbor_graph
from srsg.points import Points
from srsg.running import Engine
from srsg.types import Direction


@dataclass(frozen=True, kw_only=True)
class UndirectedCoder(SRSGCoder):
    """Codes by Algorithm 2, with the graph S made symmetric or not."""

    neighbor_graph: Direction = "directed"

    def code(self, points: Points, run: Engine) -> Coded:
        start = certified_l1_codes(
            points,
            self.lam,
            n_neighbors=self.n_neighbors,
            n_candidates=self.n_candidates,
            random_state=self.random_state,
            run=run,
        )
        assert start.codes is not None
        assert start.neighbors is not None
        assert not isinstance(self.step, str)
        graph = undirected(neighbor_graph(start.neighbors), self.neighbor_graph)
        result = srsg_codes(
            points,
            start.codes,
            graph,
            gamma=self.gamma,
            step=self.step,
            max_sweeps=self.max_sweeps,
            tol=TOL if self.tol is None else self.tol,
            stop="supports" if self.tol is None else "objective",
            engine=run,
        )
        learnt = {
            **start.learnt,
            "objective_history": result.objective,
            "n_sweeps": len(result.objective) - 1,
            "step": self.step,
        }
        return Coded(result.codes, start.neighbors, init_codes=start.codes, learnt=learnt)


@dataclass(eq=False, repr=False, kw_only=True)
class UndirectedSRSG(SRSG):
    """SRSG with a number as its step, and the parameter ``neighbor_graph``."""

    coder: ClassVar[type[Coder]] = UndirectedCoder

    neighbor_graph: Direction = "directed"
