"""The paper's own numbers."""

from __future__ import annotations

import pytest

from srsg import SRSG, L1Graph
from srsg.metrics import clustering_accuracy, normalized_mutual_info


@pytest.mark.parametrize(
    ("n_classes", "accuracy", "nmi", "tolerance"),
    [
        (4, 1.0000, 1.0000, 0.00005),
        (8, 0.7986, 0.8950, 0.00005),
        (12, 0.7697, 0.8960, 0.00005),
        (16, 0.8264, 0.9294, 0.002),
        (20, 0.7854, 0.9148, 0.00005),
    ],
)
def test_l1_graph_on_coil20_equals_table_1(paper_data, n_classes, accuracy, nmi, tolerance):
    X, y = paper_data("COIL20", n_classes)
    # The best of many starts of K-means: at c = 12, one start in three ends a point off.
    labels = L1Graph(n_classes, lam=0.1, n_init=100, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) == pytest.approx(accuracy, abs=tolerance)
    assert normalized_mutual_info(y, labels) == pytest.approx(nmi, abs=tolerance)


@pytest.mark.parametrize(
    ("n_classes", "published", "by_default"),
    [(4, 0.99, 0.99), (8, 0.94, 0.97), (12, 0.85, 0.97), (16, 0.88, 0.97), (20, 0.77, 0.88)],
)
def test_srsg_on_coil20(paper_data, n_classes, published, by_default):
    X, y = paper_data("COIL20", n_classes)
    for model, least in ((SRSG.paper(n_classes), published), (SRSG(n_classes), by_default)):
        labels = model.set_params(random_state=0).fit_predict(X)
        assert clustering_accuracy(y, labels) >= least
