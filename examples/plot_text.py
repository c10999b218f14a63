"""
Text as a sparse matrix
=======================

We cluster short notes on five subjects. Each note uses only a few of all the words, so the matrix
of word weights is sparse. srsg takes ``scipy.sparse`` matrices as they come from scikit-learn's
vectorizers, and keeps them sparse.

The notes are made up: their words are drawn from a list for each subject and from a list that all
subjects share.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg import SRSG, plot
from srsg.metrics import clustering_accuracy

SUBJECTS = {
    "cooking": "salt oven butter flour onion garlic boil simmer dough pepper spoon roast sauce",
    "gardens": "soil seed prune bloom compost shade root bulb hedge weed water spring leaf",
    "sailing": "mast keel harbour wind anchor tide sail rudder hull knot crew deck compass",
    "music": "chord tempo violin rhythm melody scale drum choir tune score bass flute key",
    "weather": "cloud frost rain storm humid front pressure wind snow forecast fog hail warm",
}
COMMON = "the day one then well long good small first before after always some more work time hand"


def note(subject: str, rng: np.random.Generator) -> str:
    """Twenty words, one in five of them about the subject."""
    own, common = SUBJECTS[subject].split(), COMMON.split()
    return " ".join(rng.choice(own if rng.random() < 0.2 else common) for _ in range(20))


rng = np.random.default_rng(0)
names = np.repeat(list(SUBJECTS), 60)
notes = [note(name, rng) for name in names]
print(notes[0])

# %%
# tf-idf weights a word by how rare it is. The rows have unit length, and similar notes point in
# similar directions, which is what sparse codes are made for.

vectorizer = TfidfVectorizer()
X = vectorizer.fit_transform(notes)
print(f"{X.shape[0]} notes, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} words in a note")

model = SRSG(n_clusters=5, random_state=0).fit(X)
plain = KMeans(5, n_init=10, random_state=0).fit(X)
print(f"SRSG     accuracy {clustering_accuracy(names, model.labels_):.3f}")
print(f"K-means  accuracy {clustering_accuracy(names, plain.labels_):.3f}")

# %%
# For each cluster, we print the words whose mean weight exceeds that of all notes the most. The
# picture shows the graph of the notes.

words = vectorizer.get_feature_names_out()
overall = np.asarray(X.mean(axis=0)).ravel()
for label in range(5):
    own = np.asarray(X[model.labels_ == label].mean(axis=0)).ravel()
    best = ", ".join(words[np.argsort(overall - own)[:6]])
    print(f"cluster {label}: {best}")

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plot.embedding(model, X, names, ax)
ax.set_title("Notes in the plane of the graph, by subject")

# %%
# On text as tidy as this, K-means does just as well and is faster. What the graph adds is that it
# shows which notes explain a note. Real text is harder; :doc:`/guide/preparing` says what to
# expect.
