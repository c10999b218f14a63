"""The page of pipelines and searches: why the winner won, what was second, and what is doubtful."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import L1Graph, PreparedClusterer, RidgeGraph, StabilitySearch
from srsg.explaining.confidence import confidence
from srsg.report import write_report
from srsg.report.facts import Facts
from support.pages import Page

WINE = load_wine(as_frame=True)
HEADING = "Why this graph, and why this many clusters"


def ridge(n_clusters=3):
    return make_pipeline(StandardScaler(), RidgeGraph(n_clusters, affine=True, random_state=0))


def kmeans():
    return make_pipeline(StandardScaler(), KMeans(3, n_init=2, random_state=0))


@pytest.fixture(scope="module")
def search():
    candidates = {"<ridge>": ridge(), "k-means": kmeans()}
    return StabilitySearch(candidates, n_clusters=3, random_state=0).fit(WINE.data)


def changed(search, **attributes):
    """A fitted search with other findings."""
    other = StabilitySearch(search.candidates, search.n_clusters)
    vars(other).update(vars(search), **attributes)
    return other


def page_of(tmp_path, model, X=WINE.data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Page(write_report(tmp_path / "page.html", model, X, **options))


def section(page):
    """The HTML of the section, and its text."""
    html = re.search(r'<section id="choice".*?</section>', page.source, re.DOTALL)[0]
    return html, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_pipeline_is_described_by_its_last_step(tmp_path):
    model = ridge().fit(WINE.data)
    page = page_of(tmp_path, model, y=WINE.target)
    assert {"graph", "measures", "classes"} <= set(page.sections)
    assert "choice" not in page.sections
    assert "after StandardScaler" in page.words
    assert "affine" in page.words  # among the parameters
    assert "proline" in page.words  # among the features that tell a cluster apart
    found = Facts(model, WINE.data)
    assert found.model is model[-1]
    np.testing.assert_array_equal(found.X, WINE.data)  # as given, not scaled
    np.testing.assert_array_equal(found.cluster, model[-1].labels_)


def test_scaled_and_filled_columns_are_described(tmp_path):
    graph = RidgeGraph(3, affine=True, random_state=0)
    model = PreparedClusterer(graph, scale="standard", impute="median").fit(WINE.data)
    page = page_of(tmp_path, model)
    assert "of standardised columns with gaps filled in" in page.words
    assert "components" in page.words or "component" in page.words
    facts = Facts(model, WINE.data)
    assert facts.model is model.clusterer_
    np.testing.assert_array_equal(facts.X, WINE.data)


def test_kmeans_in_a_pipeline_has_no_graph_and_is_sure_of_scaled_points(tmp_path):
    model = kmeans().fit(WINE.data)
    page = page_of(tmp_path, model)
    assert "graph" not in page.sections
    assert "inertia" in page.words
    scaled = StandardScaler().fit_transform(WINE.data)
    share = Facts(model, WINE.data).confidence.values
    np.testing.assert_allclose(share, confidence(model[-1], scaled).values)
    assert np.abs(share - confidence(model[-1], WINE.data.to_numpy()).values).max() > 0.1


def test_the_numbers_of_clusters_are_drawn_for_kmeans_too(tmp_path):
    candidates = {"ridge": ridge("auto"), "k-means": kmeans()}
    search = StabilitySearch(candidates, n_clusters="auto", random_state=0).fit(WINE.data)
    search = changed(search, best_estimator_=kmeans().fit(WINE.data))
    html, words = section(page_of(tmp_path, search))
    assert f"Scores of {len(search.cluster_counts_)} numbers of clusters" in html
    assert f"The dashed line is at {search.n_clusters_}" in words


@pytest.mark.parametrize("model", [ridge(), StabilitySearch()])
def test_models_that_are_not_fitted_are_named(model, tmp_path):
    with pytest.raises(NotFittedError, match=f"model, a {type(model).__name__}, has no labels_"):
        page_of(tmp_path, model)


def test_the_winner_and_the_second_are_named_with_their_scores(search, tmp_path):
    page = page_of(tmp_path, search, y=WINE.target)
    html, words = section(page)
    assert html.index(f"<h2>{HEADING}</h2>") > 0
    results, best = search.results_, search.best_index_
    lead = words.partition("candidate clusters")[0]
    first, second = (results["candidate"][place] for place in (best, 1 - best))
    escaped = {"<ridge>": "&lt;ridge&gt;"}
    assert lead.index(escaped.get(first, first)) < lead.index(escaped.get(second, second))
    assert f"score of {results['score'][best]:.2f}" in lead
    assert f"score of {results['score'][1 - best]:.2f}" in lead
    assert f"samples of the points {results['stability_points'][best]:.2f}" in lead
    assert "halves of the features" not in lead  # thirteen columns are not halved
    assert "The number of clusters was given." in lead
    assert "chosen by StabilitySearch" in page.words
    assert "No structure found" not in page.words
    assert "Choice" in page.source.partition("<main>")[0]


def test_the_table_has_all_candidates_the_best_first(search, tmp_path):
    html, _ = section(page_of(tmp_path, search))
    heads = re.findall(r'<th scope="col">(.*?)</th>', html)
    assert heads == [
        "candidate",
        "clusters",
        "stability of points",
        "consensus",
        "score",
    ]
    rows = re.findall(r"<tr.*?</tr>", html.partition("<tbody>")[2])
    assert len(rows) == 2
    assert 'class="chosen"' in rows[0]
    assert "chosen" not in rows[1]
    for row, place in zip(rows, np.argsort(search.results_["rank"]), strict=True):
        cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)]
        expected = [
            f"{search.results_['n_clusters'][place]}",
            f"{search.results_['stability_points'][place]:.3f}",
            f"{search.results_['consensus'][place]:.3f}",
            f"{search.results_['score'][place]:.3f}",
        ]
        assert cells == expected
    assert "<ridge>" not in html


def test_features_are_in_the_table_where_they_were_halved(search, tmp_path):
    results = {**search.results_, "stability_features": [0.123, -0.004]}
    html, words = section(page_of(tmp_path, changed(search, results_=results)))
    assert '<th scope="col">stability of features</th>' in html
    assert ">0.123<" in html
    assert ">\N{MINUS SIGN}0.004<" in html
    assert "--share:0.000" in html  # no bar of negative length
    assert "halves of the features" in words
    assert "not measured" not in words


def test_no_structure_is_said_plainly(search, tmp_path):
    results = {**search.results_, "stability_points": [0.21, 0.21]}
    doubtful = changed(search, results_=results, structure_found_=False)
    _, words = section(page_of(tmp_path, doubtful))
    assert "No structure found." in words
    assert "0.21" in words
    assert "may have no clusters at all" in words


def test_agreement_that_was_not_measured_is_left_out(search, tmp_path):
    unknown = changed(search, results_={**search.results_, "consensus": [np.nan, np.nan]})
    _, words = section(page_of(tmp_path, unknown))
    assert "nan" not in words
    assert "with the other candidates" not in words.partition("candidate clusters")[0]


@pytest.mark.parametrize(("margin", "tie"), [(-0.015, True), (0.01, True), (0.2, False)])
def test_a_tie_is_called_a_tie(search, tmp_path, margin, tie):
    _, words = section(page_of(tmp_path, changed(search, margin_=margin)))
    assert ("a tie" in words) == tie


def test_a_search_with_one_candidate_and_numbers_of_clusters_to_find(tmp_path):
    X = load_digits(n_class=3).data[:150]
    alone = StabilitySearch({"l1": L1Graph(random_state=0)}, random_state=0).fit(X)
    _, words = section(page_of(tmp_path, alone, X))
    assert "There was no other candidate." in words
    assert "with the other candidates" not in words.partition("candidate clusters")[0]
    assert "The number of clusters was not given" in words


def test_scores_of_numbers_of_clusters_are_drawn_once(search, tmp_path):
    model = ridge("auto").fit(WINE.data)
    only = StabilitySearch({"ridge": ridge()}, n_clusters=3, random_state=0).fit(WINE.data)
    assert "Number of clusters" in page_of(tmp_path, model).words
    page = page_of(tmp_path, changed(only, best_estimator_=model))
    html, words = section(page)
    n_found, counts = model[-1].n_clusters_, model[-1].cluster_counts_
    assert html.count("<circle") == len(counts) > 1
    assert 'class="gap"' in html
    assert f"The dashed line is at {n_found}" in words
    for label in ("number of clusters", "score"):
        assert re.search(rf'class="[^"]*label">{label}</text>', html)
    assert page.source.count("Number of clusters</h3>") == 1


def test_only_searches_have_the_section(tmp_path):
    page = page_of(tmp_path, L1Graph(3, random_state=0).fit(WINE.data))
    assert HEADING not in page.words
