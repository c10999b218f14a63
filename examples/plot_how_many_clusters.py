"""
How many clusters?
==================

If you do not give the number of clusters, srsg finds one: by halves of the points in tables, by
samples with many features, by density with two or three columns (:doc:`/guide/n-clusters`). Three
data sets of scikit-learn, and one with all structure removed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from srsg import SRSG, PreparedClusterer

rng = np.random.default_rng(0)
digits = load_digits().data[:1000]
data = {
    "digits (10 classes)": digits,
    "wine (3)": load_wine().data,
    "breast cancer (2)": load_breast_cancer().data,
    # Every pixel keeps its values, but each picture gets them from other pictures.
    "shuffled digits (none)": rng.permuted(digits, axis=0),
}
models = {}
for name, X in data.items():
    graph = SRSG(n_clusters="auto", random_state=0)
    table = "digits" not in name
    if table:
        graph = PreparedClusterer(graph.set_params(affine=True), scale="standard")
    fitted = graph.fit(X)
    models[name] = fitted.clusterer_ if table else fitted
    best = ", ".join(map(str, models[name].best_counts(3)))
    found = models[name].structure_found_
    print(f"{name:<24} best three: {best:<10} structure found: {found}")

# %%
# In tables and with fewer than 100 features, the score is the number of clusters that both halves
# find, less those that only one finds.

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.plot(model.cluster_counts_, model.cluster_count_scores_, "o-", markersize=4)
    ax.axhline(0, color="0.7", linewidth=1)
    ax.axvline(model.n_clusters_, color="C3", linestyle="--", linewidth=1)
    ax.set(title=name, xlabel="number of clusters")
axes[0].set_ylabel("clusters found by both halves\nless those found by one")

# %%
# On digits the peak is near ten: some digits are written in two ways, and some pairs look alike.
# Tables of patients and wines are harder, because clusters touch. Where nothing is left but noise,
# ``structure_found_`` is False. Look at the whole curve and not only at its peak. To try another
# number, use ``model.relabel(8)``, which costs next to nothing because it uses the same graph.
