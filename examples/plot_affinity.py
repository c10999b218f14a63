"""
What SRSG does to a graph
=========================

A sparse graph joins every point to the few points it is coded by. The l1-graph finds these codes
for each point on its own. SRSG then lets neighbouring points agree on which points they use, and
drops what they do not agree on.

The pictures show all edges of both graphs, on two data sets that come with scikit-learn. Points
are sorted by their true class, so that good edges lie in the blocks on the diagonal. Edges
between different classes are red. The method never sees the classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits

from srsg import SRSG, L1Graph, plot

DATA = {"digits": load_digits, "breast cancer": load_breast_cancer}
METHODS = {"l1-graph": L1Graph(), "SRSG": SRSG()}

figure, rows = plt.subplots(2, 2, figsize=(10, 10.6), layout="constrained")
for (data, load), axes in zip(DATA.items(), rows, strict=True):
    X, y = load(return_X_y=True)
    for ax, (method, model) in zip(axes, METHODS.items(), strict=True):
        # fit_graph stops before the clusters: here only the graph is wanted.
        plot.affinity(model.fit_graph(X).affinity_matrix_, y, ax)
        ax.set_title(f"{method} on {data}\n{ax.get_title()}", fontsize=11)
figure.suptitle("Affinity matrices; edges between different true classes in red")

# %%
# On both data sets SRSG has fewer edges, and a smaller share of them is wrong. That is what makes
# the clusters easier to find: wrong edges tie clusters together.
