"""
Outliers found
==============

Some points belong to no cluster. Every clusterer gives them a label all the same. What gives them
away is the graph: their own cluster does not explain them, and no other point needs them in its
code.
"""

import matplotlib.pyplot as plt
import numpy as np

from srsg import SRSG
from srsg.datasets import make_union_of_subspaces

# 400 points in 5 groups, and 40 points in none of them: uniform on the sphere.
X, y = make_union_of_subspaces(
    400, n_subspaces=5, dimension=6, n_features=20, noise=0.05, outliers=40, random_state=0
)
outlier = y < 0
model = SRSG(n_clusters=5, random_state=0).fit(X)

# %%
# ``outlier_score_`` ranks the points, ``explained_`` says how well a point is explained by the
# other members of its cluster, and ``confidence_`` says how sure its label is. None of them uses
# the true groups.

measures = {
    "outlier_score_": model.outlier_score_,
    "explained_": model.explained_,
    "confidence_": model.confidence_,
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, values) in zip(axes, measures.items(), strict=True):
    bins = np.linspace(0, 1, 31)
    ax.hist(values[~outlier], bins, color="C0", alpha=0.75, label="in a group")
    ax.hist(values[outlier], bins, color="C3", alpha=0.75, label="outliers")
    ax.set(xlabel=name, yscale="log")
axes[0].set_ylabel("points")
axes[0].legend(frameon=False)

# %%
# Where to draw the line depends on how many false alarms you can accept.

order = np.argsort(-model.outlier_score_)
for count in (20, 40, 80):
    found = outlier[order[:count]].sum()
    print(f"among the {count} highest scores, {found} of the 40 outliers")

# %%
# New points
# ----------
# With ``novelty=0.05``, new points that are explained worse than 95 % of the fitted ones get the
# label -1. We try 100 new points from the same groups, and 100 points from nowhere.

clean, groups = make_union_of_subspaces(
    500, n_subspaces=5, dimension=6, n_features=20, noise=0.05, random_state=0
)
fitted = np.arange(len(clean)) % 5 > 0
model = SRSG(n_clusters=5, random_state=0).fit(clean[fitted])
strange = np.random.default_rng(1).standard_normal((100, 20))
for name, points in {"of the groups": clean[~fitted], "from nowhere": strange}.items():
    refused = np.mean(model.predict(points, novelty=0.05) == -1)
    print(f"new points {name}: {refused:.0%} refused")
