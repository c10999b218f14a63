"""Texts in a column: their words as features, kept with a model, and named in explanations."""

from __future__ import annotations

import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg import NeighborGraph, PreparedClusterer, explain
from srsg.files import FileError, read_points
from srsg.persistence import load_model, save_model
from srsg.report import write_report
from support.cli_runs import good, the_error
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


def fake_encoder(monkeypatch):
    """A library that counts letters, and knows one model."""

    class StaticModel:
        @classmethod
        def from_pretrained(cls, name):
            if name != "letters":
                raise FileNotFoundError(f"{name} is not there")
            return cls()

        def encode(self, texts):
            return np.array([[words.count(sign) for sign in "aeiou"] for words in texts], float)

    monkeypatch.setitem(sys.modules, "model2vec", SimpleNamespace(StaticModel=StaticModel))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setitem(sys.modules, "wordllama", None)


@pytest.mark.parametrize("name", ["letters", "model2vec:letters"])
def test_an_encoder_makes_vectors_of_texts(path, tmp_path, monkeypatch, name):
    fake_encoder(monkeypatch)
    table = read_points(path, treat={"note": "text"}, encoder=name)
    np.testing.assert_array_equal(table.X[:, 0], [words.count("a") for words in TEXTS])
    assert table.feature_names == tuple(f"note {place}" for place in range(5))
    assert f"used as vectors: note ({name})" in table.notes
    model = PreparedClusterer(NeighborGraph(2, n_neighbors=5), rules=table.rules).fit(table.X)
    save_model(model, tmp_path / "m.srsg")
    again = read_points(path, rules=load_model(tmp_path / "m.srsg").rules)
    np.testing.assert_array_equal(again.X, table.X)


def test_clusters_of_encoded_texts_are_named_by_words(path, tmp_path, monkeypatch):
    fake_encoder(monkeypatch)
    page = tmp_path / "p.html"
    wanted = ("--text", "note", "--encoder", "letters", "-k", 2, "-m", "kmeans", "--report", page)
    done = good("cluster", path, *wanted, "-o", tmp_path / "l.csv")
    assert re.search(r"cluster 0, \d+ points: '\w+'", done.stderr)
    assert TEXTS[0] in page.read_text() or TEXTS[1] in page.read_text()


def test_a_missing_encoder_is_named_and_not_downloaded(path, monkeypatch):
    fake_encoder(monkeypatch)
    reason = r"no such model is on this machine, and none is downloaded \(sentence-transformers is"
    with pytest.raises(FileError, match=rf"encoder=words: {reason} not .*words is not there"):
        read_points(path, treat={"note": "text"}, encoder="words")
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert "--encoder is for texts" in the_error("cluster", path, "--encoder", "letters", code=2)
