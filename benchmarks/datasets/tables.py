"""Tables: few columns, of different units.

Two of scikit-learn's, which are always there, and two of KEEL's, read from the folder of data.
"""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_wine

from benchmarks.case import Case
from benchmarks.datasets import Dataset, of_the_paper

WHOLE_FIT = ("product", "codes", "sweeps", "clusters")


def load(folder: Path | None) -> Case:
    return Case("wine", load_wine().data, 3)


DATASETS = [
    Dataset("wine", load, WHOLE_FIT, peers=False),
    of_the_paper("Breast", WHOLE_FIT, peers=False),
    of_the_paper("texture", WHOLE_FIT, peers=False),
    of_the_paper("spambase", WHOLE_FIT, peers=False),
]
