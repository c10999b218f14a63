"""
A graph of one's own, and points that come later
================================================

:class:`srsg.GraphClustering` takes any graph: neighbours from scikit-learn or scanpy, or a kernel.
And the estimators that make their own graph let new points join it by ``update``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from srsg import GraphClustering, L1Graph, plot
from srsg.metrics import clustering_accuracy

X, y = load_digits(n_class=6, return_X_y=True)
old, new = X[:700], X[700:800]

# %%
# A graph of nearest neighbours, with distances. It is given in place of the points, and edges of
# new points to the old ones are enough to predict their clusters.

finder = NearestNeighbors(n_neighbors=15).fit(old)
model = GraphClustering(6, weights="distance", random_state=0)
model.fit(finder.kneighbors_graph(mode="distance"))
labels = model.predict(finder.kneighbors_graph(new, mode="distance"))
print(f"accuracy: {clustering_accuracy(y[:700], model.labels_):.3f}")
print(f"of new points: {clustering_accuracy(y[700:800], labels):.3f}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
plot.embedding(model, old, ax=axes[0])
plot.tree(model, ax=axes[1])

# %%
# Points that come later. The digit 5 is not among the first points; an update says what it changes,
# and all other clusters keep their numbers.

first = np.flatnonzero(y[:700] < 5)
later = np.flatnonzero(y[:700] == 5)
growing = L1Graph(5, random_state=0).fit(X[first])
print("before:", np.bincount(growing.labels_))
update = growing.set_params(n_clusters=6).update(X[later])
print("after: ", np.bincount(growing.labels_))
print(f"new clusters {update.new}, split {update.split}, {len(update.moved)} points moved")

# %%
# The labels are nearly those of one fit of all points.

whole = L1Graph(6, random_state=0).fit(X[np.concatenate([first, later])])
print(f"NMI {normalized_mutual_info_score(whole.labels_, growing.labels_):.3f}")
plt.show()
