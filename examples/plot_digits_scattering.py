"""
Digits by their scattering features
===================================

If you shift a handwritten digit by a pixel, it is still the same digit, but many of its pixels
change. The scattering transform replaces the pixels by local averages of wavelet responses, which
hardly change when an image is shifted or bent a little. It needs no training.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

from srsg import SRSG, plot
from srsg.features import Scattering
from srsg.metrics import scores

# scikit-learn's digits have 8 x 8 pixels; the transform wants a few more to work with.
digits = load_digits()
images, y = zoom(digits.images, (1, 4, 4), order=1), digits.target
pixels = images.reshape(len(images), -1)

# %%
# We shift every image by up to three of its 32 pixels, as if nobody had centred the digits.

rng = np.random.default_rng(0)
shifts = rng.integers(-3, 4, (len(images), 2))
shifted = np.array([np.roll(im, tuple(by), (0, 1)) for im, by in zip(images, shifts, strict=True)])
shifted = shifted.reshape(len(images), -1)

transform = Scattering((32, 32))
print("features of one image:", transform.fit_transform(shifted[:1]).shape[1])

results = {}
for name, X in {"centred": pixels, "shifted": shifted}.items():
    for features, values in {"pixels": X, "scattering": transform.fit_transform(X)}.items():
        model = SRSG(n_clusters=10, random_state=0).fit(values)
        results[name, features] = scores(y, model.labels_)["AC"], model
        print(f"{name:<8} {features:<11} accuracy {results[name, features][0]:.3f}")

# %%
# The most central members of each cluster of shifted digits, one cluster per row: by pixels on the
# left, by scattering features on the right.

figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, features in zip(axes, ("pixels", "scattering"), strict=True):
    accuracy, model = results["shifted", features]
    plot.gallery(model, shifted, (32, 32), count=10, ax=ax)
    ax.set_title(f"{features}: accuracy {accuracy:.2f}")

# %%
# On the command line, use ``srsg cluster FOLDER --features scattering``. :doc:`/guide/preparing`
# says what these features give on all 70,000 digits of MNIST.
