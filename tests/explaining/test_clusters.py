"""What clusters are: differences against plain counting, thresholds, neighbours, paths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from benchmarks.explanations import judged
from srsg import L1Graph, NeighborGraph, PreparedClusterer, explain
from srsg.explaining.thresholds import round_between, thresholds_of
from srsg.explaining.traits import LEAST_EFFECT, telling_words, traits_of
from srsg.files.rules import ColumnRule

IRIS = load_iris()


def test_planted_rules_are_found():
    results = judged(20, 300, seed=0)
    assert sum(good for _, _, good in results) >= 18


groups = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


@given(groups, groups)
def test_effects_are_those_of_all_pairs(mine, others):
    values = np.array([*mine, *others], float)
    cluster = np.repeat([0, 1], [len(mine), len(others)])
    pairs = np.sign(np.subtract.outer(mine, others))
    for place, sign in enumerate((1, -1)):
        found = traits_of([ColumnRule("x")], [values], cluster, 2)[place]
        if abs(pairs.mean()) < LEAST_EFFECT:
            assert not found
        for trait in found:
            np.testing.assert_allclose(trait.effect, sign * pairs.mean())
            assert trait.low <= trait.effect <= trait.high
            assert trait.inside == np.median(values[cluster == place])


def test_effects_of_categories_are_differences_of_shares():
    rule = ColumnRule("colour", "category", levels=("red", "blue", "green"))
    values = np.repeat([0, 1, 0, 2], [30, 10, 5, 55])
    (first, *_), (second, *_) = traits_of([rule], [values], np.repeat([0, 1], [40, 60]), 2)
    assert (first.title, first.words) == ("colour = green", "less colour green")
    np.testing.assert_allclose([first.effect, second.effect], [-55 / 60, 55 / 60])
    assert str(second) == "colour = green 92% against 0%"
    assert -1 <= first.low <= first.effect <= first.high < 0


def test_of_two_levels_the_more_common_one_is_named():
    rule = ColumnRule("news", "category", levels=("no", "yes"))
    values = np.repeat([1, 0], 20)
    first, second = traits_of([rule], [values], np.repeat([0, 1], 20), 2)
    assert [first[0].words, second[0].words] == ["news yes", "news no"]


@pytest.mark.parametrize(
    ("below", "above", "shown"),
    [(1.234, 1.312, 1.3), (0.0, 100.0, 50.0), (999.5, 1000.5, 1000.0), (-3.0, -2.0, -2.5)],
)
def test_thresholds_have_few_digits(below, above, shown):
    values = np.array([below, above])
    found = round_between(values, (below + above) / 2)
    assert found == shown
    assert below <= found < above


def test_thresholds_say_ranges_levels_and_dates():
    rng = np.random.default_rng(0)
    age, level = rng.integers(0, 100, 300).astype(float), rng.integers(0, 6, 300)
    day = rng.integers(19_000, 20_000, 300).astype(float)
    rules = [
        ColumnRule("age"),
        ColumnRule("kind", "category", levels=tuple("abcdef")),
        ColumnRule("day", "date"),
    ]
    columns = [age, level, day]
    texts = [
        thresholds_of(rules, columns, members).text
        for members in (
            (age > 30) & (age <= 60),
            np.isin(level, [1, 4]),
            ~np.isin(level, [1, 4]),
            day > 19_723,
        )
    ]
    assert texts[0] == "age from 30 to 60"
    assert texts[1] == "kind is b or e"
    assert texts[2] == "kind is not b or e"
    assert texts[3] in ("day > 2023-12-29", "day > 2024-01-01")


def test_noise_is_like_all_others():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    model.labels_ = np.arange(200) % 2
    assert [cluster.name for cluster in explain(model, X).clusters] == ["like all others"] * 2


def test_clusters_are_told_in_the_units_of_the_table():
    inner = NeighborGraph(3, metric="euclidean", random_state=0)
    model = PreparedClusterer(inner, scale="standard").fit(IRIS.data)
    found = explain(model, IRIS.data, names=["sl", "sw", "petal length", "petal width"])
    small = found.clusters[int(model.labels_[0])]
    assert small.size >= 49
    assert "low petal length" in small.name
    assert str(small.traits[0]).split(" (")[0] in ("petal length 1.5", "petal width 0.2")
    assert min(small.thresholds.precision, small.thresholds.recall) > 0.95
    assert all(model.labels_[row] == small.label for row in small.typical + small.doubtful)
    assert f"cluster {small.label}, {small.size} points: " in str(found)
    with pytest.raises(ValueError, match="names or rules stand for 2 columns, and X has 4"):
        explain(model, IRIS.data, names=["a", "b"])


def test_a_point_and_its_neighbours():
    model = L1Graph(3, random_state=0).fit(IRIS.data)
    graph, found = model.affinity_matrix_, explain(model, IRIS.data)
    for row in (0, 70, 149):
        point = found.point(row)
        weights = graph[[row]].toarray().ravel()
        assert {at: weight for at, weight, _ in point.neighbors} == {
            int(at): weights[at] for at in np.flatnonzero(weights) if at != row
        }
        own = weights[model.labels_ == point.label].sum() / weights.sum()
        np.testing.assert_allclose(point.shares.get(point.label, 0.0), own)
        np.testing.assert_allclose(sum(point.shares.values()), 1.0)
        assert point.second != point.label
        assert str(point).startswith(f"row {row} is in cluster {point.label}")


def test_the_strongest_path_is_the_shortest_by_plain_search():
    model = L1Graph(3, random_state=0).fit(IRIS.data[:40])
    weights, found = model.affinity_matrix_.toarray(), explain(model, IRIS.data[:40])
    with np.errstate(divide="ignore"):
        lengths = np.where(weights > 0, 1 / weights, np.inf)
    for middle in range(40):  # Floyd and Warshall
        lengths = np.minimum(lengths, lengths[:, [middle]] + lengths[middle])
    for start, end in ((0, 39), (5, 17), (3, 3)):
        path = found.path(start, end)
        if not np.isfinite(lengths[start, end]) and start != end:
            assert path == []
            continue
        assert (path[0], path[-1]) == (start, end)
        total = sum(1 / weights[a, b] for a, b in pairwise(path))
        np.testing.assert_allclose(total, lengths[start, end] if start != end else 0.0)


def test_a_model_without_a_graph_says_so():
    found = explain(KMeans(2, n_init=1, random_state=0).fit(IRIS.data), IRIS.data)
    with pytest.raises(ValueError, match="KMeans has no graph that joins points"):
        found.point(0)


def test_nothing_is_said_where_there_is_nothing_to_tell_apart():
    values = np.arange(6.0)
    for rules, members in (
        ([], values > 2),
        ([ColumnRule("a")], values > -1),
        ([ColumnRule("a")], values > 9),
    ):
        assert thresholds_of(rules, [values][: len(rules)], members) == ("", 0.0, 0.0)


def test_values_without_a_number_between_them_are_cut_at_the_lower_one():
    below = 0.1 + 0.2  # 0.30000000000000004: no shorter number lies between it and the next
    above = np.nextafter(below, 1)
    assert round_between(np.array([below, above]), below) == below


def test_words_that_tell_clusters_apart_are_named_with_what_is_lacking():
    """Each cluster's own word, however common the third is in both."""
    words = sparse.csr_array(np.repeat([[2, 0, 1], [0, 3, 1]], 20, axis=0))
    text = ColumnRule("note", "text", levels=("tea", "milk", "cup"))
    cluster = np.repeat([0, 1], 20)
    rules, values = telling_words(text, words, cluster, 2)
    found = {rule.column: column.tolist() for rule, column in zip(rules, values, strict=True)}
    assert found["'tea'"] == (cluster == 0).tolist()
    assert found["'milk'"] == (cluster == 1).tolist()
    first, _ = traits_of(rules, values, cluster, 2)
    assert [trait.words for trait in first] == ["'tea'", "no 'milk'"]


def test_an_empty_cluster_has_no_telling_words_of_its_own():
    words = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    text = ColumnRule("note", "text", levels=("tea", "milk"))
    rules, _ = telling_words(text, words, np.array([0, 1]), 2)
    assert [rule.column for rule in rules] == ["'tea'", "'milk'"]
