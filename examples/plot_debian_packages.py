"""
Debian's packages by one line of text each
==========================================

On Debian and Ubuntu, ``apt-cache`` has a line about every package, and a section that somebody
chose for it. Here we cluster the lines of six sections by their words, and look at packages that
their words put elsewhere. Where there is no ``apt-cache``, this page stays short.
"""

import re
import shutil
import subprocess

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from srsg import NeighborGraph
from srsg.metrics import clustering_accuracy

SECTIONS = ["fonts", "games", "mail", "math", "science", "sound"]
EACH = 200


def packages():
    """Name, section and line of the first packages of each section."""
    if shutil.which("apt-cache") is None:
        return []
    found, counts = [], dict.fromkeys(SECTIONS, 0)
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True).stdout
    for record in listed.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description): (.*)", record, re.MULTILINE))
        section = fields.get("Section", "")
        if counts.get(section, EACH) < EACH and "Description" in fields:
            counts[section] += 1
            found.append((fields["Package"], section, fields["Description"]))
    return found


records = packages()
print(f"{len(records)} packages" if records else "no apt-cache here: nothing to show")

# %%
# Words are weighted by how rare they are; lines without any word that another line has are left
# out. The picture shows which sections the clusters of the neighbour graph are made of.

if len(records) > EACH:
    names, sections, lines = map(np.array, zip(*records, strict=True))
    vectorizer = TfidfVectorizer(
        stop_words="english", min_df=3, max_df=0.2, token_pattern="[a-z]{3,}"
    )
    words = vectorizer.fit_transform(lines)
    kept = np.flatnonzero(np.diff(words.indptr))
    names, sections, lines, words = names[kept], sections[kept], lines[kept], words[kept]
    kinds = np.unique(sections)
    model = NeighborGraph(len(kinds), random_state=0).fit(words)
    print(f"accuracy {clustering_accuracy(sections, model.labels_):.3f}")

    places = np.searchsorted(kinds, sections)
    counts = np.zeros((len(kinds), len(kinds)), dtype=int)
    np.add.at(counts, (places, model.labels_), 1)
    order = np.argsort(counts.argmax(axis=0))
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    shown = ax.imshow(counts[:, order], cmap="Blues")
    ax.set_xticks(range(len(kinds)), order)
    ax.set_yticks(range(len(kinds)), kinds)
    ax.set(xlabel="cluster", title="Sections of Debian by the words of one line")
    figure.colorbar(shown, ax=ax, label="packages")

# %%
# Packages whose cluster is mostly of another section, the surest first.

if len(records) > EACH:
    home = kinds[counts.argmax(axis=0)]
    moved = np.flatnonzero(home[model.labels_] != sections)
    for place in moved[np.argsort(-model.confidence_[moved])[:8]]:
        there = home[model.labels_[place]]
        print(f"{names[place]} ({sections[place]}, found in {there}): {lines[place]}")

# %%
# One line is little to go by: words that all kinds of software share, such as *library* or *data*,
# make a cluster of their own. With longer texts or an encoder this changes
# (:doc:`/guide/embeddings`).
