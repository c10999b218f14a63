"""
Objects on a turntable: SRSG wins
=================================

An object is photographed from all sides while it turns. Neighbouring views are alike and opposite
views are not, so each object is a closed *curve* in the space of pictures. A view is explained by
the few views next to it, and sparse codes look for just these. Ridge codes mix in views from all
sides.

The objects here are made up: bright spheres in fixed places of a turning frame. The same holds for
photographs, such as COIL-20 and COIL-100 (see :doc:`/evaluation`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from srsg import SRSG, RidgeGraph, StabilitySearch, plot
from srsg.metrics import clustering_accuracy

N_OBJECTS, N_VIEWS, SIDE = 10, 48, 24


def views(rng: np.random.Generator, n_spheres: int = 7) -> np.ndarray:
    """Pictures of one object, turned by equal angles about the vertical axis."""
    places = rng.uniform(-0.75, 0.75, (n_spheres, 3))
    brightness = rng.uniform(0.3, 1, n_spheres)
    radius = rng.uniform(0.13, 0.31, n_spheres)
    pixels = np.linspace(-1, 1, SIDE)
    angles = np.linspace(0, 2 * np.pi, N_VIEWS, endpoint=False)
    right = np.outer(np.cos(angles), places[:, 0]) + np.outer(np.sin(angles), places[:, 2])
    across = pixels - right[:, :, None, None]
    along = pixels[:, None] - places[:, 1, None, None]
    shades = np.exp(-(across**2 + along**2) / radius[:, None, None] ** 2)
    pictures = (brightness[:, None, None] * shades).max(axis=1)
    return (pictures + 0.02 * rng.standard_normal(pictures.shape)).reshape(N_VIEWS, -1)


rng = np.random.default_rng(0)
X = np.vstack([views(rng) for _ in range(N_OBJECTS)])
y = np.repeat(np.arange(N_OBJECTS), N_VIEWS)

figure, rows = plt.subplots(3, 12, figsize=(10, 2.8), layout="constrained")
for row, first in zip(rows, (0, N_VIEWS, 2 * N_VIEWS), strict=True):
    for ax, picture in zip(row, X[first : first + N_VIEWS : 4], strict=True):
        ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray")
        ax.axis("off")
figure.suptitle("Three of the objects (rows), one turn each")

# %%
# Three methods
# -------------

models = {
    "K-means": KMeans(N_OBJECTS, n_init=10, random_state=0),
    "ridge codes": RidgeGraph(N_OBJECTS, random_state=0),
    "SRSG": SRSG(N_OBJECTS, random_state=0),
}
for name, model in models.items():
    print(f"{name:<12} accuracy {clustering_accuracy(y, model.fit_predict(X)):.3f}")

# %%
# The search comes to the same conclusion without labels.

search = StabilitySearch(n_clusters=N_OBJECTS, random_state=0).fit(X)
print("chosen:", search.best_name_, f"by a margin of {search.margin_:.2f}")

# %%
# In these maps, points that are joined in the graph lie near each other. With SRSG, many objects
# show up as the rings that they are.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, name in zip(axes, ("SRSG", "ridge codes"), strict=True):
    plot.embedding(models[name], X, y, ax)
    ax.set_title(f"the graph of {name}, coloured by object")
