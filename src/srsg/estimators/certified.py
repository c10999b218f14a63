"""What the estimators that start from l1 codes share: all points or candidates, certificates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from srsg.engines import Engine
from srsg.estimators.base import AT_LEAST_ONE
from srsg.estimators.coded import CodeClusterer
from srsg.neighbors.candidates import check_faiss
from srsg.points import Points
from srsg.solvers import ApproximateCodes, L1Codes, approximate_l1_codes, l1_codes
from srsg.types import FloatArray, IntArray

SHARES = (0.5, 0.9, 0.99, 1.0)
"""The quantiles of the violations that are reported."""


class CertifiedClusterer(CodeClusterer):
    """Base of the estimators that code every point by eq. (1), over all points or candidates."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "approximate": ["boolean"],
        "n_candidates": [AT_LEAST_ONE],
    }

    # Parameters of every subclass.
    lam: float
    approximate: bool
    n_candidates: int
    engine: Any

    certified_: IntArray | None
    kkt_violation_: FloatArray | None
    dual_gap_: FloatArray | None
    kkt_quantiles_: dict[float, float] | None

    def _check_size(self, n_points: int) -> None:
        super()._check_size(n_points)
        if self.approximate:
            check_faiss()
            if self.engine != "threads":
                raise ValueError(
                    "approximate=True searches an index of all points in this process: take it "
                    "with engine='threads'."
                )
            if self.n_candidates < self.n_neighbors:
                raise ValueError(
                    f"n_candidates={self.n_candidates} must be at least n_neighbors="
                    f"{self.n_neighbors}, which are found among them."
                )

    def _l1_codes(self, points: Points, engine: Engine, **exact: Any) -> L1Codes | ApproximateCodes:
        """The codes of all points, their neighbours, and the certificates, which it keeps.

        ``exact`` are options of the codes over all points.
        """
        options: dict[str, Any] = {"n_neighbors": self.n_neighbors, "engine": engine}
        result: L1Codes | ApproximateCodes
        if self.approximate:
            result = approximate_l1_codes(
                points,
                self.lam,
                n_candidates=self.n_candidates,
                random_state=check_random_state(self.random_state),
                **options,
            )
            self.certified_ = result.certified
        else:
            result = l1_codes(points, self.lam, **options, **exact)
            self.certified_ = np.arange(points.n)
        self.kkt_violation_, self.dual_gap_ = result.kkt_violation, result.dual_gap
        self.kkt_quantiles_ = {
            share: float(np.quantile(result.kkt_violation, share)) for share in SHARES
        }
        return result
