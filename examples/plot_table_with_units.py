"""
A table whose columns have different units
==========================================

This table has thirteen measurements of 178 wines, among them alcohol in per cent and proline in
milligrams per litre. Proline runs into the thousands, so unless something is done about it, it
decides every distance and every angle.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from srsg import SRSG, PreparedClusterer, StabilitySearch
from srsg.metrics import clustering_accuracy

wine = load_wine()
X, y = wine.data, wine.target
for name, column in zip(wine.feature_names, X.T, strict=True):
    print(f"{name:<30}{column.min():>8.2f} to {column.max():>8.2f}")

# %%
# Three ways to prepare the table
# -------------------------------
# Standardising gives every column the same weight. But it also moves the origin into the middle of
# the data, so that a point and its mirror image have the same code up to the sign. ``affine=True``
# appends a constant coordinate, which tells them apart. :class:`srsg.PreparedClusterer` puts the
# scaling and the clusterer together.


def standardised(clusterer):
    return PreparedClusterer(clusterer, scale="standard")


models = {
    "raw": SRSG(3, random_state=0),
    "standardised": standardised(SRSG(3, random_state=0)),
    "standardised, affine": standardised(SRSG(3, affine=True, random_state=0)),
    "K-means, standardised": standardised(KMeans(3, n_init=10, random_state=0)),
}
accuracy = {name: clustering_accuracy(y, model.fit_predict(X)) for name, model in models.items()}
for name, value in accuracy.items():
    print(f"{name:<24} accuracy {value:.3f}")

# %%
# :class:`srsg.StabilitySearch` looks at the columns and tries only what suits them.

search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
print(search.columns_)
print("tried:", ", ".join(search.results_["candidate"]))
print("chosen:", search.best_name_)

# %%
# The wines in the plane of the two leading principal components of the standardised table. The
# clusters of the raw table follow proline alone.

plane = PCA(2).fit_transform(StandardScaler().fit_transform(X))
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, name in zip(axes, ("raw", "standardised, affine"), strict=True):
    labels = models[name].labels_
    for label in np.unique(labels):
        ax.scatter(*plane[labels == label].T, s=18, label=f"cluster {label}")
    ax.set(title=f"{name}: accuracy {accuracy[name]:.2f}", xticks=[], yticks=[])
axes[1].legend(frameon=False)
