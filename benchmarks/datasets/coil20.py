"""COIL-20: 1440 pictures of 20 objects."""

from benchmarks.datasets import of_the_paper

DATASETS = [
    of_the_paper("COIL-20", ("product", "codes", "sweeps", "one sweep", "clusters", "labels"))
]
