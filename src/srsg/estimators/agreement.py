"""Estimators that can weigh the edges of their graph by agreement before it is clustered."""

from __future__ import annotations

from scipy import sparse

from srsg.engines import Engine
from srsg.estimators.coded import CodeClusterer
from srsg.graph.agreement import agreement
from srsg.types import Cut, Graph, IntArray


class AgreementClusterer(CodeClusterer):
    """Base of the estimators with a parameter ``affinity``.

    With "agreement" the spectral step works on the graph of the codes with its edges weighed by
    what their neighbours agree on (:func:`srsg.graph.agreement.agreement`), and takes the ratio
    cut. With any other value it takes the normalised cut of ``affinity_matrix_``.
    """

    affinity: str

    def _graph_of_codes(self) -> sparse.csr_array:
        """The graph whose edges are weighed by agreement."""
        return self.affinity_matrix_

    def _spectral_graph(self, engine: Engine) -> tuple[Graph, IntArray | None]:
        if self.affinity != "agreement":
            return super()._spectral_graph(engine)
        return agreement(self._graph_of_codes(), engine=engine), self.neighbors_

    def _counted_graph(self, graph: Graph) -> Graph:
        # Edges that lose their weight for want of agreement must not count as one more cluster.
        return self._graph_of_codes() if self.affinity == "agreement" else graph

    @property
    def _cut(self) -> Cut:
        return "ratio" if self.affinity == "agreement" else super()._cut
