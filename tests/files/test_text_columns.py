"""Texts in a column: their words as features, kept with a model, and named in explanations."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg import NeighborGraph, PreparedClusterer, explain
from srsg.files import FileError, read_points
from srsg.persistence import load_model, save_model
from srsg.report import write_report
from support.file_samples import text
from support.pages import Page

RNG = np.random.default_rng(0)
SUBJECTS = (["pan", "oven", "knife", "dough"], ["sail", "mast", "wind", "crew"])
SUBJECT = np.arange(60) % 2
TEXTS = [
    " ".join([*RNG.choice(SUBJECTS[subject], 3), *RNG.choice(["nice", "late", "box"], 2)])
    for subject in SUBJECT
]


@pytest.fixture
def path(tmp_path):
    rows = [f'{row + 500},{row % 5},"{words}"' for row, words in enumerate(TEXTS)]
    return text(tmp_path / "f.csv", "\n".join(["id,stars,note", *rows]) + "\n")


@pytest.fixture
def table(path):
    return read_points(path, treat={"note": "text"})


def test_words_are_weighed_as_scikit_learn_does(table):
    assert table.notes == (
        "column id set aside: identifier",
        "column stars set aside: only note is used",
        "used as text: note (8 words)",
    )
    assert sparse.issparse(table.X)
    assert table.row_ids.tolist() == list(range(500, 560))
    assert table.texts.tolist() == TEXTS
    plain = TfidfVectorizer(sublinear_tf=True, vocabulary=table.feature_names).fit_transform(TEXTS)
    np.testing.assert_allclose(table.X.toarray(), plain.toarray())


def test_a_model_keeps_its_words(table, tmp_path):
    inner = NeighborGraph(2, n_neighbors=5, random_state=0)
    model = PreparedClusterer(inner, rules=table.rules).fit(table.X)
    save_model(model, tmp_path / "m.srsg")
    loaded = load_model(tmp_path / "m.srsg")
    new = text(tmp_path / "n.csv", "stars,note\n1,The OVEN and a pan!\n2,wind in the säil\n")
    found = read_points(new, rules=loaded.rules)
    labels = loaded.predict(found.X)
    assert labels.tolist() == [model.labels_[0], model.labels_[1]]
    assert found.X.shape == (2, 8)


def test_clusters_of_texts_are_told_by_words(table, tmp_path):
    model = PreparedClusterer(KMeans(2, n_init=3, random_state=0), rules=table.rules).fit(table.X)
    found = explain(model, table.X, texts=table.texts)
    kitchen = found.clusters[int(model.labels_[0])]
    for trait in kitchen.traits[:4]:
        word = trait.rule.column.strip("'")
        assert word in SUBJECTS[0]
        share = np.mean([word in words.split() for words in np.array(TEXTS)[SUBJECT == 0]])
        assert trait.inside == pytest.approx(share)
    assert min(kitchen.thresholds.precision, kitchen.thresholds.recall) > 0.9
    assert re.match(r"(with|without) '\w+'", kitchen.thresholds.text)
    options = {"feature_names": table.feature_names, "explanation": found}
    page = Page(write_report(tmp_path / "p.html", model, table.X, **options))
    assert all(TEXTS[row] in page.words for row in kitchen.typical)


def test_texts_that_share_no_words_are_refused(tmp_path):
    path = text(tmp_path / "f.csv", "a,b\nred,one\nblue,two\n")
    with pytest.raises(FileError, match="column a has no words that texts share"):
        read_points(path, treat={"a": "text"})
    with pytest.raises(FileError, match="only one column can be treated as text, not a, b"):
        read_points(path, treat={"a": "text", "b": "text"})
