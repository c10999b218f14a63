"""The paper's measures."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsg.metrics import clustering_accuracy, normalized_mutual_info

labels = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@given(labels, st.randoms())
def test_accuracy_is_the_best_over_all_renamings(y_true, random):
    y_pred = [random.randint(0, 3) for _ in y_true]
    best = max(
        np.mean([name[p] == t for p, t in zip(y_pred, y_true, strict=True)])
        for name in permutations(range(4))
    )
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(best)


def test_more_clusters_than_classes():
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 2]) == 0.5


def test_mutual_information_is_divided_by_the_larger_entropy():
    # I = log 2, H(true) = log 2, H(pred) = log 4
    assert normalized_mutual_info([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(0.5)


@pytest.mark.parametrize("metric", [clustering_accuracy, normalized_mutual_info])
def test_bad_labels(metric):
    with pytest.raises(ValueError, match="equal length"):
        metric([0, 1], [0])
    with pytest.raises(ValueError, match="empty"):
        metric([], [])
