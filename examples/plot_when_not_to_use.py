"""
When not to use this
====================

Sparse codes compare *directions*: every point is scaled to unit length and explained by others. In
two or three dimensions, a few points can explain any other, whatever cluster they belong to. So for
moons, rings and blobs in the plane, SRSG is the wrong tool. This page shows what happens, and what
to use instead.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons

from srsg import SRSG, LocalScalingSpectralClustering
from srsg.metrics import clustering_accuracy

data = {
    "moons": (*make_moons(400, noise=0.06, random_state=0), 2),
    "rings": (*make_circles(400, factor=0.5, noise=0.05, random_state=0), 2),
    "blobs": (*make_blobs(400, centers=4, cluster_std=0.8, random_state=2), 4),
}
figure, rows = plt.subplots(3, 4, figsize=(10, 7.6), layout="constrained")
for row, (name, (X, y, k)) in zip(rows, data.items(), strict=True):
    models = {
        "SRSG": SRSG(k, random_state=0),
        "K-means": KMeans(k, n_init=10, random_state=0),
        "local scaling": LocalScalingSpectralClustering(k, random_state=0),
        "HDBSCAN": HDBSCAN(min_cluster_size=20, copy=True),
    }
    for ax, (method, model) in zip(row, models.items(), strict=True):
        labels = model.fit_predict(X)
        accuracy = clustering_accuracy(y, labels)
        print(f"{name:<6} {method:<14} {accuracy:.2f}")
        colors = np.where(labels < 0, "0.75", np.array([f"C{n}" for n in range(10)])[labels % 10])
        ax.scatter(*X.T, c=colors, s=6)
        ax.set(title=f"{method}: {accuracy:.2f}", xticks=[], yticks=[], aspect="equal")
    row[0].set_ylabel(name)

# %%
# What to use instead
# -------------------
# ===========================================  ==============================================
# your data                                    use
# ===========================================  ==============================================
# round groups, few features                   scikit-learn's ``KMeans``, ``GaussianMixture``
# any shape in the plane, maps, noise around   ``HDBSCAN``, ``DBSCAN``
# curves and rings that do not touch           :class:`srsg.LocalScalingSpectralClustering`
# curves in many dimensions                    :class:`srsg.SMCE`
# millions of short rows, right now            ``MiniBatchKMeans``
# text with a good embedding                   K-means on the embedding first
# many features, few directions per group      **srsg**
# ===========================================  ==============================================
#
# If you are not sure, let the data decide: ``srsg cluster FILE`` looks at the columns, compares the
# methods that suit them, and takes the most stable one. With two or three columns it uses
# ``LocalScalingSpectralClustering``. See :doc:`/guide/which-method`.
