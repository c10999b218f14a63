"""
Gene expression: few samples, thousands of genes
================================================

We have 150 tissue samples with 2,000 genes each. Tumours of one type turn the same groups of genes
up and down, each tumour to its own degree, while most genes vary for other reasons. So the samples
of one type lie near a subspace of few dimensions, with noise.

The data here are generated in this way. Because there are so few rows, exact codes cost almost
nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from srsg import SRSG, plot
from srsg.metrics import clustering_accuracy

N_GENES, TYPES = 2000, ("A", "B", "C", "D", "E")
rng = np.random.default_rng(1)

# What all tissues express, the same for every sample.
house = rng.gamma(2.0, 1.0, N_GENES)
samples, types = [], []
for name in TYPES:
    # Three programs of 60 genes; each sample runs them up or down to a degree of its own.
    programs = np.zeros((3, N_GENES))
    for program in programs:
        program[rng.choice(N_GENES, 60, replace=False)] = rng.normal(0, 1.5, 60)
    for _ in range(30):
        degrees = rng.standard_normal(3)
        samples.append(house + degrees @ programs + rng.normal(0, 0.8, N_GENES))
        types.append(name)
X, y = np.array(samples), np.array(types)

# %%
# Centre the genes
# ----------------
# What all samples have in common does not help to tell them apart, so we subtract each gene's mean.
# The types do not differ in their means but in which genes move together. Methods that look for
# centres find hardly anything.

centred = X - X.mean(axis=0)
models = {
    "K-means": KMeans(5, n_init=10, random_state=0),
    "Ward": AgglomerativeClustering(5),
    "SRSG, not centred": SRSG(5, random_state=0),
    "SRSG": SRSG(5, random_state=0),
}
for name, model in models.items():
    labels = model.fit_predict(X if "not" in name else centred)
    print(f"{name:<18} accuracy {clustering_accuracy(y, labels):.3f}")

# %%
# Which samples are doubtful? ``confidence_`` is near 1 for clear cases and low for doubtful ones.

model = models["SRSG"]
sure = model.confidence_
for place in np.argsort(sure)[:5]:
    print(
        f"sample {place:>3}, type {y[place]}: {sure[place]:.2f} in cluster {model.labels_[place]}"
    )

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
order = np.argsort(model.labels_, kind="stable")
spread = np.argsort(-centred.var(axis=0))[:250]
shown = axes[0].imshow(centred[order][:, spread], aspect="auto", cmap="RdBu_r", vmin=-3, vmax=3)
axes[0].set(title="the 250 genes that vary most", xlabel="genes", ylabel="samples by cluster")
figure.colorbar(shown, ax=axes[0], label="expression less its mean")
plot.embedding(model, centred, y, axes[1])
axes[1].set_title("samples in the plane of the graph, by type")
