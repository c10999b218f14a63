"""
Two trefoil knots told apart and unrolled
=========================================

These are two linked knots in a space of 100 dimensions. Each is a closed curve that is nowhere
flat, and no plane separates the two. SMCE (sparse manifold clustering and embedding) describes
every point by the *directions* to its nearest neighbours and prefers near ones, which keeps it on
its own curve.
"""

import matplotlib.pyplot as plt
import numpy as np

from srsg import SMCE
from srsg.datasets import make_trefoil_knots
from srsg.metrics import clustering_accuracy

X, y = make_trefoil_knots(400, noise=0.01, random_state=0)
model = SMCE(n_clusters=2, random_state=0).fit(X)
print(f"accuracy {clustering_accuracy(y, model.labels_):.4f}")

# %%
# ``embed`` unrolls each cluster by itself. The points of the data set are in order along their
# knot, so if the shade changes smoothly around the loop, SMCE has found that order.

coordinates = model.embed(2)

# The knots span three of the hundred dimensions: the leading principal components.
centered = X - X.mean(axis=0)
_, _, axes = np.linalg.svd(centered, full_matrices=False)
seen = centered @ axes[:3].T

figure = plt.figure(figsize=(11, 4), layout="constrained")
panels = figure.add_gridspec(1, 3, width_ratios=[1.25, 1, 1])
space = figure.add_subplot(panels[0], projection="3d")
for label, color in enumerate(("C0", "C3")):
    space.scatter(*seen[model.labels_ == label].T, color=color, s=9, depthshade=True)
space.set_title("two linked knots in 100 dimensions,\ncoloured by cluster", fontsize=11)
space.set(xticklabels=[], yticklabels=[], zticklabels=[])
space.set_box_aspect(np.ptp(seen, axis=0), zoom=1.15)
space.view_init(elev=35, azim=-60)

for label, shades in enumerate(("winter", "autumn")):
    members = np.flatnonzero(model.labels_ == label)
    flat = figure.add_subplot(panels[label + 1])
    flat.scatter(*coordinates[members].T, c=np.arange(len(members)), cmap=shades, s=14)
    flat.set_title(f"cluster {label + 1} unrolled,\nshaded by place on its knot", fontsize=11)
    flat.set(xticks=[], yticks=[], aspect="equal")

# %%
# Use :class:`srsg.SMCE` for curves and surfaces, where distances between near points mean
# something. It does not work if the points of a cluster lie far apart.
