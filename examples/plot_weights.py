"""
Rows that count more than once
==============================

A table often says how many times a row was seen: words of a text, customers of a kind, colours of
a picture. ``sample_weight`` takes these numbers: a row of weight m gives what m equal rows give,
without the copies.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from srsg import NeighborGraph

# %%
# The pixels of a photograph have few colours once these are rounded. Each colour is a row here, and
# its weight is the number of its pixels.

photograph = load_sample_image("china.jpg")[::4, ::4]
rounded = photograph // 16 * 16 + 8
colours, place, counts = np.unique(
    rounded.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
)
print(f"{len(place)} pixels, {len(colours)} colours")

# %%
# Without weights, rare colours count as much as common ones. With weights, the sky, which has many
# pixels of few colours, has clusters of its own.

models = {
    "every colour counts once": None,
    "every pixel counts": counts,
}
figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
axes[0].imshow(photograph)
axes[0].set_title("photograph")
for ax, (title, weights) in zip(axes[1:], models.items(), strict=True):
    model = NeighborGraph(6, metric="euclidean", random_state=0)
    labels = model.fit(colours.astype(float), sample_weight=weights).labels_
    means = np.array(
        [np.average(colours[labels == k], axis=0, weights=counts[labels == k]) for k in range(6)]
    )
    ax.imshow(means[labels[place.ravel()]].astype(np.uint8).reshape(photograph.shape))
    ax.set_title(title)
for ax in axes:
    ax.axis("off")
