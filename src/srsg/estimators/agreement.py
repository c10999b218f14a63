"""Estimators that can weigh the edges of their graph by agreement before it is clustered."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy import sparse

from srsg.engines import Engine
from srsg.estimators.base import AT_LEAST_ONE
from srsg.estimators.coded import CodeClusterer
from srsg.graph.agreement import agreement
from srsg.graph.embedding import Embedding
from srsg.graph.labels import embedded_graph
from srsg.types import Cut, Graph, IntArray


class AgreementClusterer(CodeClusterer):
    """Base of the estimators with the parameters ``affinity`` and ``n_components``.

    With "agreement" the spectral step works on the graph of the codes with its edges weighed by
    what their neighbours agree on (:func:`srsg.graph.agreement.agreement`), and takes the ratio
    cut. With any other value it takes the normalised cut of ``affinity_matrix_``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "n_components": [AT_LEAST_ONE, None],
    }

    affinity: str
    n_components: int | None

    def _graph_of_codes(self) -> sparse.csr_array:
        """The graph whose edges are weighed by agreement."""
        return self.affinity_matrix_

    def _spectral_graph(self, engine: Engine) -> tuple[Graph, IntArray | None]:
        if self.affinity != "agreement":
            return super()._spectral_graph(engine)
        return agreement(self._graph_of_codes(), engine=engine), self.neighbors_

    def _embedding(
        self,
        graph: Graph,
        n_clusters: int,
        neighbors: IntArray | None,
        bridge: float | None,
        engine: Engine,
    ) -> Embedding:
        if self.n_components is None:
            return super()._embedding(graph, n_clusters, neighbors, bridge, engine)
        count, cut = self.n_components, self._cut
        return embedded_graph(graph, count, neighbors, bridge, cut, engine, commute_time=True)

    def _counted_graph(self, graph: Graph) -> Graph:
        # Edges that lose their weight for lack of agreement must not count as one more cluster.
        return self._graph_of_codes() if self.affinity == "agreement" else graph

    @property
    def _cut(self) -> Cut:
        return "ratio" if self.affinity == "agreement" else super()._cut
