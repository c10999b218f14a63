"""
Outliers found: photographs among digits
========================================

Some points belong to no cluster, and every clusterer gives them a label all the same. Here 25 small
squares of a photograph, of the same size and brightness as the pictures of digits, are mixed with
500 digits. What gives them away is the graph: their own cluster does not explain them, and no
digit needs them in its code.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_sample_image

from srsg import SRSG

digits, kinds = load_digits(return_X_y=True)
few = kinds[:1000] < 5
old, new, unseen = digits[:1000][few], digits[1000:][kinds[1000:] < 5], digits[kinds >= 5][:300]

photo = load_sample_image("flower.jpg").mean(axis=2)
rng = np.random.default_rng(0)
squares = []
for _ in range(25):
    row, column = rng.integers(photo.shape[0] - 64), rng.integers(photo.shape[1] - 64)
    square = photo[row : row + 64, column : column + 64].reshape(8, 8, 8, 8).mean(axis=(1, 3))
    squares.append(16 * (square - square.min()) / np.ptp(square))
X = np.vstack([old, np.array(squares).reshape(25, 64)])
is_photo = np.arange(len(X)) >= len(old)
model = SRSG(n_clusters=5, random_state=0).fit(X)

# %%
# ``outlier_score_`` ranks the points. The pictures with the highest scores: those with a red frame
# are from the photograph.

order = np.argsort(-model.outlier_score_)
figure, axes = plt.subplots(3, 12, figsize=(10, 3), layout="constrained")
for ax, place in zip(axes.flat, order, strict=False):
    ax.imshow(X[place].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set(color="C3" if is_photo[place] else "0.8", linewidth=3 if is_photo[place] else 1)
for count in (25, 50):
    print(f"among the {count} highest scores: {is_photo[order[:count]].sum()} of 25 squares")

# %%
# None of these measures uses the truth.

measures = {
    "outlier_score_": model.outlier_score_,
    "explained_": model.explained_,
    "confidence_": model.confidence_,
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for ax, (name, values) in zip(axes, measures.items(), strict=True):
    bins = np.linspace(0, 1, 31)
    ax.hist(values[~is_photo], bins, color="C0", alpha=0.75, label="digits")
    ax.hist(values[is_photo], bins, color="C3", alpha=0.75, label="photograph")
    ax.set(xlabel=name, yscale="log")
axes[0].set_ylabel("pictures")
axes[0].legend(frameon=False)

# %%
# New points
# ----------
# With ``novelty=0.05``, new points that are explained worse than 95 % of the fitted ones get the
# label -1. We fit the digits 0 to 4, and try new ones, digits that were never seen, and squares.

model = SRSG(n_clusters=5, random_state=0).fit(old)
for name, points in {"0 to 4": new, "5 to 9": unseen, "squares": X[is_photo]}.items():
    refused = np.mean(model.predict(points, novelty=0.05) == -1)
    print(f"{name:<8} {refused:.0%} refused")
