"""
Pictures under changing light: ridge codes win
==============================================

Ten cut-outs of two photographs, each under 36 lights. Pixel by pixel, two cut-outs under the same
light can look more alike than one cut-out under two lights. But all pictures of one cut-out lie
near a subspace of few dimensions, so many of them can explain each other, and ridge codes, which
use many points a little, suit such data best. The same holds for faces, such as Extended Yale B
(:doc:`/evaluation`).

The photographs are real, the light is not: it brightens one side, darkens the other, and
leaves deep shadow black.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_images

from srsg import SRSG, RidgeGraph, StabilitySearch, plot
from srsg.metrics import clustering_accuracy

N_OBJECTS, N_LIGHTS, SIDE = 10, 36, 24
rng = np.random.default_rng(0)
photos = [photo.mean(axis=2) / 255 for photo in load_sample_images().images]
down, right = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]


def lit(photo: np.ndarray) -> np.ndarray:
    """A square of the photograph, shrunk, under lights from random directions."""
    size = 4 * SIDE
    top, left = rng.integers(photo.shape[0] - size), rng.integers(photo.shape[1] - size)
    square = photo[top : top + size, left : left + size].reshape(SIDE, 4, SIDE, 4).mean(axis=(1, 3))
    pictures = []
    for angle in rng.uniform(0, 2 * np.pi, N_LIGHTS):
        slope = np.cos(angle) * right + np.sin(angle) * down
        light = np.clip(0.5 + rng.uniform(0.6, 1.6) * slope, 0, None)
        pictures.append((square * light + 0.02 * rng.standard_normal(square.shape)).ravel())
    return np.array(pictures)


X = np.vstack([lit(photos[place % 2]) for place in range(N_OBJECTS)])
y = np.repeat(np.arange(N_OBJECTS), N_LIGHTS)

figure, rows = plt.subplots(3, 10, figsize=(10, 3.2), layout="constrained")
for row, first in zip(rows, (0, N_LIGHTS, 2 * N_LIGHTS), strict=True):
    for ax, picture in zip(row, X[first : first + 10], strict=True):
        ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray")
        ax.axis("off")
figure.suptitle("Three of the cut-outs (rows) under ten lights")

# %%
# Three methods
# -------------

models = {
    "K-means": KMeans(N_OBJECTS, n_init=10, random_state=0),
    "SRSG": SRSG(N_OBJECTS, random_state=0),
    "ridge codes": RidgeGraph(N_OBJECTS, random_state=0),
}
for name, model in models.items():
    print(f"{name:<12} accuracy {clustering_accuracy(y, model.fit_predict(X)):.3f}")

# %%
# Without labels you cannot see these scores. :class:`srsg.StabilitySearch` compares how well each
# method finds its own clusters again, on other samples of the pictures and on halves of the pixels.

search = StabilitySearch(n_clusters=N_OBJECTS, random_state=0).fit(X)
for name, score in zip(search.results_["candidate"], search.results_["score"], strict=True):
    print(f"{name:<12} score {score:.3f}")
print("chosen:", search.best_name_)

# %%
# The most central pictures of each cluster. Every row shows one cut-out.

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plot.gallery(search, X, (SIDE, SIDE), count=12, ax=ax)
ax.set_title("Most central pictures of each cluster")
