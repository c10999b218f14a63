"""Sparse points as texts give them: many features, few of them in a document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def term_weights(
    n_documents: int = 200,
    n_terms: int = 3000,
    n_topics: int = 4,
    words: int = 40,
    seed: int = 0,
) -> tuple[sparse.csr_array, NDArray[np.intp]]:
    """TF-IDF weights of made-up documents, and their topics.

    Terms are as frequent as Zipf says. Half of the words of a document come from an order of the
    terms that all share, the other half from that of its topic.
    """
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(10, n_terms + 10)
    orders = [np.arange(n_terms), *(rng.permutation(n_terms) for _ in range(n_topics))]
    topics = rng.integers(n_topics, size=n_documents)
    documents, terms = [], []
    for document, topic in enumerate(topics):
        drawn = rng.choice(n_terms, words, p=chance / chance.sum())
        own = rng.random(words) < 0.5
        terms.append(np.where(own, orders[topic + 1][drawn], drawn))
        documents.append(np.full(words, document))
    places = (np.concatenate(documents), np.concatenate(terms))
    counts = sparse.csr_array((np.ones(len(places[0])), places), shape=(n_documents, n_terms))
    counts.sum_duplicates()
    found_in = np.bincount(counts.indices, minlength=n_terms)
    rarity = 1 + np.log((1 + n_documents) / (1 + found_in))
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return counts, topics
