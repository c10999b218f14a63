"""
Text: the documentation of SciPy by its words
=============================================

Every function of SciPy has a docstring. Can we tell from the words alone which part of the library
a function belongs to? The texts come with the package, so there is nothing to download. Each uses
few of all words, so the matrix of word weights is sparse, and srsg keeps it sparse.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg import NeighborGraph, plot
from srsg.metrics import clustering_accuracy

PARTS = ["integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "stats"]
texts, parts = [], []
for part in PARTS:
    module = importlib.import_module(f"scipy.{part}")
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 500:
            # The name of the part itself would give it away.
            texts.append(text.lower().replace(f"scipy.{part}", "").replace("scipy", ""))
            parts.append(part)
y = np.array(parts)
print(f"{len(texts)} docstrings in {len(PARTS)} parts")

# %%
# TF-IDF weights a word by how rare it is. Nearest neighbours by the cosine are the graph for such
# points. K-means on the same words is the usual first try, and on a reduced space (latent semantic
# analysis, an embedding that needs no download) the second.

vectorizer = TfidfVectorizer(stop_words="english", min_df=3, max_df=0.3, token_pattern=r"[a-z]{3,}")
words = vectorizer.fit_transform(texts)
reduced = TruncatedSVD(100, random_state=0).fit_transform(words)
n_clusters = len(PARTS)
model = NeighborGraph(n_clusters, random_state=0).fit(words)
results = {
    "K-means, words": KMeans(n_clusters, n_init=10, random_state=0).fit_predict(words),
    "K-means, reduced": KMeans(n_clusters, n_init=10, random_state=0).fit_predict(reduced),
    "neighbours, words": model.labels_,
    "neighbours, reduced": NeighborGraph(n_clusters, random_state=0).fit_predict(reduced),
}
for name, labels in results.items():
    print(f"{name:<20} accuracy {clustering_accuracy(y, labels):.3f}")

# %%
# For each cluster: the words whose mean weight exceeds that of all texts the most, and the part of
# SciPy that most of its functions belong to.

names = vectorizer.get_feature_names_out()
overall = np.asarray(words.mean(axis=0)).ravel()
for label in range(n_clusters):
    own = np.asarray(words[model.labels_ == label].mean(axis=0)).ravel()
    kinds, counts = np.unique(y[model.labels_ == label], return_counts=True)
    best = ", ".join(names[np.argsort(overall - own)[:5]])
    print(f"{kinds[counts.argmax()]:<12}{counts.max():>4} of {counts.sum():<4} {best}")

figure, ax = plt.subplots(figsize=(7, 5.6), layout="constrained")
plot.embedding(model, words, y, ax)
ax.set_title("Functions of SciPy by the words of their docstrings")

# %%
# The largest part, ``stats``, falls into two subjects, distributions and tests, and ``ndimage``
# into two as well, so others share a cluster. That is what the words say: clusters need not be the
# classes that somebody else made. ``other_counts_`` of a fit with ``n_clusters="auto"`` shows which
# numbers are worth a look, and :doc:`/guide/embeddings` when an encoder is worth its cost.
