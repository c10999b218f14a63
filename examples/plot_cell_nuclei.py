"""
Measurements of cells: what sets two groups apart
=================================================

569 biopsies of the breast, each with 30 measurements of the cell nuclei under the microscope
(scikit-learn's ``load_breast_cancer``). The diagnosis of each is known, and used for scores
only. What does the search do with such a table, and what does it say about its clusters?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from srsg import StabilitySearch, explain
from srsg.metrics import clustering_accuracy

data = load_breast_cancer()
X, y = data.data, data.target
search = StabilitySearch(n_clusters=2, random_state=0).fit(X)
print("tried:", ", ".join(search.results_["candidate"]))
print(f"chosen: {search.best_name_}, accuracy {clustering_accuracy(y, search.labels_):.3f}")

# %%
# What the clusters are
# ---------------------
# In the units of the table: the columns that set each cluster apart, and a few thresholds.

print(explain(search, X, names=data.feature_names))

# %%
# A picture of the rule
# ---------------------
# The two columns that the thresholds of cluster 0 use. Crosses are patients whose cluster is not
# the one that most patients with their diagnosis are in.

columns = ["mean concavity", "worst concave points"]
across, up = (X[:, list(data.feature_names).index(name)] for name in columns)
usual = [np.bincount(search.labels_[y == kind]).argmax() for kind in (0, 1)]
odd = search.labels_ != np.array(usual)[y]
figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
for kind, name in enumerate(data.target_names):
    ax.scatter(across[y == kind], up[y == kind], s=14, label=name, alpha=0.7)
ax.scatter(across[odd], up[odd], marker="x", s=50, color="k", label="in the other cluster")
ax.axvline(0.09, color="0.5", linestyle="--", linewidth=1)
ax.set(xlabel=columns[0], ylabel=columns[1], title="Patients by diagnosis, and the threshold found")
ax.legend(frameon=False)

# %%
# The two groups touch: there is no valley between them, so ``structure_found_`` is False and the
# confidence of every label stays near one half, although nine in ten agree with the diagnosis. That
# is what the data alone can say: two such groups could be the two ends of one.

print("structure found:", search.structure_found_)
print("median confidence:", np.median(search.confidence_).round(2))
