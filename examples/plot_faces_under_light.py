"""
Faces under changing light: ridge codes win
===========================================

Pixel by pixel, pictures of one face under many lights look very different, and pictures of two
faces under the same light look alike. So K-means groups them by light. But all pictures of one face
lie near a subspace of few dimensions (about nine for a matt surface), so many pictures of a face
can explain each other. Ridge codes, which use many points a little, suit such data best.

The faces here are made up: egg-shaped surfaces with a random relief, lit from random directions,
with some noise. The same holds for photographs of real faces, such as Extended Yale B (see
:doc:`/evaluation`).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import KMeans

from srsg import SRSG, RidgeGraph, StabilitySearch, plot
from srsg.metrics import clustering_accuracy

N_FACES, N_LIGHTS, SIDE = 10, 36, 32


def face(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The brightness of each pixel's skin, and the direction that it faces."""
    down, right = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    height = 12 * np.sqrt(np.clip(1.15 - 1.1 * right**2 - 0.8 * down**2, 0.02, None))
    height += 4 * np.exp(-((right / 0.16) ** 2) - ((down - 0.1) / 0.28) ** 2)  # a nose
    height += 11 * gaussian_filter(rng.standard_normal((SIDE, SIDE)), 3)
    brightness = 0.75 + 0.25 * np.tanh(4 * gaussian_filter(rng.standard_normal((SIDE, SIDE)), 1.5))
    slope_down, slope_right = np.gradient(height)
    normals = np.stack([-slope_right, -slope_down, np.ones_like(height)], axis=-1)
    return brightness, normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def lit(brightness: np.ndarray, normals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A picture under a light from a random direction: what faces away is dark."""
    aside, above = rng.uniform(-1.3, 1.3), rng.uniform(-0.9, 0.9)
    light = [np.sin(aside) * np.cos(above), np.sin(above), np.cos(aside) * np.cos(above)]
    picture = brightness * np.clip(normals @ np.array(light), 0, None)
    return (picture + 0.02 * rng.standard_normal(picture.shape)).ravel()


rng = np.random.default_rng(0)
faces = [face(rng) for _ in range(N_FACES)]
X = np.array([lit(*each, rng) for each in faces for _ in range(N_LIGHTS)])
y = np.repeat(np.arange(N_FACES), N_LIGHTS)

figure, rows = plt.subplots(3, 10, figsize=(10, 3.2), layout="constrained")
for row, first in zip(rows, (0, N_LIGHTS, 2 * N_LIGHTS), strict=True):
    for ax, picture in zip(row, X[first : first + 10], strict=True):
        ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray")
        ax.axis("off")
figure.suptitle("Three of the faces (rows) under ten lights")

# %%
# Three methods
# -------------

models = {
    "K-means": KMeans(N_FACES, n_init=10, random_state=0),
    "SRSG": SRSG(N_FACES, random_state=0),
    "ridge codes": RidgeGraph(N_FACES, random_state=0),
}
for name, model in models.items():
    print(f"{name:<12} accuracy {clustering_accuracy(y, model.fit_predict(X)):.3f}")

# %%
# Without labels you cannot see these scores. :class:`srsg.StabilitySearch` compares how well each
# method finds its own clusters again, on other samples of the pictures and on halves of the pixels.

search = StabilitySearch(n_clusters=N_FACES, random_state=0).fit(X)
for name, score in zip(search.results_["candidate"], search.results_["score"], strict=True):
    print(f"{name:<12} score {score:.3f}")
print("chosen:", search.best_name_)

# %%
# The most central pictures of each cluster. Every row shows one face.

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plot.gallery(search, X, (SIDE, SIDE), count=12, ax=ax)
ax.set_title("Most central pictures of each cluster")
