"""What the large-scale subspace-clustering literature does to codes before they make a graph."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy import sparse

from srsg.estimators.base import AT_LEAST_ONE
from srsg.estimators.coded import CodeClusterer
from srsg.graph.affinity import code_neighbors, largest_codes, unit_codes
from srsg.solvers.codes import symmetrized


class PostprocessedClusterer(CodeClusterer):
    """Base of the estimators whose published results rest on post-processed codes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "normalize": ["boolean"],
        "keep_largest": [AT_LEAST_ONE, None],
        "code_neighbors": [AT_LEAST_ONE, None],
    }

    normalize: bool
    keep_largest: int | None
    code_neighbors: int | None

    def _votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        return codes if self.keep_largest is None else largest_codes(codes, self.keep_largest)

    def _affinity(self) -> sparse.csr_array:
        codes = self._votes(self.codes_)
        if self.normalize:
            codes = unit_codes(codes)
        if self.code_neighbors is not None:
            return code_neighbors(codes, self.code_neighbors)
        return symmetrized(codes)
