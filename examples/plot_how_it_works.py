"""
The three steps in pictures
===========================

Sparse-graph clustering describes every point by a few others, joins it to them, and cuts the graph
where few edges are cut. Here are the three steps on pictures of five digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import load_digits

from srsg import SRSG
from srsg.explaining.layout import plane
from srsg.metrics import clustering_accuracy

X, y = load_digits(n_class=5, return_X_y=True)
X, y = X[:400], y[:400]
model = SRSG(n_clusters=5, random_state=0).fit(X)
code = model.codes_[[21]]
order = np.argsort(-np.abs(code.data))[:4]

figure = plt.figure(figsize=(10, 7), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[1, 2.4])

# Step 1: a picture as a mixture of others.
above.suptitle("1. Describe every picture by a few others")
parts = [(code.indices[k], f"{code.data[k]:+.2f} x") for k in order]
for place, (number, text) in enumerate([(21, "this picture ="), *parts]):
    ax = above.add_subplot(1, 1 + len(parts), place + 1)
    ax.imshow(X[number].reshape(8, 8), cmap="gray_r")
    ax.set_title(text, fontsize=11)
    ax.axis("off")

# Steps 2 and 3: all edges, drawn so that points that are joined lie near each other.
coordinates, _ = plane(model, X)
edges = np.argwhere(np.triu(model.affinity_matrix_.toarray()) > 0)
left, right = below.subplots(1, 2)
colors = np.array([f"C{label}" for label in model.labels_])
for ax, title, color in (
    (left, "2. Join it to these", "0.45"),
    (right, "3. Cut where few edges are cut", colors),
):
    lines = LineCollection(coordinates[edges], colors="0.8", linewidths=0.5, zorder=0)
    ax.add_collection(lines)
    ax.scatter(*coordinates.T, c=color, s=9)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")

# %%
# All images in the mixture show the same digit. Nearly all edges of the graph join equal digits.

print("digits in the code:", y[code.indices], "and its own:", y[21])
wrong = np.mean(y[edges[:, 0]] != y[edges[:, 1]])
print(f"edges between different digits: {wrong:.1%}")
print(f"accuracy {clustering_accuracy(y, model.labels_):.3f}")
