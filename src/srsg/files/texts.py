"""Texts as numbers: how often each word occurs, weighed by how rare it is (TF-IDF)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg.files.errors import FileError
from srsg.files.rules import ColumnRule

OPTIONS: dict[str, Any] = {"sublinear_tf": True, "strip_accents": "unicode"}
"""The tenth occurrence of a word says less than the first, and accents are often left out."""

MOST_WORDS = 10_000
"""Of more words, the most common are kept."""

TOO_COMMON = 0.5
"""Words in more than this share of the texts say nothing."""


def text_rule(name: str, column: str, texts: Sequence[str]) -> ColumnRule:
    """The words of a column and their weights.

    Words that only one text has say nothing about groups, nor do those that most texts have and
    the usual English ones.

    Examples
    --------
    >>> from srsg.files.texts import text_rule
    >>> text_rule("notes.csv", "note", ["boil rice", "fry rice", "set the sail", "sail on"]).levels
    ('rice', 'sail')
    """
    words = TfidfVectorizer(
        **OPTIONS,
        min_df=2,
        max_df=max(TOO_COMMON, 2 / len(texts)),
        max_features=MOST_WORDS,
        stop_words="english",
    )
    try:
        words.fit(texts)
    except ValueError as error:
        raise FileError(f"{name}: column {column} has no words that texts share.") from error
    return ColumnRule(
        column,
        "text",
        levels=tuple(words.get_feature_names_out().tolist()),
        weights=tuple(words.idf_.tolist()),
    )


def weighed_words(rule: ColumnRule, texts: Sequence[str]) -> sparse.csr_array:
    """One row per text and one column per word, rows of unit length.

    Examples
    --------
    >>> from srsg.files.texts import text_rule, weighed_words
    >>> rule = text_rule("notes.csv", "note", ["boil rice", "fry rice", "sail", "sail on"])
    >>> weighed_words(rule, ["Rice!", "none"]).toarray()
    array([[1., 0.],
           [0., 0.]])
    """
    words = TfidfVectorizer(**OPTIONS, vocabulary=rule.levels)
    words.idf_ = np.array(rule.weights)
    return sparse.csr_array(words.transform(texts))
